#!/bin/sh
# headers.sh INCLUDE: each public header alone, pedantic, by both compilers.
set -u
failed=0
check() { # COMPILER LANGUAGE STANDARD HEADER
  printf '#include "decontend/%s"\n' "$4" |
    "$1" -x "$2" "-std=$3" -pedantic -Wall -Wextra -Werror \
      $(pkg-config --cflags liburcu-memb) -I"$include" -fsyntax-only - ||
    { echo "$4 does not compile alone as $3 with $1"; failed=1; }
}
include=$1
for header in "$include"/decontend/*; do
  name=${header##*/}
  for suffix in '' -19; do
    cc=gcc cxx=g++
    [ -n "$suffix" ] && cc=clang$suffix cxx=clang++$suffix
    case $name in *.h) check $cc c gnu11 "$name" ;; esac
    check $cxx c++ gnu++20 "$name"
  done
done
exit $failed
