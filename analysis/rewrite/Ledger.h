//===- Ledger.h - A plan in the making --------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_REWRITE_LEDGER_H
#define DECONTEND_ANALYSIS_REWRITE_LEDGER_H

#include "Plan.h"

namespace decontend {

/// Collects edits and guards; the first guard that fails becomes the refusal.
class Ledger {
public:
  /// Notes a guard with its proof or with what stands against it.
  bool require(llvm::StringRef Name, bool Holds, std::string Why);
  bool failed() const { return !Result.Refusal.empty(); }
  void title(std::string Text) { Result.Title = std::move(Text); }
  void edit(Edit E) { Result.Edits.push_back(std::move(E)); }
  /// The plan, for a person to review; without edits if a guard has failed.
  Plan finish();

private:
  Plan Result;
};

} // namespace decontend

#endif
