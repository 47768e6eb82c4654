// Known mistakes of the rule in user space.
// REQUIRES: liburcu
// RUN: %check-unit %s --min-confidence=low -- -std=gnu11 -D_GNU_SOURCE | FileCheck %s --implicit-check-not='warning:'

#include <pthread.h>
#include <stdlib.h>
#include <urcu.h>
#include <urcu/rculist.h>

struct session {
  struct cds_list_head list;
};
static CDS_LIST_HEAD(sessions);
void destroy(struct session *s);

// At the end of main() nobody waits; but main() is no entry that is known as the
// end of the program, and the loop is judged by itself.
int main(void) {
  struct session *fp_session, *n;
  cds_list_for_each_entry_safe(fp_session, n, &sessions, list) {
    cds_list_del_rcu(&fp_session->list);
    synchronize_rcu();
    // CHECK: limits-user.c:[[@LINE-1]]:5: warning: each round of this loop waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
    // CHECK: confidence: medium (why not higher: it is not seen who calls it)
    free(fp_session);
  }
  return 0;
}

// A free function of the project's own is not known to free.
static void *fn_own_free(void *arg) {
  struct session *s = arg;
  cds_list_del_rcu(&s->list);
  synchronize_rcu();
  // CHECK: limits-user.c:[[@LINE-1]]:3: warning: a frequent operation on an object waits for a grace period: synchronize_rcu() [contention-sync-rcu-wait]
  // CHECK: confidence: medium (why not higher: the caller may rely on the wait)
  destroy(s);
  return NULL;
}
int start(pthread_t *thread, struct session *s) {
  return pthread_create(thread, NULL, fn_own_free, s);
}
