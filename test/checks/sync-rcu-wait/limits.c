// What the rule is known to get wrong: fp_ functions are reported and should not
// be (or not like this), fn_ functions are missed. Each stands for one of the
// approximations that docs/checks/sync-rcu-wait.md lists; whoever improves one of
// them changes the expectation here.
// RUN: %check-unit %s --min-confidence=low | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct rcu_head rcu;
  refcount_t refs;
  int state;
  int index;
};
static LIST_HEAD(ports);
static struct port *slots[16];
void unknown(struct port *p);
int port_try(struct port *p);

// ---- False positives --------------------------------------------------------------

// The object is used again, not freed: the free is of another one, but both are
// what follows the wait.
static int fp_wait_for_another(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  struct port *copy = kzalloc(sizeof(*copy), GFP_KERNEL);
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen where the freed object is unlinked)
  kfree(copy);
  return 0;
}
static const struct file_operations another_ops = {.release =
                                                       fp_wait_for_another};

// A loop that runs twice at most.
static int fp_short_loop(struct inode *inode, struct file *file) {
  for (int i = 0; i < 2; i++) {
    unknown(slots[i]);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  }
  return 0;
}
static const struct file_operations short_ops = {.release = fp_short_loop};

// A retry loop with a condition of its own looks like one over elements.
static int fp_retry_loop(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  while (port_try(p))
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  return 0;
}
static const struct file_operations retry_ops = {.release = fp_retry_loop};

// A loop that breaks behind the wait waits once, not once per element.
static int fp_found_one(struct inode *inode, struct file *file) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    if (p->index == 3) {
      list_del_rcu(&p->list);
      synchronize_rcu();
      // CHECK: limits.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every round of the loop waits)
      kfree(p);
      break;
    }
  }
  return 0;
}
static const struct file_operations found_ops = {.release = fp_found_one};

// A switch that stands off by default is not known to be off.
static int port_debug;
static int fp_debug_only(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (port_debug) {
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: the end of each 'struct {{[a-z_]+}}' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: what follows the wait may need it)
    unknown(p);
  }
  return 0;
}
static const struct file_operations debug_ops = {.release = fp_debug_only};

// A thread of its own may wait as long as it likes; it holds up no worker.
static int fp_thread(void *data) {
  struct port *p = data;
  unknown(p);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: work item waits for a grace period for its own object: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: a work item may wait; it only holds a worker)
  unknown(p);
  return 0;
}
void start_thread(struct port *p) { kthread_run(fp_thread, p, "port"); }

// A table with many targets passes heat on to all of them.
struct port_ops {
  void (*detach)(struct port *p);
};
static void fp_one_of_many(struct port *p) {
  p->state = 0;
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown(p);
}
static void fast_detach(struct port *p) { unknown(p); }
static const struct port_ops slow_ops = {.detach = fp_one_of_many};
static const struct port_ops fast_ops = {.detach = fast_detach};

// ---- False negatives --------------------------------------------------------------

// Through the same table waits are not followed: the loop is not reported.
static int fn_loop_over_many_targets(struct inode *inode, struct file *file) {
  const struct port_ops *ops = file->private_data;
  struct port *p;
  list_for_each_entry(p, &ports, list)
    ops->detach(p);
  return 0;
}
static const struct file_operations many_ops = {.release =
                                                    fn_loop_over_many_targets};

// A function pointer in a local variable: nobody knows the target.
static void quiesce(struct port *p) { synchronize_rcu(); }
static int fn_local_pointer(struct inode *inode, struct file *file) {
  void (*stop)(struct port *) = quiesce;
  struct port *p;
  list_for_each_entry(p, &ports, list)
    stop(p);
  return 0;
}
static const struct file_operations pointer_ops = {.release =
                                                       fn_local_pointer};

// The way out through a label that is named like an error is taken for one.
static int fn_normal_way_named_err(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (p->state)
    goto err_or_done;
  return 0;
err_or_done:
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
static const struct file_operations named_ops = {.release =
                                                     fn_normal_way_named_err};

// A status that is no error: `if (ret)` counts as handling one.
static int fn_status_is_no_error(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  int last = port_try(p);
  if (last) {
    list_del_rcu(&p->list);
    synchronize_rcu();
    kfree(p);
  }
  return 0;
}
static const struct file_operations status_ops = {.release =
                                                      fn_status_is_no_error};

// An endless loop that takes one element per round and leaves by break.
static int fn_endless_over_elements(struct inode *inode, struct file *file) {
  for (;;) {
    struct port *p;
    if (list_empty(&ports))
      break;
    p = list_first_entry(&ports, struct port, list);
    list_del_rcu(&p->list);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: the end of each 'struct {{[a-z_]+}}' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: what follows the wait may need it)
    unknown(p);
  }
  return 0;
}
static const struct file_operations endless_ops = {
    .release = fn_endless_over_elements};

// Hubs are opaque: that the last put of the mount waits is not seen here.
struct vfsmount;
void mntput(struct vfsmount *mnt);
static int fn_behind_a_hub(struct inode *inode, struct file *file) {
  mntput(file->private_data);
  return 0;
}
static const struct file_operations hub_ops = {.release = fn_behind_a_hub};

// An expedited wait per element interrupts every CPU once per element, and an
// adaptive one may wait; neither is reported.
static int fn_expedited_loop(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list)
    synchronize_rcu_expedited();
  return 0;
}
static const struct file_operations expedited_ops = {.release =
                                                         fn_expedited_loop};
static int fn_adaptive_loop(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    unknown(p);
    synchronize_net();
  }
  return 0;
}
static const struct file_operations adaptive_ops = {.release =
                                                        fn_adaptive_loop};

// The free stands in a function that is not a known free: a wait in teardown, not
// one that only frees, and with less confidence.
void port_free(struct port *p) { kfree(p); }
static int fn_free_in_callee(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct {{[a-z_]+}}' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  port_free(p);
  return 0;
}
static const struct file_operations callee_ops = {.release =
                                                      fn_free_in_callee};

// An element loop in another counts as a condition: medium only.
static int fn_nested_loops(struct inode *inode, struct file *file) {
  for (int i = 0; i < 16; i++) {
    struct port *p;
    list_for_each_entry(p, &slots[i]->list, list) {
      unknown(p);
      synchronize_rcu();
      // CHECK: limits.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every round of the loop waits)
    }
  }
  return 0;
}
static const struct file_operations nested_ops = {.release = fn_nested_loops};

// A recursion that waits once per level is no loop.
static void fn_recursion(struct port *p, int depth) {
  if (!depth)
    return;
  unknown(p);
  synchronize_rcu();
  fn_recursion(p, depth - 1);
}
void start_recursion(struct port *p) { fn_recursion(p, 9); }

// A goto backwards makes a loop that is not seen as one.
static int fn_goto_loop(struct inode *inode, struct file *file) {
  struct port *p;
again:
  p = list_first_entry(&ports, struct port, list);
  unknown(p);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct {{[a-z_]+}}' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  if (!list_empty(&ports))
    goto again;
  return 0;
}
static const struct file_operations goto_ops = {.release = fn_goto_loop};
