// A plan that also edits a header is not a fix: clang-tidy would change the
// header for every unit that it sees it in. The note says what would be edited.

// RUN: rm -rf %t && mkdir %t && cp %s %t/unit.c && cp %S/Inputs/port.h %t
// RUN: %clang-tidy --load=%plugin --fix -checks='-*,contention-*' \
// RUN:   -config='{CheckOptions: {contention-sync-rcu-wait.Root: %t}}' %t/unit.c -- 2>&1 \
// RUN:   | FileCheck %s
// RUN: cmp %s %t/unit.c
// RUN: cmp %S/Inputs/port.h %t/port.h

#include "port.h"

// CHECK: unit.c:[[@LINE+4]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
static int bad_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
const struct file_operations bad_fops = {.release = bad_release};
// CHECK: note: fix: {{.*}} (review); it edits port.h, unit.c: see 'decontend check -p FOLDER --diff unit.c'
