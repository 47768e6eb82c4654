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

static const struct net_device_ops bad_ops = {.ndo_start_xmit = bad_xmit,
                                              .ndo_get_stats64 = report_stats};
static const struct net_device_ops shown_ops = {.ndo_start_xmit =
                                                    bad_result_shown};
static const struct file_operations variable_ops = {.write = bad_variable,
                                                    .read = bad_dead};
static const struct seq_operations writes_ops = {.show = report_writes};
