//===- lazy_test.cpp - Made at first use ------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/lazy.hpp"
#include <atomic>
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <latch>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace decontend;

namespace {

struct Owner {
  std::atomic<int> Created{0}, Dropped{0};
  std::atomic<int> Error{0};
  std::latch *AllInside = nullptr; // so that all create at the same time
  int Uid = 7;

  static int create(void *Context, void **Value) {
    Owner *Self = static_cast<Owner *>(Context);
    if (Self->AllInside)
      Self->AllInside->arrive_and_wait();
    if (int Error = Self->Error)
      return Error;
    ++Self->Created;
    *Value = new int(Self->Uid);
    return 0;
  }
  static void drop(void *Context, void *Value) {
    ++static_cast<Owner *>(Context)->Dropped;
    delete static_cast<int *>(Value);
  }
};

TEST(Lazy, CreatesOnceByTheOwnersContext) {
  Owner O;
  dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
  EXPECT_EQ(nullptr, dct_lazy_peek(&L));
  void *First = nullptr, *Again = nullptr;
  EXPECT_EQ(0, dct_lazy_get(&L, &First));
  EXPECT_EQ(0, dct_lazy_get(&L, &Again));
  EXPECT_EQ(First, Again);
  EXPECT_EQ(First, dct_lazy_peek(&L));
  EXPECT_EQ(7, *static_cast<int *>(First));
  EXPECT_EQ(1, O.Created);
  dct_lazy_close(&L);
  dct_lazy_close(&L);
  EXPECT_EQ(1, O.Dropped);
}

TEST(Lazy, NeverCreatedIsClosed) {
  Owner O;
  dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
  EXPECT_FALSE(dct_lazy_is_closed(&L));
  dct_lazy_close(&L);
  EXPECT_TRUE(dct_lazy_is_closed(&L));
  void *Value = nullptr;
  EXPECT_EQ(ECANCELED, dct_lazy_get(&L, &Value));
  EXPECT_EQ(nullptr, dct_lazy_peek(&L));
  EXPECT_EQ(0, O.Created);
  EXPECT_EQ(0, O.Dropped);
  dct_lazy_init(&L, Owner::create, Owner::drop, &O);
  EXPECT_EQ(0, dct_lazy_get(&L, &Value));
  dct_lazy_close(&L);
  EXPECT_EQ(1, O.Dropped);
}

TEST(Lazy, ErrorsAreRetried) {
  Owner O;
  dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
  void *Value = nullptr;
  for (int Error : {ENOMEM, ENOSPC, EPERM}) {
    O.Error = Error;
    EXPECT_EQ(Error, dct_lazy_get(&L, &Value));
  }
  EXPECT_EQ(nullptr, Value);
  O.Error = 0;
  EXPECT_EQ(0, dct_lazy_get(&L, &Value));
  dct_lazy_close(&L);
  EXPECT_EQ(1, O.Dropped);
}

TEST(Lazy, ValuesThatCannotBe) {
  dct_lazy L;
  dct_lazy_init(&L, [](void *, void **) { return 0; }, nullptr, nullptr);
  void *Value = nullptr;
  EXPECT_EQ(EINVAL, dct_lazy_get(&L, &Value));
  EXPECT_EQ(EINVAL, dct_lazy_offer(&L, nullptr, &Value));
  EXPECT_EQ(
      EINVAL,
      dct_lazy_offer(&L, reinterpret_cast<void *>(std::uintptr_t(1)), &Value));
  EXPECT_EQ(nullptr, Value);
  int Object = 0;
  EXPECT_EQ(0, dct_lazy_offer(&L, &Object, &Value));
  EXPECT_EQ(&Object, Value);
  dct_lazy_close(&L); // nothing to drop it with
}

TEST(Lazy, AnErrorGivesWayToAnothersValue) {
  struct Both {
    dct_lazy L;
    int Object = 0;
  } B;
  dct_lazy_init(
      &B.L,
      [](void *Context, void **) {
        Both *B = static_cast<Both *>(Context);
        void *Kept = nullptr;
        EXPECT_EQ(0, dct_lazy_offer(&B->L, &B->Object, &Kept));
        return EIO;
      },
      nullptr, &B);
  void *Value = nullptr;
  EXPECT_EQ(0, dct_lazy_get(&B.L, &Value));
  EXPECT_EQ(&B.Object, Value);
}

class LazyStress : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, LazyStress, testing::Values(2, 3, 4, 8));

void inThreads(int Threads, const std::function<void(int)> &Work) {
  std::vector<std::thread> Workers;
  for (int I = 0; I != Threads; ++I)
    Workers.emplace_back(Work, I);
  for (std::thread &Worker : Workers)
    Worker.join();
}

TEST_P(LazyStress, LosersAreDropped) {
  for (int Round = 0; Round != 25; ++Round) {
    Owner O;
    std::latch AllInside(GetParam());
    O.AllInside = &AllInside;
    dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
    std::vector<void *> Got(GetParam());
    inThreads(GetParam(), [&](int Self) {
      EXPECT_EQ(0, dct_lazy_get(&L, &Got[Self]));
      EXPECT_EQ(7, *static_cast<int *>(Got[Self]));
    });
    for (void *Value : Got)
      ASSERT_EQ(Got[0], Value);
    ASSERT_EQ(GetParam(), O.Created);
    ASSERT_EQ(GetParam() - 1, O.Dropped);
    dct_lazy_close(&L);
    ASSERT_EQ(GetParam(), O.Dropped);
  }
}

// Threads ask and see errors while one closes: nothing leaks, nothing comes
// after the close.
TEST_P(LazyStress, CloseAmongCreators) {
  unsigned Seed = GetParam();
  std::cout << "seed " << Seed << '\n';
  std::mt19937 Random(Seed);
  for (int Round = 0; Round != 100; ++Round) {
    Owner O;
    dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
    int Spins = Random() % 200;
    std::latch Start(GetParam());
    inThreads(GetParam(), [&](int Self) {
      Start.arrive_and_wait();
      if (Self) {
        void *Value = nullptr;
        int Error = dct_lazy_get(&L, &Value);
        EXPECT_TRUE(Error == 0 || Error == ECANCELED || Error == EIO);
        return;
      }
      O.Error = EIO;
      for (int I = 0; I != Spins; ++I)
        O.Error = O.Error.load() ? 0 : EIO;
      dct_lazy_close(&L);
    });
    ASSERT_EQ(O.Created, O.Dropped);
    ASSERT_EQ(nullptr, dct_lazy_peek(&L));
  }
}

TEST(Lazy, AChildOfForkCreatesByItself) {
  Owner O;
  dct_lazy L = DCT_LAZY_INIT(Owner::create, Owner::drop, &O);
  std::atomic<bool> Go = false;
  std::atomic<bool> Inside = false;
  struct Slow {
    std::atomic<bool> &Go, &Inside;
    dct_lazy L;
    bool Child = false;
  } S{Go, Inside, {}};
  dct_lazy_init(
      &S.L,
      [](void *Context, void **Value) {
        Slow *S = static_cast<Slow *>(Context);
        S->Inside = true;
        S->Inside.notify_all();
        if (!S->Child)
          S->Go.wait(false);
        *Value = new int(S->Child);
        return 0;
      },
      [](void *, void *Value) { delete static_cast<int *>(Value); }, &S);
  std::thread Creator([&] {
    void *Value = nullptr;
    EXPECT_EQ(0, dct_lazy_get(&S.L, &Value));
  });
  Inside.wait(false);
  pid_t Child = fork();
  if (!Child) {
    S.Child = true;
    void *Value = nullptr;
    int Error = dct_lazy_get(&S.L, &Value);
    _exit(!Error && *static_cast<int *>(Value) == 1 ? 0 : 1);
  }
  int Status = -1;
  waitpid(Child, &Status, 0);
  EXPECT_EQ(0, Status);
  Go = true;
  Go.notify_all();
  Creator.join();
  EXPECT_EQ(0, *static_cast<int *>(dct_lazy_peek(&S.L)));
  dct_lazy_close(&S.L);
}

struct Costly {
  static inline std::atomic<int> Alive{0};
  int Value;
  explicit Costly(int Value) : Value(Value) { ++Alive; }
  ~Costly() { --Alive; }
};

TEST(LazyCpp, MakesRetriesAndCloses) {
  int Calls = 0;
  {
    lazy<Costly> L([&]() -> std::unique_ptr<Costly> {
      if (++Calls == 1)
        throw std::invalid_argument("first");
      if (Calls == 2)
        return nullptr;
      return std::make_unique<Costly>(Calls);
    });
    EXPECT_EQ(nullptr, L.get_if());
    EXPECT_THROW(L.get(), std::invalid_argument);
    EXPECT_THROW(L.get(), std::bad_alloc);
    EXPECT_EQ(3, L->Value);
    EXPECT_EQ(3, (*L).Value);
    EXPECT_EQ(&L.get(), L.get_if());
    EXPECT_EQ(3, Calls);
    EXPECT_EQ(1, Costly::Alive);
    L.close();
    EXPECT_EQ(0, Costly::Alive);
    EXPECT_THROW(L.get(), std::runtime_error);
    EXPECT_EQ(3, Calls);
  }
  lazy<Costly> Never([] { return std::make_unique<Costly>(1); });
}

TEST_P(LazyStress, OneObjectForAll) {
  for (int Round = 0; Round != 30; ++Round) {
    {
      lazy<Costly> L([] { return std::make_unique<Costly>(4); });
      std::atomic<Costly *> Seen = nullptr;
      inThreads(GetParam(), [&](int) {
        Costly *Mine = &L.get(), *None = nullptr;
        if (!Seen.compare_exchange_strong(None, Mine))
          EXPECT_EQ(None, Mine);
      });
      ASSERT_EQ(1, Costly::Alive);
    }
    ASSERT_EQ(0, Costly::Alive);
  }
}

} // namespace
