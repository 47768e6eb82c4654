# Sourced by the tests beside it, which analyse whole Linux trees.
#
#   $root       the checkout              $work    a folder for this run
#   $decontend  the program under test    $shared  corpus and patches
#   skip REASON                  ends the test as skipped
#   tree [-w] VERSION [PATCH]    prepares a tree, sets $build and $linux
#   check REPORT [ARG...]        analyses $build with a cache in $work; every
#                                finding and every unit must be in REPORT
#   report ARG...                what a report must say, see test/whole/report
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
decontend=${DECONTEND:-$root/build/release/bin/decontend}
# shellcheck disable=SC2034 # for seed.sh and corpus.sh
shared=${DECONTEND_SHARED:-$root/../shared}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

skip() {
  echo "$1"
  exit 77
}

[ -x "$decontend" ] || {
  echo "there is no $decontend: ./dev build" >&2
  exit 1
}

tree() {
  local version=$1 cache
  [ "$version" != -w ] || version=$2
  cache=${DECONTEND_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/decontend}/kernel
  [ -d "$cache/src/$version" ] || [ -f "/usr/src/linux-source-$version.tar.xz" ] ||
    skip "package linux-source-$version is not installed (no network?)"
  build=$("$root/dev" kernel "$@")
  linux=$cache/src/$(basename "$build")
  # A wide configuration shares the source of the plain one.
  [ -d "$linux" ] || linux=$cache/src/$version
}

check() { # REPORT [ARG...]
  local to=$1
  shift
  "$decontend" check -p "$build" --root "$linux" --format=json \
    --min-confidence=low --fail-on=never --quiet \
    --cache-dir "$work/cache-$(basename "$build")" "$@" >"$to"
  report "$to" complete "$build"
}

report() { python3 "$root/test/whole/report" "$@"; }
