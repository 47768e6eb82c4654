//===- hashed_locks_test.cpp - Locks by address, one thread -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/hashed_locks.hpp"
#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <random>
#include <vector>

// For ThreadSanitizer: this program has one thread, and takes and releases
// locks wrongly on purpose. The stress tests are run with all checks.
extern "C" const char *__tsan_default_options() {
  return "detect_deadlocks=0:report_mutex_bugs=0";
}

namespace {

const void *address(std::uintptr_t Value) {
  return reinterpret_cast<const void *>(Value);
}

// Two addresses with the same lock among Count, and one with another.
struct Keys {
  const void *A, *SameAsA, *Other;
};

Keys findKeys(std::size_t Count) {
  Keys K{address(0x10000), nullptr, nullptr};
  std::size_t Index = dct_hashed_locks_index(K.A, Count);
  for (std::uintptr_t P = 0x10010; !K.SameAsA || !K.Other; P += 16)
    (dct_hashed_locks_index(address(P), Count) == Index ? K.SameAsA : K.Other) =
        address(P);
  return K;
}

TEST(HashedLocksSize, IsABoundedPowerOfTwo) {
  std::size_t Default = dct_hashed_locks_default_count();
  EXPECT_GE(Default, 64u);
  EXPECT_LE(Default, 4096u);
  EXPECT_EQ(Default & (Default - 1), 0u);
  EXPECT_EQ(dct_hashed_locks_round(0), Default);
  EXPECT_EQ(dct_hashed_locks_round(1), 1u);
  EXPECT_EQ(dct_hashed_locks_round(3), 4u);
  EXPECT_EQ(dct_hashed_locks_round(64), 64u);
  EXPECT_EQ(dct_hashed_locks_round(65), 128u);
  EXPECT_EQ(dct_hashed_locks_round(DCT_HASHED_LOCKS_MAX),
            std::size_t(DCT_HASHED_LOCKS_MAX));
  EXPECT_EQ(dct_hashed_locks_round(DCT_HASHED_LOCKS_MAX + 1), 0u);
}

TEST(HashedLocksHash, StaysInRangeAndIgnoresAlignmentBits) {
  std::mt19937_64 Random(1);
  for (int I = 0; I < 10000; ++I) {
    std::uintptr_t P = Random();
    for (std::size_t Count = 1; Count <= DCT_HASHED_LOCKS_MAX; Count *= 2) {
      std::size_t Index = dct_hashed_locks_index(address(P), Count);
      EXPECT_LT(Index, Count);
      EXPECT_EQ(Index, dct_hashed_locks_index(address(P ^ 15), Count));
    }
  }
}

// Objects come from arrays and slabs, so their addresses are a sequence with a
// fixed distance. A random hash would put up to about 3 times the mean on one
// lock here; the bound is for the whole list, all of which is deterministic.
TEST(HashedLocksHash, SpreadsObjectsOfEachSize) {
  for (std::size_t Count : {64, 256, 1024, 4096})
    for (std::uintptr_t Distance :
         {16,  32,  48,  64,   96,   112,  128,  192,  208,   256,    320,
          512, 576, 640, 1024, 1088, 2048, 4096, 4160, 65536, 1 << 21})
      for (std::uintptr_t Base : {0x7f3a12345680ul, 0x5555558a0010ul}) {
        std::vector<std::size_t> Load(Count);
        for (std::size_t I = 0; I < 4 * Count; ++I)
          ++Load[dct_hashed_locks_index(address(Base + I * Distance), Count)];
        EXPECT_LE(*std::max_element(Load.begin(), Load.end()), 6 * 4u)
            << Count << " locks, distance " << Distance;
      }
}

TEST(HashedMutexes, AreApartAndAligned) {
  dct_hashed_mutexes T;
  ASSERT_EQ(dct_hashed_mutexes_init(&T, 8, nullptr), 0);
  EXPECT_EQ(T.count, 8u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(T.cells) % DCT_HASHED_LOCKS_ALIGN,
            0u);
  EXPECT_EQ(sizeof(T.cells[0]) % DCT_HASHED_LOCKS_ALIGN, 0u);
  dct_hashed_mutexes_destroy(&T);
  dct_hashed_mutexes_destroy(&T);
  EXPECT_EQ(dct_hashed_mutexes_init(&T, DCT_HASHED_LOCKS_MAX + 1, nullptr),
            EINVAL);
  EXPECT_EQ(T.cells, nullptr);
}

TEST(HashedMutexes, TakeASharedLockOnce) {
  dct_hashed_mutexes T;
  ASSERT_EQ(dct_hashed_mutexes_init(&T, 8, nullptr), 0);
  Keys K = findKeys(8);
  ASSERT_EQ(dct_hashed_mutexes_lock2(&T, K.A, K.SameAsA), 0);
  EXPECT_EQ(dct_hashed_mutexes_trylock(&T, K.A), EBUSY);
  EXPECT_EQ(dct_hashed_mutexes_trylock(&T, K.Other), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock(&T, K.Other), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock2(&T, K.SameAsA, K.A), 0);

  ASSERT_EQ(dct_hashed_mutexes_lock2(&T, K.Other, K.A), 0);
  EXPECT_EQ(dct_hashed_mutexes_trylock(&T, K.A), EBUSY);
  EXPECT_EQ(dct_hashed_mutexes_trylock(&T, K.Other), EBUSY);
  EXPECT_EQ(dct_hashed_mutexes_unlock2(&T, K.A, K.Other), 0);

  ASSERT_EQ(dct_hashed_mutexes_lock_all(&T), 0);
  for (std::uintptr_t P = 16; P < 4096; P += 16)
    EXPECT_EQ(dct_hashed_mutexes_trylock(&T, address(P)), EBUSY);
  EXPECT_EQ(dct_hashed_mutexes_unlock_all(&T), 0);
  EXPECT_EQ(dct_hashed_mutexes_lock(&T, K.A), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock(&T, K.A), 0);
  dct_hashed_mutexes_destroy(&T);
}

TEST(HashedMutexes, GiveBackWhatTheyTookOnAnError) {
  pthread_mutexattr_t Checked;
  pthread_mutexattr_init(&Checked);
  pthread_mutexattr_settype(&Checked, PTHREAD_MUTEX_ERRORCHECK);
  dct_hashed_mutexes T;
  ASSERT_EQ(dct_hashed_mutexes_init(&T, 8, &Checked), 0);
  pthread_mutexattr_destroy(&Checked);
  Keys K = findKeys(8);
  // The second of the two is held, so that the first has to be given back.
  bool OtherIsLater =
      dct_hashed_locks_index(K.Other, 8) > dct_hashed_locks_index(K.A, 8);
  const void *Later = OtherIsLater ? K.Other : K.A;
  const void *Earlier = OtherIsLater ? K.A : K.Other;
  ASSERT_EQ(dct_hashed_mutexes_lock(&T, Later), 0);
  EXPECT_EQ(dct_hashed_mutexes_lock2(&T, K.A, K.Other), EDEADLK);
  EXPECT_EQ(dct_hashed_mutexes_trylock(&T, Earlier), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock(&T, Earlier), 0);
  EXPECT_EQ(dct_hashed_mutexes_lock_all(&T), EDEADLK);
  EXPECT_EQ(dct_hashed_mutexes_unlock(&T, Later), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock(&T, Later), EPERM);
  EXPECT_EQ(dct_hashed_mutexes_lock_all(&T), 0);
  EXPECT_EQ(dct_hashed_mutexes_unlock_all(&T), 0);
  dct_hashed_mutexes_destroy(&T);
}

TEST(HashedRWLocks, ShareAndExclude) {
  dct_hashed_rwlocks T;
  ASSERT_EQ(dct_hashed_rwlocks_init(&T, 8, nullptr), 0);
  Keys K = findKeys(8);
  ASSERT_EQ(dct_hashed_rwlocks_rdlock(&T, K.A), 0);
  EXPECT_EQ(dct_hashed_rwlocks_tryrdlock(&T, K.SameAsA), 0);
  EXPECT_EQ(dct_hashed_rwlocks_trywrlock(&T, K.SameAsA), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_trywrlock(&T, K.Other), 0);
  EXPECT_EQ(dct_hashed_rwlocks_tryrdlock(&T, K.Other), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_rdlock(&T, K.Other), EDEADLK);
  EXPECT_EQ(dct_hashed_rwlocks_unlock(&T, K.Other), 0);
  EXPECT_EQ(dct_hashed_rwlocks_unlock(&T, K.A), 0);
  EXPECT_EQ(dct_hashed_rwlocks_unlock(&T, K.SameAsA), 0);

  ASSERT_EQ(dct_hashed_rwlocks_wrlock2(&T, K.A, K.SameAsA), 0);
  EXPECT_EQ(dct_hashed_rwlocks_tryrdlock(&T, K.A), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_rdlock_all(&T), EDEADLK);
  EXPECT_EQ(dct_hashed_rwlocks_unlock2(&T, K.A, K.SameAsA), 0);
  ASSERT_EQ(dct_hashed_rwlocks_rdlock2(&T, K.A, K.Other), 0);
  EXPECT_EQ(dct_hashed_rwlocks_trywrlock(&T, K.Other), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_unlock2(&T, K.A, K.Other), 0);
  ASSERT_EQ(dct_hashed_rwlocks_rdlock_all(&T), 0);
  EXPECT_EQ(dct_hashed_rwlocks_tryrdlock(&T, K.A), 0);
  EXPECT_EQ(dct_hashed_rwlocks_unlock(&T, K.A), 0);
  EXPECT_EQ(dct_hashed_rwlocks_trywrlock(&T, K.Other), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_unlock_all(&T), 0);
  ASSERT_EQ(dct_hashed_rwlocks_wrlock_all(&T), 0);
  EXPECT_EQ(dct_hashed_rwlocks_tryrdlock(&T, K.A), EBUSY);
  EXPECT_EQ(dct_hashed_rwlocks_unlock_all(&T), 0);
  dct_hashed_rwlocks_destroy(&T);
}

// Random tries against a model that counts readers and writers of each lock.
TEST(HashedRWLocks, FollowTheModel) {
  for (unsigned Seed = 1; Seed <= 20; ++Seed) {
    SCOPED_TRACE(testing::Message() << "seed " << Seed);
    std::mt19937 Random(Seed);
    const std::size_t Count = std::size_t(1) << Random() % 5;
    dct_hashed_rwlocks T;
    ASSERT_EQ(dct_hashed_rwlocks_init(&T, Count, nullptr), 0);
    struct Model {
      int Readers = 0;
      bool Writer = false;
    };
    std::vector<Model> Models(Count);
    for (int Step = 0; Step < 3000; ++Step) {
      const void *Key = address(0x5000 + 16 * (Random() % 64));
      Model &M = Models[dct_hashed_locks_index(Key, Count)];
      switch (Random() % 4) {
      case 0: {
        int Got = dct_hashed_rwlocks_tryrdlock(&T, Key);
        EXPECT_EQ(Got, M.Writer ? EBUSY : 0);
        M.Readers += Got == 0;
        break;
      }
      case 1: {
        int Got = dct_hashed_rwlocks_trywrlock(&T, Key);
        EXPECT_EQ(Got, M.Writer || M.Readers ? EBUSY : 0);
        M.Writer |= Got == 0;
        break;
      }
      default:
        if (!M.Writer && !M.Readers)
          break;
        EXPECT_EQ(dct_hashed_rwlocks_unlock(&T, Key), 0);
        M.Writer ? void(M.Writer = false) : void(--M.Readers);
      }
    }
    for (std::size_t I = 0; I < Count; ++I)
      for (Model &M = Models[I]; M.Writer || M.Readers;
           M.Writer ? void(M.Writer = false) : void(--M.Readers))
        EXPECT_EQ(pthread_rwlock_unlock(&T.cells[I].lock), 0);
    dct_hashed_rwlocks_destroy(&T);
  }
}

//===----------------------------------------------------------------------===//
// C++
//===----------------------------------------------------------------------===//

// Records what is held, and can be made to fail.
struct Traced {
  static inline int Live = 0, Exclusive = 0, Shared = 0;
  static inline int FailCreation = -1, FailLock = -1;
  static inline std::vector<Traced *> Order;

  Traced() {
    if (FailCreation-- == 0)
      throw std::runtime_error("creation");
    ++Live;
  }
  ~Traced() { --Live; }
  void lock() {
    if (FailLock-- == 0)
      throw std::runtime_error("lock");
    Order.push_back(this);
    ++Exclusive;
  }
  void unlock() { --Exclusive; }
  void lock_shared() {
    Order.push_back(this);
    ++Shared;
  }
  void unlock_shared() { --Shared; }
};

// A lock without more than the two functions that are asked for.
struct Basic {
  void lock() {}
  void unlock() {}
};

TEST(HashedLocks, HoldForTheLifeOfTheGuard) {
  decontend::hashed_locks<std::shared_mutex> Locks(8);
  Keys K = findKeys(Locks.size());
  {
    auto Guard = Locks.shared(K.A);
    EXPECT_TRUE(Locks.try_shared(K.SameAsA).owns_lock());
    EXPECT_FALSE(Locks.try_exclusive(K.SameAsA).owns_lock());
    EXPECT_TRUE(Locks.try_exclusive(K.Other).owns_lock());
  }
  auto Guard = Locks.exclusive(K.A);
  EXPECT_FALSE(Locks.try_shared(K.SameAsA).owns_lock());
  Guard.unlock();
  EXPECT_TRUE(Locks.try_exclusive(K.A).owns_lock());
  EXPECT_EQ(decontend::hashed_locks<Basic>().size(),
            dct_hashed_locks_default_count());
  EXPECT_THROW(decontend::hashed_locks<std::mutex>(DCT_HASHED_LOCKS_MAX + 1),
               std::length_error);
}

TEST(HashedLocks, TakeLocksInOrderOfAddress) {
  decontend::hashed_locks<Traced> Locks(8);
  Keys K = findKeys(8);
  for (auto [A, B] : {std::pair(K.A, K.Other), std::pair(K.Other, K.A)}) {
    Traced::Order.clear();
    auto Guard = Locks.exclusive(A, B);
    EXPECT_EQ(Traced::Exclusive, 2);
    ASSERT_EQ(Traced::Order.size(), 2u);
    EXPECT_LT(Traced::Order[0], Traced::Order[1]);
  }
  {
    auto Guard = Locks.shared(K.A, K.SameAsA);
    EXPECT_EQ(Traced::Shared, 1);
    auto Moved = std::move(Guard);
    EXPECT_FALSE(Guard.owns_lock());
    EXPECT_TRUE(Moved.owns_lock());
    EXPECT_EQ(Traced::Shared, 1);
    Moved = Locks.shared(K.A, K.Other);
    EXPECT_EQ(Traced::Shared, 2);
    Moved.unlock();
    Moved.unlock();
    EXPECT_EQ(Traced::Shared, 0);
  }
  Traced::Order.clear();
  {
    auto Guard = Locks.exclusive_all();
    EXPECT_EQ(Traced::Exclusive, 8);
    EXPECT_TRUE(std::is_sorted(Traced::Order.begin(), Traced::Order.end()));
  }
  {
    auto Guard = Locks.shared_all();
    EXPECT_EQ(Traced::Shared, 8);
  }
  EXPECT_EQ(Traced::Exclusive + Traced::Shared, 0);
}

TEST(HashedLocks, LeaveNothingBehindWhenALockThrows) {
  {
    decontend::hashed_locks<Traced> Locks(8);
    Keys K = findKeys(8);
    Traced::FailLock = 1;
    EXPECT_THROW((void)Locks.exclusive(K.A, K.Other), std::runtime_error);
    EXPECT_EQ(Traced::Exclusive, 0);
    Traced::FailLock = 5;
    EXPECT_THROW((void)Locks.exclusive_all(), std::runtime_error);
    EXPECT_EQ(Traced::Exclusive, 0);
  }
  EXPECT_EQ(Traced::Live, 0);
  Traced::FailCreation = 3;
  EXPECT_THROW(decontend::hashed_locks<Traced>(8), std::runtime_error);
  EXPECT_EQ(Traced::Live, 0);
}

} // namespace
