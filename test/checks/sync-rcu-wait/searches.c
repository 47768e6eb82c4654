// Not every loop waits once per element: some look for one element and stop, and
// some try again until something is done.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

struct port {
  struct list_head list;
  struct port *next;
  int index;
};
static LIST_HEAD(ports);
void unknown(struct port *p);
int port_try(struct port *p);
struct port *port_find(int index);

#define RELEASE(fn) static const struct file_operations fn##_ops = {.release = fn}

// What the loops call. Its callers are looked at, not itself: nobody who is known
// ends a port here.
static int stop(struct port *p) {
  unknown(p);
  synchronize_rcu();
  return p->index;
}

// ---- Searches: the loop is left behind the wait -----------------------------------

void ok_break(void) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    if (p->index == 3) {
      stop(p);
      break;
    }
  }
}
void ok_return(void) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    if (p->index == 3) {
      stop(p);
      return;
    }
  }
}
void ok_goto(void) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    if (p->index == 3) {
      stop(p);
      goto found;
    }
  }
  return;
found:
  unknown(p);
}

// It tries until one works.
void ok_first_success(void) {
  struct port *p;
  int error;
  list_for_each_entry(p, &ports, list) {
    error = stop(p);
    if (!error)
      break;
  }
}
int ok_return_success(void) {
  struct port *p;
  int error;
  list_for_each_entry(p, &ports, list) {
    error = stop(p);
    if (!error)
      return 0;
  }
  return -EINVAL;
}

// A wait that only one element pays may still be one that only frees.
static int bad_found_one(struct inode *inode, struct file *file) {
  struct port *p, *n;
  list_for_each_entry_safe(p, n, &ports, list) {
    if (p->index == 3) {
      list_del_rcu(&p->list);
      synchronize_rcu();
      // CHECK: searches.c:[[@LINE-1]]:7: warning: synchronize_rcu() waits for a grace period only to free 'struct port' [contention-sync-rcu-wait]
      // CHECK: confidence: high
      kfree(p);
      break;
    }
  }
  return 0;
}
RELEASE(bad_found_one);

// ---- These are not: the next element waits as well ----------------------------------

// The usual end of a loop over all is an error, or a condition of its own.
static int bad_until_error(struct inode *inode, struct file *file) {
  struct port *p;
  int error;
  list_for_each_entry(p, &ports, list) {
    error = stop(p);
    // CHECK: searches.c:[[@LINE-1]]:13: warning: each round of this loop waits for a grace period: stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    if (error)
      break;
  }
  return 0;
}
RELEASE(bad_until_error);

// The result that ends the loop is not that of the wait.
static int bad_other_success(struct inode *inode, struct file *file) {
  struct port *p;
  int error;
  list_for_each_entry(p, &ports, list) {
    stop(p);
    // CHECK: searches.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    error = port_try(p);
    if (!error)
      break;
  }
  return 0;
}
RELEASE(bad_other_success);

// A break of a switch stays in the loop.
static int bad_switch(struct inode *inode, struct file *file) {
  struct port *p;
  list_for_each_entry(p, &ports, list) {
    switch (p->index) {
    case 3:
      stop(p);
      // CHECK: searches.c:[[@LINE-1]]:7: warning: each round of this loop waits for a grace period: stop() reaches synchronize_rcu() [contention-sync-rcu-wait]
      // CHECK: confidence: medium (why not higher: not every round of the loop waits)
      break;
    }
  }
  return 0;
}
RELEASE(bad_switch);

// ---- while: over elements, or until something is done ----------------------------------

static int bad_while_next(struct inode *inode, struct file *file) {
  struct port *p = port_find(0);
  while (p) {
    unknown(p);
    synchronize_rcu();
    // CHECK: searches.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    p = p->next;
  }
  return 0;
}
RELEASE(bad_while_next);

static int bad_do_first(struct inode *inode, struct file *file) {
  do {
    struct port *p = list_first_entry(&ports, struct port, list);
    list_del_rcu(&p->list);
    unknown(p);
    synchronize_rcu();
    // CHECK: searches.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
  } while (!list_empty(&ports));
  return 0;
}
RELEASE(bad_do_first);

// Nothing but the attempt is repeated: low.
static int bad_but_retries(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  while (port_try(p))
    synchronize_rcu();
    // CHECK: searches.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: the loop repeats until something is done, it walks no elements)
  return 0;
}
RELEASE(bad_but_retries);
static int bad_but_retries_first(struct inode *inode, struct file *file) {
  struct port *p = file->private_data;
  do {
    synchronize_rcu();
    // CHECK: searches.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: low (why not higher: the loop repeats until something is done, it walks no elements)
  } while (port_try(p));
  return 0;
}
RELEASE(bad_but_retries_first);
