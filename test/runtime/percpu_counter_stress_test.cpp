//===- percpu_counter_stress_test.cpp - The counter among threads -*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/percpu_counter.hpp"
#include <atomic>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace decontend;

namespace {

struct Counter {
  dct_percpu_counter C;
  Counter() { EXPECT_EQ(0, dct_percpu_counter_init(&C, 0)); }
  ~Counter() { dct_percpu_counter_destroy(&C); }
  std::int64_t sum() { return dct_percpu_counter_sum(&C); }
  std::int64_t read() { return dct_percpu_counter_read(&C); }
};

void inThreads(int Threads, const std::function<void(int)> &Work) {
  std::vector<std::thread> Workers;
  for (int I = 0; I != Threads; ++I)
    Workers.emplace_back(Work, I);
  for (std::thread &Worker : Workers)
    Worker.join();
}

std::int64_t bound(std::int32_t Batch) {
  return std::int64_t(Batch - 1) * dct_percpu_counter_cpus();
}

// Moves threads from CPU to CPU while they add.
class Mover {
  std::atomic<bool> Stop{false};
  std::vector<std::atomic<pid_t>> Threads;
  std::thread Worker;

public:
  explicit Mover(int Count) : Threads(Count) {
    Worker = std::thread([this] {
      cpu_set_t Allowed;
      sched_getaffinity(0, sizeof Allowed, &Allowed);
      for (unsigned Turn = 0; !Stop; ++Turn)
        for (std::size_t I = 0; I != Threads.size(); ++I) {
          int CPU = static_cast<int>((Turn + I) % dct_percpu_counter_cpus());
          cpu_set_t One;
          CPU_ZERO(&One);
          CPU_SET(CPU, &One);
          if (Threads[I] && CPU_ISSET(CPU, &Allowed))
            sched_setaffinity(Threads[I], sizeof One, &One);
          std::this_thread::yield();
        }
    });
  }
  void enter(int I) { Threads[I] = static_cast<pid_t>(syscall(SYS_gettid)); }
  void leave(int I) { Threads[I] = 0; }
  ~Mover() {
    Stop = true;
    Worker.join();
  }
};

class PercpuCounterStress : public testing::TestWithParam<int> {};

TEST_P(PercpuCounterStress, NothingIsLostWhileThreadsMove) {
  constexpr int Times = 100000;
  const int Threads = GetParam();
  Counter C;
  std::atomic<std::int64_t> Expected{0};
  {
    Mover Moves(Threads);
    inThreads(Threads, [&](int I) {
      Moves.enter(I);
      std::mt19937 Random(I + 1);
      std::int64_t Mine = 0;
      for (int K = 0; K != Times; ++K) {
        auto Amount = static_cast<std::int64_t>(Random() % 41) - 17;
        dct_percpu_counter_add_batch(&C.C, Amount, 64);
        Mine += Amount;
      }
      Expected += Mine;
      Moves.leave(I);
    });
  }
  EXPECT_EQ(Expected, C.sum());
  EXPECT_LE(std::abs(C.read() - C.sum()), bound(64));
}

// A counter that only grows is never seen to shrink, nor past what was added.
TEST_P(PercpuCounterStress, SumsOfAGrowingCounterGrow) {
  constexpr int Times = 50000;
  const int Threads = GetParam();
  static_percpu_counter C;
  std::atomic<int> Running{Threads};
  std::atomic<std::int64_t> Begun{0}, Ended{0};
  std::thread Reader([&] {
    std::int64_t Last = 0;
    while (Running) {
      std::int64_t Least = Ended;
      std::int64_t Sum = C.sum();
      std::int64_t Most = Begun;
      ASSERT_GE(Sum, Last);
      ASSERT_GE(Sum, Least);
      ASSERT_LE(Sum, Most);
      Last = Sum;
    }
  });
  inThreads(Threads, [&](int) {
    for (int K = 0; K != Times; ++K) {
      Begun += 3;
      C.add(3, 16);
      Ended += 3;
    }
    --Running;
  });
  Reader.join();
  EXPECT_EQ(std::int64_t(3) * Threads * Times, C.sum());
  dct_percpu_counter_destroy(C.native_handle());
}

// Held is what succeeded and was not given back yet, so a lower bound.
TEST_P(PercpuCounterStress, LimitedAddsNeverPassTheLimit) {
  constexpr int Times = 20000;
  const int Threads = GetParam();
  for (std::int64_t Limit : {std::int64_t(7), std::int64_t(300)}) {
    Counter C;
    std::atomic<std::int64_t> Held{0};
    std::atomic<bool> Exceeded{false};
    inThreads(Threads, [&](int I) {
      std::mt19937 Random(I + 1);
      std::int64_t Mine = 0;
      for (int K = 0; K != Times; ++K) {
        auto Amount = static_cast<std::int64_t>(Random() % 60) + 1;
        if (Mine && Random() % 2) {
          Held -= Mine;
          dct_percpu_counter_add_batch(&C.C, -Mine, 8);
          Mine = 0;
        } else if (dct_percpu_counter_limited_add_batch(&C.C, Limit, Amount,
                                                        8)) {
          Mine += Amount;
          if (Held.fetch_add(Amount) + Amount > Limit)
            Exceeded = true;
        }
      }
      Held -= Mine;
      dct_percpu_counter_add_batch(&C.C, -Mine, 8);
    });
    EXPECT_FALSE(Exceeded);
    EXPECT_EQ(0, C.sum());
    // With nobody else there all of the room can be had.
    EXPECT_TRUE(dct_percpu_counter_limited_add_batch(&C.C, Limit, Limit, 8));
    EXPECT_FALSE(dct_percpu_counter_limited_add_batch(&C.C, Limit, 1, 8));
  }
}

TEST_P(PercpuCounterStress, SetKeepsConcurrentAdds) {
  constexpr int Times = 20000;
  const int Threads = GetParam();
  Counter C;
  // Each set takes out what it saw; nothing may vanish with it.
  std::atomic<std::int64_t> TakenOut{0};
  std::atomic<int> Running{Threads};
  std::thread Taker([&] {
    while (Running) {
      std::int64_t Sum = C.sum();
      dct_percpu_counter_sub(&C.C, Sum);
      TakenOut += Sum;
    }
  });
  inThreads(Threads, [&](int) {
    for (int K = 0; K != Times; ++K)
      dct_percpu_counter_inc(&C.C);
    --Running;
  });
  Taker.join();
  EXPECT_EQ(std::int64_t(Threads) * Times, C.sum() + TakenOut);

  inThreads(Threads, [&](int I) {
    for (int K = 0; K != 2000; ++K)
      dct_percpu_counter_set(&C.C, I);
  });
  EXPECT_GE(C.sum(), 0);
  EXPECT_LT(C.sum(), Threads);
}

TEST_P(PercpuCounterStress, FirstAddsRace) {
  const int Threads = GetParam();
  for (int Round = 0; Round != 200; ++Round) {
    percpu_counter C(Round);
    std::atomic<int> Waiting{Threads};
    inThreads(Threads, [&](int) {
      --Waiting;
      while (Waiting)
        std::this_thread::yield();
      ++C;
    });
    ASSERT_EQ(Round + Threads, C.sum());
  }
}

TEST_P(PercpuCounterStress, ForkAmongWriters) {
  const int Threads = GetParam();
  Counter C;
  std::atomic<bool> Stop{false};
  std::thread Forks([&] {
    bool Right = true;
    for (int I = 0; I != 20 && Right; ++I) {
      pid_t Child = fork();
      if (!Child) {
        dct_percpu_counter_reset_in_child(&C.C);
        std::int64_t Sum = dct_percpu_counter_sum(&C.C);
        std::int64_t Error = dct_percpu_counter_read(&C.C) - Sum;
        dct_percpu_counter_add_batch(&C.C, 5, 4);
        bool Sound = Error == 0 && dct_percpu_counter_sum(&C.C) == Sum + 5 &&
                     dct_percpu_counter_compare_batch(&C.C, Sum + 5, 4) == 0;
        _exit(Sound ? 0 : 1);
      }
      int Status = 0;
      Right = waitpid(Child, &Status, 0) == Child && Status == 0;
      EXPECT_TRUE(Right) << "fork " << I << ", status " << Status;
    }
    Stop = true;
  });
  std::atomic<std::int64_t> Expected{0};
  inThreads(Threads, [&](int) {
    std::int64_t Mine = 0;
    for (; !Stop; ++Mine)
      dct_percpu_counter_add_batch(&C.C, 1, 4);
    Expected += Mine;
  });
  Forks.join();
  EXPECT_EQ(Expected, C.sum());
}

INSTANTIATE_TEST_SUITE_P(Threads, PercpuCounterStress,
                         testing::Values(2, 3, 4, 8));

TEST(PercpuCounterThreads, TotalsOutliveTheirThreads) {
  Counter C;
  for (int I = 0; I != 300; ++I)
    std::thread([&] { dct_percpu_counter_add(&C.C, I); }).join();
  EXPECT_EQ(299 * 300 / 2, C.sum());
}

static_percpu_counter Signalled;
std::atomic<std::int64_t> Handled;

// A handler interrupts adds at every instruction, and adds itself.
TEST(PercpuCounterThreads, HandlersAddToo) {
  Signalled += 0;
  struct sigaction Action = {}, Before;
  Action.sa_handler = [](int) {
    Signalled.add(1, 4);
    Handled.fetch_add(1, std::memory_order_relaxed);
  };
  sigaction(SIGALRM, &Action, &Before);
  itimerval Often = {{0, 50}, {0, 50}}, Never = {};
  setitimer(ITIMER_REAL, &Often, nullptr);
  std::int64_t Mine = 0;
  while (Handled < 2000 && Mine < 400000000) {
    Signalled.add(1, 4);
    ++Mine;
  }
  setitimer(ITIMER_REAL, &Never, nullptr);
  sigaction(SIGALRM, &Before, nullptr);
  EXPECT_GT(Handled, 0);
  EXPECT_EQ(Mine + Handled, Signalled.sum());
  EXPECT_LE(std::abs(Signalled.read() - Signalled.sum()), bound(4));
}

} // namespace
