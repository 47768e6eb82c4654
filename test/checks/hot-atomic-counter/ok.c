// What looks alike and must stay silent.
// RUN: %check-unit %s --min-confidence=low --checks=hot-atomic-counter --status=0 | FileCheck %s --implicit-check-not='warning:'
// CHECK: 1 unit (0 cached, 0 failed)

#include "Inputs/kernel.h"

struct table {
  atomic_t refs;
  atomic_t next_id;
  atomic_t used;
  atomic_t state;
  atomic_t flags;
  atomic_t admin;
  atomic_t failed;
};
static struct table table;

// A reference count that is taken when a file is opened.
static int ok_reference_get(struct inode *inode, struct file *file) {
  atomic_inc(&table.refs);
  return 0;
}
static int ok_reference_put(struct inode *inode, struct file *file) {
  if (atomic_dec_and_test(&table.refs))
    kfree(file->private_data);
  return 0;
}

// Numbers are handed out.
static int ok_generator(struct sk_buff *skb, struct net_device *dev) {
  skb->len = atomic_inc_return(&table.next_id);
  return 0;
}

// A limit is compared at each update.
static int ok_limit(struct sk_buff *skb, struct net_device *dev) {
  if (atomic_add_return(skb->len, &table.used) > 4096)
    atomic_sub(skb->len, &table.used);
  return 0;
}

// A state that is exchanged.
static int ok_state(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&table.state);
  if (atomic_cmpxchg(&table.state, 2, 0) == 2)
    kfree(skb);
  return 0;
}

// Flags.
static int ok_flags(struct sk_buff *skb, struct net_device *dev) {
  atomic_or(4, &table.flags);
  return 0;
}

// Only administrators get there.
static int ok_admin(struct net_device *dev) {
  atomic_inc(&table.admin);
  return 0;
}
static int ok_report(struct seq_file *m, void *v) {
  seq_printf(m, "%d %d\n", atomic_read(&table.admin),
             atomic_read(&table.failed));
  return 0;
}

// Only failures count.
static int ok_failures(struct sk_buff *skb, struct net_device *dev) {
  int err = atomic_read(&table.flags);
  if (err)
    goto fail;
  return 0;
fail:
  atomic_inc(&table.failed);
  return err;
}

// An object of its own for each task: nobody else touches it.
struct task_struct {
  atomic_t faults;
};
static long ok_per_task(struct file *file, char *buf, size_t n) {
  struct task_struct *t = file->private_data;
  atomic_inc(&t->faults);
  return atomic_read(&t->faults);
}

// The update is limited by a clock already.
u64 ktime_get(void);
static u64 last;
static atomic_t load;
static int ok_rate_limited(struct sk_buff *skb, struct net_device *dev) {
  u64 now = ktime_get();
  if (now - last < 1000)
    return 0;
  last = now;
  atomic_add(skb->len, &load);
  return atomic_read(&load) > 5 ? 1 : 0;
}

static const struct net_device_ops ops[] = {
    {.ndo_start_xmit = ok_generator, .ndo_open = ok_admin},
    {.ndo_start_xmit = ok_limit},
    {.ndo_start_xmit = ok_rate_limited},
    {.ndo_start_xmit = ok_state},
    {.ndo_start_xmit = ok_flags},
    {.ndo_start_xmit = ok_failures}};
static const struct seq_operations report_ops = {.show = ok_report};
static const struct file_operations file_ops = {.open = ok_reference_get,
                                                .release = ok_reference_put,
                                                .read = ok_per_task};
