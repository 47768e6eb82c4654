//===- keyed_registry_test.cpp - One object for each key --------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/keyed_registry.hpp"
#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

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

TEST(KeyedRegistry, OneObjectUntilTheLastPut) {
  Registry T;
  EXPECT_EQ(nullptr, T.find(1));
  Object *First = T.get(1);
  EXPECT_EQ(First, T.get(1));
  EXPECT_EQ(First, T.find(1));
  EXPECT_EQ(1, Made);
  EXPECT_EQ(1u, dct_keyed_registry_count(T.K));
  EXPECT_EQ(EBUSY, dct_keyed_registry_destroy(T.K));
  dct_keyed_registry_hold(First);
  for (int I = 0; I != 3; ++I)
    dct_keyed_registry_put(First);
  EXPECT_EQ(First, T.find(1));
  dct_keyed_registry_put(First);
  {
    std::shared_lock Reader(Readers); // First stays readable to its end.
    dct_keyed_registry_put(First);
    EXPECT_EQ(0u, dct_keyed_registry_count(T.K));
    EXPECT_EQ(nullptr, T.find(1));
    Object *Second = T.get(1);
    EXPECT_NE(First, Second);
    dct_keyed_registry_put(Second);
  }
  EXPECT_EQ(2, Made);
}

TEST(KeyedRegistry, TheGracePeriodComesBeforeDestroy) {
  Registry T;
  Object *O = T.get(1);
  std::shared_lock Reader(Readers);
  dct_keyed_registry_put(O);
  for (int I = 0; I != 20; ++I)
    std::this_thread::yield();
  EXPECT_EQ(1, O->Magic);
  Reader.unlock();
  T.R.flush();
  EXPECT_EQ(0, Alive);
}

TEST(KeyedRegistry, ErrorsOfMakeAreReturned) {
  Registry T;
  int Key = 1, Error = ENOSPC;
  dct_keyed_entry *Entry = nullptr;
  EXPECT_EQ(ENOSPC,
            dct_keyed_registry_get(T.K, &Key, makeObject, &Error, &Entry));
  EXPECT_EQ(ENOSPC, dct_keyed_registry_get_unique(T.K, &Key, makeObject, &Error,
                                                  &Entry));
  auto *Nothing = +[](const void *, void *, dct_keyed_entry **) { return 0; };
  EXPECT_EQ(EINVAL,
            dct_keyed_registry_get(T.K, &Key, Nothing, nullptr, &Entry));
  EXPECT_EQ(nullptr, Entry);
  EXPECT_EQ(0u, dct_keyed_registry_count(T.K));
}

TEST(KeyedRegistry, WrongArguments) {
  reclaimer R;
  dct_keyed_ops None = Ops;
  None.equal = nullptr;
  EXPECT_EQ(nullptr,
            dct_keyed_registry_create(&None, nullptr, R.native_handle(), 0));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(nullptr, dct_keyed_registry_create(&Ops, nullptr, nullptr, 0));
  EXPECT_EQ(EINVAL, errno);
}

TEST(KeyedRegistry, TheLoserOfARaceIsDropped) {
  Registry T;
  // The other creator comes while this one makes.
  struct Race {
    Registry *T;
    Object *Other = nullptr;
  } Race{&T};
  int Key = 5;
  dct_keyed_entry *Entry = nullptr;
  EXPECT_EQ(0, dct_keyed_registry_get(
                   T.K, &Key,
                   [](const void *Key, void *Arg, dct_keyed_entry **Entry) {
                     auto *R = static_cast<struct Race *>(Arg);
                     R->Other = R->T->get(*static_cast<const int *>(Key));
                     return makeObject(Key, nullptr, Entry);
                   },
                   &Race, &Entry));
  EXPECT_EQ(Race.Other, Entry);
  EXPECT_EQ(2, Made);
  EXPECT_EQ(1, Alive); // at once, as nobody has seen it
  dct_keyed_registry_put(Entry);
  dct_keyed_registry_put(Entry);
}

TEST(KeyedRegistry, UniqueKeys) {
  Registry T;
  Object *O = T.getUnique(3);
  EXPECT_EQ(O, T.get(3));
  dct_keyed_registry_put(O);
  dct_keyed_registry_put(O);
  Object *Next = T.getUnique(3); // fresh again
  dct_keyed_registry_put(Next);
}

TEST(KeyedRegistryDeathTest, AKeyThatIsNotUnique) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Registry T;
        T.getUnique(3);
        T.getUnique(3);
      },
      "should be fresh");
}

TEST(KeyedRegistry, DestroyInACallbackIsRefused) {
  Registry T;
  int Error = 0;
  T.R.defer_call([&] { Error = dct_keyed_registry_destroy(T.K); });
  T.R.flush();
  EXPECT_EQ(EDEADLK, Error);
}

TEST(KeyedRegistry, ManyKeysAndBadHashes) {
  for (uint64_t Factor : {0ull, 1ull, 1ull << 32, 1ull << 60}) {
    reclaimer R({waitForReaders, 0});
    dct_keyed_ops Bad = Ops;
    Bad.hash = [](const void *Key, void *Context) {
      return *static_cast<const int *>(Key) * *static_cast<uint64_t *>(Context);
    };
    dct_keyed_registry *K =
        dct_keyed_registry_create(&Bad, &Factor, R.native_handle(), 0);
    int Count = Factor == 1 ? 20000 : 500;
    std::vector<dct_keyed_entry *> Entries(Count);
    for (int I = 0; I != Count; ++I)
      ASSERT_EQ(
          0, dct_keyed_registry_get(K, &I, makeObject, nullptr, &Entries[I]));
    for (int I = 0; I != Count; ++I) {
      ASSERT_EQ(Entries[I], dct_keyed_registry_find(K, &I));
      dct_keyed_registry_put(Entries[I]);
    }
    EXPECT_EQ(static_cast<size_t>(Count), dct_keyed_registry_count(K));
    for (dct_keyed_entry *Entry : Entries)
      dct_keyed_registry_put(Entry);
    EXPECT_EQ(0, dct_keyed_registry_destroy(K));
  }
}

//===----------------------------------------------------------------------===//
// Against a model
//===----------------------------------------------------------------------===//

class KeyedModel : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, KeyedModel, testing::Range(1u, 9u));

TEST_P(KeyedModel, RandomSteps) {
  std::cout << "seed " << GetParam() << '\n';
  std::mt19937 Random(GetParam());
  Registry T;
  std::map<int, std::pair<Object *, int>> Model; // object and references
  int Keys = 1 << (Random() % 10);
  int Makes = 0;
  for (int Step = 0; Step != 20000; ++Step) {
    int Key = static_cast<int>(Random() % Keys);
    auto Known = Model.find(Key);
    switch (Random() % 8) {
    case 0:
    case 1: {
      Object *O = T.get(Key);
      if (Known == Model.end()) {
        ++Makes;
        Model[Key] = {O, 1};
      } else {
        ASSERT_EQ(Known->second.first, O);
        ++Known->second.second;
      }
      ASSERT_EQ(Key, O->Key);
      break;
    }
    case 2:
      if (Known == Model.end()) {
        ++Makes;
        Model[Key] = {T.getUnique(Key), 1};
      }
      break;
    case 3: {
      Object *O = T.find(Key);
      ASSERT_EQ(Known == Model.end() ? nullptr : Known->second.first, O);
      if (O)
        ++Known->second.second;
      break;
    }
    case 4: {
      int Error = EPERM;
      Object *O = T.get(Key, &Error); // makes nothing
      ASSERT_EQ(Known == Model.end() ? nullptr : Known->second.first, O);
      if (O)
        ++Known->second.second;
      break;
    }
    default:
      if (Known == Model.end())
        break;
      dct_keyed_registry_put(Known->second.first);
      if (!--Known->second.second)
        Model.erase(Known);
    }
    ASSERT_EQ(Model.size(), dct_keyed_registry_count(T.K));
    ASSERT_EQ(Makes, Made);
  }
  T.R.flush();
  ASSERT_EQ(static_cast<int>(Model.size()), Alive);
  for (auto &[Key, Known] : Model)
    for (; Known.second; --Known.second)
      dct_keyed_registry_put(Known.first);
}

//===----------------------------------------------------------------------===//
// C++
//===----------------------------------------------------------------------===//

struct Pinned {
  static inline std::atomic<int> Alive{0};
  std::string Name;
  explicit Pinned(std::string Name) : Name(std::move(Name)) { ++Alive; }
  Pinned(const Pinned &) = delete;
  ~Pinned() { --Alive; }
};

TEST(KeyedRegistryCpp, References) {
  {
    reclaimer R;
    keyed_registry<std::string, Pinned> K(R);
    auto A = K.get("a", [] { return Pinned("A"); });
    EXPECT_EQ("A", A->Name);
    EXPECT_EQ("a", A.key());
    EXPECT_FALSE(K.find("b"));
    EXPECT_THROW(K.get("b", []() -> Pinned { throw 1; }), int);
    auto B = K.get_unique("b", [] { return Pinned("B"); });
    auto Again = K.get("a", []() -> Pinned { throw 2; });
    EXPECT_EQ(A, Again);
    EXPECT_EQ(A.get(), &*Again);
    auto Copy = Again;
    auto Moved = std::move(Copy);
    EXPECT_FALSE(Copy);
    Copy = B;
    B.reset();
    B.reset();
    EXPECT_EQ(2u, K.size());
    Copy = Copy;
    A = Moved;
    EXPECT_EQ("B", Copy->Name);
    EXPECT_EQ(2, Pinned::Alive);
    Copy = {};
    EXPECT_EQ(1u, K.size());
  }
  EXPECT_EQ(0, Pinned::Alive);
}

} // namespace
