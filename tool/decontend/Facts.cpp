//===- Facts.cpp - decontend facts and explain ----------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "analysis/facts/JsonDump.h"
#include "checks/Rule.h"
#include "embedded/RulePages.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace decontend {

int runFacts(const EngineOptions &O, StringRef File) {
  Expected<std::unique_ptr<Engine>> E = prepareEngine(O);
  if (!E) {
    printError(toString(E.takeError()));
    return ExitUsage;
  }
  SmallString<256> Wanted(File);
  sys::fs::make_absolute(Wanted);
  sys::path::remove_dots(Wanted, true);
  const CompileCommand *Found = nullptr;
  for (const CompileCommand &C : (*E)->Commands)
    if (C.File == Wanted || (*E)->Paths->pure(C.File, C.Directory) == File)
      Found = &C;
  if (!Found) {
    printError(File + ": no unit of the compile database has this name");
    return ExitUsage;
  }
  ExtractOptions X;
  X.Knowledge = &(*E)->Knowledge;
  X.Paths = (*E)->Paths.get();
  ExtractResult R = extractUnit(*Found, X);
  if (!R.Ok) {
    printError(File + ": " + R.Reason);
    return ExitIncomplete;
  }
  dumpJson(R.Facts, outs());
  return ExitClean;
}

int runExplain(StringRef Rule) {
  if (Rule.empty()) {
    for (const auto &R : makeRules())
      outs() << R->id() << "\n    " << R->summary() << "\n";
    return ExitClean;
  }
  Rule.consume_front("contention-");
  for (auto [Path, Text] : embedded::RulePages())
    if (sys::path::stem(StringRef(Path.data(), Path.size())) == Rule) {
      outs() << StringRef(Text.data(), Text.size());
      return ExitClean;
    }
  std::string Known;
  for (const auto &R : makeRules())
    Known += (Known.empty() ? "" : ", ") + R->id().str();
  printError("no rule '" + Rule + "'; there are: " + Known);
  return ExitUsage;
}

} // namespace decontend
