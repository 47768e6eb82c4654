// The same shapes in user space, with liburcu.
// REQUIRES: liburcu
// RUN: %check-unit %s --min-confidence=low --status=1 -- -std=gnu11 -D_GNU_SOURCE | FileCheck %s --implicit-check-not='warning:'

#include <pthread.h>
#include <stdlib.h>
#include <urcu.h>
#include <urcu/rculist.h>
#include <urcu/ref.h>

struct session {
  struct cds_list_head list;
  struct rcu_head rcu;
  struct urcu_ref ref;
  struct config *config;
};
struct config {
  int timeout;
};
static CDS_LIST_HEAD(sessions);
static struct config *current_config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void unknown(void *p);

static void bad_close(struct session *s) {
  pthread_mutex_lock(&lock);
  cds_list_del_rcu(&s->list);
  pthread_mutex_unlock(&lock);
  synchronize_rcu();
  // CHECK: bad-user.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct session' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  free(s);
}

static void bad_close_all(void) {
  struct session *s, *n;
  cds_list_for_each_entry_safe(s, n, &sessions, list) {
    cds_list_del_rcu(&s->list);
    synchronize_rcu();
    // CHECK: bad-user.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: high
    free(s);
  }
}

// A global pointer that is replaced, by a store or by an exchange.
static void bad_reconfigure(struct config *new) {
  struct config *old = current_config;
  rcu_assign_pointer(current_config, new);
  synchronize_rcu();
  // CHECK: bad-user.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct config' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  free(old);
}

static void bad_exchange(struct config *new) {
  struct config *old = rcu_xchg_pointer(&current_config, new);
  synchronize_rcu();
  // CHECK: bad-user.c:[[@LINE-1]]:3: warning: synchronize_rcu() waits for a grace period only to free 'struct config' [contention-sync-rcu-wait]
  // CHECK: confidence: high
  free(old);
}

// Reported where the reference is dropped.
static void ok_release(struct urcu_ref *ref) {
  struct session *s = caa_container_of(ref, struct session, ref);
  synchronize_rcu();
  unknown(s);
  free(s);
}

static void *serve(void *arg) {
  struct session *s = arg;
  bad_close(s);
  bad_close_all();
  bad_reconfigure(s->config);
  bad_exchange(s->config);
  urcu_ref_put(&s->ref, ok_release);
  // CHECK: bad-user.c:[[@LINE-1]]:3: warning: dropping the last reference to 'struct session' waits for a grace period: urcu_ref_put() reaches synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: high
  return NULL;
}

int main(void) {
  pthread_t thread;
  rcu_register_thread();
  return pthread_create(&thread, NULL, serve, NULL);
}
