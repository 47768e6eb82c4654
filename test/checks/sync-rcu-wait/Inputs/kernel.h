// Just enough of the kernel's API for the tests of this rule: the same names,
// and macros of the same outer shape, with nothing behind them.
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#define NULL ((void *)0)
#define true 1
#define false 0
typedef _Bool bool;
typedef unsigned long size_t;
typedef unsigned int gfp_t;
#define GFP_KERNEL 1u
#define ENOMEM 12
#define EINVAL 22

#define __init __attribute__((section(".init.text")))
#define __exit __attribute__((section(".exit.text")))
#define __rcu
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(ptr, type, member)                                        \
  ({                                                                           \
    void *__member = (void *)(ptr);                                            \
    ((type *)(__member - offsetof(type, member)));                             \
  })
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)                                                       \
  do {                                                                         \
    *(volatile __typeof__(x) *)&(x) = (v);                                     \
  } while (0)

static inline bool IS_ERR(const void *p) {
  return (unsigned long)p >= (unsigned long)-4095;
}

// Logging and assertions.
int _printk(const char *fmt, ...);
#define pr_debug(...) _printk(__VA_ARGS__)
void __warn(void);
#define WARN_ON(condition)                                                     \
  ({                                                                           \
    int __ret = !!(condition);                                                 \
    if (unlikely(__ret))                                                       \
      __warn();                                                                \
    unlikely(__ret);                                                           \
  })

// Memory.
void *kzalloc(size_t size, gfp_t flags);
void kfree(const void *p);
struct kmem_cache;
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t flags);
void kmem_cache_free(struct kmem_cache *cache, void *p);
void kmem_cache_destroy(struct kmem_cache *cache);

// RCU.
struct rcu_head {
  struct rcu_head *next;
  void (*func)(struct rcu_head *head);
};
struct srcu_struct {
  int idx;
};
void synchronize_rcu(void);
void synchronize_rcu_expedited(void);
void synchronize_net(void);
void rcu_barrier(void);
void synchronize_srcu(struct srcu_struct *domain);
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
void call_srcu(struct srcu_struct *domain, struct rcu_head *head,
               void (*func)(struct rcu_head *head));
void kvfree_call_rcu(struct rcu_head *head, void *p);
#define kfree_rcu(p, member) kvfree_call_rcu(&(p)->member, (p))
#define rcu_assign_pointer(p, v)                                               \
  do {                                                                         \
    *(__typeof__(p) volatile *)&(p) = (v);                                     \
  } while (0)
#define RCU_INIT_POINTER(p, v)                                                 \
  do {                                                                         \
    WRITE_ONCE(p, v);                                                          \
  } while (0)
#define rcu_dereference_protected(p, c) (p)
#define rcu_dereference(p)                                                     \
  ({                                                                           \
    __typeof__(p) __value = READ_ONCE(p);                                      \
    __value;                                                                   \
  })

// Lists.
struct list_head {
  struct list_head *next, *prev;
};
struct hlist_node {
  struct hlist_node *next, **pprev;
};
struct hlist_head {
  struct hlist_node *first;
};
#define LIST_HEAD(name) struct list_head name = {&name, &name}
void list_add_rcu(struct list_head *entry, struct list_head *head);
void list_del_rcu(struct list_head *entry);
void list_del(struct list_head *entry);
void list_move(struct list_head *entry, struct list_head *head);
void list_splice_init(struct list_head *from, struct list_head *to);
bool list_empty(const struct list_head *head);
void hlist_del_rcu(struct hlist_node *entry);
#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(ptr, type, member)                                    \
  list_entry((ptr)->next, type, member)
#define list_for_each_entry(pos, head, member)                                 \
  for (pos = list_entry((head)->next, __typeof__(*pos), member);               \
       &pos->member != (head);                                                 \
       pos = list_entry(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, head, member)                         \
  for (pos = list_entry((head)->next, __typeof__(*pos), member),               \
      n = list_entry(pos->member.next, __typeof__(*pos), member);              \
       &pos->member != (head);                                                 \
       pos = n, n = list_entry(n->member.next, __typeof__(*n), member))
#define hlist_entry_safe(ptr, type, member)                                    \
  ({                                                                           \
    __typeof__(ptr) ____ptr = (ptr);                                           \
    ____ptr ? container_of(____ptr, type, member) : NULL;                      \
  })
#define hlist_for_each_entry_safe(pos, n, head, member)                        \
  for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);        \
       pos && ({                                                               \
         n = pos->member.next;                                                 \
         1;                                                                    \
       });                                                                     \
       pos = hlist_entry_safe(n, __typeof__(*pos), member))

// References.
typedef struct {
  int refs;
} refcount_t;
struct kref {
  refcount_t refcount;
};
bool refcount_dec_and_test(refcount_t *r);
int kref_put(struct kref *kref, void (*release)(struct kref *kref));

// Locks.
typedef struct {
  int raw;
} spinlock_t;
struct mutex {
  int owner;
};
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
void rtnl_lock(void);
void rtnl_unlock(void);
int rtnl_is_locked(void);
#define ASSERT_RTNL() WARN_ON(!rtnl_is_locked())

// Work, threads, timers.
struct work_struct {
  void (*func)(struct work_struct *work);
};
#define INIT_WORK(work, fn)                                                    \
  do {                                                                         \
    (work)->func = (fn);                                                       \
  } while (0)
#define DECLARE_WORK(name, fn) struct work_struct name = {.func = (fn)}
bool schedule_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
struct task_struct;
struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data,
                                           int node, const char *fmt, ...);
int wake_up_process(struct task_struct *task);
int kthread_stop(struct task_struct *task);
#define kthread_run(fn, data, ...)                                             \
  ({                                                                           \
    struct task_struct *__k =                                                  \
        kthread_create_on_node(fn, data, -1, __VA_ARGS__);                     \
    if (!IS_ERR(__k))                                                          \
      wake_up_process(__k);                                                    \
    __k;                                                                       \
  })
bool kthread_should_stop(void);

// Modules.
#define module_init(fn)                                                        \
  int init_module(void) __attribute__((alias(#fn)));
#define module_exit(fn)                                                        \
  void cleanup_module(void) __attribute__((alias(#fn)));
#define EXPORT_SYMBOL_GPL(sym) extern int __exported_##sym

// Operation tables.
struct inode;
struct net;
struct net_device;
struct file {
  void *private_data;
};
struct file_operations {
  long (*unlocked_ioctl)(struct file *file, unsigned cmd, unsigned long arg);
  int (*open)(struct inode *inode, struct file *file);
  int (*release)(struct inode *inode, struct file *file);
};
struct pernet_operations {
  int (*init)(struct net *net);
  void (*exit)(struct net *net);
};
struct rtnl_link_ops {
  void (*dellink)(struct net_device *dev, struct list_head *head);
};
struct platform_device;
struct platform_driver {
  int (*probe)(struct platform_device *dev);
  int (*remove)(struct platform_device *dev);
};

// Hardware.
void writel(unsigned value, volatile void *address);

#endif
