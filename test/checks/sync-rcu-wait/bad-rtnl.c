// full-wait-under-rtnl: the lock is held by the slot, by an assertion, by the function
// itself or by all of its callers.
// RUN: %check-unit %s --min-confidence=low --status=1 | FileCheck %s --implicit-check-not='warning:'

#include "Inputs/kernel.h"

void unknown(void);

void bad_takes_rtnl(struct net_device *dev) {
  rtnl_lock();
  synchronize_rcu();
  // CHECK: bad-rtnl.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits a whole grace period while RTNL is held [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen who calls it)
  unknown();
  rtnl_unlock();
}

// Held on every way here: by the slot, by an assertion, by all callers.
static void bad_holds_rtnl(struct net_device *dev) {
  unknown();
  synchronize_rcu();
  // CHECK: bad-rtnl.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits a whole grace period while RTNL is held [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: only reached on administration or hot-plug)
  unknown();
}
static void bad_dellink(struct net_device *dev, struct list_head *head) {
  list_del_rcu(head);
  synchronize_rcu();
  // CHECK: bad-rtnl.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits a whole grace period while RTNL is held [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: only reached on administration or hot-plug)
  unknown();
  bad_holds_rtnl(dev);
}
static struct rtnl_link_ops link_ops = {.dellink = bad_dellink};

void bad_asserts_rtnl(struct net_device *dev) {
  ASSERT_RTNL();
  unknown();
  synchronize_rcu();
  // CHECK: bad-rtnl.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits a whole grace period while RTNL is held [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen who calls it)
  unknown();
}

// Two callers, and one call between: both hold it.
static void bad_below_callers(struct net_device *dev) {
  unknown();
  synchronize_rcu();
  // CHECK: bad-rtnl.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits a whole grace period while RTNL is held [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: it is not seen who calls it)
  unknown();
}
static void between(struct net_device *dev) { bad_below_callers(dev); }
void takes_and_calls(struct net_device *dev) {
  rtnl_lock();
  between(dev);
  rtnl_unlock();
}
void asserts_and_calls(struct net_device *dev) {
  ASSERT_RTNL();
  bad_below_callers(dev);
}

// One of two callers has given it back: nobody says that it is held.
static void ok_one_without(struct net_device *dev) {
  unknown();
  synchronize_rcu();
  unknown();
}
void still_holds(struct net_device *dev) {
  rtnl_lock();
  ok_one_without(dev);
  rtnl_unlock();
}
void gave_back(struct net_device *dev) {
  rtnl_lock();
  unknown();
  rtnl_unlock();
  ok_one_without(dev);
}
