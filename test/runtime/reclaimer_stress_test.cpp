//===- reclaimer_stress_test.cpp - Frees later, among threads ---*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grace period is a writer's turn on a lock that readers share: slow, and
// sanitisers see what it orders, other than inside liburcu.
//
//===----------------------------------------------------------------------===//

#include "decontend/reclaimer.hpp"
#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <sched.h>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace decontend;

namespace {

std::shared_mutex Readers;

void waitForReaders() { std::unique_lock Guard(Readers); }

void inThreads(int Threads, const std::function<void(int)> &Work) {
  std::vector<std::thread> Workers;
  for (int I = 0; I != Threads; ++I)
    Workers.emplace_back(Work, I);
  for (std::thread &Worker : Workers)
    Worker.join();
}

void moveToRandomCPU(std::mt19937 &Random) {
  static const std::vector<int> CPUs = [] {
    cpu_set_t Allowed;
    sched_getaffinity(0, sizeof Allowed, &Allowed);
    std::vector<int> Result;
    for (int CPU = 0; CPU != CPU_SETSIZE; ++CPU)
      if (CPU_ISSET(CPU, &Allowed))
        Result.push_back(CPU);
    return Result;
  }();
  cpu_set_t One;
  CPU_ZERO(&One);
  CPU_SET(CPUs[Random() % CPUs.size()], &One);
  pthread_setaffinity_np(pthread_self(), sizeof One, &One);
}

// Threads, limit.
using Load = std::tuple<int, std::size_t>;

class ReclaimerStress : public testing::TestWithParam<Load> {};
INSTANTIATE_TEST_SUITE_P(ThreadsLimit, ReclaimerStress,
                         testing::Combine(testing::Values(2, 3, 4, 8),
                                          testing::Values(1, 7, 0)));

struct Object : reclaimable {
  static inline std::atomic<long> Alive{0};
  long A, B;
  explicit Object(long Value) : A(Value), B(-Value) { ++Alive; }
  ~Object() {
    A = B = 1;
    --Alive;
  }
};

TEST_P(ReclaimerStress, ReadersNeverSeeAFreedObject) {
  auto [Threads, Limit] = GetParam();
  std::cout << "seeds 1 to " << Threads << '\n';
  std::array<std::atomic<Object *>, 4> Shared = {};
  std::atomic<int> Wrong = 0;
  {
    reclaimer R({waitForReaders, Limit});
    inThreads(Threads, [&](int Self) {
      std::mt19937 Random(Self + 1);
      for (int Step = 0; Step != 400; ++Step) {
        std::atomic<Object *> &Place = Shared[Random() % Shared.size()];
        switch (Random() % 16) {
        case 0:
          R.flush();
          break;
        case 1:
          moveToRandomCPU(Random);
          break;
        case 2:
        case 3:
        case 4:
        case 5: {
          std::unique_ptr<Object> Old(
              Place.exchange(new Object(Step), std::memory_order_acq_rel));
          R.defer(std::move(Old));
          break;
        }
        case 6:
          R.defer_call([] { std::this_thread::yield(); });
          break;
        default: {
          std::shared_lock Guard(Readers);
          Object *O = Place.load(std::memory_order_acquire);
          Wrong += O && O->A + O->B != 0;
        }
        }
      }
    });
    for (auto &Place : Shared)
      R.defer(std::unique_ptr<Object>(Place.exchange(nullptr)));
    if (Limit)
      EXPECT_LE(R.pending(), Limit + 1);
  }
  EXPECT_EQ(0, Wrong);
  EXPECT_EQ(0, Object::Alive);
}

// Each step of the handshake with a worker that is about to sleep: a lost wake-
// up would stop a thread for ever.
TEST_P(ReclaimerStress, EachItemIsDoneAfterAFlush) {
  auto [Threads, Limit] = GetParam();
  reclaimer R({waitForReaders, Limit});
  std::atomic<int> Wrong = 0;
  inThreads(Threads, [&](int Self) {
    std::mt19937 Random(Self + 1);
    for (int Step = 0; Step != 150; ++Step) {
      int Done = 0; // not atomic: flush orders it
      int Count = Random() % 3;
      for (int I = 0; I != Count; ++I)
        R.defer_call([&Done] { ++Done; });
      R.flush();
      Wrong += Done != Count;
      if (Random() % 32 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(Random() % 2000));
    }
  });
  EXPECT_EQ(0, Wrong);
  EXPECT_EQ(0u, R.pending());
}

TEST_P(ReclaimerStress, ItemsOfAThreadRunInOrder) {
  auto [Threads, Limit] = GetParam();
  std::vector<std::vector<int>> Ran(Threads);
  {
    reclaimer R({waitForReaders, Limit});
    inThreads(Threads, [&](int Self) {
      for (int I = 0; I != 300; ++I)
        R.defer_call([&Ran, Self, I] { Ran[Self].push_back(I); });
    });
  }
  for (const std::vector<int> &Of : Ran) {
    ASSERT_EQ(300u, Of.size());
    for (int I = 0; I != 300; ++I)
      ASSERT_EQ(I, Of[I]);
  }
}

TEST_P(ReclaimerStress, TryDeferKeepsTheLimitAndLosesNothing) {
  auto [Threads, Limit] = GetParam();
  std::atomic<long> Ran = 0, Queued = 0;
  std::atomic<std::size_t> Most = 0;
  struct Item : dct_reclaim_head {
    std::atomic<long> *Ran;
  };
  {
    reclaimer R({waitForReaders, Limit});
    inThreads(Threads, [&, Limit = Limit](int Self) {
      for (int I = 0; I != 300; ++I) {
        auto Own = std::make_unique<Item>();
        Own->Ran = &Ran;
        auto Run = [](dct_reclaim_head *Head) {
          std::unique_ptr<Item> Self(static_cast<Item *>(Head));
          ++*Self->Ran;
        };
        if (Self % 2 == 0) {
          // Waits for the limit beside those who do not.
          dct_reclaimer_defer(R.native_handle(), Own.release(), Run);
          ++Queued;
        } else if (!dct_reclaimer_try_defer(R.native_handle(), Own.get(),
                                            Run)) {
          Own.release();
          ++Queued;
        }
        std::size_t Now = R.pending();
        for (std::size_t Before = Most;
             Before < Now && !Most.compare_exchange_weak(Before, Now);)
          ;
      }
    });
    if (Limit)
      EXPECT_LE(Most, Limit + Threads);
  }
  EXPECT_EQ(Queued, Ran);
}

TEST_P(ReclaimerStress, ComeAndGo) {
  auto [Threads, Limit] = GetParam();
  std::atomic<int> Ran = 0;
  inThreads(Threads, [&, Limit = Limit](int Self) {
    for (int I = 0; I != 20; ++I) {
      reclaimer R({waitForReaders, Limit});
      for (int K = 0; K != Self; ++K)
        R.defer_call([&] { ++Ran; });
    }
  });
  EXPECT_EQ(20 * Threads * (Threads - 1) / 2, Ran);
}

// A thread may end before what it deferred is done.
TEST_P(ReclaimerStress, ThreadsEndEarly) {
  auto [Threads, Limit] = GetParam();
  std::atomic<int> Ran = 0;
  reclaimer R({waitForReaders, Limit});
  for (int Round = 0; Round != 10; ++Round)
    inThreads(Threads, [&](int) { R.defer_call([&] { ++Ran; }); });
  R.flush();
  EXPECT_EQ(10 * Threads, Ran);
}

} // namespace
