//===- percpu_rseq_test.cpp - The sections themselves -------------*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// On an area of the test's own, which the kernel does not know: every branch
// but the abort, on any kernel and in an emulator. Aborts happen in
// percpu_counter_stress_test.cpp.

#include "decontend/percpu_rseq.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

#if DCT_PERCPU_RSEQ

namespace {

constexpr std::uint64_t Most = std::numeric_limits<std::uint64_t>::max();

struct alignas(64) Words {
  std::uint64_t W[3] = {0, 0, 0};
};

rseq onCPU(std::uint32_t CPU) {
  rseq Area = {};
  Area.cpu_id_start = CPU;
  Area.cpu_id = CPU;
  return Area;
}

std::uint64_t announced(const rseq &Area) {
  return *reinterpret_cast<const std::uint64_t *>(&Area.rseq_cs);
}

TEST(PercpuRseq, AddsOnItsCPUOnly) {
  rseq Area = onCPU(3);
  Words W;
  EXPECT_EQ(3u, dct_percpu_rseq_cpu(&Area));
  EXPECT_TRUE(dct_percpu_rseq_add(&Area, 3, W.W, 5));
  EXPECT_TRUE(dct_percpu_rseq_add(&Area, 3, W.W, Most));
  EXPECT_FALSE(dct_percpu_rseq_add(&Area, 2, W.W, 5));
  EXPECT_EQ(4u, W.W[0]);
  EXPECT_EQ(0u, W.W[1]);
}

TEST(PercpuRseq, UnregisteredThreadsMatchNoCPU) {
  rseq Area = onCPU(0);
  Area.cpu_id = static_cast<std::uint32_t>(RSEQ_CPU_ID_REGISTRATION_FAILED);
  Words W;
  EXPECT_FALSE(dct_percpu_rseq_add(&Area, 0, W.W, 5));
  EXPECT_FALSE(dct_percpu_rseq_add_near(&Area, 0, W.W, false, 5, 100));
  EXPECT_FALSE(dct_percpu_rseq_follow(&Area, 0, W.W, 0, 0, 0));
  EXPECT_EQ(0u, W.W[0]);
}

TEST(PercpuRseq, FollowsWhenAllAreAsSeen) {
  rseq Area = onCPU(0);
  Words W;
  W.W[0] = 10;
  W.W[1] = 3;
  W.W[2] = 4;
  EXPECT_FALSE(dct_percpu_rseq_follow(&Area, 0, W.W, 11, 3, 4));
  EXPECT_FALSE(dct_percpu_rseq_follow(&Area, 0, W.W, 10, 2, 4));
  EXPECT_FALSE(dct_percpu_rseq_follow(&Area, 0, W.W, 10, 3, 5));
  EXPECT_FALSE(dct_percpu_rseq_follow(&Area, 1, W.W, 10, 3, 4));
  EXPECT_EQ(4u, W.W[2]);
  EXPECT_TRUE(dct_percpu_rseq_follow(&Area, 0, W.W, 10, 3, 4));
  EXPECT_EQ(10u, W.W[0]);
  EXPECT_EQ(3u, W.W[1]);
  EXPECT_EQ(7u, W.W[2]);
}

// The kernel must find nothing announced in a library that has been closed.
TEST(PercpuRseq, LeavesNothingAnnounced) {
  rseq Area = onCPU(0);
  Words W;
  dct_percpu_rseq_add(&Area, 0, W.W, 1);
  EXPECT_EQ(0u, announced(Area));
  dct_percpu_rseq_add(&Area, 1, W.W, 1);
  EXPECT_EQ(0u, announced(Area));
  dct_percpu_rseq_add_near(&Area, 0, W.W, false, 1, 0);
  EXPECT_EQ(0u, announced(Area));
  dct_percpu_rseq_add_near(&Area, 0, W.W, false, 1, 9);
  EXPECT_EQ(0u, announced(Area));
  dct_percpu_rseq_follow(&Area, 0, W.W, 9, 9, 9);
  EXPECT_EQ(0u, announced(Area));
  dct_percpu_rseq_follow(&Area, 0, W.W, 2, 0, 0);
  EXPECT_EQ(0u, announced(Area));
}

TEST(PercpuRseq, StaysNear) {
  for (std::uint64_t Seed = 1; Seed != 6; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    std::mt19937_64 Random(Seed);
    rseq Area = onCPU(1);
    for (int I = 0; I != 20000; ++I) {
      Words W;
      std::uint64_t Limit = Random() % 50;
      W.W[0] = Random();
      W.W[1] = Random();
      W.W[2] = W.W[0] - W.W[1] + Random() % 101 - 50;
      std::uint64_t Amount = Random() % 201 - 100;
      bool Down = static_cast<std::int64_t>(Amount) < 0;
      Words Before = W;
      auto Distance =
          static_cast<std::int64_t>(W.W[0] - W.W[1] + Amount - W.W[2]);
      bool Near = std::abs(Distance) <= static_cast<std::int64_t>(Limit);
      ASSERT_EQ(Near,
                dct_percpu_rseq_add_near(&Area, 1, W.W, Down, Amount, Limit));
      ASSERT_EQ(Before.W[0] + (Near && !Down ? Amount : 0), W.W[0]);
      ASSERT_EQ(Before.W[1] - (Near && Down ? Amount : 0), W.W[1]);
      ASSERT_EQ(Before.W[2], W.W[2]);
    }
  }
}

TEST(PercpuRseq, TheThreadsOwnAreaWorksOrSaysThatItDoesNot) {
  rseq *Area = dct_percpu_rseq_area();
  Words W;
  bool Done = false;
  for (int I = 0; I != 1000 && !Done; ++I)
    Done = dct_percpu_rseq_add(Area, dct_percpu_rseq_cpu(Area), W.W, 7);
  EXPECT_EQ(__rseq_size != 0, Done);
  EXPECT_EQ(Done ? 7u : 0u, W.W[0]);
}

} // namespace

#else

TEST(PercpuRseq, IsNotBuiltIn) {
  GTEST_SKIP() << "no restartable sequences under this compiler or sanitizer";
}

#endif
