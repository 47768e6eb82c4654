//===- percpu_counter_bench.cpp - Counters side by side -----------*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each benchmark has one counter that all its threads add 1 to. Read the
// items/s: adds per second of all threads together.

#include "decontend/percpu_counter.hpp"
#include <atomic>
#include <benchmark/benchmark.h>
#include <mutex>
#include <sched.h>
#include <vector>
extern "C" {
#include <ck_pr.h>
}

namespace {

constexpr int Adds =
    64; // Per iteration, so that the loop around does not count.

// Peer: statistical counters of McKenney's book, chapter 5: each thread adds to
// a variable of its own, with plain instructions; a list leads readers to them.
struct PerThread {
  struct alignas(64) Part {
    std::atomic<std::uint64_t> Value{0};
  };
  std::mutex Lock;
  std::vector<Part *> Parts;
  std::uint64_t OfGoneThreads = 0;
  static thread_local Part Mine;

  void enter() {
    std::lock_guard Guard(Lock);
    Parts.push_back(&Mine);
  }
  void leave() {
    std::lock_guard Guard(Lock);
    std::erase(Parts, &Mine);
    OfGoneThreads += Mine.Value.exchange(0);
  }
  static void add(std::uint64_t Amount) {
    Mine.Value.store(Mine.Value.load(std::memory_order_relaxed) + Amount,
                     std::memory_order_relaxed);
  }
};
constinit thread_local PerThread::Part PerThread::Mine;

PerThread PerThreadCounter;
alignas(64) std::atomic<std::uint64_t> Atomic;
alignas(64) std::uint64_t CK;
constinit decontend::static_percpu_counter PerCPU;

// Each thread on a CPU of its own as far as there are any: two threads that the
// scheduler lets take turns on one CPU meet no contention.
class Pinned {
  cpu_set_t Before;

public:
  explicit Pinned(int Thread) {
    sched_getaffinity(0, sizeof Before, &Before);
    int Left = Thread % CPU_COUNT(&Before);
    int CPU = 0;
    while (!CPU_ISSET(CPU, &Before) || Left-- > 0)
      ++CPU;
    cpu_set_t One;
    CPU_ZERO(&One);
    CPU_SET(CPU, &One);
    sched_setaffinity(0, sizeof One, &One);
  }
  ~Pinned() { sched_setaffinity(0, sizeof Before, &Before); }
};

// Waits for all threads of this run to be running, which the library's own
// barrier does not: there the last one to come may be done before another
// wakes.
void meet(const benchmark::State &State) {
  static std::atomic<int> Arrived[9];
  std::atomic<int> &Count = Arrived[State.threads()];
  int Mine = Count.fetch_add(1);
  while (Count < (Mine / State.threads() + 1) * State.threads())
    sched_yield();
}

template <typename Fn> void loop(benchmark::State &State, Fn Add) {
  Pinned Here(State.thread_index());
  bool Met = false;
  for (auto _ : State) {
    if (!Met)
      meet(State);
    Met = true;
    for (int I = 0; I != Adds; ++I)
      Add();
  }
  State.SetItemsProcessed(State.iterations() * Adds);
}

void atomicFetchAdd(benchmark::State &State) {
  loop(State, [] { Atomic.fetch_add(1, std::memory_order_relaxed); });
}
void ckFetchAndAdd(benchmark::State &State) {
  loop(State, [] { benchmark::DoNotOptimize(ck_pr_faa_64(&CK, 1)); });
}
void ckAdd(benchmark::State &State) {
  loop(State, [] { ck_pr_add_64(&CK, 1); });
}
// The same as perThread with the address found once, before the loop, which
// code that counts events here and there cannot do: the least that counting can
// cost.
void ckOwnWordInALoop(benchmark::State &State) {
  auto *Mine = reinterpret_cast<std::uint64_t *>(&PerThread::Mine.Value);
  loop(State, [=] { ck_pr_store_64(Mine, ck_pr_load_64(Mine) + 1); });
}
void perThread(benchmark::State &State) {
  PerThreadCounter.enter();
  loop(State, [] { PerThread::add(1); });
  PerThreadCounter.leave();
}
void add(benchmark::State &State) {
  loop(State, [] { PerCPU.add(1); });
}
void addBatch32(benchmark::State &State) {
  loop(State, [] { PerCPU.add(1, 32); });
}
void addLocal(benchmark::State &State) {
  loop(State, [] { PerCPU.add_local(1); });
}
void inc(benchmark::State &State) {
  loop(State, [] { ++PerCPU; });
}
void limitedAdd(benchmark::State &State) {
  loop(State, [] { PerCPU.limited_add(INT64_MAX, 1); });
}
void read(benchmark::State &State) {
  loop(State, [] { benchmark::DoNotOptimize(PerCPU.read()); });
}
void sum(benchmark::State &State) {
  loop(State, [] { benchmark::DoNotOptimize(PerCPU.sum()); });
}

#define COUNTER(Function)                                                      \
  BENCHMARK(Function)                                                          \
      ->Name("counter/" #Function)                                             \
      ->Threads(1)                                                             \
      ->Threads(2)                                                             \
      ->Threads(4)                                                             \
      ->Threads(8)                                                             \
      ->UseRealTime()
COUNTER(atomicFetchAdd);
COUNTER(ckFetchAndAdd);
COUNTER(ckAdd);
COUNTER(ckOwnWordInALoop);
COUNTER(perThread);
COUNTER(add);
COUNTER(addBatch32);
COUNTER(addLocal);
COUNTER(inc);
COUNTER(limitedAdd);
COUNTER(read);
COUNTER(sum);

} // namespace
