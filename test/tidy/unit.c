// One unit alone: the messages of the command line, trace and remedy as notes.

// RUN: %clang-tidy --load=%plugin -checks='-*,contention-*' --list-checks \
// RUN:   | FileCheck %s --check-prefix=LIST
// LIST: contention-sync-rcu-wait

// RUN: %clang-tidy --load=%plugin -checks='-*,contention-*' %s -- 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not='{{warning|error}}:'

// What the command line prints first is the same.
// RUN: %check-unit %s | FileCheck %s --check-prefix=CLI

struct rcu_head { void *next; void (*func)(struct rcu_head *); };
struct list_head { struct list_head *next, *prev; };
void synchronize_rcu(void);
void kfree(const void *);
void list_del_rcu(struct list_head *);

struct port { struct list_head list; struct rcu_head rcu; };
struct file;
struct inode;
struct file_operations { int (*release)(struct inode *, struct file *); };
struct port *port_of(struct file *);

// CLI: unit.c:[[@LINE+5]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
// CHECK: unit.c:[[@LINE+4]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
static int bad_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
// CHECK: unit.c:[[@LINE+1]]:{{[0-9]+}}: note: in bad_release: reached from here: struct file_operations.release of bad_fops
const struct file_operations bad_fops = {.release = bad_release};
// CHECK: note: in bad_release: unlinked here
// CHECK: note: {{.*}}; see 'decontend explain sync-rcu-wait'

static int nolint_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu(); // NOLINT(contention-sync-rcu-wait): tears down once a day
  kfree(p);
  return 0;
}
const struct file_operations nolint_fops = {.release = nolint_release};

static int nextline_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  // NOLINTNEXTLINE(contention-*)
  synchronize_rcu();
  kfree(p);
  return 0;
}
const struct file_operations nextline_fops = {.release = nextline_release};

// NOLINTBEGIN(contention-sync-rcu-wait)
static int block_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
const struct file_operations block_fops = {.release = block_release};
// NOLINTEND(contention-sync-rcu-wait)

// Header functions are the business of units that judge headers: none.
#include "Inputs/wait.h"
