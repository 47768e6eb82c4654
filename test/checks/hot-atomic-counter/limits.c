// What the rule is known to miss (fn_) or to report wrongly (fp_).
// RUN: %check-unit %s --min-confidence=low --status=1 --checks=hot-atomic-counter | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

// Elements that a member points to are not taken for counters.
struct set {
  atomic_t *slots;
};
static struct set set;
static int fn_pointer_elements(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&set.slots[skb->len]);
  return 0;
}

// Fields are told apart by record and name, not by object: that one object's
// counter is a limit hides that the other's is not.
struct pool {
  atomic_t count;
};
static struct pool limited, counted;
static int fn_other_object(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&counted.count);
  if (atomic_add_return(1, &limited.count) > 100)
    kfree(skb);
  return 0;
}

// A function that is called through a pointer that nobody sees being set.
static atomic_t unseen;
int (*hook)(struct sk_buff *skb);
int fn_unseen_call(struct sk_buff *skb) {
  atomic_inc(&unseen);
  return 0;
}

// What looks inside an atomic type is seen, but not what for.
static atomic_t inside;
static int fp_read_inside(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&inside);
  // CHECK: limits.c:[[@LINE-1]]:15: warning: 'inside' is bumped by everyone and read only to be shown [contention-hot-atomic-counter]
  // CHECK: confidence: low (why not higher: its address or offset goes where nobody looks)
  return inside.counter > 7;
}

// One for each file that is open, but set up where an administrator may do so,
// too: it passes for one of few.
struct session {
  atomic_t calls;
};
static int open_session(struct inode *inode, struct file *file) {
  struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);
  file->private_data = s;
  return s ? 0 : -ENOMEM;
}
static long fp_object_per_open(struct file *file, char *buf, size_t n) {
  struct session *s = file->private_data;
  atomic_inc(&s->calls);
  // CHECK: limits.c:[[@LINE-1]]:18: warning: 'struct session.calls' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  return 0;
}

// A variable that is assigned anew is taken to hold the counter's value still.
static atomic_t mixed;
static int fn_overwritten(struct sk_buff *skb, struct net_device *dev) {
  int n = atomic_inc_return(&mixed);
  n = skb->len;
  return n > 1;
}

static const struct net_device_ops ops[] = {
    {.ndo_start_xmit = fn_pointer_elements},
    {.ndo_start_xmit = fn_other_object},
    {.ndo_start_xmit = fp_read_inside},
    {.ndo_start_xmit = fn_overwritten}};
static const struct file_operations session_ops = {.open = open_session,
                                                   .read = fp_object_per_open};
