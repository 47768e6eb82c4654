//===- HotAtomicCounter.h - The rule hot-atomic-counter ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_HOTATOMICCOUNTER_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_HOTATOMICCOUNTER_H

#include "checks/Rule.h"

namespace decontend {

/// Not thread-safe: what is learnt of a program is kept from judge() until the
/// next one, because each plan needs it again.
class HotAtomicCounter : public Rule {
public:
  llvm::StringRef id() const override { return "hot-atomic-counter"; }
  llvm::StringRef summary() const override { return "hot atomic counter"; }
  JudgeResult judge(const Program &P, const Scope &S) const override;
  /// For a finding of the last judge().
  Plan plan(const Program &P, const Finding &F, Sources &Files) const override;

private:
  struct Learnt;
  mutable std::shared_ptr<const Learnt> Known;
};

} // namespace decontend

#endif
