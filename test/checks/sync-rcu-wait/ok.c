// Waits that are paid once, rarely or for good reason, and code that has already
// been mended. Nothing is said about any of them.
// RUN: %check-unit %s --min-confidence=low --status=0 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct rcu_head rcu;
  refcount_t refs;
  struct kref kref;
  int state;
};
static LIST_HEAD(ports);
static struct srcu_struct domain;
static struct kmem_cache *cache;
void unknown(struct port *p);
struct port *port_create(void);
int port_start(struct port *p);

// ---- Already deferred ------------------------------------------------------------

static int ok_kfree_rcu(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  kfree_rcu(p, rcu);
  return 0;
}
static void port_free_rcu(struct rcu_head *head) {
  kfree(container_of(head, struct port, rcu));
}
static void ok_call_rcu(struct port *p) {
  list_del_rcu(&p->list);
  call_rcu(&p->rcu, port_free_rcu);
}
static int ok_call_srcu(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  ok_call_rcu(p);
  call_srcu(&domain, &p->rcu, port_free_rcu);
  return 0;
}
static const struct file_operations deferred_ops = {.open = ok_call_srcu,
                                                    .release = ok_kfree_rcu};

// ---- One wait for the batch ---------------------------------------------------------

static long ok_batch(struct file *file, unsigned cmd, unsigned long arg) {
  static LIST_HEAD(dead);
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list)
    list_del_rcu(&p->list);
  if (list_empty(&dead))
    return 0;
  list_for_each_entry_safe(p, n, &dead, list)
    kfree(p);
  return 0;
}
static const struct file_operations batch_ops = {.unlocked_ioctl = ok_batch};

// Unlinked, one wait, freed.
static long ok_wait_for_all(struct file *file, unsigned cmd,
                            unsigned long arg) {
  static LIST_HEAD(dead);
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    list_del_rcu(&p->list);
    list_move(&p->list, &dead);
  }
  synchronize_rcu();
  list_for_each_entry_safe(p, n, &dead, list)
    kfree(p);
  return 0;
}
static const struct file_operations all_ops = {.unlocked_ioctl =
                                                   ok_wait_for_all};

// ---- The author has paid ---------------------------------------------------------------

static int ok_expedited(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  list_del_rcu(&p->list);
  synchronize_rcu_expedited();
  kfree(p);
  return 0;
}
static int ok_adaptive(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  p->state = 0;
  synchronize_net();
  unknown(p);
  return 0;
}
static const struct file_operations paid_ops = {.open = ok_adaptive,
                                                .release = ok_expedited};

// ---- Start and end of a module -----------------------------------------------------------

static int __init ok_init(void) {
  unknown(NULL);
  synchronize_rcu();
  return 0;
}
static void ok_module_exit(void) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    list_del_rcu(&p->list);
    synchronize_rcu();
    kfree(p);
  }
}
static void __exit ok_section_exit(void) {
  struct port *p = NULL;
  synchronize_rcu();
  kfree(p);
}
static void ok_only_from_exit(void) {
  struct port *p = NULL;
  synchronize_rcu();
  kfree(p);
}
static void __exit ok_exit_caller(void) {
  ok_only_from_exit();
  rcu_barrier();
  kmem_cache_destroy(cache);
}
module_init(ok_init)
module_exit(ok_module_exit)

// ---- Callbacks of a cache or a module are drained -----------------------------------------

static void ok_barrier(struct net *net) {
  rcu_barrier();
  kmem_cache_destroy(cache);
}
static struct pernet_operations barrier_ops = {.exit = ok_barrier};

// ---- Rare: only a removal of a device waits -------------------------------------------------

static int ok_remove(struct platform_device *dev) {
  struct port *p = NULL;
  list_del_rcu(&p->list);
  synchronize_rcu();
  unknown(p);
  return 0;
}
static struct platform_driver driver = {.remove = ok_remove};

// ---- Error paths ---------------------------------------------------------------------------

static int ok_error_label(struct inode *inode, struct file *file) {
  struct port *p = port_create();
  int ret;
  if (!p)
    return -ENOMEM;
  ret = port_start(p);
  if (ret)
    goto err_free;
  file->private_data = p;
  return 0;
err_free:
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return ret;
}
static long ok_error_branch(struct file *file, unsigned cmd,
                            unsigned long arg) {
  struct port *p = port_create();
  int ret = port_start(p);
  if (ret < 0) {
    list_del_rcu(&p->list);
    synchronize_rcu();
    kfree(p);
    return ret;
  }
  file->private_data = p;
  return 0;
}
static void teardown_late(struct port *p) {
  struct port *none = port_create();
  if (IS_ERR(none)) {
    synchronize_rcu();
    kfree(none);
  }
}
static int ok_calls_error_path(struct inode *inode, struct file *file) {
  teardown_late(file->private_data);
  return 0;
}
static const struct file_operations error_ops = {
    .open = ok_error_label,
    .unlocked_ioctl = ok_error_branch,
    .release = ok_calls_error_path};

// ---- Statements of macros are no loops ---------------------------------------------------------

#define QUIESCE()                                                              \
  do {                                                                         \
    synchronize_rcu();                                                         \
  } while (0)
void ok_statement_macro(struct port *p) {
  QUIESCE();
  unknown(p);
}

// ---- Nobody calls it often, as far as is seen -------------------------------------------------

void ok_unknown_caller(struct port *p) {
  p->state = 0;
  synchronize_rcu();
  unknown(p);
}
