//===- reclaimer_test.cpp - Frees later, alone ------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/reclaimer.hpp"
#include <atomic>
#include <dlfcn.h>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using namespace decontend;

namespace {

// A grace period that lasts as long as the test wants.
std::atomic<bool> GateOpen{true};
std::atomic<int> GracePeriods{0};
std::atomic<int> InGracePeriod{0};

void waitAtGate() {
  ++GracePeriods;
  ++InGracePeriod;
  InGracePeriod.notify_all();
  GateOpen.wait(false);
  --InGracePeriod;
}

void openGate() {
  GateOpen = true;
  GateOpen.notify_all();
}

// Returns once the worker waits at the closed gate.
void waitForWorker() { InGracePeriod.wait(0); }

struct Item {
  dct_reclaim_head Head = {};
  std::function<void()> Call;
  static void run(dct_reclaim_head *Head) {
    reinterpret_cast<Item *>(Head)->Call();
  }
};

class Reclaimer : public testing::Test {
protected:
  Reclaimer() {
    GateOpen = true;
    GracePeriods = 0;
  }

  dct_reclaimer *make(size_t Limit = 0) {
    dct_reclaimer_options Options = {waitAtGate, Limit};
    dct_reclaimer *R = dct_reclaimer_create(&Options);
    EXPECT_NE(R, nullptr);
    return R;
  }
  static void defer(dct_reclaimer *R, Item &I) {
    dct_reclaimer_defer(R, &I.Head, Item::run);
  }
};

TEST_F(Reclaimer, CallbackRunsAfterTheGracePeriod) {
  dct_reclaimer *R = make();
  std::atomic<bool> Ran = false;
  Item I{.Call = [&] { Ran = true; }};
  GateOpen = false;
  defer(R, I);
  waitForWorker();
  EXPECT_FALSE(Ran);
  EXPECT_EQ(1u, dct_reclaimer_pending(R));
  openGate();
  EXPECT_EQ(0, dct_reclaimer_flush(R));
  EXPECT_TRUE(Ran);
  EXPECT_EQ(0u, dct_reclaimer_pending(R));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(Reclaimer, OneGracePeriodForABatchInOrder) {
  dct_reclaimer *R = make();
  std::vector<int> Order;
  std::vector<Item> Items(1000);
  GateOpen = false;
  for (int I = 0; I != 1000; ++I) {
    Items[I].Call = [&Order, I] { Order.push_back(I); };
    defer(R, Items[I]);
    if (!I)
      waitForWorker();
  }
  openGate();
  EXPECT_EQ(0, dct_reclaimer_flush(R));
  dct_reclaimer_stats Stats;
  dct_reclaimer_get_stats(R, &Stats);
  EXPECT_EQ(1000u, Stats.queued);
  EXPECT_EQ(1000u, Stats.done);
  // All but the first, perhaps with the marker of the flush in a third.
  EXPECT_EQ(999u, Stats.largest_batch);
  EXPECT_LE(Stats.batches, 3u);
  ASSERT_EQ(1000u, Order.size());
  for (int I = 0; I != 1000; ++I)
    ASSERT_EQ(I, Order[I]);
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(Reclaimer, FlushOfNothing) {
  dct_reclaimer *R = make();
  for (int I = 0; I != 100; ++I)
    EXPECT_EQ(0, dct_reclaimer_flush(R));
  dct_reclaimer_stats Stats;
  dct_reclaimer_get_stats(R, &Stats);
  EXPECT_EQ(0u, Stats.queued);
  EXPECT_EQ(0u, Stats.done);
  EXPECT_EQ(0u, Stats.largest_batch);
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(Reclaimer, UnusedIsDestroyed) {
  for (int I = 0; I != 50; ++I)
    EXPECT_EQ(0, dct_reclaimer_destroy(make()));
  EXPECT_EQ(0, GracePeriods);
}

TEST_F(Reclaimer, CallbacksMayDeferButNotWaitForThemselves) {
  dct_reclaimer *R = make(1); // beyond which callbacks would wait as well
  int Left = 500, Flush = 0, Destroy = 0;
  Item Again;
  Again.Call = [&] {
    Flush = dct_reclaimer_flush(R);
    Destroy = dct_reclaimer_destroy(R);
    if (--Left)
      defer(R, Again);
  };
  Item Other{.Call = [] {}};
  defer(R, Again);
  defer(R, Other);
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_EQ(0, Left);
  EXPECT_EQ(EDEADLK, Flush);
  EXPECT_EQ(EDEADLK, Destroy);
}

TEST_F(Reclaimer, ACallbackMayUseAnotherReclaimer) {
  dct_reclaimer *R = make(), *S = make();
  int Ran = 0;
  Item Inner{.Call = [&] { ++Ran; }};
  Item Outer{.Call = [&] {
    defer(S, Inner);
    EXPECT_EQ(0, dct_reclaimer_flush(S));
    EXPECT_EQ(EDEADLK, dct_reclaimer_flush(R));
    ++Ran;
  }};
  defer(R, Outer);
  EXPECT_EQ(0, dct_reclaimer_flush(R));
  EXPECT_EQ(2, Ran);
  EXPECT_EQ(0, dct_reclaimer_destroy(S));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(Reclaimer, DeferWaitsBeyondTheLimit) {
  dct_reclaimer *R = make(3);
  std::vector<Item> Items(5);
  std::atomic<int> Ran = 0, Deferred = 0;
  for (Item &I : Items)
    I.Call = [&] { ++Ran; };
  GateOpen = false;
  std::thread Producer([&] {
    for (Item &I : Items) {
      defer(R, I);
      ++Deferred;
    }
  });
  waitForWorker();
  while (dct_reclaimer_pending(R) != 4)
    std::this_thread::yield();
  EXPECT_EQ(3, Deferred); // The fourth is queued, and waits.
  EXPECT_EQ(0, Ran);
  Item More{.Call = [&] { ++Ran; }};
  EXPECT_EQ(EAGAIN, dct_reclaimer_try_defer(R, &More.Head, Item::run));
  openGate();
  Producer.join();
  EXPECT_EQ(0, dct_reclaimer_flush(R));
  EXPECT_EQ(5, Ran);
  EXPECT_EQ(0, dct_reclaimer_try_defer(R, &More.Head, Item::run));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_EQ(6, Ran);
}

TEST_F(Reclaimer, WithoutLimitNothingWaits) {
  dct_reclaimer *R = make(SIZE_MAX);
  std::vector<Item> Items(DCT_RECLAIMER_LIMIT + 2);
  size_t Ran = 0;
  GateOpen = false;
  for (Item &I : Items) {
    I.Call = [&] { ++Ran; };
    defer(R, I);
  }
  openGate();
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_EQ(Items.size(), Ran);
}

TEST_F(Reclaimer, FlushDoesNotWaitForWhatCallbacksDefer) {
  dct_reclaimer *R = make();
  std::atomic<bool> Stop = false;
  Item Forever;
  Forever.Call = [&] {
    if (!Stop)
      defer(R, Forever);
  };
  defer(R, Forever);
  for (int I = 0; I != 20; ++I)
    EXPECT_EQ(0, dct_reclaimer_flush(R));
  Stop = true;
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(Reclaimer, SynchronizeIsTheGracePeriod) {
  dct_reclaimer *R = make();
  dct_reclaimer_synchronize(R);
  EXPECT_EQ(1, GracePeriods);
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

// By name, because a shared library does not show what it is linked with.
template <class F> F *urcu(const char *Name) {
  return reinterpret_cast<F *>(dlsym(RTLD_DEFAULT, Name));
}

TEST_F(Reclaimer, TheDefaultWaitsForReadersOfLiburcu) {
  auto *Register = urcu<void()>("urcu_memb_register_thread");
  auto *Unregister = urcu<void()>("urcu_memb_unregister_thread");
  auto *Lock = urcu<void()>("urcu_memb_read_lock");
  auto *Unlock = urcu<void()>("urcu_memb_read_unlock");
  if (!Register || !Unregister || !Lock || !Unlock)
    GTEST_SKIP() << "liburcu is linked statically";
  dct_reclaimer *R = dct_reclaimer_create(nullptr);
  ASSERT_NE(R, nullptr);
  Register();
  Lock();
  std::atomic<bool> Ran = false;
  Item I{.Call = [&] { Ran = true; }};
  defer(R, I);
  for (int K = 0; K != 20; ++K)
    std::this_thread::yield();
  EXPECT_FALSE(Ran);
  Unlock();
  EXPECT_EQ(0, dct_reclaimer_flush(R));
  EXPECT_TRUE(Ran);
  Unregister();
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

//===----------------------------------------------------------------------===//
// Against a model
//===----------------------------------------------------------------------===//

// The model: items run in order, each once, after its defer; a flush leaves
// none but what callbacks deferred; queued and done count right.
struct Machine {
  dct_reclaimer *R;
  std::mt19937 Random;
  std::vector<std::unique_ptr<Item>> Items;
  std::mutex Lock; // for the two below
  std::vector<int> Ran;
  int Queued = 0;
  int ByCallbacks = 0;

  void defer(bool Try) {
    std::unique_lock Guard(Lock);
    int Name = Queued;
    int Children = Random() % 8 == 0;
    auto Own = std::make_unique<Item>();
    Item *New = Own.get();
    New->Call = [this, Name, Children] {
      std::unique_lock Guard(Lock);
      Ran.push_back(Name);
      ByCallbacks += Children;
      Guard.unlock();
      if (Children)
        deferChild();
    };
    Items.push_back(std::move(Own));
    ++Queued;
    Guard.unlock();
    if (!Try)
      dct_reclaimer_defer(R, &New->Head, Item::run);
    else
      while (dct_reclaimer_try_defer(R, &New->Head, Item::run))
        std::this_thread::yield();
  }
  void deferChild() {
    std::unique_lock Guard(Lock);
    auto Own = std::make_unique<Item>();
    Item *New = Own.get();
    New->Call = [] {};
    Items.push_back(std::move(Own));
    Guard.unlock();
    dct_reclaimer_defer(R, &New->Head, Item::run);
  }
  void flush() {
    ASSERT_EQ(0, dct_reclaimer_flush(R));
    std::lock_guard Guard(Lock);
    ASSERT_EQ(Queued, static_cast<int>(Ran.size()));
  }
};

class ReclaimerModel : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ReclaimerModel, testing::Range(1u, 13u));

TEST_P(ReclaimerModel, RandomSteps) {
  std::cout << "seed " << GetParam() << '\n';
  GateOpen = true;
  dct_reclaimer_options Options = {waitAtGate, GetParam() % 3 ? 0u : 5u};
  Machine M{.R = dct_reclaimer_create(&Options),
            .Random = std::mt19937(GetParam())};
  for (int Step = 0; Step != 2000; ++Step) {
    unsigned Choice = M.Random() % 100;
    if (Choice < 85)
      M.defer(false);
    else if (Choice < 95)
      M.defer(true);
    else if (Choice < 98)
      ASSERT_NO_FATAL_FAILURE(M.flush());
    else
      std::this_thread::yield();
  }
  ASSERT_NO_FATAL_FAILURE(M.flush());
  ASSERT_NO_FATAL_FAILURE(M.flush()); // now for what callbacks deferred
  dct_reclaimer_stats Stats;
  dct_reclaimer_get_stats(M.R, &Stats);
  EXPECT_EQ(static_cast<uint64_t>(M.Queued + M.ByCallbacks), Stats.queued);
  EXPECT_EQ(Stats.queued, Stats.done);
  EXPECT_GE(Stats.done, Stats.largest_batch);
  EXPECT_EQ(0, dct_reclaimer_destroy(M.R));
  for (int I = 0; I != M.Queued; ++I)
    ASSERT_EQ(I, M.Ran[I]);
}

//===----------------------------------------------------------------------===//
// C++
//===----------------------------------------------------------------------===//

int Destroyed;

struct Plain {
  int Value = 1;
  ~Plain() { ++Destroyed; }
};
struct Second {
  long Padding = 0;
  virtual ~Second() = default;
};
struct WithHead : Second, reclaimable {
  ~WithHead() override { ++Destroyed; }
};

TEST(ReclaimerCpp, Defers) {
  Destroyed = 0;
  int Calls = 0;
  {
    reclaimer R;
    R.defer(std::make_unique<Plain>());
    R.defer(std::make_unique<WithHead>());
    R.defer(std::unique_ptr<Plain>());
    R.defer(std::unique_ptr<Plain[]>(new Plain[3]));
    auto Deleter = [&Calls](Plain *P) {
      ++Calls;
      delete P;
    };
    R.defer(std::unique_ptr<Plain, decltype(Deleter)>(new Plain, Deleter));
    R.defer_call([Own = std::make_unique<int>(2), &Calls] { Calls += *Own; });
    R.flush();
    EXPECT_EQ(6, Destroyed);
    EXPECT_EQ(3, Calls);
    EXPECT_EQ(5u, R.stats().done);
    EXPECT_EQ(0u, R.pending());
    R.defer_call([&] { EXPECT_THROW(R.flush(), std::system_error); });
    R.synchronize();
    dct_reclaim_head Head;
    R.defer(Head, [](dct_reclaim_head *) { ++Destroyed; });
  }
  EXPECT_EQ(7, Destroyed);
}

} // namespace
