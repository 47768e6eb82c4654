//===- percpu_counter.h - A counter with a word per CPU ----------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   add --> [up, down of this CPU] --- batch reached ---> count
//                    |                                      |
//   sum = base + direct + all up - all down      read = base + count
//
// Replaces an atomic integer that many threads change and few read: statistics.
// Each CPU has 64-bit totals, of what it added and of what it took away, on a
// cache line of its own. Before what a CPU has not published reaches the batch,
// it goes to a count that all share, for those who want a value at the price of
// two loads. Amounts that are a batch or more by themselves go directly to
// shared words.
//
// Source: the interface and the batch are those of Linux's percpu_counter
// (lib/percpu_counter.c; McKenney, "Is Parallel Programming Hard", chapter 5).
// Other than there, totals only grow, and stay when they are published. So a
// sum needs no lock, has no moment at which an amount is in neither place, and
// reads all that went down before all that went up: it counts no decrease
// without the increases that came before it. Totals wrap modulo 2^64, so no
// local part can overflow. The addition is a restartable sequence, see
// percpu_rseq.h.
//
// Properties, for all functions unless stated otherwise:
//  - Exactness: no amount is lost or counted twice. Values wrap as two's
//    complement modulo 2^64.
//  - Memory order: users get no order from the counter. A sum counts each add
//    that happens before it, none that it happens before, and each concurrent
//    one or not; so it is exact once writers have stopped. With adds of both
//    signs running it may be too high by what was taken away meanwhile, never
//    too low: a value that is never negative never sums so.
//  - Blocking: none. add is wait-free: a few tries, then an atomic addition.
//  - Contexts: threads, signal handlers, and children of fork (see
//    reset_in_child). init and destroy, and the first add to a counter in
//    static form, allocate: not in signal handlers. Not across longjmp,
//    exception or asynchronous cancellation out of an add from a handler.
//  - CPUs: may come, go and be forbidden. A total outlives its CPU. CPUs are
//    those configured or allowed when the first counter was made; one with a
//    number beyond them uses the shared word: right, and as slow as an atomic.
//  - Without restartable sequences (before glibc 2.35, other architectures,
//    GLIBC_TUNABLES=glibc.pthread.rseq=0, ThreadSanitizer): an atomic addition
//    to a line chosen by sched_getcpu(), or by thread where that fails. A
//    single thread without them, among others that have them, uses the shared
//    word.
//  - Memory: this struct (24 bytes) and 64 * (CPUs + 1) bytes. On 64 CPUs 4160:
//    not for objects there are millions of, nor for short-lived ones.
//  - Cost for writers: some 15 instructions on a line of this CPU, none locked;
//    once in a batch, three atomic operations on a line that all CPUs share.
//    For readers: read two loads; sum as many lines as CPUs, which their
//    writers own (tens of nanoseconds each): rarely.
//  - Error of read against sum: at most (B - 1) * CPUs, where B is the largest
//    batch in use, and for each thread that is inside an add at that moment its
//    amount and B - 1. No bound once add_local was used.
//
// Needs GNU C: inline assembly with labels, GCC 9 or Clang 9.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_PERCPU_COUNTER_H
#define DECONTEND_PERCPU_COUNTER_H

#include "decontend/percpu_rseq.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What add, inc, dec, sub, compare and limited_add take as batch. Publishing
/// costs some 150 ns where two CPUs meet, which makes an add of 1 less than a
/// tenth dearer.
#define DCT_PERCPU_COUNTER_BATCH 2048

/// The part of one CPU. All fields are private; without restartable sequences
/// the second three are used, else the first, in the order that percpu_rseq.h
/// needs.
struct dct_percpu_slot {
  uint64_t up;
  uint64_t down;
  uint64_t published; ///< How much of up - down the count has.
  uint64_t sharedUp;
  uint64_t sharedDown;
  uint64_t sharedPublished;
  uint64_t unused[2];
};

/// All fields are private. Zero bytes are a valid counter in static form with
/// the value 0. Must not be moved or copied while in use.
struct dct_percpu_counter {
  struct dct_percpu_slot *slots; ///< After a line with the shared count.
  uint64_t base;                 ///< What neither count nor totals have.
  uint32_t cpus;                 ///< 0 until slots can be used.
  uint32_t refused;              ///< No memory at first use.
};

/// Initialiser of a counter in static form: it needs no init, and is right in
/// static storage, before constructors run too. The first add allocates. Where
/// that fails the counter stays an ordinary atomic integer for good: exact, and
/// as contended as any. Its memory stays until destroy, which may be never.
#define DCT_PERCPU_COUNTER_INIT(value) {NULL, (uint64_t)(value), 0, 0}

/// Defines a counter in static form with the value 0. `static` may precede it.
#define DCT_PERCPU_COUNTER_STATIC(name)                                        \
  struct dct_percpu_counter name = DCT_PERCPU_COUNTER_INIT(0)

/// The number of CPUs that counters of this process have words for, as in the
/// bounds above; at least 1, and the same for good.
uint32_t dct_percpu_counter_cpus(void);

/// Makes *counter, with memory for its CPUs that it owns until destroy. Returns
/// 0, or ENOMEM; then *counter must not be used nor destroyed.
int dct_percpu_counter_init(struct dct_percpu_counter *counter, int64_t value);

/// Makes n counters with one allocation. Returns 0, or ENOMEM, and then none of
/// them may be used or destroyed. n == 0 does nothing.
int dct_percpu_counter_init_many(struct dct_percpu_counter *counters, size_t n,
                                 int64_t value);

/// Frees what init or a first add allocated. The caller makes sure that nobody
/// uses the counter during and after the call.
void dct_percpu_counter_destroy(struct dct_percpu_counter *counter);

/// Frees what one call of init_many allocated: the same array and n.
void dct_percpu_counter_destroy_many(struct dct_percpu_counter *counters,
                                     size_t n);

// What the inline functions below leave to the library: all else.
void dct_percpu_counter_add_slow(struct dct_percpu_counter *counter,
                                 uint64_t amount, int32_t batch);

/// Adds amount. Publishes this CPU's part if it would be batch or more from
/// what was published. The larger the batch, the rarer shared lines move and
/// the larger the error of read. batch in [1, INT32_MAX]; less counts as 1.
static inline void
dct_percpu_counter_add_batch(struct dct_percpu_counter *counter, int64_t amount,
                             int32_t batch) {
#if DCT_PERCPU_RSEQ
  struct rseq *area = dct_percpu_rseq_area();
  uint32_t cpu = dct_percpu_rseq_cpu(area);
  // Acquire: whoever sees the number sees the slots.
  if (__builtin_expect(
          cpu < __atomic_load_n(&counter->cpus, __ATOMIC_ACQUIRE) &&
              dct_percpu_rseq_add_near(
                  area, cpu,
                  &__atomic_load_n(&counter->slots, __ATOMIC_RELAXED)[cpu].up,
                  amount < 0, (uint64_t)amount,
                  batch > 1 ? (uint64_t)batch - 1 : 0),
          1))
    return;
#endif
  dct_percpu_counter_add_slow(counter, (uint64_t)amount, batch);
}

/// Adds amount, with the default batch.
static inline void dct_percpu_counter_add(struct dct_percpu_counter *counter,
                                          int64_t amount) {
  dct_percpu_counter_add_batch(counter, amount, DCT_PERCPU_COUNTER_BATCH);
}

/// Adds amount and does not publish: the cheapest add, with the least shared.
/// Only right when nobody uses read, read_positive, compare or limited_add on
/// this counter, whose bounds it voids; sum is as exact as ever.
static inline void
dct_percpu_counter_add_local(struct dct_percpu_counter *counter,
                             int64_t amount) {
#if DCT_PERCPU_RSEQ
  struct rseq *area = dct_percpu_rseq_area();
  uint32_t cpu = dct_percpu_rseq_cpu(area);
  if (__builtin_expect(
          cpu < __atomic_load_n(&counter->cpus, __ATOMIC_ACQUIRE) &&
              dct_percpu_rseq_add(
                  area, cpu,
                  &__atomic_load_n(&counter->slots, __ATOMIC_RELAXED)[cpu].up +
                      (amount < 0),
                  amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount),
          1))
    return;
#endif
  dct_percpu_counter_add_slow(counter, (uint64_t)amount, INT32_MAX);
}

/// Adds 1, with the default batch.
static inline void dct_percpu_counter_inc(struct dct_percpu_counter *counter) {
  dct_percpu_counter_add(counter, 1);
}

/// Adds -1, with the default batch.
static inline void dct_percpu_counter_dec(struct dct_percpu_counter *counter) {
  dct_percpu_counter_add(counter, -1);
}

/// Takes amount away, with the default batch. INT64_MIN is allowed.
static inline void dct_percpu_counter_sub(struct dct_percpu_counter *counter,
                                          int64_t amount) {
  dct_percpu_counter_add(counter, (int64_t)(0 - (uint64_t)amount));
}

/// The approximate value; the error is bounded as above. Loads of lines that
/// change once in a batch.
int64_t dct_percpu_counter_read(const struct dct_percpu_counter *counter);

/// read, or 0 if that is negative: for amounts that cannot be, where only the
/// approximation makes them so.
int64_t
dct_percpu_counter_read_positive(const struct dct_percpu_counter *counter);

/// The exact value, in the sense given under "Memory order". Linear in CPUs.
int64_t dct_percpu_counter_sum(const struct dct_percpu_counter *counter);

/// sum, or 0 if that is negative: for values that mean nothing below 0.
int64_t
dct_percpu_counter_sum_positive(const struct dct_percpu_counter *counter);

/// Makes the value that of the argument. Adds that run at the same time are
/// kept, each as if before (and overwritten) or after. Linear in CPUs, and
/// lock-free: retries while other threads set. sum + set is not atomic: to take
/// a value out, subtract what sum returned.
void dct_percpu_counter_set(struct dct_percpu_counter *counter, int64_t value);

/// The sign of (counter - rhs): -1, 0 or 1. Costs a read when the counter is
/// farther from rhs than the error of read, otherwise a sum. As right as sum
/// for adds that have returned. batch is the largest in use on this counter; a
/// smaller one voids the answer.
int dct_percpu_counter_compare_batch(const struct dct_percpu_counter *counter,
                                     int64_t rhs, int32_t batch);

/// The same with the default batch.
int dct_percpu_counter_compare(const struct dct_percpu_counter *counter,
                               int64_t rhs);

/// Adds amount if the value stays within limit: at most limit for a positive
/// amount, at least limit for a negative one. Returns whether it did.
///
/// Adds first, looks, and takes back when it does not fit. Hence as long as all
/// that grow the value use this function with positive amounts, what succeeded,
/// less what was taken away with sub since, never passes the limit; but sum may
/// see amounts that are about to be taken back, and of several threads that
/// compete for the last room all may get false. The same holds the other way
/// around for a least value. Using it in both directions at once voids this:
/// what is taken back moves the other way. So does set. Neither limit + amount
/// nor the value may leave the range of int64_t. Model: test/runtime/model.
///
/// Costs an add, a full fence and a read; near the limit a sum. batch as for
/// compare_batch.
bool dct_percpu_counter_limited_add_batch(struct dct_percpu_counter *counter,
                                          int64_t limit, int64_t amount,
                                          int32_t batch);

/// The same with the default batch.
bool dct_percpu_counter_limited_add(struct dct_percpu_counter *counter,
                                    int64_t limit, int64_t amount);

/// In a child of fork, before it has threads and outside of handlers: publishes
/// everything, with what threads of the parent were publishing during the fork.
/// Without it sum, compare and limited_add are right in the child, though the
/// latter two may always have to sum; read may be off by B - 1 for each such
/// thread, for good. Linear in CPUs.
void dct_percpu_counter_reset_in_child(struct dct_percpu_counter *counter);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_PERCPU_COUNTER_H
