//===- reclaimer_fork_test.cpp - Frees later, in two processes --*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Children report by exit code and never touch the test framework.
//
//===----------------------------------------------------------------------===//

#include "decontend/reclaimer.hpp"
#include <atomic>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// ThreadSanitizer ends a child of a process with threads that makes a thread.
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

using namespace decontend;

namespace {

// Reads and writes only what a fork copies: a futex that a thread of the parent
// waits on has no waiter in the child.
std::atomic<bool> GateOpen{true};
std::atomic<int> AtGate{0};

void waitAtGate() {
  ++AtGate;
  while (!GateOpen)
    std::this_thread::yield();
  --AtGate;
}

void waitForWorker() {
  while (!AtGate)
    std::this_thread::yield();
}

struct Item : dct_reclaim_head {
  std::atomic<int> Ran{0};
  std::function<void()> Call;
  static void run(dct_reclaim_head *Head) {
    Item *Self = static_cast<Item *>(Head);
    ++Self->Ran;
    if (Self->Call)
      Self->Call();
  }
};

// Runs Work in a child; returns its exit code, or -1.
int inChild(const std::function<int()> &Work) {
  pid_t Child = fork();
  if (!Child)
    _exit(Work());
  int Status = -1;
  return waitpid(Child, &Status, 0) == Child && WIFEXITED(Status)
             ? WEXITSTATUS(Status)
             : -1;
}

class ReclaimerFork : public testing::Test {
protected:
  void SetUp() override {
#ifdef UNDER_TSAN
    GTEST_SKIP();
#endif
    GateOpen = true;
    AtGate = 0;
  }
  static dct_reclaimer *make(std::size_t Limit = 0) {
    dct_reclaimer_options Options = {waitAtGate, Limit};
    return dct_reclaimer_create(&Options);
  }
  static void defer(dct_reclaimer *R, Item &I) {
    dct_reclaimer_defer(R, &I, Item::run);
  }
  static bool ranOnce(const std::vector<Item> &Items) {
    for (const Item &I : Items)
      if (I.Ran != 1)
        return false;
    return true;
  }
};

TEST_F(ReclaimerFork, TakenAndQueuedItemsRunOnceInEach) {
  dct_reclaimer *R = make();
  std::vector<Item> Items(10);
  GateOpen = false;
  defer(R, Items[0]);
  waitForWorker(); // has taken one
  for (int I = 1; I != 10; ++I)
    defer(R, Items[I]);
  int Code = inChild([&] {
    GateOpen = true;
    if (dct_reclaimer_pending(R) != 10)
      return 1;
    if (dct_reclaimer_flush(R) || !ranOnce(Items))
      return 2;
    Item More;
    defer(R, More);
    if (dct_reclaimer_destroy(R) || More.Ran != 1)
      return 3;
    return ranOnce(Items) ? 0 : 4;
  });
  EXPECT_EQ(0, Code);
  GateOpen = true;
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_TRUE(ranOnce(Items));
}

TEST_F(ReclaimerFork, ADeferStartsTheChildsWorker) {
  dct_reclaimer *R = make();
  EXPECT_EQ(0, inChild([&] {
              Item I;
              defer(R, I);
              while (!I.Ran)
                std::this_thread::yield();
              return dct_reclaimer_destroy(R);
            }));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

TEST_F(ReclaimerFork, AnUnusedChildDestroys) {
  dct_reclaimer *R = make();
  EXPECT_EQ(0, inChild([&] { return dct_reclaimer_destroy(R); }));
  EXPECT_EQ(0, inChild([&] {
              return inChild([&] { return dct_reclaimer_flush(R); }) ||
                     dct_reclaimer_destroy(R);
            }));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

// The child has no such threads: nothing of theirs may be left.
TEST_F(ReclaimerFork, WaitersOfTheParentAreForgotten) {
  dct_reclaimer *R = make(2);
  std::vector<Item> Items(8);
  GateOpen = false;
  defer(R, Items[0]);
  waitForWorker();
  std::vector<std::thread> Threads;
  for (int I = 0; I != 3; ++I)
    Threads.emplace_back([&] { dct_reclaimer_flush(R); });
  for (int I = 1; I != 8; ++I)
    Threads.emplace_back([&, I] { defer(R, Items[I]); });
  while (dct_reclaimer_pending(R) != 8)
    std::this_thread::yield();
  // Of the defers, one may have counted its item and not pushed it.
  for (int I = 0; I != 100; ++I)
    std::this_thread::yield();
  for (int Round = 0; Round != 3; ++Round)
    EXPECT_EQ(0, inChild([&] {
                std::size_t Known = dct_reclaimer_pending(R);
                // Over the stacks that the flushes were on.
                std::vector<std::thread> Others;
                for (int I = 0; I != 8; ++I)
                  Others.emplace_back([] { std::vector<int> Some(1000, -1); });
                for (std::thread &T : Others)
                  T.join();
                GateOpen = true;
                if (dct_reclaimer_destroy(R))
                  return 1;
                std::size_t Ran = 0;
                for (Item &I : Items)
                  Ran += I.Ran;
                return Ran == Known ? 0 : 2;
              }));
  GateOpen = true;
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_TRUE(ranOnce(Items));
}

TEST_F(ReclaimerFork, TheItemInItsCallbackIsLeftToTheParent) {
  dct_reclaimer *R = make();
  std::vector<Item> Items(3);
  std::atomic<bool> Inside = false, Go = false;
  Items[1].Call = [&] {
    Inside = true;
    while (!Go)
      std::this_thread::yield();
  };
  GateOpen = false;
  for (Item &I : Items)
    defer(R, I);
  GateOpen = true;
  while (!Inside)
    std::this_thread::yield();
  EXPECT_EQ(0, inChild([&] {
              Go = true;
              if (dct_reclaimer_pending(R) != 1)
                return 1;
              if (dct_reclaimer_destroy(R))
                return 2;
              return ranOnce(Items) ? 0 : 3; // counted before it was inside
            }));
  Go = true;
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_TRUE(ranOnce(Items));
}

TEST_F(ReclaimerFork, AtAnyMoment) {
  dct_reclaimer *R = make();
  std::atomic<bool> Stop = false;
  // Without allocation, because the allocator of AddressSanitizer does not
  // survive a fork. An item that runs twice ends the process.
  std::vector<std::thread> Producers;
  for (int I = 0; I != 2; ++I)
    Producers.emplace_back([&] {
      std::vector<Item> Items(300);
      while (!Stop) {
        for (Item &It : Items) {
          It.Ran = 0;
          dct_reclaimer_defer(R, &It, [](dct_reclaim_head *Head) {
            if (++static_cast<Item *>(Head)->Ran != 1)
              abort();
          });
        }
        dct_reclaimer_flush(R);
      }
    });
  for (int Round = 0; Round != 40; ++Round) {
    EXPECT_EQ(0, inChild([&] {
                std::size_t Known = dct_reclaimer_pending(R);
                dct_reclaimer_stats Before, After;
                dct_reclaimer_get_stats(R, &Before);
                if (dct_reclaimer_flush(R))
                  return 1;
                dct_reclaimer_get_stats(R, &After);
                if (After.done - Before.done != Known ||
                    dct_reclaimer_pending(R))
                  return 2;
                return dct_reclaimer_destroy(R) ? 3 : 0;
              }));
    std::this_thread::yield();
  }
  Stop = true;
  for (std::thread &T : Producers)
    T.join();
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
}

// liburcu's own grace period, with no registered reader at the fork.
TEST_F(ReclaimerFork, TheDefaultGracePeriod) {
  dct_reclaimer *R = dct_reclaimer_create(nullptr);
  std::vector<Item> Items(10);
  for (Item &I : Items)
    defer(R, I);
  EXPECT_EQ(0, inChild([&] {
              Item More;
              defer(R, More);
              return dct_reclaimer_flush(R) || More.Ran != 1 ||
                     dct_reclaimer_destroy(R);
            }));
  EXPECT_EQ(0, dct_reclaimer_destroy(R));
  EXPECT_TRUE(ranOnce(Items));
}

} // namespace
