#!/usr/bin/env bash
# Analyses liburcu's own source, from Debian's source package, once per flavour:
# urcu.c is compiled three times, and a compile database has one entry a file.
#
#   DECONTEND          the program
#   DECONTEND_CACHE    where the package is kept
#
# Exits with 77, and a reason in the last line, if the package cannot be had.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
decontend=${DECONTEND:-$root/build/release/bin/decontend}
cache=${DECONTEND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/decontend}/liburcu
compiler=${CC:-clang-19}

skip() { # REASON
  echo "$1"
  exit 77
}

# Lists and packages of our own, so that the system's sources stay as they are.
fetch() {
  command -v apt-get >/dev/null || skip "no apt-get to get liburcu's source with"
  mkdir -p "$cache/apt/lists/partial" "$cache/apt/archives/partial"
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | grep -i debian | sort -u |
    sed 's|^|deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] |' \
      >"$cache/apt/sources.list" || skip "apt-get names no Debian archive"
  local options=(
    -q -o "Dir::Etc::SourceList=$cache/apt/sources.list"
    -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$cache/apt/lists"
    -o "Dir::Cache=$cache/apt"
    -o APT::Sandbox::User="$(id -un)"
  )
  # shellcheck disable=SC2015
  apt-get "${options[@]}" update >"$cache/apt/log" 2>&1 &&
    (cd "$cache" && apt-get "${options[@]}" source --tar-only liburcu) \
      >>"$cache/apt/log" 2>&1 ||
    skip "no source package of liburcu: $(grep '^E:' "$cache/apt/log" | tail -n 1)"
}

tarball() {
  find "$cache" -maxdepth 1 -name 'liburcu_*.orig.tar.?z*' |
    sort | tail -n 1
}

mkdir -p "$cache"
package=$(tarball)
if [ -z "$package" ]; then
  fetch
  package=$(tarball)
  [ -n "$package" ] || skip "apt-get source gave no liburcu_*.orig.tar"
fi

source=$cache/source
if [ ! -e "$source/configured" ]; then
  rm -rf "$source"
  mkdir -p "$source"
  tar -xf "$package" -C "$source" --strip-components=1 ||
    skip "cannot unpack $(basename "$package")"
  (cd "$source" && ./configure CC="$compiler" >configure.out 2>&1) ||
    skip "liburcu cannot be configured: $(tail -n 1 "$source/configure.out")"
  touch "$source/configured"
fi

status=0
check() { # FLAVOUR FILE...
  local flavour=$1 folder=$cache/database/$1 report=$cache/$1.json
  shift
  "$root/scripts/compile-database" -o "$folder" "$@" -- \
    -std=gnu11 -pthread -DHAVE_CONFIG_H "-I$source/include" "-I$source/src" \
    -include config.h "-D$flavour"
  "$decontend" check -p "$folder" --root "$source" --no-cache --format json \
    --min-confidence low --fail-on never >"$report" || status=1
  python3 - "$report" "$#" "$flavour" <<'PYTHON' || status=1
import json, sys
report, wanted, flavour = json.load(open(sys.argv[1])), int(sys.argv[2]), sys.argv[3]
units, found = report["units"], report["findings"]
print(f"liburcu {flavour}: {units['analysed']} of {units['total']} units, "
      f"{report['coverage']['functions']} functions, findings: {len(found)}")
for unit in units["failed"]:
    print(f"failed: {unit['file']}: {unit['reason']}")
for finding in found:
    print(f"{finding['file']}:{finding['line']}: {finding['shape']}, {finding['confidence']}")
# The library waits once for a batch; nothing in it is a certain mistake.
sys.exit(bool(units["failed"]) or units["analysed"] != wanted or
         any(f["confidence"] == "high" for f in found))
PYTHON
}

check RCU_MEMBARRIER "$source"/src/*.c
check RCU_MB "$source/src/urcu.c"
check RCU_SIGNAL "$source/src/urcu.c"
exit "$status"
