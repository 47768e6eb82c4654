//===- biased_rwlock_failure_test.cpp - No handler for fork -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In this program no handler for fork can be registered: pthread_atfork ends in
// the function below. Then a bias would make children hang, so there is none.
//
//===----------------------------------------------------------------------===//

#include "decontend/biased_rwlock.h"
#include <cerrno>
#include <gtest/gtest.h>

// ThreadSanitizer does not start without its own handlers.
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#ifndef UNDER_TSAN
extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void *) {
  return ENOMEM;
}
#endif

namespace {

TEST(BiasedRWLockFailure, WorksWithoutBias) {
#ifdef UNDER_TSAN
  GTEST_SKIP();
#endif
  dct_biased_rwlock L = DCT_BIASED_RWLOCK_INIT;
  for (int Round = 0; Round < 3; ++Round) {
    EXPECT_EQ(dct_biased_rwlock_rdlock(&L), 0);
    EXPECT_FALSE(dct_bias_is_on(&L.bias));
    EXPECT_FALSE(dct_bias_has_readers(&L.bias));
    EXPECT_EQ(pthread_rwlock_trywrlock(&L.lock), EBUSY);
    EXPECT_EQ(dct_biased_rwlock_rdlock(&L), 0);
    EXPECT_EQ(dct_biased_rwlock_rdunlock(&L), 0);
    EXPECT_EQ(dct_biased_rwlock_trywrlock(&L), EBUSY);
    EXPECT_EQ(dct_biased_rwlock_rdunlock(&L), 0);
    EXPECT_EQ(dct_biased_rwlock_wrlock(&L), 0);
    EXPECT_EQ(dct_biased_rwlock_wrunlock(&L), 0);
  }
  EXPECT_EQ(dct_biased_rwlock_destroy(&L), 0);
}

} // namespace
