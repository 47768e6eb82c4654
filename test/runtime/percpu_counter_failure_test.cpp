//===- percpu_counter_failure_test.cpp - When things are missing --*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Replaces aligned_alloc and sched_getcpu for the whole program, which is why
// it is one of its own.

#include "decontend/percpu_counter.hpp"
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<bool> RefuseMemory;
static std::atomic<int> FakeCPU{-2}; // -2: the real one

extern "C" void *aligned_alloc(size_t Alignment, size_t Size) {
  void *Memory = nullptr;
  if (RefuseMemory || posix_memalign(&Memory, Alignment, Size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Memory;
}

extern "C" int sched_getcpu() noexcept {
  if (FakeCPU != -2)
    return FakeCPU;
  unsigned CPU = 0;
  return syscall(SYS_getcpu, &CPU, nullptr, nullptr) ? -1 : int(CPU);
}

using namespace decontend;

namespace {

void addFromThreads(dct_percpu_counter *C, int Threads, int Times) {
  std::vector<std::thread> Workers;
  for (int I = 0; I != Threads; ++I)
    Workers.emplace_back([=] {
      for (int K = 0; K != Times; ++K)
        dct_percpu_counter_add_batch(C, K % 3, 16);
    });
  for (std::thread &Worker : Workers)
    Worker.join();
}

constexpr int Times = 9999; // Each thread adds as much as it adds times.

TEST(PercpuCounterFailure, InitSaysSoAndNothingLeaks) {
  dct_percpu_counter Cs[3];
  RefuseMemory = true;
  EXPECT_EQ(ENOMEM, dct_percpu_counter_init(&Cs[0], 1));
  EXPECT_EQ(ENOMEM, dct_percpu_counter_init_many(Cs, 3, 1));
  RefuseMemory = false;
  EXPECT_EQ(ENOMEM, dct_percpu_counter_init_many(Cs, SIZE_MAX / 8, 1));
}

TEST(PercpuCounterFailure, StaticFormFallsBackForGood) {
  percpu_counter C(4);
  RefuseMemory = true;
  C += 3;
  RefuseMemory = false;
  addFromThreads(C.native_handle(), 3, Times);
  EXPECT_EQ(7 + 3 * Times, C.sum());
  EXPECT_EQ(7 + 3 * Times, C.read());
  EXPECT_EQ(0, C.compare(7 + 3 * Times));
  EXPECT_FALSE(C.limited_add(7, 1));
  EXPECT_TRUE(C.limited_add(8 + 3 * Times, 1));
  C.set(1);
  EXPECT_EQ(1, C.sum());
  dct_percpu_counter_reset_in_child(C.native_handle());
  EXPECT_EQ(1, C.sum());
}

// Some threads get memory while others do not.
TEST(PercpuCounterFailure, MemoryComesAndGoesDuringTheFirstAdds) {
  for (int Round = 0; Round != 50; ++Round) {
    percpu_counter C;
    std::thread Flips([] {
      for (int I = 0; I != 20; ++I)
        RefuseMemory = I % 2 == 0;
    });
    addFromThreads(C.native_handle(), 3, 99);
    Flips.join();
    RefuseMemory = false;
    ASSERT_EQ(3 * 99, C.sum());
  }
}

TEST(PercpuCounterFailure, UnknownCPUsAreSpreadByThread) {
  for (int CPU : {-1, 0, 4095, 1 << 30}) {
    percpu_counter C;
    FakeCPU = CPU;
    addFromThreads(C.native_handle(), 4, Times);
    EXPECT_EQ(4 * Times, C.sum());
    EXPECT_LE(std::abs(C.read() - C.sum()),
              15 * std::int64_t(dct_percpu_counter_cpus()));
    FakeCPU = -2;
  }
}

// A CPU that appeared after the words were counted.
TEST(PercpuCounterFailure, NumbersBeyondTheWordsAreCounted) {
  percpu_counter C;
  ++C;
  C.native_handle()->cpus = 1;
  std::thread Elsewhere([&] {
    cpu_set_t Last;
    CPU_ZERO(&Last);
    CPU_SET(dct_percpu_counter_cpus() - 1, &Last);
    pthread_setaffinity_np(pthread_self(), sizeof Last, &Last);
    for (int I = 0; I != 1000; ++I)
      ++C;
  });
  Elsewhere.join();
  EXPECT_EQ(1001, C.sum());
}

#if DCT_PERCPU_RSEQ
// glibc knows no thread without registration; the kernel does.
TEST(PercpuCounterFailure, AThreadWithoutSequencesAmongOthers) {
  if (!__rseq_size)
    GTEST_SKIP() << "no restartable sequences here";
  percpu_counter C;
  bool Left = false;
  std::thread Outsider([&] {
    rseq *Area = dct_percpu_rseq_area();
    Left = syscall(SYS_rseq, Area, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
    if (Left)
      for (int I = 0; I != 50000; ++I)
        ++C;
  });
  addFromThreads(C.native_handle(), 2, Times);
  Outsider.join();
  EXPECT_TRUE(Left);
  EXPECT_EQ(2 * Times + (Left ? 50000 : 0), C.sum());
}
#endif

} // namespace
