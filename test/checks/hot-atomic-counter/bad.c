// One counter for each shape, and the ways in which its confidence drops.
// RUN: %check-unit %s --min-confidence=low --status=1 --checks=hot-atomic-counter | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

// ---- report-only-counter ------------------------------------------------------

struct hub {
  atomic_t packets;
  atomic_long_t bytes;
  atomic_t shown;
  atomic_t limit_hits;
  atomic_t busy;
  atomic_t written;
};
static struct hub hub;

static int bad_xmit(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&hub.packets);
  // CHECK: bad.c:[[@LINE-1]]:19: warning: 'struct hub.packets' is bumped by everyone and read only to be shown [contention-hot-atomic-counter]
  // CHECK: confidence: high
  atomic_long_add(skb->len, &hub.bytes);
  // CHECK: bad.c:[[@LINE-1]]:34: warning: 'struct hub.bytes' is bumped by everyone and read only to be shown [contention-hot-atomic-counter]
  // CHECK: confidence: high
  return 0;
}
static void report_stats(struct net_device *dev, struct rtnl_link_stats64 *s) {
  s->tx_packets = atomic_read(&hub.packets);
  s->tx_bytes = atomic_long_read(&hub.bytes);
}

// The result goes into a message only: that is no use.
static int bad_result_shown(struct sk_buff *skb, struct net_device *dev) {
  int now = atomic_inc_return(&hub.shown);
  // CHECK: bad.c:[[@LINE-1]]:36: warning: 'struct hub.shown' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: high
  pr_info("%d\n", now);
  return 0;
}

// A clock that is read for something else limits nothing.
u64 ktime_get(void);
struct queue {
  u64 last_sent;
  unsigned int length;
};
static int bad_clock_elsewhere(struct sk_buff *skb, struct net_device *dev) {
  struct queue *q = netdev_priv(dev);
  q->last_sent = ktime_get();
  if (!q->length)
    atomic_inc(&hub.written);
  // CHECK: bad.c:[[@LINE-1]]:21: warning: 'struct hub.written' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: high
  return 0;
}

// A variable of its own.
static atomic_t all_writes = ATOMIC_INIT(0);
static long bad_variable(struct file *file, const char *buf, size_t n) {
  atomic_inc(&all_writes);
  // CHECK: bad.c:[[@LINE-1]]:15: warning: 'all_writes' is bumped by everyone and read only to be shown [contention-hot-atomic-counter]
  // CHECK: confidence: high
  return n;
}
static int report_writes(struct seq_file *m, void *v) {
  seq_printf(m, "%d\n", atomic_read(&all_writes));
  return 0;
}

// ---- dead-counter -------------------------------------------------------------

static atomic_t nobody_reads;
static long bad_dead(struct file *file, char *buf, size_t n) {
  atomic_inc(&nobody_reads);
  // CHECK: bad.c:[[@LINE-1]]:15: warning: 'nobody_reads' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: high
  return n;
}

// ---- decided-counter ----------------------------------------------------------

static int bad_decided(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&hub.limit_hits);
  // CHECK: bad.c:[[@LINE-1]]:19: warning: 'struct hub.limit_hits' is bumped by everyone and read rarely [contention-hot-atomic-counter]
  // CHECK: confidence: medium (why not higher: something decides by its value)
  return 0;
}
static int read_to_open(struct net_device *dev) {
  if (atomic_read(&hub.limit_hits) > 100)
    return -1;
  return 0;
}

// ---- hot-read-counter ---------------------------------------------------------

static int bad_hot_read(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&hub.busy);
  // CHECK: bad.c:[[@LINE-1]]:19: warning: 'struct hub.busy' is bumped and read by everyone [contention-hot-atomic-counter]
  // CHECK: confidence: low (why not higher: a hot path decides by its value)
  if (atomic_read(&hub.busy) > 8)
    kfree(skb);
  return 0;
}

// ---- hot-reference ------------------------------------------------------------

struct route {
  atomic_t refs;
};
static struct route default_route;
static int bad_reference(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&default_route.refs);
  // CHECK: bad.c:[[@LINE-1]]:29: warning: 'struct route.refs' is a reference count that everyone takes [contention-hot-atomic-counter]
  // CHECK: confidence: low (why not higher: references need care that is not seen here)
  if (atomic_dec_and_test(&default_route.refs))
    kfree(skb);
  return 0;
}

// ---- Doubts -------------------------------------------------------------------

struct port {
  atomic_t opened;
  atomic_t rx_errors;
  atomic_t deep;
  atomic_t kept;
  atomic_t controls;
};
static struct port port;
static struct port *unknown_port;

static int bad_name(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&port.rx_errors);
  // CHECK: bad.c:[[@LINE-1]]:20: warning: 'struct port.rx_errors' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: medium (why not higher: by its name it counts what seldom happens)
  if (skb->len > 1)
    if (skb->len != 9)
      atomic_inc(&port.deep);
  // CHECK: bad.c:[[@LINE-1]]:24: warning: 'struct port.deep' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: medium (why not higher: it is updated behind several conditions)
  return 0;
}

void debugfs_create_atomic_t(const char *name, atomic_t *value);
static int bad_address(struct sk_buff *skb, struct net_device *dev) {
  atomic_inc(&port.kept);
  // CHECK: bad.c:[[@LINE-1]]:20: warning: 'struct port.kept' is bumped by everyone and read only to be shown [contention-hot-atomic-counter]
  // CHECK: confidence: low (why not higher: its address or offset goes where nobody looks)
  return 0;
}
static int __init keep_address(void) {
  debugfs_create_atomic_t("kept", &port.kept);
  return 0;
}
module_init(keep_address)

static long bad_control(struct file *file, unsigned int cmd, unsigned long arg) {
  atomic_inc(&port.controls);
  // CHECK: bad.c:[[@LINE-1]]:20: warning: 'struct port.controls' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: low (why not higher: only control calls update it)
  return 0;
}

// Nobody says whether there is one such object or a million.
struct thing {
  atomic_t touched;
};
static long bad_unknown(struct file *file, char *buf, size_t n) {
  struct thing *t = file->private_data;
  atomic_inc(&t->touched);
  // CHECK: bad.c:[[@LINE-1]]:18: warning: 'struct thing.touched' is bumped by everyone and read by nobody [contention-hot-atomic-counter]
  // CHECK: confidence: medium (why not higher: it is not seen who shares the object)
  return 0;
}

static const struct net_device_ops doubt_ops[] = {
    {.ndo_start_xmit = bad_decided, .ndo_open = read_to_open},
    {.ndo_start_xmit = bad_hot_read},
    {.ndo_start_xmit = bad_clock_elsewhere},
    {.ndo_start_xmit = bad_reference},
    {.ndo_start_xmit = bad_name},
    {.ndo_start_xmit = bad_address}};
static const struct file_operations control_ops = {.unlocked_ioctl =
                                                       bad_control,
                                                   .read = bad_unknown};

static const struct net_device_ops bad_ops = {.ndo_start_xmit = bad_xmit,
                                              .ndo_get_stats64 = report_stats};
static const struct net_device_ops shown_ops = {.ndo_start_xmit =
                                                    bad_result_shown};
static const struct file_operations variable_ops = {.write = bad_variable,
                                                    .read = bad_dead};
static const struct seq_operations writes_ops = {.show = report_writes};
