//===- percpu_counter_test.cpp - The counter in one thread --------*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/percpu_counter.hpp"
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace decontend;

namespace {

constexpr std::int64_t Most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t Least = std::numeric_limits<std::int64_t>::min();

constinit static_percpu_counter Early(40);

// Adds before the counter's own translation unit has run constructors.
struct AddsEarly {
  AddsEarly() { Early += 2; }
} AddsEarlyNow;

DCT_PERCPU_COUNTER_STATIC(StaticForm);

struct Counter {
  dct_percpu_counter C;
  explicit Counter(std::int64_t Value = 0) {
    EXPECT_EQ(0, dct_percpu_counter_init(&C, Value));
  }
  ~Counter() { dct_percpu_counter_destroy(&C); }
  std::int64_t sum() { return dct_percpu_counter_sum(&C); }
  std::int64_t read() { return dct_percpu_counter_read(&C); }
};

std::int64_t wrappingSum(std::int64_t A, std::int64_t B) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(A) +
                                   static_cast<std::uint64_t>(B));
}

TEST(PercpuCounter, StartsWithItsValue) {
  for (std::int64_t Value : {std::int64_t(0), std::int64_t(-7), Most, Least}) {
    Counter C(Value);
    EXPECT_EQ(Value, C.sum());
    EXPECT_EQ(Value, C.read());
  }
}

TEST(PercpuCounter, CountsBeforeMain) { EXPECT_EQ(42, Early.sum()); }

TEST(PercpuCounter, StaticFormNeedsNoInit) {
  dct_percpu_counter_inc(&StaticForm);
  dct_percpu_counter_sub(&StaticForm, 5);
  EXPECT_EQ(-4, dct_percpu_counter_sum(&StaticForm));
  dct_percpu_counter_destroy(&StaticForm);
}

TEST(PercpuCounter, StaticFormIsReadBeforeItsFirstAdd) {
  dct_percpu_counter C = DCT_PERCPU_COUNTER_INIT(9);
  EXPECT_EQ(9, dct_percpu_counter_sum(&C));
  EXPECT_EQ(9, dct_percpu_counter_read(&C));
  EXPECT_EQ(1, dct_percpu_counter_compare(&C, 8));
  dct_percpu_counter_set(&C, 3);
  EXPECT_EQ(3, dct_percpu_counter_sum(&C));
  dct_percpu_counter_destroy(&C);
}

TEST(PercpuCounter, BatchOfOneIsExactForRead) {
  Counter C;
  for (int I = 0; I != 100; ++I)
    dct_percpu_counter_add_batch(&C.C, I % 3 - 1, I % 2);
  EXPECT_EQ(C.sum(), C.read());
}

TEST(PercpuCounter, ReadKeepsToItsBound) {
  Counter C;
  const std::int64_t Bound = 9 * std::int64_t(dct_percpu_counter_cpus());
  for (int I = 0; I != 10000; ++I) {
    dct_percpu_counter_add_batch(&C.C, I % 5 - 1, 10);
    ASSERT_LE(std::abs(C.read() - C.sum()), Bound);
  }
}

TEST(PercpuCounter, LargeAmountsAreReadAtOnce) {
  Counter C;
  dct_percpu_counter_add(&C.C, DCT_PERCPU_COUNTER_BATCH);
  EXPECT_EQ(DCT_PERCPU_COUNTER_BATCH, C.read());
  dct_percpu_counter_add(&C.C, -DCT_PERCPU_COUNTER_BATCH);
  EXPECT_EQ(0, C.read());
}

TEST(PercpuCounter, WrapsLikeUnsigned) {
  Counter C(Most);
  dct_percpu_counter_inc(&C.C);
  EXPECT_EQ(Least, C.sum());
  dct_percpu_counter_dec(&C.C);
  EXPECT_EQ(Most, C.sum());
  dct_percpu_counter_sub(&C.C, Least);
  EXPECT_EQ(-1, C.sum());
  // Local totals wrap too.
  for (std::int64_t I = 0; I != 5; ++I)
    dct_percpu_counter_add_local(&C.C, Most);
  dct_percpu_counter_add_local(&C.C, 5);
  std::int64_t Model = -1;
  for (int I = 0; I != 5; ++I)
    Model = wrappingSum(Model, Most);
  EXPECT_EQ(wrappingSum(Model, 5), C.sum());
}

TEST(PercpuCounter, PositiveReadsHideWhatIsNegative) {
  Counter C(-3);
  EXPECT_EQ(0, dct_percpu_counter_read_positive(&C.C));
  EXPECT_EQ(0, dct_percpu_counter_sum_positive(&C.C));
  dct_percpu_counter_add_batch(&C.C, 10, 1);
  EXPECT_EQ(7, dct_percpu_counter_read_positive(&C.C));
  EXPECT_EQ(7, dct_percpu_counter_sum_positive(&C.C));
}

TEST(PercpuCounter, ComparesAtTheEdges) {
  Counter C;
  const std::int64_t Bound =
      std::int64_t(DCT_PERCPU_COUNTER_BATCH - 1) * dct_percpu_counter_cpus();
  dct_percpu_counter_add(&C.C, 10);
  for (std::int64_t Rhs : {-Bound - 1, -Bound, std::int64_t(9)})
    EXPECT_EQ(1, dct_percpu_counter_compare(&C.C, Rhs));
  EXPECT_EQ(0, dct_percpu_counter_compare(&C.C, 10));
  for (std::int64_t Rhs : {std::int64_t(11), Bound, Bound + 1, Most})
    EXPECT_EQ(-1, dct_percpu_counter_compare(&C.C, Rhs));
  EXPECT_EQ(1, dct_percpu_counter_compare(&C.C, Least));
  EXPECT_EQ(1, dct_percpu_counter_compare_batch(&C.C, 9, 32));
}

TEST(PercpuCounter, LimitedAddStopsAtTheLimit) {
  Counter C;
  int Fit = 0;
  while (dct_percpu_counter_limited_add(&C.C, 5000, 7))
    ++Fit;
  EXPECT_EQ(5000 / 7, Fit);
  EXPECT_EQ(Fit * 7, C.sum());
  EXPECT_TRUE(dct_percpu_counter_limited_add(&C.C, 5000, 5000 - Fit * 7));
  EXPECT_FALSE(dct_percpu_counter_limited_add(&C.C, 5000, 1));
  EXPECT_TRUE(dct_percpu_counter_limited_add(&C.C, 0, 0));
  // Downwards the limit is the least.
  EXPECT_TRUE(dct_percpu_counter_limited_add(&C.C, 0, -5000));
  EXPECT_FALSE(dct_percpu_counter_limited_add(&C.C, 0, -1));
  EXPECT_EQ(0, C.sum());
}

TEST(PercpuCounter, ManyShareOneAllocation) {
  std::vector<dct_percpu_counter> Cs(17);
  ASSERT_EQ(0, dct_percpu_counter_init_many(Cs.data(), Cs.size(), 3));
  for (std::size_t I = 0; I != Cs.size(); ++I)
    dct_percpu_counter_add(&Cs[I], static_cast<std::int64_t>(I));
  for (std::size_t I = 0; I != Cs.size(); ++I)
    EXPECT_EQ(static_cast<std::int64_t>(I) + 3, dct_percpu_counter_sum(&Cs[I]));
  dct_percpu_counter_destroy_many(Cs.data(), Cs.size());
  EXPECT_EQ(0, dct_percpu_counter_init_many(nullptr, 0, 0));
  dct_percpu_counter_destroy_many(nullptr, 0);
}

TEST(PercpuCounter, OperatorsOfAtomicIntegers) {
  percpu_counter C = 5;
  ++C;
  C++;
  --C;
  C--;
  C += 10;
  C -= 4;
  C.add(3);
  C.add(1, 16);
  C.sub(1);
  EXPECT_EQ(14, C.sum());
  EXPECT_EQ(14, C.sum_positive());
  EXPECT_EQ(0, C.compare(14));
  EXPECT_FALSE(C.limited_add(14, 1));
  C.set(0);
  EXPECT_EQ(0, C.sum());
  C.add_local(2);
  EXPECT_EQ(2, C.sum());
  static_assert(!std::is_copy_constructible_v<percpu_counter> &&
                !std::is_move_constructible_v<percpu_counter> &&
                !std::is_copy_assignable_v<percpu_counter>);
}

TEST(PercpuCounter, ChildKeepsTheValues) {
  Counter C(100);
  dct_percpu_counter_add(&C.C, 11);
  pid_t Child = fork();
  if (!Child) {
    dct_percpu_counter_reset_in_child(&C.C);
    dct_percpu_counter_add(&C.C, 5);
    _exit(C.sum() == 116 && dct_percpu_counter_compare(&C.C, 115) == 1 ? 0 : 1);
  }
  int Status = 0;
  ASSERT_EQ(Child, waitpid(Child, &Status, 0));
  EXPECT_EQ(0, Status);
  EXPECT_EQ(111, C.sum());
}

// Against an integer, with the bound of read as the only freedom.
TEST(PercpuCounter, RandomOperationsMatchAnInteger) {
  for (std::uint64_t Seed = 1; Seed != 21; ++Seed) {
    SCOPED_TRACE("seed " + std::to_string(Seed));
    std::mt19937_64 Random(Seed);
    Counter C;
    std::int64_t Model = 0;
    std::int32_t Largest = DCT_PERCPU_COUNTER_BATCH;
    bool Local = false;
    for (int Step = 0; Step != 5000; ++Step) {
      auto Amount = static_cast<std::int64_t>(Random() % 4001) - 2000;
      switch (Random() % 10) {
      case 0:
      case 1:
        dct_percpu_counter_add(&C.C, Amount);
        Model += Amount;
        break;
      case 2: {
        auto Batch = static_cast<std::int32_t>(Random() % 3000);
        Largest = std::max(Largest, Batch);
        dct_percpu_counter_add_batch(&C.C, Amount, Batch);
        Model += Amount;
        break;
      }
      case 3:
        dct_percpu_counter_sub(&C.C, Amount);
        Model -= Amount;
        break;
      case 4:
        dct_percpu_counter_inc(&C.C);
        ++Model;
        break;
      case 5:
        dct_percpu_counter_dec(&C.C);
        --Model;
        break;
      case 6:
        if (Random() % 50 == 0) {
          dct_percpu_counter_set(&C.C, Amount);
          Model = Amount;
        }
        break;
      case 7: {
        std::int64_t Limit = Model + Amount / 2;
        bool Fits = Amount > 0   ? Model + Amount <= Limit
                    : Amount < 0 ? Model + Amount >= Limit
                                 : true;
        ASSERT_EQ(Fits, dct_percpu_counter_limited_add_batch(&C.C, Limit,
                                                             Amount, Largest));
        Model += Fits ? Amount : 0;
        break;
      }
      case 8: {
        std::int64_t Rhs = Model + Amount / 100;
        ASSERT_EQ((Model > Rhs) - (Model < Rhs),
                  dct_percpu_counter_compare_batch(&C.C, Rhs, Largest));
        break;
      }
      case 9:
        // Late in the run, because it ends what can be said about read.
        if (Step > 4000 && Seed % 2) {
          Local = true;
          Largest = INT32_MAX;
          dct_percpu_counter_add_local(&C.C, Amount);
          Model += Amount;
        }
        break;
      }
      ASSERT_EQ(Model, C.sum()) << "step " << Step;
      if (!Local)
        ASSERT_LE(std::abs(C.read() - Model),
                  std::int64_t(Largest - 1) * dct_percpu_counter_cpus())
            << "step " << Step;
    }
  }
}

} // namespace
