// NOLINT in each of its forms, as clang-tidy reads them.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
};

static void ok_same_line(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu(); // NOLINT(contention-sync-rcu-wait)
  kfree(p);
}
static void ok_next_line(struct port *p) {
  list_del_rcu(&p->list);
  // NOLINTNEXTLINE(contention-*)
  synchronize_rcu();
  kfree(p);
}
// NOLINTBEGIN(contention-sync-rcu-wait)
static void ok_block(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
}
// NOLINTEND(contention-sync-rcu-wait)
static void ok_all_rules(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu(); /* NOLINT */
  kfree(p);
}
static void bad_other_rule(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu(); // NOLINT(bugprone-infinite-loop)
  // CHECK: nolint.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(p);
}
static void bad_wrong_line(struct port *p) {
  list_del_rcu(&p->list); // NOLINT(contention-sync-rcu-wait)
  synchronize_rcu();
  // CHECK: nolint.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(p);
}
static int release(struct inode *inode, struct file *file) {
  ok_same_line(file->private_data);
  ok_next_line(file->private_data);
  ok_block(file->private_data);
  ok_all_rules(file->private_data);
  bad_other_rule(file->private_data);
  bad_wrong_line(file->private_data);
  return 0;
}
static const struct file_operations ops = {.release = release};
