//===- keyed_registry_stress_test.cpp - Keys among threads ------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/keyed_registry.hpp"
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <latch>
#include <random>
#include <shared_mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// ThreadSanitizer ends a child of a process with threads that makes a thread.
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#elif __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

using namespace decontend;

namespace {

std::shared_mutex Readers;
void waitForReaders() { std::unique_lock Guard(Readers); }

struct Object : dct_keyed_entry {
  int Key = 0;
  long Magic = 1;
};

std::atomic<int> Made{0}, Alive{0};

int makeObject(const void *Key, void *Arg, dct_keyed_entry **Entry) {
  if (Arg)
    return *static_cast<int *>(Arg);
  auto *New = new Object;
  New->Key = *static_cast<const int *>(Key);
  ++Made;
  ++Alive;
  *Entry = New;
  return 0;
}

const dct_keyed_ops Ops = {
    [](const void *Key, void *) {
      return static_cast<uint64_t>(*static_cast<const int *>(Key));
    },
    [](const dct_keyed_entry *Entry, const void *Key, void *) {
      return static_cast<int>(static_cast<const Object *>(Entry)->Key ==
                              *static_cast<const int *>(Key));
    },
    [](dct_keyed_entry *Entry, void *) {
      auto *O = static_cast<Object *>(Entry);
      O->Magic = 0;
      --Alive;
      delete O;
    }};

struct Registry {
  reclaimer R{{waitForReaders, 0}};
  dct_keyed_registry *K;

  explicit Registry(unsigned Flags = DCT_KEYED_CHECK_UNIQUE)
      : K(dct_keyed_registry_create(&Ops, nullptr, R.native_handle(), Flags)) {
    Made = Alive = 0;
    EXPECT_NE(nullptr, K);
  }
  ~Registry() {
    EXPECT_EQ(0, dct_keyed_registry_destroy(K));
    EXPECT_EQ(0, Alive);
  }
  Object *get(int Key, int *Error = nullptr) {
    dct_keyed_entry *Entry = nullptr;
    return dct_keyed_registry_get(K, &Key, makeObject, Error, &Entry)
               ? nullptr
               : static_cast<Object *>(Entry);
  }
  Object *getUnique(int Key) {
    dct_keyed_entry *Entry = nullptr;
    return dct_keyed_registry_get_unique(K, &Key, makeObject, nullptr, &Entry)
               ? nullptr
               : static_cast<Object *>(Entry);
  }
  Object *find(int Key) {
    return static_cast<Object *>(dct_keyed_registry_find(K, &Key));
  }
};

class KeyedStress : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, KeyedStress, testing::Values(2, 3, 4, 8));

void inThreads(int Threads, const std::function<void(int)> &Work) {
  std::vector<std::thread> Workers;
  for (int I = 0; I != Threads; ++I)
    Workers.emplace_back(Work, I);
  for (std::thread &Worker : Workers)
    Worker.join();
}

TEST_P(KeyedStress, WhoHoldsAnObjectGetsTheSame) {
  std::cout << "seeds 1 to " << GetParam() << '\n';
  Registry T;
  std::atomic<int> Wrong = 0;
  inThreads(GetParam(), [&](int Self) {
    std::mt19937 Random(Self + 1);
    for (int Step = 0; Step != 1000; ++Step) {
      int Key = static_cast<int>(Random() % 4);
      Object *O = T.get(Key);
      Wrong += O->Magic != 1 || O->Key != Key;
      if (Random() % 4 == 0)
        std::this_thread::yield();
      Object *Again = Random() % 2 ? T.get(Key) : T.find(Key);
      Wrong += O != Again;
      dct_keyed_registry_put(O);
      Wrong += Again->Magic != 1;
      dct_keyed_registry_put(Again);
    }
  });
  EXPECT_EQ(0, Wrong);
}

TEST_P(KeyedStress, RacingCreatorsGetOneObject) {
  Registry T;
  for (int Key = 0; Key != 50; ++Key) {
    std::atomic<Object *> Seen = nullptr;
    std::atomic<int> Wrong = 0;
    std::latch Start(GetParam()), End(GetParam());
    inThreads(GetParam(), [&](int) {
      Start.arrive_and_wait();
      Object *Mine = T.get(Key), *None = nullptr;
      if (!Seen.compare_exchange_strong(None, Mine))
        Wrong += None != Mine;
      End.arrive_and_wait();
      dct_keyed_registry_put(Mine);
    });
    ASSERT_EQ(0, Wrong);
  }
}

TEST_P(KeyedStress, KeysOfTheirOwnWhileTablesGrow) {
  Registry T;
  std::atomic<int> Wrong = 0;
  inThreads(GetParam(), [&](int Self) {
    std::vector<Object *> Mine;
    for (int I = 0; I != 2000; ++I) {
      Mine.push_back(T.getUnique(Self * 10000 + I));
      if (I % 3 == 0) {
        Object *O = T.find(Self * 10000 + I / 2);
        Wrong += O != Mine[I / 2];
        dct_keyed_registry_put(O);
      }
    }
    for (Object *O : Mine)
      dct_keyed_registry_put(O);
  });
  EXPECT_EQ(0, Wrong);
}

TEST(KeyedRegistryFork, AtAnyMoment) {
#ifdef UNDER_TSAN
  GTEST_SKIP();
#endif
  Registry T;
  std::vector<Object *> Mine;
  for (int I = 0; I != 64; ++I)
    Mine.push_back(T.get(I));
  std::atomic<bool> Stop = false;
  std::vector<std::thread> Others;
  // One that finds and one that makes, each in the locks most of the time. The
  // allocator of AddressSanitizer does not survive a fork from a thread beside
  // one that is in it.
#ifdef UNDER_ASAN
  const int Makes = 64;
#else
  const int Makes = 1 << 20;
#endif
  for (int Keys : {64, Makes})
    Others.emplace_back([&, Keys] {
      std::mt19937 Random(static_cast<unsigned>(Keys));
      while (!Stop)
        dct_keyed_registry_put(T.get(static_cast<int>(Random() % Keys)));
    });
  for (int Round = 0; Round != 100; ++Round) {
    pid_t Child = fork();
    if (!Child) {
      bool Same = true;
      for (int I = 0; I != 64; ++I) {
        Same &= T.find(I) == Mine[I];
        dct_keyed_registry_put(Mine[I]);
      }
      T.R.flush();
      // One of the thread that is not here may be left.
      _exit(Same && dct_keyed_registry_count(T.K) <= 65 ? 0 : 1);
    }
    int Status = -1;
    waitpid(Child, &Status, 0);
    ASSERT_EQ(0, Status);
  }
  Stop = true;
  for (std::thread &Other : Others)
    Other.join();
  for (Object *O : Mine)
    dct_keyed_registry_put(O);
}

struct Pinned {
  static inline std::atomic<int> Alive{0};
  std::string Name;
  explicit Pinned(std::string Name) : Name(std::move(Name)) { ++Alive; }
  Pinned(const Pinned &) = delete;
  ~Pinned() { --Alive; }
};

TEST_P(KeyedStress, CppReferences) {
  {
    reclaimer R({waitForReaders, 0});
    keyed_registry<int, Pinned> K(R);
    std::atomic<int> Wrong = 0;
    inThreads(GetParam(), [&](int) {
      keyed_registry<int, Pinned>::ref Kept;
      for (int I = 0; I != 1000; ++I) {
        auto Ref = K.get(I % 8, [&] { return Pinned(std::to_string(I % 8)); });
        Wrong += Ref->Name != std::to_string(I % 8);
        if (I % 5 == 0)
          Kept = Ref;
        Wrong += Kept->Name != std::to_string(Kept.key());
      }
    });
    EXPECT_EQ(0, Wrong);
    EXPECT_EQ(0u, K.size());
  }
  EXPECT_EQ(0, Pinned::Alive);
}

} // namespace
