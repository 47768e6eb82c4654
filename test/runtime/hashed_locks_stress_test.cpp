//===- hashed_locks_stress_test.cpp - Locks by address, threads -*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain members under the locks, so that ThreadSanitizer sees a section that is
// not excluded. At most 16 locks where all are taken: its deadlock detector
// follows 64 a thread.
//
//===----------------------------------------------------------------------===//

#include "decontend/hashed_locks.hpp"
#include <atomic>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t LockCount = 16;
constexpr std::size_t ObjectCount = 40;
constexpr long Start = 1000;

// The sum over all objects never changes, and Twin always equals Amount.
struct Object {
  alignas(64) long Amount = Start;
  long Twin = Start;

  void add(long Change) {
    Amount += Change;
    Twin += Change;
  }
};

template <class Body> void runThreads(unsigned Count, Body Each) {
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < Count; ++I)
    Threads.emplace_back(Each, I);
  for (std::thread &T : Threads)
    T.join();
}

class HashedLocksStress : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, HashedLocksStress,
                         testing::Values(2, 3, 4, 8));

template <class Locks> void transferAndSum(unsigned Threads, Locks &L) {
  std::vector<Object> Objects(ObjectCount);
  std::atomic<int> Wrong = 0;
  runThreads(Threads, [&](unsigned Self) {
    std::mt19937 Random(Self + 1);
    for (int Step = 0; Step < 30000; ++Step) {
      Object &A = Objects[Random() % ObjectCount];
      Object &B = Objects[Random() % ObjectCount];
      unsigned Kind = Random() % 64;
      if (Kind == 0) {
        long Sum = 0;
        auto Guard = L.shared_all();
        for (Object &O : Objects)
          Sum += O.Amount;
        Wrong += Sum != Start * long(ObjectCount);
      } else if (Kind == 1) {
        auto Guard = L.exclusive_all();
        A.add(1);
        B.add(-1);
      } else if (Kind < 24) {
        auto Guard = L.exclusive(&A, &B);
        A.add(3);
        B.add(-3);
      } else if (Kind < 32) {
        auto Guard = L.shared(&A, &B);
        Wrong += A.Amount != A.Twin || B.Amount != B.Twin;
      } else if (Kind < 40) {
        if (auto Guard = L.try_exclusive(&A)) {
          A.add(1);
          A.add(-1);
        }
      } else {
        auto Guard = L.shared(&A);
        Wrong += A.Amount != A.Twin;
      }
    }
  });
  EXPECT_EQ(Wrong, 0);
}

TEST_P(HashedLocksStress, SharedMutex) {
  decontend::hashed_locks<std::shared_mutex> Locks(LockCount);
  transferAndSum(GetParam(), Locks);
}

TEST_P(HashedLocksStress, RWLocksOfC) {
  for (int Kind : {PTHREAD_RWLOCK_PREFER_READER_NP,
                   PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP}) {
    pthread_rwlockattr_t Attr;
    pthread_rwlockattr_init(&Attr);
    pthread_rwlockattr_setkind_np(&Attr, Kind);
    dct_hashed_rwlocks T;
    ASSERT_EQ(dct_hashed_rwlocks_init(&T, LockCount, &Attr), 0);
    pthread_rwlockattr_destroy(&Attr);
    std::vector<Object> Objects(ObjectCount);
    std::atomic<int> Wrong = 0;
    runThreads(GetParam(), [&](unsigned Self) {
      std::mt19937 Random(Self + 1);
      for (int Step = 0; Step < 15000; ++Step) {
        Object &A = Objects[Random() % ObjectCount];
        Object &B = Objects[Random() % ObjectCount];
        switch (Random() % 32) {
        case 0:
          Wrong += dct_hashed_rwlocks_wrlock_all(&T) != 0;
          A.add(1);
          Wrong += dct_hashed_rwlocks_unlock_all(&T) != 0;
          break;
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
        case 6:
          Wrong += dct_hashed_rwlocks_wrlock2(&T, &A, &B) != 0;
          A.add(1);
          B.add(-1);
          Wrong += dct_hashed_rwlocks_unlock2(&T, &B, &A) != 0;
          break;
        case 7:
        case 8:
        case 9:
          Wrong += dct_hashed_rwlocks_wrlock(&T, &A) != 0;
          A.add(1);
          Wrong += dct_hashed_rwlocks_unlock(&T, &A) != 0;
          break;
        default:
          Wrong += dct_hashed_rwlocks_rdlock(&T, &A) != 0;
          Wrong += A.Amount != A.Twin;
          Wrong += dct_hashed_rwlocks_unlock(&T, &A) != 0;
        }
      }
    });
    EXPECT_EQ(Wrong, 0);
    dct_hashed_rwlocks_destroy(&T);
  }
}

// Threads that come and go and are moved between CPUs meanwhile.
TEST_P(HashedLocksStress, MutexesOfCWhileThreadsMove) {
  dct_hashed_mutexes T;
  ASSERT_EQ(dct_hashed_mutexes_init(&T, LockCount, nullptr), 0);
  cpu_set_t Allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(Allowed), &Allowed), 0);
  std::vector<int> CPUs;
  for (int CPU = 0; CPU < CPU_SETSIZE; ++CPU)
    if (CPU_ISSET(CPU, &Allowed))
      CPUs.push_back(CPU);
  std::vector<Object> Objects(ObjectCount);
  std::atomic<int> Wrong = 0;
  for (int Round = 0; Round < 10; ++Round)
    runThreads(GetParam(), [&](unsigned Self) {
      std::mt19937 Random(Self + 1);
      for (int Step = 0; Step < 500; ++Step) {
        Object &A = Objects[Random() % ObjectCount];
        Object &B = Objects[Random() % ObjectCount];
        Wrong += dct_hashed_mutexes_lock2(&T, &A, &B) != 0;
        if (Step % 50 == 0) {
          cpu_set_t One;
          CPU_ZERO(&One);
          CPU_SET(CPUs[Random() % CPUs.size()], &One);
          pthread_setaffinity_np(pthread_self(), sizeof(One), &One);
        }
        A.add(1);
        B.add(-1);
        Wrong += dct_hashed_mutexes_unlock2(&T, &A, &B) != 0;
      }
    });
  long Sum = 0;
  for (Object &O : Objects)
    Sum += O.Amount;
  EXPECT_EQ(Sum, Start * long(ObjectCount));
  EXPECT_EQ(Wrong, 0);
  dct_hashed_mutexes_destroy(&T);
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

TEST(HashedLocksFork, ChildStartsWithFreshLocks) {
  dct_hashed_rwlocks RW;
  dct_hashed_mutexes M;
  decontend::hashed_locks<std::mutex> Cxx(LockCount);
  ASSERT_EQ(dct_hashed_rwlocks_init(&RW, LockCount, nullptr), 0);
  ASSERT_EQ(dct_hashed_mutexes_init(&M, LockCount, nullptr), 0);
  Object Key;
  // Another thread works on all of them, so that a fork that took no lock would
  // find them in any state.
  std::atomic<bool> Stop = false;
  std::thread Other([&] {
    while (!Stop) {
      dct_hashed_rwlocks_wrlock(&RW, &Key);
      Key.add(1);
      dct_hashed_rwlocks_unlock(&RW, &Key);
      dct_hashed_mutexes_lock(&M, &Key);
      dct_hashed_mutexes_unlock(&M, &Key);
    }
  });
  for (int Round = 0; Round < 20; ++Round) {
    ASSERT_EQ(dct_hashed_rwlocks_wrlock_all(&RW), 0);
    ASSERT_EQ(dct_hashed_mutexes_lock_all(&M), 0);
    auto Guard = Cxx.exclusive_all();
    EXPECT_EQ(inChild([&] {
                int Errors = dct_hashed_rwlocks_reset_in_child(&RW, nullptr) +
                             dct_hashed_mutexes_reset_in_child(&M, nullptr);
                Cxx.reset_in_child();
                Errors += dct_hashed_rwlocks_wrlock_all(&RW) +
                          dct_hashed_mutexes_lock_all(&M);
                Errors += !Cxx.try_exclusive(&Key).owns_lock();
                return Errors + (Key.Amount != Key.Twin);
              }),
              0);
    Guard.unlock();
    ASSERT_EQ(dct_hashed_mutexes_unlock_all(&M), 0);
    ASSERT_EQ(dct_hashed_rwlocks_unlock_all(&RW), 0);
  }
  Stop = true;
  Other.join();
  dct_hashed_mutexes_destroy(&M);
  dct_hashed_rwlocks_destroy(&RW);
}

} // namespace
