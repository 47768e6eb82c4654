#!/usr/bin/env bash
# Linux 6.1 with the wait for each IPC namespace put back where it was before
# e1eb26fa62d0: in the last put, three calls away from synchronize_rcu().
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/trees.bash"

patch=$shared/kernel/patches/pre-e.patch
[ -f "$patch" ] || skip "there is no $patch"

tree 6.1 "$patch"
check "$work/seed.json"
report "$work/seed.json" high put_ipc_ns \
  put_ipc_ns mq_put_mnt kern_unmount synchronize_rcu
