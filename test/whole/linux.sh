#!/usr/bin/env bash
# Whole Linux trees: every unit of 6.1 and 6.12 is analysed; the wait per
# namespace in a work item, which 6.1 has and 6.12 batches, is reported on the
# one and not on the other; caches and threads do not change a byte.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/trees.bash"

# Reports differ in how many units the cache held, and in nothing else.
plain() { sed 's/^\(    "cached": \)[0-9]*/\1N/' "$1"; }

for version in 6.1 6.12; do
  echo "-- Linux $version"
  tree "$version"
  check "$work/cold.json"
  check "$work/warm.json"
  check "$work/again.json"
  cmp "$work/warm.json" "$work/again.json"
  cmp <(plain "$work/cold.json") <(plain "$work/warm.json")

  # put_ipc_ns() hands namespaces to the work item free_ipc().
  case $version in
  6.1) report "$work/warm.json" high free_ipc free_ipc_ns mq_put_mnt kern_unmount ;;
  6.12) report "$work/warm.json" absent free_ipc ;;
  esac
  report "$work/warm.json" absent put_ipc_ns

  # Threads, without a cache, on part of the tree for the sake of time.
  mkdir -p "$work/part"
  python3 - "$build" "$linux" "$work/part" <<'PY'
import json, os, sys
build, linux, part = sys.argv[1:]
inside = tuple(os.path.join(os.path.realpath(linux), folder, "")
               for folder in ("ipc", "kernel/rcu", "net/core"))
with open(os.path.join(build, "compile_commands.json")) as f:
    commands = [c for c in json.load(f)
                if os.path.realpath(os.path.join(c["directory"], c["file"]))
                .startswith(inside)]
assert len(commands) > 10, f"only {len(commands)} units in {inside}"
with open(os.path.join(part, "compile_commands.json"), "w") as f:
    json.dump(commands, f)
PY
  for threads in 1 2; do
    "$decontend" check -p "$work/part" --root "$linux" --format=json --quiet \
      --min-confidence=low --fail-on=never --no-cache -j "$threads" \
      >"$work/threads-$threads.json"
  done
  report "$work/threads-1.json" complete "$work/part"
  cmp "$work/threads-1.json" "$work/threads-2.json"
done
