//===- objects_bench.cpp - Teardown and keys side by side -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// teardown_*: 1000 objects are torn down, while a registered reader enters and
// leaves sections. The time is that of the caller; the counter freed_us is that
// until all are freed, in microseconds. All four use liburcu's flavour memb.
//
// keys_*: the time to create 256 objects beside as many others as the argument
// says; keys_list walks all of them first, as a list without an index has to.
// They are dropped afterwards, which does not count.
//
//   runtime-bench --benchmark_filter='teardown_|keys_'
//
//===----------------------------------------------------------------------===//

#include "decontend/keyed_registry.hpp"
#include "decontend/reclaimer.hpp"
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <urcu/urcu-memb.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point From, Clock::time_point To) {
  return std::chrono::duration<double>(To - From).count();
}

constexpr int Teardowns = 1000;

struct Object {
  rcu_head Rcu;
  dct_reclaim_head Reclaim;
  long Payload[8];
};

// What a busy program has: somebody reads nearly all of the time.
class Reader {
  std::atomic<bool> Stop{false}, Running{false};
  std::thread Thread{[this] {
    urcu_memb_register_thread();
    Running = true;
    while (!Stop) {
      urcu_memb_read_lock();
      for (int I = 0; I != 100; ++I)
        benchmark::DoNotOptimize(I);
      urcu_memb_read_unlock();
    }
    urcu_memb_unregister_thread();
  }};

public:
  Reader() {
    while (!Running)
      std::this_thread::yield();
  }
  ~Reader() {
    Stop = true;
    Thread.join();
  }
};

// Teardown tears one object down, Finish waits until all are freed.
template <class Teardown, class Finish>
void tearDown(benchmark::State &State, Teardown One, Finish All) {
  Reader Busy;
  double Freed = 0;
  for (auto _ : State) {
    std::vector<Object *> Objects;
    for (int I = 0; I != Teardowns; ++I)
      Objects.push_back(new Object);
    Clock::time_point Start = Clock::now();
    for (Object *O : Objects)
      One(O);
    Clock::time_point Done = Clock::now();
    All();
    Freed += seconds(Start, Clock::now());
    State.SetIterationTime(seconds(Start, Done));
  }
  State.counters["freed_us"] =
      Freed * 1e6 / static_cast<double>(State.iterations());
  State.SetItemsProcessed(State.iterations() * Teardowns);
}

void teardown_synchronize_rcu(benchmark::State &State) {
  tearDown(
      State,
      [](Object *O) {
        urcu_memb_synchronize_rcu();
        delete O;
      },
      [] {});
}

void teardown_call_rcu(benchmark::State &State) {
  tearDown(
      State,
      [](Object *O) {
        urcu_memb_call_rcu(&O->Rcu, [](rcu_head *Head) {
          delete reinterpret_cast<Object *>(Head);
        });
      },
      [] { urcu_memb_barrier(); });
}

// Once: liburcu 0.13 asserts when a thread registers again, and when one is
// left registered at the end.
struct DeferringThread {
  DeferringThread() { urcu_memb_defer_register_thread(); }
  ~DeferringThread() { urcu_memb_defer_unregister_thread(); }
};

void teardown_defer_rcu(benchmark::State &State) {
  static DeferringThread Registered;
  tearDown(
      State,
      [](Object *O) {
        urcu_memb_defer_rcu([](void *P) { delete static_cast<Object *>(P); },
                            O);
      },
      [] { urcu_memb_defer_barrier(); });
}

void teardown_reclaimer(benchmark::State &State) {
  decontend::reclaimer R;
  tearDown(
      State,
      [&](Object *O) {
        R.defer(O->Reclaim, [](dct_reclaim_head *Head) {
          delete reinterpret_cast<Object *>(reinterpret_cast<char *>(Head) -
                                            offsetof(Object, Reclaim));
        });
      },
      [&] { R.flush(); });
}

#define TEARDOWN(name)                                                         \
  BENCHMARK(name)->UseManualTime()->Unit(benchmark::kMicrosecond)
TEARDOWN(teardown_synchronize_rcu);
TEARDOWN(teardown_call_rcu);
TEARDOWN(teardown_defer_rcu);
TEARDOWN(teardown_reclaimer);

struct Value {
  long Payload[8] = {};
};
using Registry = decontend::keyed_registry<long, Value>;

constexpr long Creations = 256;

// The time is that of Creations calls of New; Drop then undoes them.
template <class Create, class Undo>
void create(benchmark::State &State, Create New, Undo Drop) {
  for (auto _ : State) {
    Clock::time_point Start = Clock::now();
    for (long I = 0; I != Creations; ++I)
      New(State.range(0) + I);
    State.SetIterationTime(seconds(Start, Clock::now()));
    Drop();
  }
  State.SetItemsProcessed(State.iterations() * Creations);
}

template <class Create> void keys(benchmark::State &State, Create New) {
  decontend::reclaimer R;
  Registry K(R);
  std::vector<Registry::ref> Refs;
  for (long I = 0; I != State.range(0); ++I)
    Refs.push_back(K.get_unique(I, [] { return Value(); }));
  create(
      State, [&](long Key) { Refs.push_back(New(K, Key)); },
      [&] {
        Refs.resize(static_cast<std::size_t>(State.range(0)));
        R.flush();
      });
}

void keys_get(benchmark::State &State) {
  keys(State, [](Registry &K, long Key) {
    return K.get(Key, [] { return Value(); });
  });
}

void keys_get_unique(benchmark::State &State) {
  keys(State, [](Registry &K, long Key) {
    return K.get_unique(Key, [] { return Value(); });
  });
}

void keys_list(benchmark::State &State) {
  struct Named {
    long Key;
    Value V;
  };
  std::mutex Lock;
  std::list<std::unique_ptr<Named>> All;
  for (long I = 0; I != State.range(0); ++I)
    All.push_back(std::make_unique<Named>(Named{I, {}}));
  create(
      State,
      [&](long Key) {
        std::lock_guard Guard(Lock);
        bool Found = false;
        for (const std::unique_ptr<Named> &N : All)
          if (N->Key == Key) {
            Found = true;
            break;
          }
        if (!Found)
          All.push_back(std::make_unique<Named>(Named{Key, {}}));
      },
      [&] { All.resize(static_cast<std::size_t>(State.range(0))); });
}

#define KEYS(name)                                                             \
  BENCHMARK(name)->RangeMultiplier(10)->Range(1, 100000)->UseManualTime()
KEYS(keys_list);
KEYS(keys_get);
KEYS(keys_get_unique);

} // namespace
