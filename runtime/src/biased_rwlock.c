//===- biased_rwlock.c - Readers that do not meet ----------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/biased_rwlock.h"
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

enum { Columns = 64, HeldMax = 8 };

// Readers skip the underlying lock only when On. Writers look at the slots
// unless Off: Draining is what a try that gave up leaves, with readers inside.
enum { Off, On, Draining };

typedef const struct dct_bias *slot;

struct row {
  slot column[Columns];
} __attribute__((aligned(128)));

// Visible readers of all locks of the process. Static, so that no lock can fail
// to get it.
static struct row Table[DCT_BIAS_ROWS];

// How many rows were ever taken. 64 bits, so that it never starts again.
static uint64_t RowsTaken;

// Zero until the fork handler is registered: without it a child would wait for
// readers that it does not have.
static int TableUsable;

// One lock that this thread reads. Slot is null when the underlying lock is
// held instead.
struct held {
  struct dct_bias *bias;
  slot *slot;
  size_t depth;
};

struct self {
  uint32_t row; // one more than the row; 0: none yet
  uint32_t used;
  struct held held[HeldMax];
};

static _Thread_local struct self Self;

//===----------------------------------------------------------------------===//
// Rows and slots
//===----------------------------------------------------------------------===//

static uint32_t rowsInUse(void) {
  uint64_t taken = __atomic_load_n(&RowsTaken, __ATOMIC_SEQ_CST);
  return taken < DCT_BIAS_ROWS ? (uint32_t)taken : DCT_BIAS_ROWS;
}

static void takeRow(struct self *self) {
  // Once all rows are out, the shared counter would only be one more line that
  // threads meet on. 5 * row + 1 visits all rows modulo a power of two.
  if (self->row && rowsInUse() == DCT_BIAS_ROWS)
    self->row = (5 * (self->row - 1) + 1) % DCT_BIAS_ROWS + 1;
  else
    self->row = (uint32_t)(__atomic_fetch_add(&RowsTaken, 1, __ATOMIC_SEQ_CST) %
                           DCT_BIAS_ROWS) +
                1;
}

static size_t columnOf(const struct dct_bias *bias) {
  uint64_t hash = (uint64_t)(uintptr_t)bias >> 3;
  return (size_t)((hash * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}

static int publish(slot *slot, const struct dct_bias *bias) {
  const struct dct_bias *expected = NULL;
  return __atomic_compare_exchange_n(slot, &expected, bias, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED);
}

static void withdraw(slot *slot) {
  __atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
}

static int isOwn(const struct self *self, const slot *slot) {
  for (uint32_t i = 0; i < self->used; ++i)
    if (self->held[i].slot == slot)
      return 1;
  return 0;
}

// Returns the slot that now shows bias, or null.
static slot *claim(struct self *self, const struct dct_bias *bias) {
  if (!self->row)
    takeRow(self);
  size_t column = columnOf(bias);
  slot *slot = &Table[self->row - 1].column[column];
  if (publish(slot, bias))
    return slot;
  // Another row would not be free of this thread's own locks for long; it is
  // free of the thread that shares this one.
  if (isOwn(self, slot))
    return NULL;
  takeRow(self);
  slot = &Table[self->row - 1].column[column];
  return publish(slot, bias) ? slot : NULL;
}

static struct held *find(struct self *self, const struct dct_bias *bias) {
  for (uint32_t i = self->used; i; --i)
    if (self->held[i - 1].bias == bias)
      return &self->held[i - 1];
  return NULL;
}

static void remember(struct self *self, struct dct_bias *bias, slot *slot) {
  self->held[self->used++] = (struct held){bias, slot, 1};
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

// Ticks of any unit: only ratios are made of them, and a clock that jumps costs
// speed only.
static uint64_t ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static void pauseCPU(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Sleeping in the end, as a reader of lower real-time priority on this CPU
// would not run while the writer yields.
static void backOff(unsigned round) {
  enum { Spins = 64, Yields = 32, FirstNap = 50000, LongestNap = 1000000 };
  if (round < Spins) {
    pauseCPU();
    return;
  }
  if (round < Spins + Yields) {
    sched_yield();
    return;
  }
  unsigned doubled = round - Spins - Yields;
  long nap = doubled < 5 ? (long)FirstNap << doubled : LongestNap;
  struct timespec pause = {0, nap < LongestNap ? nap : LongestNap};
  nanosleep(&pause, NULL);
}

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

// Reads before it writes, so that pages without readers stay shared with the
// parent.
static void forgetOtherThreads(void) {
  for (uint32_t row = 0, rows = rowsInUse(); row < rows; ++row)
    for (size_t column = 0; column < Columns; ++column) {
      slot *slot = &Table[row].column[column];
      if (__atomic_load_n(slot, __ATOMIC_RELAXED) && !isOwn(&Self, slot))
        withdraw(slot);
    }
}

__attribute__((constructor)) static void registerForkHandler(void) {
  if (!pthread_atfork(NULL, NULL, forgetOtherThreads))
    __atomic_store_n(&TableUsable, 1, __ATOMIC_RELAXED);
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

int dct_bias_enter(struct dct_bias *bias) {
  struct self *self = &Self;
  struct held *held = find(self, bias);
  if (held) {
    ++held->depth;
    return 1;
  }
  if (__atomic_load_n(&bias->on, __ATOMIC_RELAXED) != On ||
      self->used == HeldMax)
    return 0;
  slot *slot = claim(self, bias);
  if (!slot)
    return 0;
  if (__atomic_load_n(&bias->on, __ATOMIC_SEQ_CST) != On) {
    withdraw(slot);
    return 0;
  }
  remember(self, bias, slot);
  return 1;
}

void dct_bias_entered(struct dct_bias *bias) {
  struct self *self = &Self;
  if (self->used < HeldMax)
    remember(self, bias, NULL);
  if (__atomic_load_n(&bias->on, __ATOMIC_RELAXED) == On ||
      !__atomic_load_n(&TableUsable, __ATOMIC_RELAXED))
    return;
  if ((int64_t)(ticks() - bias->off_until) >= 0)
    __atomic_store_n(&bias->on, On, __ATOMIC_SEQ_CST);
}

int dct_bias_leave(struct dct_bias *bias) {
  struct self *self = &Self;
  struct held *held = find(self, bias);
  if (!held)
    return 0;
  if (--held->depth)
    return 1;
  slot *slot = held->slot;
  *held = self->held[--self->used];
  if (!slot)
    return 0;
  withdraw(slot);
  return 1;
}

int dct_bias_held(const struct dct_bias *bias) {
  return find(&Self, bias) != NULL;
}

// Waits until slot does not show bias. Returns the ticks for which the reader
// is known to have been inside: any lock would have waited for those, while the
// last pause is the price of looking again.
static uint64_t waitForReader(slot *slot, const struct dct_bias *bias) {
  uint64_t first = ticks();
  uint64_t last = first;
  for (unsigned round = 0; __atomic_load_n(slot, __ATOMIC_SEQ_CST) == bias;
       ++round) {
    last = ticks();
    backOff(round);
  }
  return last - first;
}

// Returns whether all readers are out.
static int revoke(struct dct_bias *bias, int wait) {
  // Exact, as only who holds the underlying lock changes it.
  if (__atomic_load_n(&bias->on, __ATOMIC_RELAXED) == Off)
    return 1;
  uint64_t start = ticks();
  uint64_t sections = 0;
  __atomic_store_n(&bias->on, Draining, __ATOMIC_SEQ_CST);
  size_t column = columnOf(bias);
  int empty = 1;
  for (uint32_t row = 0, rows = rowsInUse(); row < rows && empty; ++row) {
    slot *slot = &Table[row].column[column];
    if (__atomic_load_n(slot, __ATOMIC_SEQ_CST) != bias)
      continue;
    if (wait)
      sections += waitForReader(slot, bias);
    else
      empty = 0;
  }
  if (empty)
    __atomic_store_n(&bias->on, Off, __ATOMIC_SEQ_CST);
  uint64_t end = ticks();
  bias->off_until = end + (end - start - sections) * bias->inhibit;
  return empty;
}

void dct_bias_revoke(struct dct_bias *bias) { revoke(bias, 1); }

int dct_bias_try_revoke(struct dct_bias *bias) { return revoke(bias, 0); }

int dct_bias_has_readers(const struct dct_bias *bias) {
  size_t column = columnOf(bias);
  for (uint32_t row = 0, rows = rowsInUse(); row < rows; ++row)
    if (__atomic_load_n(&Table[row].column[column], __ATOMIC_SEQ_CST) == bias)
      return 1;
  return 0;
}

int dct_bias_is_on(const struct dct_bias *bias) {
  return __atomic_load_n(&bias->on, __ATOMIC_RELAXED) == On;
}

void dct_bias_forget(struct dct_bias *bias) {
  struct self *self = &Self;
  struct held *held = find(self, bias);
  if (!held)
    return;
  if (held->slot)
    withdraw(held->slot);
  *held = self->held[--self->used];
}

//===----------------------------------------------------------------------===//
// The lock
//===----------------------------------------------------------------------===//

int dct_biased_rwlock_init(struct dct_biased_rwlock *lock,
                           const pthread_rwlockattr_t *attr) {
  lock->bias = (struct dct_bias)DCT_BIAS_INIT;
  return pthread_rwlock_init(&lock->lock, attr);
}

int dct_biased_rwlock_destroy(struct dct_biased_rwlock *lock) {
  if (dct_bias_has_readers(&lock->bias))
    return EBUSY;
  return pthread_rwlock_destroy(&lock->lock);
}

int dct_biased_rwlock_rdlock(struct dct_biased_rwlock *lock) {
  if (dct_bias_enter(&lock->bias))
    return 0;
  int error = pthread_rwlock_rdlock(&lock->lock);
  if (!error)
    dct_bias_entered(&lock->bias);
  return error;
}

int dct_biased_rwlock_tryrdlock(struct dct_biased_rwlock *lock) {
  if (dct_bias_enter(&lock->bias))
    return 0;
  int error = pthread_rwlock_tryrdlock(&lock->lock);
  if (!error)
    dct_bias_entered(&lock->bias);
  return error;
}

int dct_biased_rwlock_wrlock(struct dct_biased_rwlock *lock) {
  if (dct_bias_held(&lock->bias))
    return EDEADLK;
  int error = pthread_rwlock_wrlock(&lock->lock);
  if (!error)
    dct_bias_revoke(&lock->bias);
  return error;
}

int dct_biased_rwlock_trywrlock(struct dct_biased_rwlock *lock) {
  if (dct_bias_held(&lock->bias))
    return EBUSY;
  int error = pthread_rwlock_trywrlock(&lock->lock);
  if (error || dct_bias_try_revoke(&lock->bias))
    return error;
  pthread_rwlock_unlock(&lock->lock);
  return EBUSY;
}

int dct_biased_rwlock_rdunlock(struct dct_biased_rwlock *lock) {
  return dct_bias_leave(&lock->bias) ? 0 : pthread_rwlock_unlock(&lock->lock);
}

int dct_biased_rwlock_wrunlock(struct dct_biased_rwlock *lock) {
  return pthread_rwlock_unlock(&lock->lock);
}

int dct_biased_rwlock_reset_in_child(struct dct_biased_rwlock *lock,
                                     const pthread_rwlockattr_t *attr) {
  dct_bias_forget(&lock->bias);
  return dct_biased_rwlock_init(lock, attr);
}
