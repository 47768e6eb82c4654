//===- reclaimer_failure_test.cpp - When things are missing -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces aligned_alloc, operator new and pthread_create for the whole
// program, which is why it is one of its own.
//
//===----------------------------------------------------------------------===//

#include "decontend/reclaimer.hpp"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// The sanitisers need pthread_create for themselves.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static thread_local bool RefuseMemory, RefuseThreads;

#ifndef SANITIZED
extern "C" int pthread_create(pthread_t *Thread, const pthread_attr_t *Attr,
                              void *(*Start)(void *), void *Arg) {
  using Function =
      int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static auto *Real =
      reinterpret_cast<Function *>(dlsym(RTLD_NEXT, "pthread_create"));
  return RefuseThreads ? EAGAIN : Real(Thread, Attr, Start, Arg);
}
#endif

extern "C" void *aligned_alloc(std::size_t Alignment, std::size_t Size) {
  void *Memory = nullptr;
  if (RefuseMemory || posix_memalign(&Memory, Alignment, Size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Memory;
}

void *operator new(std::size_t Size, const std::nothrow_t &) noexcept {
  return RefuseMemory ? nullptr : std::malloc(Size);
}
void *operator new(std::size_t Size) {
  if (void *Memory = std::malloc(Size))
    return Memory;
  throw std::bad_alloc();
}
void operator delete(void *Memory) noexcept { std::free(Memory); }
void operator delete(void *Memory, std::size_t) noexcept { std::free(Memory); }

using namespace decontend;

namespace {

std::atomic<int> GracePeriods{0};
void countGracePeriod() { ++GracePeriods; }

const dct_reclaimer_options Counting = {countGracePeriod, 0};

TEST(ReclaimerFailure, CreateSaysSo) {
  RefuseMemory = true;
  EXPECT_EQ(nullptr, dct_reclaimer_create(nullptr));
  EXPECT_EQ(ENOMEM, errno);
  EXPECT_THROW(reclaimer R, std::system_error);
  RefuseMemory = false;
#ifndef SANITIZED
  RefuseThreads = true;
  EXPECT_EQ(nullptr, dct_reclaimer_create(nullptr));
  EXPECT_EQ(EAGAIN, errno);
  RefuseThreads = false;
#endif
  reclaimer R;
}

TEST(ReclaimerFailure, WithoutMemoryItWaitsAtOnce) {
  reclaimer R(Counting);
  auto Object = std::make_shared<int>(1);
  std::unique_ptr<std::shared_ptr<int>> Owner(new std::shared_ptr(Object));
  GracePeriods = 0;
  RefuseMemory = true;
  R.defer(std::move(Owner));
  RefuseMemory = false;
  EXPECT_EQ(1, GracePeriods);
  EXPECT_EQ(1, Object.use_count());
  EXPECT_EQ(0u, R.stats().queued);
}

#ifndef SANITIZED
// Whoever waits then works, one at a time, and others wait for that one.
TEST(ReclaimerFailure, AChildWithoutThreadsWorksByItself) {
  dct_reclaimer *R = dct_reclaimer_create(&Counting);
  pid_t Child = fork();
  if (!Child) {
    struct Item : dct_reclaim_head {
      std::atomic<int> *Ran;
    };
    auto Run = [](dct_reclaim_head *Head) {
      std::unique_ptr<Item> Self(static_cast<Item *>(Head));
      ++*Self->Ran;
    };
    std::atomic<int> Ran = 0, Wrong = 0;
    std::vector<std::thread> Threads;
    for (int I = 0; I != 3; ++I)
      Threads.emplace_back([&, I] {
        RefuseThreads = true;
        for (int K = 0; K != 200; ++K) {
          std::atomic<int> Own = 0;
          auto *New = new Item;
          New->Ran = &Own;
          dct_reclaimer_defer(R, New, Run);
          Wrong += dct_reclaimer_flush(R) != 0 || Own != 1;
          // One of them may start a worker in the end, while others stand in.
          if (I == 2 && K == 150)
            RefuseThreads = false;
        }
      });
    for (std::thread &T : Threads)
      T.join();
    RefuseThreads = true;
    auto *Last = new Item;
    Last->Ran = &Ran;
    dct_reclaimer_defer(R, Last, Run);
    _exit(Wrong || dct_reclaimer_destroy(R) || Ran != 1);
  }
  int Status = -1;
  waitpid(Child, &Status, 0);
  EXPECT_EQ(0, Status);
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}
#endif

} // namespace
