//===- hashed_locks_failure_test.cpp - Locks that cannot be made *- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This program has its own aligned_alloc, pthread_mutex_init and
// pthread_rwlock_init, which fail when told to.
//
//===----------------------------------------------------------------------===//

#include "decontend/hashed_locks.h"
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

// How many calls succeed before one fails; negative: none fails.
int AllocationsLeft = -1;
int InitsLeft = -1;

bool fails(int &Left) { return Left >= 0 && Left-- == 0; }

template <class Function> Function *next(const char *Name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, Name));
}

} // namespace

extern "C" void *aligned_alloc(std::size_t Alignment, std::size_t Size) {
  void *Memory = nullptr;
  if (fails(AllocationsLeft) || posix_memalign(&Memory, Alignment, Size))
    return nullptr;
  return Memory;
}

extern "C" int pthread_mutex_init(pthread_mutex_t *Mutex,
                                  const pthread_mutexattr_t *Attr) noexcept {
  static auto *Real = next<decltype(pthread_mutex_init)>("pthread_mutex_init");
  return fails(InitsLeft) ? EAGAIN : Real(Mutex, Attr);
}

extern "C" int pthread_rwlock_init(pthread_rwlock_t *Lock,
                                   const pthread_rwlockattr_t *Attr) noexcept {
  static auto *Real =
      next<decltype(pthread_rwlock_init)>("pthread_rwlock_init");
  return fails(InitsLeft) ? EAGAIN : Real(Lock, Attr);
}

namespace {

TEST(HashedLocksFailure, NoMemory) {
  dct_hashed_mutexes M;
  dct_hashed_rwlocks RW;
  AllocationsLeft = 0;
  EXPECT_EQ(dct_hashed_mutexes_init(&M, 8, nullptr), ENOMEM);
  AllocationsLeft = 0;
  EXPECT_EQ(dct_hashed_rwlocks_init(&RW, 8, nullptr), ENOMEM);
  EXPECT_EQ(M.cells, nullptr);
  EXPECT_EQ(RW.cells, nullptr);
  dct_hashed_mutexes_destroy(&M);
  dct_hashed_rwlocks_destroy(&RW);
}

// The leak checker of AddressSanitizer sees whether the cells are freed.
TEST(HashedLocksFailure, NoLock) {
  for (int Made = 0; Made < 8; ++Made) {
    dct_hashed_mutexes M;
    dct_hashed_rwlocks RW;
    InitsLeft = Made;
    EXPECT_EQ(dct_hashed_mutexes_init(&M, 8, nullptr), EAGAIN);
    InitsLeft = Made;
    EXPECT_EQ(dct_hashed_rwlocks_init(&RW, 8, nullptr), EAGAIN);
    EXPECT_EQ(M.cells, nullptr);
    EXPECT_EQ(RW.cells, nullptr);
    InitsLeft = -1;
    EXPECT_EQ(dct_hashed_mutexes_init(&M, 8, nullptr), 0);
    EXPECT_EQ(dct_hashed_rwlocks_init(&RW, 8, nullptr), 0);
    dct_hashed_mutexes_destroy(&M);
    dct_hashed_rwlocks_destroy(&RW);
  }
}

} // namespace
