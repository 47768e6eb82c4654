//===- reclaimer.c - Frees later, many at a time ------------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include "decontend/reclaimer.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

// What the worker does. Those who push wake a sleeping one; a napping one only
// those who wait for it, so that a burst of defers costs one system call.
enum { Working, Napping, Sleeping, Absent };

enum { NapNanoseconds = 1000000, ReportEvery = 64 };

typedef struct dct_reclaim_head item;

struct dct_reclaimer {
  // Written by all who defer.
  struct {
    item *head; // newest first
    size_t pending;
    size_t limit;
    uint32_t state;   // futex
    uint32_t waiters; // in flush, over the limit, or in destroy
  } __attribute__((aligned(128)));

  // Written by the worker.
  struct {
    item *running;     // taken, oldest first, not yet run
    uint32_t progress; // futex: moves with pending, and when a worker leaves
    uint32_t stop;
    uint64_t done, batches, largest;
  } __attribute__((aligned(128)));

  void (*waitForReaders)(void);
  pthread_t worker;
  pthread_mutex_t start; // guards the way from Absent to another state
  pthread_mutex_t take;  // held while items are in neither list
  struct dct_reclaimer *older, *newer;
};

// Whose callbacks this thread runs.
static _Thread_local const struct dct_reclaimer *RunningFor;

// For the fork handlers.
static pthread_mutex_t AllLock = PTHREAD_MUTEX_INITIALIZER;
static struct dct_reclaimer *Newest;
static int HandlersRegistered;

static void futexWait(uint32_t *word, uint32_t expected,
                      const struct timespec *timeout) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout, NULL, 0);
}

static void futexWake(uint32_t *word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

// Queued by flush, on its stack: when it is run, so is all that is before it.
struct marker {
  item head;
  uint32_t reached;
};

static void reach(item *head) {
  // The waiter may return at once, and the marker with it.
  __atomic_store_n(&((struct marker *)head)->reached, 1, __ATOMIC_RELEASE);
}

static int isMarker(const item *it) { return it->fn == reach; }

// Drops the markers, whose owners a child of fork has not. Returns how many
// items are left.
static size_t dropMarkers(item **link) {
  size_t left = 0;
  while (*link) {
    if (isMarker(*link)) {
      *link = (*link)->next;
      continue;
    }
    link = &(*link)->next;
    ++left;
  }
  return left;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void push(struct dct_reclaimer *r, item *it, void (*fn)(item *)) {
  it->fn = fn;
  item *old = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
  do
    it->next = old;
  while (!__atomic_compare_exchange_n(&r->head, &old, it, 1, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED));
}

static item *reversed(item *list) {
  item *result = NULL;
  while (list) {
    item *next = list->next;
    list->next = result;
    result = list;
    list = next;
  }
  return result;
}

static void account(struct dct_reclaimer *r, size_t count) {
  __atomic_store_n(&r->done, r->done + count, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&r->pending, count, __ATOMIC_SEQ_CST);
}

// After what those who wait look at has changed.
static void announce(struct dct_reclaimer *r) {
  __atomic_fetch_add(&r->progress, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&r->waiters, __ATOMIC_SEQ_CST))
    futexWake(&r->progress, INT_MAX);
}

// Returns whether there was anything.
static int runBatch(struct dct_reclaimer *r) {
  // Left over in a child of fork: older than all in the list.
  if (!r->running) {
    pthread_mutex_lock(&r->take);
    r->running =
        reversed(__atomic_exchange_n(&r->head, NULL, __ATOMIC_ACQUIRE));
    pthread_mutex_unlock(&r->take);
    if (!r->running)
      return 0;
  }
  r->waitForReaders();
  __atomic_store_n(&r->batches, r->batches + 1, __ATOMIC_RELAXED);
  const struct dct_reclaimer *outer = RunningFor;
  RunningFor = r;
  uint64_t size = 0;
  size_t unreported = 0;
  while (r->running) {
    item *it = r->running;
    // A child of fork must not see the item here and its memory freed.
    __atomic_store_n(&r->running, it->next, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (isMarker(it)) {
      // Who has flushed finds what it waited for in the statistics.
      account(r, unreported);
      unreported = 0;
      it->fn(it);
      announce(r);
      continue;
    }
    it->fn(it);
    if (++size > r->largest)
      __atomic_store_n(&r->largest, size, __ATOMIC_RELAXED);
    if (++unreported == ReportEvery) {
      account(r, unreported);
      unreported = 0;
      announce(r);
    }
  }
  RunningFor = outer;
  account(r, unreported);
  announce(r);
  return 1;
}

static int isQueued(const struct dct_reclaimer *r) {
  return __atomic_load_n(&r->head, __ATOMIC_SEQ_CST) != NULL;
}

static void nap(struct dct_reclaimer *r) {
  static const struct timespec Length = {0, NapNanoseconds};
  __atomic_store_n(&r->state, Napping, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&r->waiters, __ATOMIC_SEQ_CST))
    futexWait(&r->state, Napping, &Length);
  __atomic_store_n(&r->state, Working, __ATOMIC_SEQ_CST);
}

static void *work(void *argument) {
  struct dct_reclaimer *r = argument;
  for (;;) {
    // Before the list: what is queued before the stop is run.
    int stop = (int)__atomic_load_n(&r->stop, __ATOMIC_SEQ_CST);
    if (runBatch(r)) {
      nap(r);
      continue;
    }
    if (stop)
      return NULL;
    __atomic_store_n(&r->state, Sleeping, __ATOMIC_SEQ_CST);
    // Whoever pushed before the store above saw no reason to wake.
    if (!isQueued(r) && !__atomic_load_n(&r->stop, __ATOMIC_SEQ_CST))
      futexWait(&r->state, Sleeping, NULL);
    __atomic_store_n(&r->state, Working, __ATOMIC_SEQ_CST);
  }
}

//===----------------------------------------------------------------------===//
// Starting and waking
//===----------------------------------------------------------------------===//

// Those who wait have relied on this thread, and look for another.
static void resign(struct dct_reclaimer *r) {
  __atomic_store_n(&r->state, Absent, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&r->progress, 1, __ATOMIC_SEQ_CST);
  futexWake(&r->progress, INT_MAX);
}

// Returns 0, also if there is a worker already, or an error.
static int startWorker(struct dct_reclaimer *r) {
  int error = 0;
  pthread_mutex_lock(&r->start);
  if (__atomic_load_n(&r->state, __ATOMIC_SEQ_CST) == Absent) {
    sigset_t all, before;
    sigfillset(&all);
    __atomic_store_n(&r->state, Working, __ATOMIC_SEQ_CST);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&r->worker, NULL, work, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
      resign(r);
    else
      pthread_setname_np(r->worker, "dct-reclaim");
  }
  pthread_mutex_unlock(&r->start);
  return error;
}

// Works in place of the worker that cannot be started, until nothing is left.
static void standIn(struct dct_reclaimer *r) {
  pthread_mutex_lock(&r->start);
  int mine = __atomic_load_n(&r->state, __ATOMIC_SEQ_CST) == Absent;
  if (mine)
    __atomic_store_n(&r->state, Working, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&r->start);
  if (!mine)
    return;
  while (runBatch(r))
    ;
  resign(r);
}

// Makes sure that somebody looks at the list after this call. Returns 0, or why
// no worker could be started.
static int wake(struct dct_reclaimer *r, int fromNap) {
  uint32_t state = __atomic_load_n(&r->state, __ATOMIC_SEQ_CST);
  if (state == Absent)
    return startWorker(r);
  if (state != Sleeping && !(fromNap && state == Napping))
    return 0;
  // If it fails, the worker was woken or woke up by itself, and will look.
  if (__atomic_compare_exchange_n(&r->state, &state, Working, 0,
                                  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    futexWake(&r->state, 1);
  return 0;
}

static int isReached(const struct dct_reclaimer *r, const struct marker *m) {
  return m ? __atomic_load_n(&m->reached, __ATOMIC_ACQUIRE) != 0
           : __atomic_load_n(&r->pending, __ATOMIC_SEQ_CST) <= r->limit;
}

// Until the marker was run or, without one, the limit is kept. The caller has
// counted itself as waiter.
static void waitFor(struct dct_reclaimer *r, const struct marker *m) {
  for (;;) {
    uint32_t before = __atomic_load_n(&r->progress, __ATOMIC_SEQ_CST);
    if (isReached(r, m))
      return;
    if (wake(r, 1))
      standIn(r);
    else
      futexWait(&r->progress, before, NULL);
  }
}

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

static void beforeFork(void) {
  pthread_mutex_lock(&AllLock);
  for (struct dct_reclaimer *r = Newest; r; r = r->older) {
    pthread_mutex_lock(&r->start);
    pthread_mutex_lock(&r->take);
  }
}

static void afterForkInParent(void) {
  for (struct dct_reclaimer *r = Newest; r; r = r->older) {
    pthread_mutex_unlock(&r->take);
    pthread_mutex_unlock(&r->start);
  }
  pthread_mutex_unlock(&AllLock);
}

static void afterForkInChild(void) {
  for (struct dct_reclaimer *r = Newest; r; r = r->older) {
    // At once: markers lie on stacks that new threads will get.
    r->pending = dropMarkers(&r->running) + dropMarkers(&r->head);
    if (RunningFor != r) {
      r->state = Absent;
      r->waiters = 0;
    }
  }
  afterForkInParent();
}

// Adds r to those that the handlers care for. Returns 0 or ENOMEM.
static int enlist(struct dct_reclaimer *r) {
  pthread_mutex_lock(&AllLock);
  if (!HandlersRegistered)
    HandlersRegistered =
        !pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  int known = HandlersRegistered;
  if (known) {
    r->older = Newest;
    if (Newest)
      Newest->newer = r;
    Newest = r;
  }
  pthread_mutex_unlock(&AllLock);
  return known ? 0 : ENOMEM;
}

static void delist(struct dct_reclaimer *r) {
  pthread_mutex_lock(&AllLock);
  *(r->newer ? &r->newer->older : &Newest) = r->older;
  if (r->older)
    r->older->newer = r->newer;
  pthread_mutex_unlock(&AllLock);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

static void dispose(struct dct_reclaimer *r) {
  pthread_mutex_destroy(&r->take);
  pthread_mutex_destroy(&r->start);
  free(r);
}

struct dct_reclaimer *
dct_reclaimer_create(const struct dct_reclaimer_options *options) {
  struct dct_reclaimer *r =
      aligned_alloc(_Alignof(struct dct_reclaimer), sizeof *r);
  if (!r)
    return NULL;
  *r = (struct dct_reclaimer){.limit = DCT_RECLAIMER_LIMIT,
                              .state = Absent,
                              .waitForReaders = urcu_memb_synchronize_rcu};
  if (options && options->limit)
    r->limit = options->limit;
  if (options && options->wait_for_readers)
    r->waitForReaders = options->wait_for_readers;
  pthread_mutex_init(&r->start, NULL);
  pthread_mutex_init(&r->take, NULL);
  int error = enlist(r);
  if (!error) {
    error = startWorker(r);
    if (!error)
      return r;
    delist(r);
  }
  dispose(r);
  errno = error;
  return NULL;
}

int dct_reclaimer_destroy(struct dct_reclaimer *r) {
  if (RunningFor == r)
    return EDEADLK;
  __atomic_fetch_add(&r->waiters, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&r->stop, 1, __ATOMIC_SEQ_CST);
  if (wake(r, 1))
    standIn(r);
  else
    pthread_join(r->worker, NULL);
  delist(r);
  dispose(r);
  return 0;
}

void dct_reclaimer_defer(struct dct_reclaimer *r, item *head,
                         void (*fn)(item *)) {
  size_t others = __atomic_fetch_add(&r->pending, 1, __ATOMIC_SEQ_CST);
  push(r, head, fn);
  // Nothing is lost without a worker: the next call tries again.
  wake(r, 0);
  if (others < r->limit || RunningFor == r)
    return;
  __atomic_fetch_add(&r->waiters, 1, __ATOMIC_SEQ_CST);
  waitFor(r, NULL);
  __atomic_fetch_sub(&r->waiters, 1, __ATOMIC_SEQ_CST);
}

int dct_reclaimer_try_defer(struct dct_reclaimer *r, item *head,
                            void (*fn)(item *)) {
  // Not added and taken back: who waits for the limit would not hear of that.
  size_t others = __atomic_load_n(&r->pending, __ATOMIC_RELAXED);
  do
    if (others >= r->limit)
      return EAGAIN;
  while (!__atomic_compare_exchange_n(&r->pending, &others, others + 1, 1,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  push(r, head, fn);
  wake(r, 0);
  return 0;
}

int dct_reclaimer_flush(struct dct_reclaimer *r) {
  if (RunningFor == r)
    return EDEADLK;
  struct marker marker = {{NULL, NULL}, 0};
  __atomic_fetch_add(&r->waiters, 1, __ATOMIC_SEQ_CST);
  push(r, &marker.head, reach);
  waitFor(r, &marker);
  __atomic_fetch_sub(&r->waiters, 1, __ATOMIC_SEQ_CST);
  return 0;
}

void dct_reclaimer_synchronize(struct dct_reclaimer *r) { r->waitForReaders(); }

size_t dct_reclaimer_pending(const struct dct_reclaimer *r) {
  return __atomic_load_n(&r->pending, __ATOMIC_RELAXED);
}

void dct_reclaimer_get_stats(const struct dct_reclaimer *r,
                             struct dct_reclaimer_stats *stats) {
  stats->done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
  stats->queued = stats->done + dct_reclaimer_pending(r);
  stats->batches = __atomic_load_n(&r->batches, __ATOMIC_RELAXED);
  stats->largest_batch = __atomic_load_n(&r->largest, __ATOMIC_RELAXED);
}
