//===- biased_rwlock_stress_test.cpp - The biased lock, threads -*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain members under the locks, so that ThreadSanitizer sees a section that is
// not excluded.
//
//===----------------------------------------------------------------------===//

#include "decontend/biased_rwlock.hpp"
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

template <class Body> void runThreads(unsigned Count, Body Each) {
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < Count; ++I)
    Threads.emplace_back(Each, I);
  for (std::thread &T : Threads)
    T.join();
}

void moveToRandomCPU(std::mt19937 &Random) {
  static const std::vector<int> CPUs = [] {
    cpu_set_t Allowed;
    sched_getaffinity(0, sizeof(Allowed), &Allowed);
    std::vector<int> Result;
    for (int CPU = 0; CPU < CPU_SETSIZE; ++CPU)
      if (CPU_ISSET(CPU, &Allowed))
        Result.push_back(CPU);
    return Result;
  }();
  cpu_set_t One;
  CPU_ZERO(&One);
  CPU_SET(CPUs[Random() % CPUs.size()], &One);
  pthread_setaffinity_np(pthread_self(), sizeof(One), &One);
}

// One in how many steps writes, and how eager the bias is.
using Load = std::tuple<unsigned, unsigned, std::uint32_t>;

class BiasedStress : public testing::TestWithParam<Load> {};
INSTANTIATE_TEST_SUITE_P(
    ThreadsWritesInhibit, BiasedStress,
    testing::Combine(testing::Values(2, 3, 4, 8), testing::Values(2, 8, 100),
                     testing::Values(0, DCT_BIAS_INHIBIT)));

struct Data {
  long A = 0, B = 0, Writes = 0;
};

// Long enough that a section which should have been excluded overlaps.
void linger() {
  for (int I = 0; I < 40; ++I)
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Lock needs lock, lock_shared, their tries and releases.
template <class Lock>
void readAndWrite(unsigned Threads, unsigned OneIn, std::array<Lock, 2> &Locks,
                  int Steps) {
  std::array<Data, 2> Shared;
  std::atomic<long> Written = 0;
  std::atomic<int> Wrong = 0;
  runThreads(Threads, [&](unsigned Self) {
    std::mt19937 Random(Self + 1);
    for (int Step = 0; Step < Steps; ++Step) {
      int Which = Random() % 2;
      Lock &L = Locks[Which];
      Data &D = Shared[Which];
      auto Write = [&] {
        ++D.A;
        linger();
        ++D.Writes;
        ++Written;
        --D.B;
      };
      auto Read = [&] {
        linger();
        Wrong += D.A + D.B != 0;
      };
      if (Random() % OneIn == 0) {
        if (Random() % 4 == 0) {
          std::unique_lock Guard(L, std::try_to_lock);
          if (Guard)
            Write();
        } else {
          std::unique_lock Guard(L);
          Write();
        }
      } else {
        switch (Random() % 8) {
        case 0: {
          std::shared_lock Outer(L);
          Read();
          std::shared_lock Inner(L);
          Read();
          break;
        }
        case 1: {
          std::shared_lock Guard(L, std::try_to_lock);
          if (Guard)
            Read();
          break;
        }
        case 2: {
          std::shared_lock First(Locks[0]), Second(Locks[1]);
          Read();
          break;
        }
        default:
          std::shared_lock Guard(L);
          Read();
        }
      }
      if (Step % 512 == 0)
        moveToRandomCPU(Random);
    }
  });
  EXPECT_EQ(Wrong, 0);
  EXPECT_EQ(Shared[0].Writes + Shared[1].Writes, Written);
}

TEST_P(BiasedStress, SharedMutex) {
  auto [Threads, OneIn, Inhibit] = GetParam();
  std::array<decontend::biased_shared_mutex<>, 2> Locks;
  for (auto &L : Locks)
    L.set_inhibit(Inhibit);
  readAndWrite(Threads, OneIn, Locks, 6000);
}

// The functions of C, with the names that std::shared_lock wants.
struct OfC {
  dct_biased_rwlock L;

  explicit OfC(int Kind = PTHREAD_RWLOCK_PREFER_READER_NP) {
    pthread_rwlockattr_t Attr;
    pthread_rwlockattr_init(&Attr);
    pthread_rwlockattr_setkind_np(&Attr, Kind);
    EXPECT_EQ(dct_biased_rwlock_init(&L, &Attr), 0);
    pthread_rwlockattr_destroy(&Attr);
  }
  ~OfC() { EXPECT_EQ(dct_biased_rwlock_destroy(&L), 0); }
  static void expect(int Error) {
    if (Error)
      throw std::runtime_error("lock");
  }
  void lock() { expect(dct_biased_rwlock_wrlock(&L)); }
  bool try_lock() { return dct_biased_rwlock_trywrlock(&L) == 0; }
  void unlock() { expect(dct_biased_rwlock_wrunlock(&L)); }
  void lock_shared() { expect(dct_biased_rwlock_rdlock(&L)); }
  bool try_lock_shared() { return dct_biased_rwlock_tryrdlock(&L) == 0; }
  void unlock_shared() { expect(dct_biased_rwlock_rdunlock(&L)); }
};

TEST_P(BiasedStress, RWLockOfC) {
  auto [Threads, OneIn, Inhibit] = GetParam();
  std::array<OfC, 2> Locks;
  for (OfC &L : Locks)
    dct_bias_set_inhibit(&L.L.bias, Inhibit);
  readAndWrite(Threads, OneIn, Locks, 6000);
}

// An underlying lock that prefers writers would stop the nested reads of a
// thread that holds it, if they reached it.
TEST_P(BiasedStress, RWLockOfCThatPrefersWriters) {
  auto [Threads, OneIn, Inhibit] = GetParam();
  constexpr int Kind = PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
  std::array<OfC, 2> Locks{OfC(Kind), OfC(Kind)};
  for (OfC &L : Locks)
    dct_bias_set_inhibit(&L.L.bias, Inhibit);
  readAndWrite(Threads, OneIn, Locks, 6000);
}

// Threads that live for a few reads only use up all rows.
TEST(Biased, OutlivesManyThreads) {
  decontend::biased_shared_mutex<> Lock;
  Lock.set_inhibit(0);
  long Value = 0;
  for (int Round = 0; Round < 200; ++Round)
    runThreads(3, [&](unsigned Self) {
      for (int Step = 0; Step < 20; ++Step)
        if (Self == 0 && Step % 4 == 0) {
          std::unique_lock Guard(Lock);
          ++Value;
        } else {
          std::shared_lock Guard(Lock);
          EXPECT_GE(Value, 0);
        }
    });
  EXPECT_EQ(Value, 200 * 5);
}

// Any lock will do underneath, and one that throws leaves nothing held.
struct Throwing {
  static inline bool Fail = false;
  std::shared_mutex Mutex;

  static void mayFail() {
    if (Fail)
      throw std::runtime_error("lock");
  }
  void lock() {
    mayFail();
    Mutex.lock();
  }
  void unlock() { Mutex.unlock(); }
  void lock_shared() {
    mayFail();
    Mutex.lock_shared();
  }
  void unlock_shared() { Mutex.unlock_shared(); }
};

TEST(Biased, KeepsNothingWhenTheUnderlyingLockThrows) {
  decontend::biased_shared_mutex<Throwing> Lock;
  Throwing::Fail = true;
  EXPECT_THROW(Lock.lock_shared(), std::runtime_error);
  EXPECT_THROW(Lock.lock(), std::runtime_error);
  Throwing::Fail = false;
  std::unique_lock(Lock).unlock();
  Lock.lock_shared();
  EXPECT_THROW(Lock.lock(), std::system_error);
  Lock.unlock_shared();
  std::unique_lock(Lock).unlock();
}

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

// Runs Body in a child, which ends with its result; a child that hangs is
// killed and fails.
template <class Body> int inChild(Body B) {
  pid_t Child = fork();
  if (Child == 0) {
    alarm(60);
    _exit(B());
  }
  int Status = -1;
  waitpid(Child, &Status, 0);
  return WIFEXITED(Status) ? WEXITSTATUS(Status) : -1;
}

void turnOn(dct_biased_rwlock &L) {
  dct_bias_set_inhibit(&L.bias, 0);
  EXPECT_EQ(dct_biased_rwlock_rdlock(&L) + dct_biased_rwlock_rdunlock(&L), 0);
  EXPECT_TRUE(dct_bias_is_on(&L.bias));
}

TEST(BiasedFork, ChildForgetsReadersThatItDoesNotHave) {
  dct_biased_rwlock Theirs = DCT_BIASED_RWLOCK_INIT;
  dct_biased_rwlock Mine = DCT_BIASED_RWLOCK_INIT;
  turnOn(Theirs);
  turnOn(Mine);
  std::latch Inside(1), Go(1);
  std::thread Other([&] {
    dct_biased_rwlock_rdlock(&Theirs);
    Inside.count_down();
    Go.wait();
    dct_biased_rwlock_rdunlock(&Theirs);
  });
  Inside.wait();
  ASSERT_EQ(dct_biased_rwlock_rdlock(&Mine), 0);
  EXPECT_TRUE(dct_bias_has_readers(&Mine.bias));
  EXPECT_TRUE(dct_bias_has_readers(&Theirs.bias));
  EXPECT_EQ(inChild([&] {
              int Wrong = dct_biased_rwlock_wrlock(&Theirs) != 0;
              Wrong += !dct_bias_has_readers(&Mine.bias);
              Wrong += dct_biased_rwlock_rdunlock(&Mine) != 0;
              return Wrong + (dct_biased_rwlock_wrlock(&Mine) != 0);
            }),
            0);
  EXPECT_TRUE(dct_bias_has_readers(&Theirs.bias));
  EXPECT_EQ(dct_biased_rwlock_rdunlock(&Mine), 0);
  Go.count_down();
  Other.join();
  EXPECT_EQ(dct_biased_rwlock_destroy(&Mine), 0);
  EXPECT_EQ(dct_biased_rwlock_destroy(&Theirs), 0);
}

TEST(BiasedFork, ChildStartsWithAFreshLock) {
  dct_biased_rwlock Lock = DCT_BIASED_RWLOCK_INIT;
  dct_biased_rwlock Read = DCT_BIASED_RWLOCK_INIT;
  decontend::biased_shared_mutex<> Cxx;
  turnOn(Read);
  ASSERT_EQ(dct_biased_rwlock_wrlock(&Lock), 0);
  ASSERT_EQ(dct_biased_rwlock_rdlock(&Read), 0);
  Cxx.lock();
  EXPECT_EQ(inChild([&] {
              int Wrong = dct_biased_rwlock_reset_in_child(&Lock, nullptr) +
                          dct_biased_rwlock_reset_in_child(&Read, nullptr);
              Cxx.reset_in_child();
              Wrong += dct_biased_rwlock_wrlock(&Lock) != 0;
              Wrong += dct_biased_rwlock_wrlock(&Read) != 0;
              return Wrong + !Cxx.try_lock();
            }),
            0);
  Cxx.unlock();
  EXPECT_EQ(dct_biased_rwlock_rdunlock(&Read), 0);
  EXPECT_EQ(dct_biased_rwlock_wrunlock(&Lock), 0);
}

// Readers come and go meanwhile, so that a fork meets them at every step. Those
// that would need an underlying lock stay out: that one would stay locked.
TEST(BiasedFork, ChildRevokesWhateverReadersDid) {
  dct_bias Bias = DCT_BIAS_INIT;
  dct_bias_set_inhibit(&Bias, 0);
  dct_bias_entered(&Bias);
  EXPECT_EQ(dct_bias_leave(&Bias), 0);
  std::atomic<bool> Stop = false;
  std::vector<std::thread> Readers;
  for (int I = 0; I < 3; ++I)
    Readers.emplace_back([&] {
      while (!Stop)
        if (dct_bias_enter(&Bias))
          dct_bias_leave(&Bias);
    });
  for (int Round = 0; Round < 50; ++Round)
    EXPECT_EQ(inChild([&] {
                dct_bias_revoke(&Bias);
                return dct_bias_has_readers(&Bias);
              }),
              0);
  EXPECT_TRUE(dct_bias_is_on(&Bias));
  Stop = true;
  for (std::thread &T : Readers)
    T.join();
}

} // namespace
