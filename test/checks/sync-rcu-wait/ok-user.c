// User space that defers, or that waits once.
// REQUIRES: liburcu
// RUN: %check-unit %s --min-confidence=low --status=0 -- -std=gnu11 -D_GNU_SOURCE | FileCheck %s --implicit-check-not='warning:'
// CHECK: 1 unit (0 cached, 0 failed){{.*}}; 0 findings

#include <pthread.h>
#include <stdlib.h>
#include <urcu.h>
#include <urcu/rculist.h>

struct session {
  struct cds_list_head list;
  struct rcu_head rcu;
};
static CDS_LIST_HEAD(sessions);

static void free_session(struct rcu_head *head) {
  free(caa_container_of(head, struct session, rcu));
}
static void ok_close(struct session *s) {
  cds_list_del_rcu(&s->list);
  call_rcu(&s->rcu, free_session);
}
static void ok_close_all(void) {
  struct session *s, *n;
  cds_list_for_each_entry_safe(s, n, &sessions, list) {
    cds_list_del_rcu(&s->list);
    call_rcu(&s->rcu, free_session);
  }
}
static void *serve(void *arg) {
  ok_close(arg);
  ok_close_all();
  return NULL;
}

// Once, when the program ends.
static void ok_at_exit(void) {
  synchronize_rcu();
  rcu_barrier();
}

int main(void) {
  pthread_t thread;
  atexit(ok_at_exit);
  return pthread_create(&thread, NULL, serve, NULL);
}
