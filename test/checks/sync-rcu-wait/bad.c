// One function for each shape, and the ways in which its confidence drops.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct rcu_head rcu;
  struct work_struct work;
  refcount_t refs;
  struct filter *filter;
  int state;
};
struct filter {
  int kind;
};
struct mnt {
  struct kref kref;
  struct list_head list;
};

static struct mutex ports_lock;
static LIST_HEAD(ports);
static struct srcu_struct domain;
static struct kmem_cache *port_cache;
static struct filter *current_filter;

// ---- wait-then-free ----------------------------------------------------------

static int bad_then_free(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(p);
  return 0;
}
static const struct file_operations then_free_ops = {.release = bad_then_free};

static int bad_then_free_under_lock(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  mutex_lock(&ports_lock);
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  mutex_unlock(&ports_lock);
  kfree(p);
  return 0;
}
static const struct file_operations under_lock_ops = {
    .release = bad_then_free_under_lock};

static int bad_then_cache_free(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  pr_debug("port is gone\n");
  kmem_cache_free(port_cache, p);
  return 0;
}
static const struct file_operations cache_ops = {.release =
                                                     bad_then_cache_free};

static int bad_then_free_srcu(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_srcu(&domain);
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_srcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(p);
  return 0;
}
static const struct file_operations srcu_ops = {.release = bad_then_free_srcu};

// The pointer that readers follow is replaced; the old value is freed.
static long bad_replace(struct file *file, unsigned cmd, unsigned long arg) {
  struct filter *new = kzalloc(sizeof(*new), GFP_KERNEL);
  struct filter *old;
  if (!new)
    return -ENOMEM;
  old = rcu_dereference_protected(current_filter, 1);
  rcu_assign_pointer(current_filter, new);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct filter' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(old);
  return 0;
}
static const struct file_operations replace_ops = {.unlocked_ioctl =
                                                       bad_replace};

// The global is read like any other variable, and then cleared.
static int bad_clear_global(struct inode *inode, struct file *file) {
  struct filter *old = current_filter;
  rcu_assign_pointer(current_filter, NULL);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct filter' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(old);
  return 0;
}
static const struct file_operations clear_global_ops = {.release =
                                                            bad_clear_global};

static long bad_clear(struct file *file, unsigned cmd, unsigned long arg) {
  struct port *p = file->private_data;
  struct filter *old = p->filter;
  RCU_INIT_POINTER(p->filter, NULL);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct filter' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  kfree(old);
  return 0;
}
static const struct file_operations clear_ops = {.unlocked_ioctl = bad_clear};

// Nobody is seen who calls it: medium.
void bad_caller_unknown(struct port *p) {
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen who calls it)
  kfree(p);
}

// Where it is unlinked is not seen: medium.
static int bad_unlink_elsewhere(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen where the freed object is unlinked)
  kfree(p);
  return 0;
}
static const struct file_operations elsewhere_ops = {.release =
                                                         bad_unlink_elsewhere};

// Something unknown follows the free: medium.
void unknown(void);
static int bad_more_follows(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: more follows the free (line {{[0-9]+}}), which may need the wait)
  kfree(p);
  unknown();
  return 0;
}
static const struct file_operations more_ops = {.release = bad_more_follows};

// The author says that the wait does more: low.
static int bad_but_commented(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  /* Readers must be gone. This also orders the state of the hardware. */
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
  // CHECK: confidence: low
  kfree(p);
  return 0;
}
static const struct file_operations commented_ops = {.release =
                                                         bad_but_commented};

// ---- wait-in-loop ------------------------------------------------------------

static int bad_loop(struct inode *inode, struct file *file) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    list_del_rcu(&p->list);
    synchronize_rcu();
    // CHECK: bad.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    kfree(p);
  }
  return 0;
}
static const struct file_operations loop_ops = {.release = bad_loop};

// ---- wait-on-last-put --------------------------------------------------------

void port_unplug(struct port *p);

void bad_put(struct port *p) {
  if (refcount_dec_and_test(&p->refs)) {
    synchronize_rcu();
    // CHECK: bad.c:[[@LINE-1]]:5: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    port_unplug(p);
  }
}
static int close_put(struct inode *inode, struct file *file) {
  bad_put(file->private_data);
  return 0;
}
static const struct file_operations put_ops = {.release = close_put};

static int bad_put_early_return(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (!refcount_dec_and_test(&p->refs))
    return 0;
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: high
  port_unplug(p);
  return 0;
}
static const struct file_operations early_ops = {.release =
                                                     bad_put_early_return};

// Only some last references wait: medium.
static int bad_put_sometimes(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  if (refcount_dec_and_test(&p->refs)) {
    if (p->state == 3)
      synchronize_rcu();
      // CHECK: bad.c:[[@LINE-1]]:7: warning: dropping the last reference to 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every last reference waits)
    port_unplug(p);
  }
  return 0;
}
static const struct file_operations sometimes_ops = {.release =
                                                         bad_put_sometimes};

// ---- wait-in-work ------------------------------------------------------------

static void bad_work(struct work_struct *work) {
  struct port *p = container_of(work, struct port, work);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: work item waits for a grace period for its own 'struct port': synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: a work item may wait; it only holds a worker)
  port_unplug(p);
}
void port_queue(struct port *p) {
  INIT_WORK(&p->work, bad_work);
  schedule_work(&p->work);
}

// That it stops something changes nothing: it could start after the wait.
static void bad_work_stops(struct work_struct *work) {
  struct port *p = container_of(work, struct port, work);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: work item waits for a grace period for its own 'struct port': synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: a work item may wait; it only holds a worker)
  cancel_work_sync(&p->work);
  port_unplug(p);
}
static DECLARE_WORK(stopping_work, bad_work_stops);

// ---- wait-in-teardown, wait-in-setup, wait-in-hot-path -------------------------

static void bad_net_exit(struct net *net) {
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: the end of each 'struct net' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown();
}
static int bad_net_init(struct net *net) {
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: making each 'struct net' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: set-up may rely on the wait)
  unknown();
  return 0;
}
static struct pernet_operations net_ops = {.init = bad_net_init,
                                           .exit = bad_net_exit};

static long bad_ioctl(struct file *file, unsigned cmd, unsigned long arg) {
  struct port *p = file->private_data;
  p->state = cmd;
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: a frequent operation on 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the caller may rely on the wait)
  unknown();
  return 0;
}
static const struct file_operations ioctl_ops = {.unlocked_ioctl = bad_ioctl};

// A driver's way out of the hardware; may not be deferred: low.
static int bad_but_stops_device(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: low (why not higher: {{.*}}hardware, work or a thread is stopped behind it)
  writel(0, (void *)(unsigned long)p->state);
  kfree(p);
  return 0;
}
static const struct file_operations device_ops = {.release =
                                                      bad_but_stops_device};

// ---- repeated-wait -----------------------------------------------------------

static void port_free_rcu(struct rcu_head *head) {
  kfree(container_of(head, struct port, rcu));
}
static int bad_repeated(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits although another grace period follows [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the two waits may order different things)
  call_rcu(&p->rcu, port_free_rcu);
  return 0;
}
static const struct file_operations repeated_ops = {.release = bad_repeated};

static int bad_twice(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits although another grace period follows [contention-sync-rcu-wait]
  // CHECK: confidence: low (why not higher: the two waits may order different things; what stands between the waits may need the first)
  p->state = 0;
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown();
  return 0;
}
static const struct file_operations twice_ops = {.release = bad_twice};

// A work item that is stopped in between keeps no wait from being one too many.
static int bad_twice_stops_work(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  unknown();
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits although another grace period follows [contention-sync-rcu-wait]
  // CHECK: confidence: low (why not higher: the two waits may order different things; what stands between the waits may need the first)
  cancel_work_sync(&p->work);
  kfree_rcu(p, rcu);
  return 0;
}
static const struct file_operations stops_ops = {.release =
                                                     bad_twice_stops_work};

// The grace period of a domain says nothing about readers of another flavour: two
// waits in teardown, neither of them one too many.
static int bad_two_flavours(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  p->state = 1;
  synchronize_srcu(&domain);
  // CHECK: bad.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_srcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  synchronize_rcu();
  // CHECK: bad.c:[[@LINE-1]]:3: warning: the end of each 'struct port' waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: what follows the wait may need it)
  unknown();
  return 0;
}
static const struct file_operations flavours_ops = {.release =
                                                        bad_two_flavours};

// A deferral could have waited for both: the flavour does not matter.
static int bad_before_deferral(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  p->state = 1;
  synchronize_srcu(&domain);
  // CHECK: bad.c:[[@LINE-1]]:3: warning: synchronize_srcu() waits although another grace period follows [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the two waits may order different things)
  call_rcu(&p->rcu, port_free_rcu);
  return 0;
}
static const struct file_operations deferral_ops = {.release =
                                                        bad_before_deferral};
