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

// A switch that stands off by default is not known to be off.
static int port_debug;
static int fp_debug_only(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (port_debug) {
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: what follows the wait may need it)
    unknown(p);
  }
  return 0;
}
static const struct file_operations debug_ops = {.release = fp_debug_only};

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

// A retry that sets a local pointer on the way looks like a walk over elements.
static int fp_retry_with_local(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  while (port_try(p)) {
    struct port *other = slots[p->index];
    unknown(other);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: the loop repeats until something is done, it walks no elements)
  }
  return 0;
}
static const struct file_operations local_ops = {.release =
                                                     fp_retry_with_local};

// rcu_barrier() waits for callbacks; it is no second grace period.
static int bad_barrier_behind(struct inode *inode, struct file *file) {
  unknown(file->private_data);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct inode' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  rcu_barrier();
  return 0;
}
static const struct file_operations behind_ops = {.release =
                                                      bad_barrier_behind};

// Who is called by nobody but itself is not called with RTNL held.
void ok_calls_itself(struct port *p, int depth) {
  unknown(p);
  synchronize_rcu();
  unknown(p);
  if (depth)
    ok_calls_itself(p, depth - 1);
}

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
    // CHECK: limits.c:[[@LINE-1]]:5: warning: the end of each 'struct inode' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
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
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  port_free(p);
  return 0;
}
static const struct file_operations callee_ops = {.release =
                                                      fn_free_in_callee};

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
  // CHECK: limits.c:[[@LINE-1]]:3: warning: the end of each 'struct inode' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  if (!list_empty(&ports))
    goto again;
  return 0;
}
static const struct file_operations goto_ops = {.release = fn_goto_loop};

// The wait is one per bucket: the outer loop has no braces, and its body starts
// with an iteration macro.
static int bad_search_per_bucket(struct inode *inode, struct file *file) {
  struct port *p;
  for (int i = 0; i < 16; i++)
    list_for_each_entry(p, &slots[i]->list, list) {
      unknown(p);
      synchronize_rcu();
      // CHECK: limits.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: high
      break;
    }
  return 0;
}
static const struct file_operations bucket_ops = {.release =
                                                      bad_search_per_bucket};

// A goto to the end of the round, or before the loop, which is so gone through
// again, is no way out of the loop.
static int bad_goto_next_round(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    if (p->state == 3) {
      unknown(p);
      synchronize_rcu();
      // CHECK: limits.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every round of the loop waits)
      goto next;
    }
    unknown(p);
  next:
    p->index = 0;
  }
  return 0;
}
static const struct file_operations next_ops = {.release = bad_goto_next_round};
static int bad_restart(struct inode *inode, struct file *file) {
  struct port *p;
restart:
  list_for_each_entry(p, &ports, list) {
    list_del_rcu(&p->list);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    unknown(p);
    goto restart;
  }
  return 0;
}
static const struct file_operations restart_ops = {.release = bad_restart};

// A loop behind the wait over the parts of the one object that ends; in a work item
// nothing is said.
static int bad_parts(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: limits.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  for (int i = 0; i < 16; i++)
    kfree(slots[i]);
  kfree(p);
  return 0;
}
static const struct file_operations parts_ops = {.release = bad_parts};
static void fn_worker_parts(struct work_struct *work) {
  synchronize_rcu();
  for (int i = 0; i < 16; i++)
    unknown(slots[i]);
}
static DECLARE_WORK(parts_work, fn_worker_parts);

// `while` over elements that sets no pointer of its own: low only.
static int fn_drain_by_call(struct inode *inode, struct file *file) {
  while (!list_empty(&ports)) {
    unknown(list_first_entry(&ports, struct port, list));
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: the loop repeats until something is done, it walks no elements)
  }
  return 0;
}
static const struct file_operations drain_ops = {.release = fn_drain_by_call};
static int fn_counts_down(struct inode *inode, struct file *file) {
  int i = 16;
  while (i--) {
    unknown(slots[i]);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: the loop repeats until something is done, it walks no elements)
  }
  return 0;
}
static const struct file_operations down_ops = {.release = fn_counts_down};

// A null test of a local variable counts as one of something optional, even if it
// only guards against misuse: medium.
static int fn_tested_local(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (!p)
    return 0;
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: the wait is only for what may be absent)
    unknown(p);
  }
  return 0;
}
static const struct file_operations tested_ops = {.release = fn_tested_local};

// In a loop the object is the first that the function has, not the element.
static int fn_names_the_element(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    unknown(p);
    synchronize_rcu();
    // CHECK: limits.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: sharing: 'struct inode' is read under rcu by others
    // CHECK: confidence: high
  }
  return 0;
}
static const struct file_operations names_ops = {.release =
                                                     fn_names_the_element};
