//===- keyed_registry_failure_test.cpp - Without memory ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces calloc and aligned_alloc for the whole program, which is why it is
// one of its own.
//
//===----------------------------------------------------------------------===//

#include "decontend/keyed_registry.hpp"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <system_error>
#include <vector>

// Sanitisers have an allocator of their own.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
static std::atomic<bool> RefuseMemory;

extern "C" void *__libc_calloc(std::size_t Count, std::size_t Size);

extern "C" void *calloc(std::size_t Count, std::size_t Size) noexcept {
  if (!RefuseMemory)
    return __libc_calloc(Count, Size);
  errno = ENOMEM;
  return nullptr;
}

extern "C" void *aligned_alloc(std::size_t Alignment, std::size_t Size) {
  void *Memory = nullptr;
  if (RefuseMemory || posix_memalign(&Memory, Alignment, Size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Memory;
}
#endif

using namespace decontend;

namespace {

#ifndef SANITIZED
TEST(KeyedRegistryFailure, WithoutMemoryToGrowItGoesOn) {
  reclaimer R;
  using Numbers = keyed_registry<int, int>;
  RefuseMemory = true;
  EXPECT_THROW(Numbers K(R), std::system_error);
  RefuseMemory = false;
  Numbers K(R);
  std::vector<Numbers::ref> Refs;
  for (int I = 0; I != 2000; ++I) {
    RefuseMemory = I < 1500 || I % 2;
    Refs.push_back(K.get(I, [I] { return I; }));
  }
  RefuseMemory = false;
  for (int I = 0; I != 2000; ++I) {
    ASSERT_EQ(Refs[I], K.find(I));
    ASSERT_EQ(I, *Refs[I]);
  }
  EXPECT_EQ(2000u, K.size());
}
#endif

} // namespace
