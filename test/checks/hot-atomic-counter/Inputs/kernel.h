// Just enough of the kernel's API for the tests of this rule: the same names,
// and macros of the same outer shape, with nothing behind them.
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#define NULL ((void *)0)
typedef _Bool bool;
typedef unsigned long size_t;
typedef unsigned int gfp_t;
typedef long long s64;
typedef unsigned long long u64;
#define GFP_KERNEL 1u
#define ENOMEM 12
#define __init __attribute__((section(".init.text")))
#define __exit __attribute__((section(".exit.text")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

// Atomic integers.
typedef struct {
  int counter;
} atomic_t;
typedef struct {
  s64 counter;
} atomic64_t;
typedef atomic64_t atomic_long_t;
#define ATOMIC_INIT(i) {(i)}
#define ATOMIC_LONG_INIT(i) {(i)}
void atomic_inc(atomic_t *v);
void atomic_dec(atomic_t *v);
void atomic_add(int i, atomic_t *v);
void atomic_sub(int i, atomic_t *v);
void atomic_set(atomic_t *v, int i);
int atomic_read(const atomic_t *v);
int atomic_inc_return(atomic_t *v);
int atomic_add_return(int i, atomic_t *v);
bool atomic_dec_and_test(atomic_t *v);
bool atomic_inc_not_zero(atomic_t *v);
int atomic_cmpxchg(atomic_t *v, int old, int new);
void atomic_or(int i, atomic_t *v);
void atomic_long_inc(atomic_long_t *v);
void atomic_long_dec(atomic_long_t *v);
void atomic_long_add(long i, atomic_long_t *v);
void atomic_long_set(atomic_long_t *v, long i);
long atomic_long_read(const atomic_long_t *v);
long atomic_long_add_return(long i, atomic_long_t *v);
void atomic64_inc(atomic64_t *v);
s64 atomic64_read(const atomic64_t *v);

// Memory, and messages.
void *kzalloc(size_t size, gfp_t flags);
void kfree(const void *p);
int _printk(const char *fmt, ...);
#define pr_info(...) _printk(__VA_ARGS__)
void __warn(void);
#define WARN_ON(condition)                                                     \
  ({                                                                           \
    int __ret = !!(condition);                                                 \
    if (unlikely(__ret))                                                       \
      __warn();                                                                \
    unlikely(__ret);                                                           \
  })

// Files, devices, modules.
struct inode {
  void *i_private;
};
struct file {
  void *private_data;
};
struct file_operations {
  int (*open)(struct inode *, struct file *);
  int (*release)(struct inode *, struct file *);
  long (*read)(struct file *, char *, size_t);
  long (*write)(struct file *, const char *, size_t);
  long (*unlocked_ioctl)(struct file *, unsigned int, unsigned long);
};
struct seq_file {
  void *private;
};
int seq_printf(struct seq_file *m, const char *fmt, ...);
struct seq_operations {
  void *(*start)(struct seq_file *, s64 *);
  int (*show)(struct seq_file *, void *);
};
struct sk_buff {
  unsigned int len;
};
struct net;
struct net_device {
  struct net *nd_net;
};
struct rtnl_link_stats64 {
  u64 rx_packets, tx_packets, rx_bytes, tx_bytes;
};
struct net_device_ops {
  int (*ndo_init)(struct net_device *);
  int (*ndo_open)(struct net_device *);
  int (*ndo_start_xmit)(struct sk_buff *, struct net_device *);
  void (*ndo_get_stats64)(struct net_device *, struct rtnl_link_stats64 *);
};
void *netdev_priv(const struct net_device *dev);
#define module_init(fn) int init_##fn(void) __attribute__((alias(#fn)));

#endif
