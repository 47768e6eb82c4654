//===- Rules.cpp - The list of rules --------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rule.h"
#include "hot-atomic-counter/HotAtomicCounter.h"
#include "sync-rcu-wait/SyncRcuWait.h"

namespace decontend {

std::vector<std::unique_ptr<Rule>> makeRules() {
  std::vector<std::unique_ptr<Rule>> Rules;
#define RULE(Id, Class) Rules.push_back(std::make_unique<Class>());
#include "Checks.def"
#undef RULE
  return Rules;
}

} // namespace decontend
