#!/bin/sh
# Model checks the handshake of the biased lock with spin: the algorithm must
# hold, and each mutant must fail. Exit code 77 (skipped) without spin.
#
#   check-biased-rwlock.sh [more readers: 3]
set -eu

command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
model=$(cd "$(dirname "$0")" && pwd)/biased_rwlock.pml
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

# Rows of their own, a row that two share, and nobody who never waits.
check holds -DREADERS=2 -DROWS=2
check holds -DREADERS=2 -DROWS=1
check holds -DREADERS=1 -DROWS=1 -DNO_TRY
[ "${1:-2}" -lt 3 ] || check holds -DREADERS=3 -DROWS=2

for mutant in $(grep -o 'MUTANT_[A-Z][A-Z_]*' "$model" | sort -u); do
  case $mutant in
  # Only readers that share a row take each other's slot.
  MUTANT_FORGETFUL_LEAVE) of="-DREADERS=2 -DROWS=1" ;;
  MUTANT_NESTED_READ_LOCKS) of="-DREADERS=1 -DROWS=1 -DNO_TRY" ;;
  *) of="-DREADERS=2 -DROWS=2" ;;
  esac
  # Split on purpose.
  # shellcheck disable=SC2086
  check fails $of -D"$mutant"
done
