//===- biased_rwlock_test.cpp - The biased lock, step by step ---*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads do one step at a time and are waited for, so every outcome is
// determined.
//
//===----------------------------------------------------------------------===//

#include "decontend/biased_rwlock.hpp"
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <future>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <vector>

// For ThreadSanitizer: one thread holds many locks here, in any order, with
// tries. The stress tests are run with all checks.
extern "C" const char *__tsan_default_options() { return "detect_deadlocks=0"; }

namespace {

// A thread that does what it is told.
class Actor {
public:
  Actor() : Thread([this] { loop(); }) {}
  ~Actor() {
    post({});
    Thread.join();
  }

  // Starts a step that may block.
  template <class Body> std::future<int> start(Body B) {
    std::packaged_task<int()> Task(std::move(B));
    std::future<int> Result = Task.get_future();
    post(std::move(Task));
    return Result;
  }

  template <class Body> int operator()(Body B) {
    return start(std::move(B)).get();
  }

private:
  void post(std::packaged_task<int()> Task) {
    std::lock_guard Guard(Mutex);
    Tasks.push(std::move(Task));
    Changed.notify_one();
  }

  void loop() {
    for (;;) {
      std::unique_lock Guard(Mutex);
      Changed.wait(Guard, [this] { return !Tasks.empty(); });
      std::packaged_task<int()> Task = std::move(Tasks.front());
      Tasks.pop();
      Guard.unlock();
      if (!Task.valid())
        return;
      Task();
    }
  }

  std::mutex Mutex;
  std::condition_variable Changed;
  std::queue<std::packaged_task<int()>> Tasks;
  std::thread Thread;
};

// A lock that biases as often as it can.
struct Lock : dct_biased_rwlock {
  explicit Lock(std::uint32_t Inhibit = 0) {
    EXPECT_EQ(dct_biased_rwlock_init(this, nullptr), 0);
    dct_bias_set_inhibit(&bias, Inhibit);
  }
  ~Lock() { EXPECT_EQ(dct_biased_rwlock_destroy(this), 0); }

  int read() { return dct_biased_rwlock_rdlock(this); }
  int tryRead() { return dct_biased_rwlock_tryrdlock(this); }
  int leave() { return dct_biased_rwlock_rdunlock(this); }
  int write() { return dct_biased_rwlock_wrlock(this); }
  int tryWrite() { return dct_biased_rwlock_trywrlock(this); }
  int endWrite() { return dct_biased_rwlock_wrunlock(this); }
  bool biased() const { return dct_bias_is_on(&bias); }
  bool readers() const { return dct_bias_has_readers(&bias); }

  void turnOn() {
    EXPECT_EQ(read() + leave(), 0);
    EXPECT_TRUE(biased());
  }
  // Who can write could not do so with a reader inside.
  void expectFree() {
    EXPECT_FALSE(readers());
    EXPECT_EQ(tryWrite(), 0);
    EXPECT_EQ(endWrite(), 0);
  }
};

void waitUntil(auto Condition) {
  while (!Condition())
    std::this_thread::yield();
}

TEST(BiasedRWLock, ReadersSkipTheLockOnceOneTookIt) {
  Lock L;
  EXPECT_FALSE(L.biased());
  EXPECT_EQ(L.read(), 0);
  EXPECT_TRUE(L.biased());
  EXPECT_FALSE(L.readers());
  EXPECT_EQ(L.leave(), 0);
  EXPECT_EQ(L.read(), 0);
  EXPECT_TRUE(L.readers());
  EXPECT_EQ(pthread_rwlock_trywrlock(&L.lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&L.lock), 0);
  EXPECT_EQ(L.leave(), 0);
  L.expectFree();
}

TEST(BiasedRWLock, StaysOffAfterALongRevocation) {
  Lock L(UINT32_MAX);
  L.turnOn();
  EXPECT_EQ(L.write(), 0);
  EXPECT_FALSE(L.biased());
  EXPECT_EQ(L.endWrite(), 0);
  EXPECT_EQ(L.read(), 0);
  EXPECT_FALSE(L.biased());
  EXPECT_EQ(L.leave(), 0);
  dct_bias_set_inhibit(&L.bias, 0);
  // The period was fixed when the bias was turned off.
  EXPECT_EQ(L.read() + L.leave(), 0);
  EXPECT_FALSE(L.biased());
}

TEST(BiasedRWLock, NestedReadPassesAWriterThatWaits) {
  Lock L;
  Actor Writer;
  for (bool Fast : {true, false}) {
    if (Fast)
      L.turnOn();
    EXPECT_EQ(L.read(), 0);
    EXPECT_EQ(L.readers(), Fast);
    std::future<int> Wrote = Writer.start([&] { return L.write(); });
    if (Fast)
      waitUntil([&] { return !L.biased(); });
    EXPECT_EQ(L.read(), 0);
    EXPECT_EQ(L.tryRead(), 0);
    EXPECT_EQ(L.leave() + L.leave() + L.leave(), 0);
    EXPECT_EQ(Wrote.get(), 0);
    EXPECT_EQ(L.tryRead(), EBUSY);
    EXPECT_EQ(L.tryWrite(), EBUSY);
    EXPECT_EQ(Writer([&] { return L.endWrite(); }), 0);
  }
  L.expectFree();
}

TEST(BiasedRWLock, AFailedTryLeavesReadersVisible) {
  Lock L;
  Actor Reader;
  L.turnOn();
  EXPECT_EQ(Reader([&] { return L.read(); }), 0);
  EXPECT_EQ(L.tryWrite(), EBUSY);
  EXPECT_FALSE(L.biased());
  EXPECT_EQ(L.tryWrite(), EBUSY);
  // Another reader turns the bias on again while the first is still inside.
  EXPECT_EQ(L.read() + L.leave(), 0);
  EXPECT_TRUE(L.biased());
  EXPECT_EQ(L.tryWrite(), EBUSY);
  EXPECT_EQ(Reader([&] { return L.leave(); }), 0);
  L.expectFree();
}

TEST(BiasedRWLock, RefusesToWaitForItself) {
  Lock L;
  for (int Round = 0; Round < 2; ++Round) {
    EXPECT_EQ(L.read(), 0);
    EXPECT_EQ(L.write(), EDEADLK);
    EXPECT_EQ(L.tryWrite(), EBUSY);
    EXPECT_EQ(L.leave(), 0);
  }
  EXPECT_EQ(L.write(), 0);
  EXPECT_EQ(L.read(), EDEADLK);
  EXPECT_EQ(L.write(), EDEADLK);
  EXPECT_EQ(L.endWrite(), 0);
  L.expectFree();
}

TEST(BiasedRWLock, IsNotDestroyedUnderAReader) {
  Lock L;
  L.turnOn();
  EXPECT_EQ(L.read(), 0);
  EXPECT_EQ(dct_biased_rwlock_destroy(&L), EBUSY);
  EXPECT_EQ(L.leave(), 0);
}

// More locks than a thread remembers, and enough that some share a column.
TEST(BiasedRWLock, HoldsMoreLocksThanItRemembers) {
  std::array<Lock, 200> Locks;
  for (Lock &L : Locks)
    L.turnOn();
  Actor Other;
  for (std::size_t Size : {2u, 8u, 9u, 40u, 200u})
    for (bool Reverse : {false, true}) {
      for (std::size_t I = 0; I < Size; ++I)
        EXPECT_EQ(Locks[I].read(), 0);
      for (std::size_t I = 0; I < Size; ++I)
        EXPECT_EQ(Other([&] { return Locks[I].tryWrite(); }), EBUSY);
      for (std::size_t I = 0; I < Size; ++I)
        EXPECT_EQ(Locks[Reverse ? Size - 1 - I : I].leave(), 0);
      for (Lock &L : Locks) {
        L.expectFree();
        L.turnOn();
      }
    }
}

TEST(BiasedRWLock, CountsMoreThreadsThanRows) {
  constexpr int Threads = DCT_BIAS_ROWS + 60;
  Lock L;
  L.turnOn();
  std::latch Inside(Threads), Go(1);
  std::vector<std::thread> All;
  std::atomic<int> Wrong = 0;
  for (int I = 0; I < Threads; ++I)
    All.emplace_back([&] {
      Wrong += L.read() != 0;
      Inside.count_down();
      Go.wait();
      Wrong += L.leave() != 0;
    });
  Inside.wait();
  EXPECT_EQ(L.tryWrite(), EBUSY);
  EXPECT_TRUE(L.readers());
  Go.count_down();
  EXPECT_EQ(L.write(), 0);
  EXPECT_EQ(L.endWrite(), 0);
  for (std::thread &T : All)
    T.join();
  EXPECT_EQ(Wrong, 0);
  L.expectFree();
}

TEST(BiasedRWLock, AThreadThatEndsInsideHoldsIt) {
  // Static: its slot stays taken, and the next lock at its address would meet
  // it.
  static dct_biased_rwlock L = DCT_BIASED_RWLOCK_INIT;
  EXPECT_EQ(dct_biased_rwlock_rdlock(&L) + dct_biased_rwlock_rdunlock(&L), 0);
  std::thread([] { dct_biased_rwlock_rdlock(&L); }).join();
  EXPECT_EQ(dct_biased_rwlock_trywrlock(&L), EBUSY);
  EXPECT_EQ(dct_biased_rwlock_destroy(&L), EBUSY);
  EXPECT_EQ(dct_biased_rwlock_rdlock(&L) + dct_biased_rwlock_rdunlock(&L), 0);
}

// Random steps of four threads on twelve locks, which is more than a thread
// remembers, against a model that counts.
TEST(BiasedRWLock, FollowsTheModel) {
  constexpr int Threads = 4, LockCount = 12;
  for (unsigned Seed = 1; Seed <= 8; ++Seed) {
    SCOPED_TRACE(testing::Message() << "seed " << Seed);
    std::mt19937 Random(Seed);
    std::array<Lock, LockCount> Locks;
    std::array<Actor, Threads> Actors;
    int Reads[LockCount][Threads] = {};
    int Writer[LockCount];
    std::fill_n(Writer, LockCount, -1);
    auto Leave = [&](int I, int T) {
      if (Writer[I] == T) {
        EXPECT_EQ(Actors[T]([&] { return Locks[I].endWrite(); }), 0);
        Writer[I] = -1;
      } else if (Reads[I][T]) {
        EXPECT_EQ(Actors[T]([&] { return Locks[I].leave(); }), 0);
        --Reads[I][T];
      }
    };
    for (int Step = 0; Step < 2500; ++Step) {
      int I = Random() % LockCount, T = Random() % Threads;
      Lock &L = Locks[I];
      bool Free = Writer[I] < 0;
      int All = 0;
      for (int Count : Reads[I])
        All += Count;
      switch (Random() % 6) {
      case 0:
        if (Actors[T]([&] { return L.tryWrite(); }) == 0) {
          EXPECT_TRUE(Free && !All);
          Writer[I] = T;
        } else {
          EXPECT_TRUE(!Free || All);
        }
        break;
      case 1:
        if (Free && !All) {
          EXPECT_EQ(Actors[T]([&] { return L.write(); }), 0);
          Writer[I] = T;
        }
        break;
      case 2:
        EXPECT_EQ(Actors[T]([&] { return L.tryRead(); }), Free ? 0 : EBUSY);
        Reads[I][T] += Free;
        break;
      case 3:
        if (Free) {
          EXPECT_EQ(Actors[T]([&] { return L.read(); }), 0);
          ++Reads[I][T];
        }
        break;
      default:
        Leave(I, T);
      }
    }
    for (int I = 0; I < LockCount; ++I)
      for (int T = 0; T < Threads; ++T)
        while (Writer[I] == T || Reads[I][T])
          Leave(I, T);
    for (Lock &L : Locks)
      L.expectFree();
  }
}

} // namespace
