// A plan whose edits lie in the main file is a fix.

// RUN: cp %s %t.c
// RUN: %clang-tidy --load=%plugin -checks='-*,contention-*' \
// RUN:   --export-fixes=%t.yaml %t.c -- 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml
// WARN: warning: synchronize_rcu() waits
// WARN: note: fix, to be reviewed: free struct port with kfree_rcu()
// YAML: DiagnosticName: contention-sync-rcu-wait
// YAML: Replacements:
// YAML-NEXT: FilePath: {{.*}}fix.c.tmp.c
// YAML: ReplacementText: {{.*}}kfree_rcu(p, rcu);

// A reviewer's tier is left alone by --fix where the user wants that.
// RUN: %clang-tidy --load=%plugin --fix -checks='-*,contention-*' \
// RUN:   -config='{CheckOptions: {contention-sync-rcu-wait.ReviewFixes: false}}' \
// RUN:   %t.c -- 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: cmp %s %t.c

// RUN: %clang-tidy --load=%plugin --fix -checks='-*,contention-*' %t.c -- 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FIX
// FIX: applied 2 of 2 suggested fixes
// RUN: FileCheck %s < %t.c
// RUN: clang-19 -Wall -Werror -fsyntax-only %t.c
// RUN: %clang-tidy --load=%plugin -checks='-*,contention-*' %t.c -- 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AGAIN --allow-empty
// AGAIN-NOT: warning:

struct rcu_head { void *next; void (*func)(struct rcu_head *); };
struct list_head { struct list_head *next, *prev; };
void synchronize_rcu(void);
void kfree(const void *);
void free_later(const void *, struct rcu_head *);
#define kfree_rcu(p, field) free_later(p, &(p)->field)
void list_del_rcu(struct list_head *);

struct port { struct list_head list; struct rcu_head rcu; };
struct file;
struct inode;
struct file_operations { int (*release)(struct inode *, struct file *); };
struct port *port_of(struct file *);

// CHECK: {{^  }}list_del_rcu(&p->list);
// CHECK-NOT: {{^  }}synchronize_rcu();
// CHECK: {{^  }}kfree_rcu(p, rcu);
static int bad_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
const struct file_operations bad_fops = {.release = bad_release};
