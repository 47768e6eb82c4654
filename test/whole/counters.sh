#!/usr/bin/env bash
# Linux 6.1 with the message counters of an IPC namespace put back to what they
# were before 72d1e611082e: two atomic_t that every message bumps.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/trees.bash"

patch=$shared/kernel/patches/pre-b.patch
[ -f "$patch" ] || skip "there is no $patch"

counters=(struct\ ipc_namespace.msg_bytes struct\ ipc_namespace.msg_hdrs)
tree 6.1 "$patch"
check "$work/before.json"
for counter in "${counters[@]}"; do
  report "$work/before.json" counter "$counter" \
    do_msgsnd do_msgrcv freeque msgctl_info msg_init_ns
done
tree 6.1
check "$work/stock.json"
report "$work/stock.json" no-counter "${counters[@]}" \
  struct\ ipc_namespace.percpu_msg_bytes struct\ ipc_namespace.percpu_msg_hdrs
