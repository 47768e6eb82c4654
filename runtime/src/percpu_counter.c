//===- percpu_counter.c - A counter with a word per CPU ----------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Invariants, in arithmetic modulo 2^64, over the triples of words of all
// slots:
//   value = base + directUp - directDown + sum of (up - down)
//   base + count + what publishers hold + sum of (up - down - published) =
//   value up - down - published is below a batch, either sign, at any time
//   (restartable sequences), or once nobody is adding (atomic operations)
// Amounts never move from one word of the value to another, so a sum meets each
// once. Nobody ever subtracts a guess, hence no drift.
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include "decontend/percpu_counter.h"
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The line before the slots.
struct header {
  uint64_t count;
  // What did not go to a slot; count has it too.
  uint64_t directUp;
  uint64_t directDown;
  // Threads between taking a difference and adding it. Without it compare and
  // limited_add could not tell how far count is behind.
  uint64_t publishing;
  uint64_t unused[4];
};

// CPUs: the most that a Linux kernel can be built for.
enum { Line = 64, MostCPUs = 8192, Tries = 3 };
_Static_assert(sizeof(struct header) == Line, "one cache line");
_Static_assert(sizeof(struct dct_percpu_slot) == Line, "one cache line");

static struct header *headerOf(const struct dct_percpu_slot *slots) {
  return (struct header *)slots - 1;
}

// For whoever has seen cpus. Atomic, although it does not change any more:
// ThreadSanitizer takes an exchange that fails for a write.
static struct dct_percpu_slot *
knownSlots(const struct dct_percpu_counter *counter) {
  return __atomic_load_n(&counter->slots, __ATOMIC_RELAXED);
}

// The slots, or NULL where there are none (yet).
static struct dct_percpu_slot *
slotsOf(const struct dct_percpu_counter *counter) {
  return __atomic_load_n(&counter->cpus, __ATOMIC_ACQUIRE) ? knownSlots(counter)
                                                           : NULL;
}

static uint32_t countCPUs(void) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus < 1)
    cpus = 1;
  // Containers show fewer CPUs than the kernel numbers, and numbers may have
  // gaps; the mask has the kernel's numbers.
  unsigned long mask[MostCPUs / (CHAR_BIT * sizeof(long))] = {0};
  if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) == 0)
    for (int i = MostCPUs - 1; i >= cpus; --i)
      if (CPU_ISSET_S(i, sizeof mask, (cpu_set_t *)mask))
        cpus = i + 1;
  return cpus < MostCPUs ? (uint32_t)cpus : MostCPUs;
}

uint32_t dct_percpu_counter_cpus(void) {
  static uint32_t known;
  uint32_t cpus = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!cpus) {
    uint32_t counted = countCPUs();
    if (__atomic_compare_exchange_n(&known, &cpus, counted, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      cpus = counted;
  }
  return cpus;
}

static void *allocateZeroed(size_t bytes) {
  void *memory = aligned_alloc(Line, bytes);
  if (memory)
    memset(memory, 0, bytes);
  return memory;
}

int dct_percpu_counter_init_many(struct dct_percpu_counter *counters, size_t n,
                                 int64_t value) {
  uint32_t cpus = dct_percpu_counter_cpus();
  size_t lines = (size_t)cpus + 1;
  if (n > SIZE_MAX / Line / lines)
    return ENOMEM;
  struct header *memory = n ? allocateZeroed(n * lines * Line) : NULL;
  if (n && !memory)
    return ENOMEM;
  for (size_t i = 0; i < n; ++i) {
    struct header *header = memory + i * lines;
    counters[i].slots = (struct dct_percpu_slot *)(header + 1);
    counters[i].base = (uint64_t)value;
    counters[i].cpus = cpus;
    counters[i].refused = 0;
  }
  return 0;
}

int dct_percpu_counter_init(struct dct_percpu_counter *counter, int64_t value) {
  return dct_percpu_counter_init_many(counter, 1, value);
}

void dct_percpu_counter_destroy_many(struct dct_percpu_counter *counters,
                                     size_t n) {
  if (!n)
    return;
  if (counters[0].slots)
    free(headerOf(counters[0].slots));
  for (size_t i = 0; i < n; ++i) {
    counters[i].slots = NULL;
    counters[i].cpus = 0;
  }
}

void dct_percpu_counter_destroy(struct dct_percpu_counter *counter) {
  dct_percpu_counter_destroy_many(counter, 1);
}

// Gives a counter in static form its slots. Returns false if it has none.
static bool allocateSlots(struct dct_percpu_counter *counter) {
  if (__atomic_load_n(&counter->cpus, __ATOMIC_ACQUIRE))
    return true;
  if (__atomic_load_n(&counter->refused, __ATOMIC_RELAXED))
    return false;
  uint32_t cpus = dct_percpu_counter_cpus();
  struct header *memory = allocateZeroed(((size_t)cpus + 1) * Line);
  if (!memory) {
    // For good: asking again on each add would be slower than sharing.
    __atomic_store_n(&counter->refused, 1, __ATOMIC_RELAXED);
    return false;
  }
  struct dct_percpu_slot *none = NULL;
  if (!__atomic_compare_exchange_n(&counter->slots, &none,
                                   (struct dct_percpu_slot *)(memory + 1),
                                   false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    free(memory);
  // Every thread stores the same, so that nobody waits for the winner.
  __atomic_store_n(&counter->cpus, cpus, __ATOMIC_RELEASE);
  return true;
}

// Spreads threads over lines when the CPU cannot be known.
static uint32_t threadNumber(void) {
  static uint32_t threads;
  static _Thread_local uint32_t mine;
  if (!mine)
    mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return mine;
}

static bool due(uint64_t pending, int32_t batch) {
  uint64_t most = batch > 1 ? (uint64_t)batch - 1 : 0;
  return pending + most > 2 * most;
}

static void beginPublishing(struct header *header) {
  // Ordered before the change of a published word, so that whoever misses this
  // increment may take what is published for still pending.
  __atomic_fetch_add(&header->publishing, 1, __ATOMIC_SEQ_CST);
}

static void endPublishing(struct header *header) {
  // Release: whoever sees it gone sees count.
  __atomic_fetch_sub(&header->publishing, 1, __ATOMIC_RELEASE);
}

#if DCT_PERCPU_RSEQ
static bool haveSequences(void) { return __rseq_size != 0; }

static void publishHere(struct dct_percpu_counter *counter) {
  struct header *header = headerOf(knownSlots(counter));
  struct rseq *area = dct_percpu_rseq_area();
  uint32_t cpu = dct_percpu_rseq_cpu(area);
  if (cpu >= __atomic_load_n(&counter->cpus, __ATOMIC_RELAXED))
    return;
  struct dct_percpu_slot *slot = &knownSlots(counter)[cpu];
  beginPublishing(header);
  uint64_t published = __atomic_load_n(&slot->published, __ATOMIC_RELAXED);
  uint64_t up = __atomic_load_n(&slot->up, __ATOMIC_RELAXED);
  uint64_t down = __atomic_load_n(&slot->down, __ATOMIC_RELAXED);
  if (dct_percpu_rseq_follow(area, cpu, &slot->up, up, down, published))
    __atomic_fetch_add(&header->count, up - down - published, __ATOMIC_RELAXED);
  endPublishing(header);
}

// Returns false with nothing added if this thread is interrupted too often.
static bool addHere(struct dct_percpu_counter *counter, uint64_t amount,
                    int32_t batch) {
  for (int i = 0; i < Tries; ++i) {
    struct rseq *area = dct_percpu_rseq_area();
    uint32_t cpu = dct_percpu_rseq_cpu(area);
    if (cpu >= __atomic_load_n(&counter->cpus, __ATOMIC_RELAXED))
      return false;
    struct dct_percpu_slot *slot = &knownSlots(counter)[cpu];
    if (due(__atomic_load_n(&slot->up, __ATOMIC_RELAXED) + amount -
                __atomic_load_n(&slot->down, __ATOMIC_RELAXED) -
                __atomic_load_n(&slot->published, __ATOMIC_RELAXED),
            batch))
      publishHere(counter);
    if (dct_percpu_rseq_add_near(area, cpu, &slot->up, (int64_t)amount < 0,
                                 amount, batch > 1 ? (uint64_t)batch - 1 : 0))
      return true;
  }
  return false;
}
#else
static bool haveSequences(void) { return false; }
static bool addHere(struct dct_percpu_counter *counter, uint64_t amount,
                    int32_t batch) {
  return false;
}
#endif

// Release, like restartable sequences.
static void addTo(uint64_t *up, uint64_t *down, uint64_t amount) {
  if ((int64_t)amount < 0)
    __atomic_fetch_add(down, 0 - amount, __ATOMIC_SEQ_CST);
  else
    __atomic_fetch_add(up, amount, __ATOMIC_SEQ_CST);
}

static uint64_t sharedTotal(const struct dct_percpu_slot *slot) {
  return __atomic_load_n(&slot->sharedUp, __ATOMIC_SEQ_CST) -
         __atomic_load_n(&slot->sharedDown, __ATOMIC_SEQ_CST);
}

static void publishShared(struct dct_percpu_counter *counter,
                          struct dct_percpu_slot *slot, int32_t batch) {
  struct header *header = headerOf(knownSlots(counter));
  beginPublishing(header);
  uint64_t published =
      __atomic_load_n(&slot->sharedPublished, __ATOMIC_SEQ_CST);
  for (;;) {
    uint64_t pending = sharedTotal(slot) - published;
    if (!due(pending, batch))
      break;
    // Look again after success: others judged by the old value meanwhile.
    if (__atomic_compare_exchange_n(&slot->sharedPublished, &published,
                                    published + pending, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      published += pending;
      __atomic_fetch_add(&header->count, pending, __ATOMIC_RELAXED);
    }
  }
  endPublishing(header);
}

static void addShared(struct dct_percpu_counter *counter, uint64_t amount,
                      int32_t batch) {
  int cpu = sched_getcpu();
  uint32_t number = cpu >= 0 ? (uint32_t)cpu : threadNumber();
  struct dct_percpu_slot *slot =
      &knownSlots(counter)[number % dct_percpu_counter_cpus()];
  addTo(&slot->sharedUp, &slot->sharedDown, amount);
  if (due(sharedTotal(slot) -
              __atomic_load_n(&slot->sharedPublished, __ATOMIC_SEQ_CST),
          batch))
    publishShared(counter, slot, batch);
}

// Need not be announced as publishing: what is in one word only is what this
// add, which has not returned, adds.
static void addDirectly(struct dct_percpu_counter *counter, uint64_t amount) {
  struct header *header = headerOf(knownSlots(counter));
  addTo(&header->directUp, &header->directDown, amount);
  __atomic_fetch_add(&header->count, amount, __ATOMIC_RELAXED);
}

void dct_percpu_counter_add_slow(struct dct_percpu_counter *counter,
                                 uint64_t amount, int32_t batch) {
  if (!allocateSlots(counter))
    __atomic_fetch_add(&counter->base, amount, __ATOMIC_RELAXED);
  else if (!haveSequences())
    addShared(counter, amount, batch);
  else if (due(amount, batch) || !addHere(counter, amount, batch))
    addDirectly(counter, amount);
}

int64_t dct_percpu_counter_read(const struct dct_percpu_counter *counter) {
  uint64_t value = __atomic_load_n(&counter->base, __ATOMIC_RELAXED);
  const struct dct_percpu_slot *slots = slotsOf(counter);
  if (slots)
    value += __atomic_load_n(&headerOf(slots)->count, __ATOMIC_RELAXED);
  return (int64_t)value;
}

static uint64_t sumOfDown(const struct dct_percpu_slot *slots) {
  uint64_t sum =
      __atomic_load_n(&headerOf(slots)->directDown, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0, n = dct_percpu_counter_cpus(); i < n; ++i)
    sum += __atomic_load_n(&slots[i].down, __ATOMIC_ACQUIRE) +
           __atomic_load_n(&slots[i].sharedDown, __ATOMIC_ACQUIRE);
  return sum;
}

static uint64_t sumOfUp(const struct dct_percpu_slot *slots) {
  uint64_t sum = __atomic_load_n(&headerOf(slots)->directUp, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0, n = dct_percpu_counter_cpus(); i < n; ++i)
    sum += __atomic_load_n(&slots[i].up, __ATOMIC_ACQUIRE) +
           __atomic_load_n(&slots[i].sharedUp, __ATOMIC_ACQUIRE);
  return sum;
}

// All but base. What is read first is known to be preceded by what is read
// then: the result is never too low, or never too high.
static uint64_t sumOfTotals(const struct dct_percpu_counter *counter,
                            bool tooHigh) {
  const struct dct_percpu_slot *slots = slotsOf(counter);
  if (!slots)
    return 0;
  if (tooHigh) {
    uint64_t down = sumOfDown(slots);
    return sumOfUp(slots) - down;
  }
  uint64_t up = sumOfUp(slots);
  return up - sumOfDown(slots);
}

static int64_t sumWith(const struct dct_percpu_counter *counter, bool tooHigh) {
  return (int64_t)(__atomic_load_n(&counter->base, __ATOMIC_RELAXED) +
                   sumOfTotals(counter, tooHigh));
}

int64_t dct_percpu_counter_sum(const struct dct_percpu_counter *counter) {
  return sumWith(counter, true);
}

static int64_t positive(int64_t value) { return value > 0 ? value : 0; }

int64_t
dct_percpu_counter_read_positive(const struct dct_percpu_counter *counter) {
  return positive(dct_percpu_counter_read(counter));
}

int64_t
dct_percpu_counter_sum_positive(const struct dct_percpu_counter *counter) {
  return positive(dct_percpu_counter_sum(counter));
}

void dct_percpu_counter_set(struct dct_percpu_counter *counter, int64_t value) {
  uint64_t base = __atomic_load_n(&counter->base, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      &counter->base, &base, (uint64_t)value - sumOfTotals(counter, true),
      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

// The sign of value - rhs by the count alone, or 0 if that cannot tell: because
// it is nearer than all that may be pending, or somebody is publishing.
static int far(const struct dct_percpu_counter *counter, int64_t rhs,
               int32_t batch) {
  const struct dct_percpu_slot *slots = slotsOf(counter);
  if (!slots ||
      __atomic_load_n(&headerOf(slots)->publishing, __ATOMIC_ACQUIRE) != 0)
    return 0;
  int64_t most, distance;
  if (__builtin_mul_overflow(batch > 1 ? (int64_t)batch - 1 : 0,
                             (int64_t)dct_percpu_counter_cpus(), &most) ||
      __builtin_sub_overflow(dct_percpu_counter_read(counter), rhs, &distance))
    return 0;
  return distance > most ? 1 : distance < -most ? -1 : 0;
}

static int compare(const struct dct_percpu_counter *counter, int64_t rhs,
                   int32_t batch, bool tooHigh) {
  int sign = far(counter, rhs, batch);
  if (sign)
    return sign;
  int64_t sum = sumWith(counter, tooHigh);
  return (sum > rhs) - (sum < rhs);
}

int dct_percpu_counter_compare_batch(const struct dct_percpu_counter *counter,
                                     int64_t rhs, int32_t batch) {
  return compare(counter, rhs, batch, true);
}

int dct_percpu_counter_compare(const struct dct_percpu_counter *counter,
                               int64_t rhs) {
  return dct_percpu_counter_compare_batch(counter, rhs,
                                          DCT_PERCPU_COUNTER_BATCH);
}

bool dct_percpu_counter_limited_add_batch(struct dct_percpu_counter *counter,
                                          int64_t limit, int64_t amount,
                                          int32_t batch) {
  if (!amount)
    return true;
  dct_percpu_counter_add_batch(counter, amount, batch);
  // Of two threads that add and then look, the one whose fence is later sees
  // the other's amount.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  int sign = compare(counter, limit, batch, amount > 0);
  if (amount > 0 ? sign <= 0 : sign >= 0)
    return true;
  dct_percpu_counter_add_batch(counter, (int64_t)(0 - (uint64_t)amount), batch);
  return false;
}

bool dct_percpu_counter_limited_add(struct dct_percpu_counter *counter,
                                    int64_t limit, int64_t amount) {
  return dct_percpu_counter_limited_add_batch(counter, limit, amount,
                                              DCT_PERCPU_COUNTER_BATCH);
}

void dct_percpu_counter_reset_in_child(struct dct_percpu_counter *counter) {
  struct dct_percpu_slot *slots = slotsOf(counter);
  if (!slots)
    return;
  uint64_t count = headerOf(slots)->directUp - headerOf(slots)->directDown;
  for (uint32_t i = 0, n = dct_percpu_counter_cpus(); i < n; ++i) {
    slots[i].published = slots[i].up - slots[i].down;
    slots[i].sharedPublished = slots[i].sharedUp - slots[i].sharedDown;
    count += slots[i].published + slots[i].sharedPublished;
  }
  headerOf(slots)->count = count;
  headerOf(slots)->publishing = 0;
}
