//===- HotAtomicCounterTest.cpp - The rule hot-atomic-counter on facts ----===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "checks/hot-atomic-counter/HotAtomicCounter.h"
#include "gtest/gtest.h"

using namespace decontend;

TEST(HotAtomicCounter, IsListed) {
  for (const std::unique_ptr<Rule> &R : makeRules())
    if (R->id() == "hot-atomic-counter")
      return;
  FAIL() << "not in Checks.def";
}
