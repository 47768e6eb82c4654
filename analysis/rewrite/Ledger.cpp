//===- Ledger.cpp - A plan in the making ----------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ledger.h"
#include "fmt/format.h"

namespace decontend {

bool Ledger::require(llvm::StringRef Name, bool Holds, std::string Why) {
  if (!Holds && Result.Refusal.empty())
    Result.Refusal = fmt::format("guard `{}`: {}", Name.str(), Why);
  Result.Guards.push_back({Name.str(), Holds, std::move(Why)});
  return Holds;
}

Plan Ledger::finish() {
  if (failed())
    Result.Edits.clear();
  // What callers rely on cannot be proved from here, so never more than this.
  Result.Level = Result.Edits.empty() ? Tier::None : Tier::Review;
  return std::move(Result);
}

} // namespace decontend
