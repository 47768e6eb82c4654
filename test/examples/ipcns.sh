#!/bin/sh
# ipcns.sh SOURCES OUT: the example builds without a warning and runs.
set -eu
mkdir -p "$2"
for cc in clang-19 gcc; do
  command -v $cc >/dev/null || continue
  $cc -std=gnu11 -O1 -Wall -Wextra -Werror "$1"/*.c -o "$2/ipcns-$cc" \
    $(pkg-config --cflags --libs liburcu) -pthread
  "$2/ipcns-$cc"
done
