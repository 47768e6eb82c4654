#!/bin/sh
# install.sh CMAKE BUILD WORK: installs the runtime from BUILD under WORK and
# builds a C and a C++ program against it, by find_package and by pkg-config.
set -eu
cmake=$1 build=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"

"$cmake" -S "$here/install" -B "$work/package" -DCMAKE_PREFIX_PATH="$work/prefix" \
  >"$work/package.log"
"$cmake" --build "$work/package" >>"$work/package.log"
"$work/package/in-c"
"$work/package/in-cxx"

pc=$(find "$work/prefix" -name decontend.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --variable=prefix decontend)" = "$work/prefix" ]
cc -std=gnu11 "$here/install/program.c" $(pkg-config --cflags --libs decontend) \
  -o "$work/pc-c"
c++ -std=c++20 "$here/install/program.cpp" "$here/install/other.cpp" \
  $(pkg-config --cflags --libs decontend) \
  -o "$work/pc-cxx"
lib=$(pkg-config --variable=libdir decontend)
LD_LIBRARY_PATH=$lib "$work/pc-c"
LD_LIBRARY_PATH=$lib "$work/pc-cxx"
