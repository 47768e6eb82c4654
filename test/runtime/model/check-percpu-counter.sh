#!/bin/sh
# Model checks adds, publishing and limits of the counter with spin: the algorithm
# must hold, and each mutant must fail. Exit code 77 (skipped) without spin.
#
#   check-percpu-counter.sh [long]
set -eu

command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
model=$(cd "$(dirname "$0")" && pwd)/percpu_counter.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check EXPECTED DEFINES...: EXPECTED is holds or fails.
check() {
  expected=$1
  shift
  spin -a "$@" "$model" >/dev/null
  "${CC:-cc}" -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c
  ./pan -m5000000 >out
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)
  # A search that was cut short has proved nothing.
  if grep -q -e 'max search depth too small' -e 'Search not completed' \
    -e 'reached -DMEMLIM' out && ! grep -q 'errors: [1-9]' out; then
    result=unfinished
  elif grep -q 'errors: 0' out; then
    result=holds
  else
    result=fails
  fi
  echo "$result ($states states): $*"
  if [ "$result" != "$expected" ]; then
    echo "error: expected that it $expected" >&2
    cat out >&2
    exit 1
  fi
}

# Near the limit, where all sum; and while others publish, where few do.
near="-DADDERS=2 -DTRIES=2 -DLIMIT=1"
far="-DADDERS=2 -DTRIES=1 -DLIMIT=3 -DHELPERS -DSTILL"
# Split on purpose, here and below.
# shellcheck disable=SC2086
check holds $far
check holds -DADDERS=2 -DTRIES=3 -DLIMIT=3 -DAMOUNT=2
if [ "${1:-}" = long ]; then
  # shellcheck disable=SC2086
  check holds $near
  # shellcheck disable=SC2086
  check holds $far -DBATCH=3
  check holds -DADDERS=2 -DTRIES=2 -DLIMIT=3
fi

for mutant in $(grep -o 'MUTANT_[A-Z][A-Z_]*' "$model" | sort -u); do
  case $mutant in
  MUTANT_MARGIN_OF_ONE_CPU) of="$far -DBATCH=3" ;;
  MUTANT_COUNT_AFTER_END | MUTANT_UNANNOUNCED | MUTANT_TORN_COUNT) of=$far ;;
  *) of=$near ;;
  esac
  # shellcheck disable=SC2086
  check fails $of -D"$mutant"
done
