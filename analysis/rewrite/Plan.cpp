//===- Plan.cpp - Names, files and the diff of a plan ---------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include <set>

namespace decontend {

llvm::StringRef tierName(Tier T) {
  switch (T) {
  case Tier::None:
    return "none";
  case Tier::Safe:
    return "safe";
  case Tier::Review:
    return "review";
  }
  llvm_unreachable("not a tier");
}

std::vector<std::string> Plan::files() const {
  std::set<std::string> Names;
  for (const Edit &E : Edits)
    Names.insert(E.File);
  return {Names.begin(), Names.end()};
}

llvm::Expected<std::string> planDiff(const Plan &P, Sources &Files) {
  std::string Diff;
  for (const std::string &File : P.files()) {
    const std::string *Before = Files.get(File);
    if (!Before)
      return llvm::createStringError(llvm::Twine(File) + ": cannot be read");
    llvm::Expected<std::string> After = applyEdits(File, *Before, P.Edits);
    if (!After)
      return After.takeError();
    Diff += unifiedDiff(File, *Before, *After);
  }
  return Diff;
}

} // namespace decontend
