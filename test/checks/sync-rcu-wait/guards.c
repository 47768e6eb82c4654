// What is there for some objects only: a wait behind a test whether it is there is
// one that not every object pays, so its confidence drops. Tests against misuse, and
// one test per element of a loop, cost nothing.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct filter {
  int kind;
};
struct port {
  struct list_head list;
  struct filter *filter;
  struct filter *error;
  refcount_t refs;
};
static struct port *slots[16];
void unknown(void *p);

#define RELEASE(fn) static const struct file_operations fn##_ops = {.release = fn}

// ---- The last put ------------------------------------------------------------------

static int bad_put_if_member(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (refcount_dec_and_test(&p->refs)) {
    if (p->filter)
      synchronize_rcu();
      // CHECK: guards.c:[[@LINE-1]]:7: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
    unknown(p);
  }
  return 0;
}
RELEASE(bad_put_if_member);

static int bad_put_unless_error(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (refcount_dec_and_test(&p->refs)) {
    if (!IS_ERR(p->error))
      synchronize_rcu();
      // CHECK: guards.c:[[@LINE-1]]:7: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
    unknown(p);
  }
  return 0;
}
RELEASE(bad_put_unless_error);

static int bad_put_early_return(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (!p->filter)
    return 0;
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: guards.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
    unknown(p);
  }
  return 0;
}
RELEASE(bad_put_early_return);

// The test may stand in a function on the way. The put is no surer than the
// operation in general, so both are said.
static void bad_filter_stop(struct port *p) {
  if (!p->filter)
    return;
  unknown(p->filter);
  synchronize_rcu();
  // CHECK: guards.c:[[@LINE-1]]:3: warning: a frequent operation on 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the caller may rely on the wait)
  unknown(p->filter);
}
static void bad_put_through_call(struct port *p) {
  if (refcount_dec_and_test(&p->refs))
    bad_filter_stop(p);
    // CHECK: guards.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: bad_filter_stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
}
static long put_call(struct file *file, unsigned cmd, unsigned long arg) {
  bad_put_through_call(file->private_data);
  return 0;
}
static const struct file_operations call_ops = {.unlocked_ioctl = put_call};

// A parameter that is null is a put of nothing.
static void bad_put_of_parameter(struct port *p) {
  if (!p)
    return;
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: guards.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    unknown(p);
  }
}
static int put_parameter(struct inode *inode, struct file *file) {
  bad_put_of_parameter(file->private_data);
  return 0;
}
RELEASE(put_parameter);

// ---- Loops: one test is for holes in the table, two are more ----------------------------

static int bad_loop_one(struct inode *inode, struct file *file) {
  for (int i = 0; i < 16; i++) {
    struct port *p = slots[i];
    if (!p)
      continue;
    unknown(p);
    synchronize_rcu();
    // CHECK: guards.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
  }
  return 0;
}
RELEASE(bad_loop_one);

static int bad_loop_two(struct inode *inode, struct file *file) {
  for (int i = 0; i < 16; i++) {
    struct port *p = slots[i];
    if (!p)
      continue;
    if (p->filter)
      synchronize_rcu();
      // CHECK: guards.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
    unknown(p);
  }
  return 0;
}
RELEASE(bad_loop_two);
