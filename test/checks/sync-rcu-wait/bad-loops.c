// Loops that wait once per element, and waits that are reached through calls.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct hlist_node node;
  struct kref kref;
  refcount_t refs;
  int index;
};
static LIST_HEAD(ports);
static struct hlist_head buckets[16];
static struct port *slots[16];
static spinlock_t lock;
void unknown(struct port *p);

// ---- Kinds of loops, each the close of a file ---------------------------------

static int bad_hlist(struct inode *inode, struct file *file) {
  struct port *p;
  struct hlist_node *n;
  hlist_for_each_entry_safe(p, n, &buckets[0], node) {
    hlist_del_rcu(&p->node);
    synchronize_rcu();
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    kfree(p);
  }
  return 0;
}
static const struct file_operations hlist_ops = {.release = bad_hlist};

static int bad_counted(struct inode *inode, struct file *file) {
  for (int i = 0; i < 16; i++) {
    struct port *p = slots[i];
    rcu_assign_pointer(slots[i], NULL);
    synchronize_rcu();
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    kfree(p);
  }
  return 0;
}
static const struct file_operations counted_ops = {.release = bad_counted};

static int bad_until_empty(struct inode *inode, struct file *file) {
  while (!list_empty(&ports)) {
    struct port *p = list_first_entry(&ports, struct port, list);
    list_del_rcu(&p->list);
    synchronize_rcu();
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    kfree(p);
  }
  return 0;
}
static const struct file_operations empty_ops = {.release = bad_until_empty};


// Every round of the outer loop waits, whatever the inner one does.
static int bad_outer_only(struct inode *inode, struct file *file) {
  struct port *p;
  struct hlist_node *n;
  for (int i = 0; i < 16; i++) {
    hlist_for_each_entry_safe(p, n, &buckets[i], node)
      hlist_del_rcu(&p->node);
    synchronize_rcu();
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  }
  return 0;
}
static const struct file_operations outer_ops = {.release = bad_outer_only};

// Two loops over elements, one in the other: that is worse, not a condition.
static int bad_nested(struct inode *inode, struct file *file) {
  for (int i = 0; i < 16; i++) {
    struct port *p;
    list_for_each_entry(p, &slots[i]->list, list) {
      unknown(p);
      synchronize_rcu();
      // CHECK: bad-loops.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: high
    }
  }
  return 0;
}
static const struct file_operations nested_ops = {.release = bad_nested};

// Not every element waits: medium.
static int bad_sometimes(struct inode *inode, struct file *file) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    if (p->index == 7)
      synchronize_rcu();
      // CHECK: bad-loops.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every round of the loop waits)
    unknown(p);
  }
  return 0;
}
static const struct file_operations sometimes_ops = {.release = bad_sometimes};

// rcu_barrier() in a loop is a wait as well.
static int bad_barrier_loop(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    unknown(p);
    rcu_barrier();
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: rcu_barrier() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  }
  return 0;
}
static const struct file_operations barrier_ops = {.release = bad_barrier_loop};

// ---- Through callees -----------------------------------------------------------

// The wait is reported where it is paid, in the loop and in the puts below, and not
// a second time where it stands.
static void ok_quiesce(struct port *p) {
  unknown(p);
  synchronize_rcu();
  unknown(p);
}
static void port_stop(struct port *p) { ok_quiesce(p); }

static int bad_loop_through_calls(struct inode *inode, struct file *file) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list)
    port_stop(p);
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: port_stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  return 0;
}
static const struct file_operations calls_ops = {.release =
                                                     bad_loop_through_calls};

// The same wait: whoever only calls it has nothing to add.
static int ok_teardown_through_call(struct inode *inode, struct file *file) {
  port_stop(file->private_data);
  return 0;
}
static const struct file_operations teardown_ops = {
    .release = ok_teardown_through_call};

static void bad_put_through_call(struct port *p) {
  if (!p)
    return;
  if (refcount_dec_and_test(&p->refs))
    port_stop(p);
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: port_stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
}
static int close_put(struct inode *inode, struct file *file) {
  bad_put_through_call(file->private_data);
  return 0;
}
static const struct file_operations put_ops = {.release = close_put};

// kref_put() calls its argument in place, so the put is what waits.
static void ok_last_release(struct kref *kref) {
  port_stop(container_of(kref, struct port, kref));
}
static int bad_kref_close(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  kref_put(&p->kref, ok_last_release);
  // CHECK: bad-loops.c:[[@LINE-1]]:3: warning: dropping the last reference to 'struct port' waits for a grace period: kref_put() reaches synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: high
  return 0;
}
static const struct file_operations kref_ops = {.release = bad_kref_close};

// ---- Through a table with one target --------------------------------------------

struct port_ops {
  void (*detach)(struct port *p);
};
static void ok_detach(struct port *p) {
  unknown(p);
  synchronize_rcu();
  unknown(p);
}
static const struct port_ops foo_ops = {.detach = ok_detach};
static int bad_loop_through_slot(struct inode *inode, struct file *file) {
  const struct port_ops *ops = &foo_ops;
  struct port *p;
  list_for_each_entry(p, &ports, list)
    ops->detach(p);
    // CHECK: bad-loops.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: struct port_ops.detach() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  return 0;
}
static const struct file_operations slot_ops = {.release =
                                                    bad_loop_through_slot};

// ---- One finding for one wait ------------------------------------------------------

// No loop and no last put: the function that waits is the place, not its callers.
static void bad_stop(struct port *p) {
  unknown(p);
  synchronize_rcu();
  // CHECK: bad-loops.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown(p);
}
static int ok_first_close(struct inode *inode, struct file *file) {
  bad_stop(file->private_data);
  return 0;
}
static int ok_second_close(struct inode *inode, struct file *file) {
  bad_stop(file->private_data);
  return 0;
}
static const struct file_operations first_ops = {.release = ok_first_close};
static const struct file_operations second_ops = {.release = ok_second_close};

// The loop is less sure than the end of each object, so both are said.
static void bad_end(struct port *p) {
  unknown(p);
  synchronize_rcu();
  // CHECK: bad-loops.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown(p);
}
static int bad_rarely(struct inode *inode, struct file *file) {
  struct port *p;
  bad_end(file->private_data);
  list_for_each_entry(p, &ports, list)
    if (p->index > 3)
      if (p->index != 7)
        bad_end(p);
        // CHECK: bad-loops.c:[[@LINE-1]]:9: warning: each round of this loop waits for a grace period: bad_end() reaches synchronize_rcu() [contention-sync-rcu-wait]
        // CHECK: confidence: low (why not higher: {{.*}}the wait is far away or behind conditions)
  return 0;
}
static const struct file_operations rarely_ops = {.release = bad_rarely};
