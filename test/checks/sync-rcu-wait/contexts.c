// How a function is reached decides: who takes its address, where it is put, what
// is passed to whom. The same wait in all of them.
// RUN: %check-unit %s --min-confidence=low | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct rcu_head rcu;
  struct work_struct work;
  struct work_struct drain;
  refcount_t refs;
};
void unknown(void *p);

// Work items: by INIT_WORK() and by DECLARE_WORK().
static void bad_init_work(struct work_struct *work) {
  struct port *p = container_of(work, struct port, work);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: work item waits for a grace period for its own 'struct port': synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: a work item may wait; it only holds a worker)
  unknown(p);
}
// Without an object of its own, a work item only does what it is queued for.
static void ok_declared_work(struct work_struct *work) {
  synchronize_rcu();
  unknown(work);
}
static DECLARE_WORK(declared, ok_declared_work);
void setup_work(struct port *p) {
  INIT_WORK(&p->work, bad_init_work);
  schedule_work(&declared);
}

// A function that only a work item calls is asynchronous, not frequent.
static void ok_called_by_work(struct port *p) {
  unknown(p);
  synchronize_rcu();
  unknown(p);
}
static void ok_work(struct work_struct *work) {
  ok_called_by_work(container_of(work, struct port, drain));
}
void setup_drain(struct port *p) { INIT_WORK(&p->drain, ok_work); }

// A worker that waits once per element of its list has gained little.
static LIST_HEAD(dead);
static void bad_worker_loop(struct work_struct *work) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &dead, list) {
    synchronize_rcu();
    // CHECK: contexts.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    kfree(p);
  }
}
static DECLARE_WORK(drain_work, bad_worker_loop);

// One that takes the whole list, waits once and then goes through it is the remedy.
static void ok_batch_worker(struct work_struct *work) {
  static LIST_HEAD(mine);
  struct port *p, *n;
  list_splice_init(&dead, &mine);
  synchronize_rcu();
  list_for_each_entry_safe(p, n, &mine, list)
    unknown(p);
}
static DECLARE_WORK(batch_work, ok_batch_worker);
static void ok_batch_free(struct work_struct *work) {
  static LIST_HEAD(mine);
  struct port *p, *n;
  list_splice_init(&dead, &mine);
  synchronize_rcu();
  list_for_each_entry_safe(p, n, &mine, list)
    kfree(p);
}
static DECLARE_WORK(free_work, ok_batch_free);

// A thread of its own may wait as long as it likes: it holds up no worker. For each
// element is too often for it as well.
static int ok_thread(void *data) {
  struct port *p = data;
  unknown(p);
  synchronize_rcu();
  unknown(p);
  return 0;
}
static int bad_thread_loop(void *data) {
  struct port *p;
  list_for_each_entry(p, &dead, list) {
    unknown(p);
    synchronize_rcu();
    // CHECK: contexts.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  }
  return 0;
}
void start_threads(struct port *p) {
  kthread_run(ok_thread, p, "port");
  kthread_run(bad_thread_loop, p, "ports");
}

// A free behind a wait in a callback of RCU, which is asynchronous already: low.
static void bad_but_async(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: low (why not higher: already asynchronous)
  kfree(p);
}
static void port_gone(struct rcu_head *head) {
  bad_but_async(container_of(head, struct port, rcu));
}
void defer(struct port *p) { call_rcu(&p->rcu, port_gone); }

// Passed through a wrapper that stores it into a slot.
static void set_work(struct work_struct *work,
                     void (*fn)(struct work_struct *)) {
  work->func = fn;
}
static void bad_through_wrapper(struct work_struct *work) {
  struct port *p = container_of(work, struct port, work);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: work item waits for a grace period for its own 'struct port': synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: a work item may wait; it only holds a worker)
  unknown(p);
}
void setup_wrapped(struct port *p) { set_work(&p->work, bad_through_wrapper); }

// Set-up that drops a last reference gives back its own: low. Reached from a close
// as well, it is one like all others.
struct port *port_find(int index);
static int bad_but_open(struct inode *inode, struct file *file) {
  struct port *p = port_find(3);
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: contexts.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: set-up only gives back what it took itself)
    unknown(p);
  }
  return 0;
}
static void bad_put(struct port *p) {
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: contexts.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    unknown(p);
  }
}
static int open_again(struct inode *inode, struct file *file) {
  bad_put(port_find(4));
  return 0;
}
static int close_put(struct inode *inode, struct file *file) {
  bad_put(file->private_data);
  return 0;
}
static const struct file_operations open_ops = {.open = bad_but_open};
static const struct file_operations put_ops = {.open = open_again,
                                               .release = close_put};

// A system call, by its name.
long bad_call(int fd);
long __do_sys_bad_call(int fd) {
  unknown(&fd);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: a frequent operation on an object waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the caller may rely on the wait)
  unknown(&fd);
  return 0;
}

// Frequent from one side, exit from the other: frequent counts.
static void bad_both_ways(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(p);
}
static int release(struct inode *inode, struct file *file) {
  bad_both_ways(file->private_data);
  return 0;
}
static const struct file_operations ops = {.release = release};
static void __exit leave(void) { bad_both_ways(NULL); }
module_exit(leave)

// Only administrators get there: medium.
static void bad_admin_only(struct net_device *dev, struct list_head *head) {
  struct port *p = list_first_entry(head, struct port, list);
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: contexts.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: only reached on administration or hot-plug)
  kfree(p);
}
static struct rtnl_link_ops link_ops = {.dellink = bad_admin_only};
