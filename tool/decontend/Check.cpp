//===- Check.cpp - decontend check ----------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   load --> [judge] each rule --> NOLINT --> [plan] each finding --> [render]
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "checks/Rule.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace decontend {

/// `a*,-ab`: the last glob that matches decides, as in clang-tidy.
static Expected<bool> selected(StringRef Globs, StringRef Id) {
  bool On = false;
  SmallVector<StringRef, 4> Parts;
  Globs.split(Parts, ',', -1, false);
  for (StringRef Part : Parts) {
    Part = Part.trim();
    bool Negative = Part.consume_front("-");
    Part.consume_front("contention-");
    Expected<GlobPattern> G = GlobPattern::create(Part);
    if (!G)
      return G.takeError();
    if (G->match(Id))
      On = !Negative;
  }
  return On;
}

/// Pure paths that findings may lie in or below; an unknown one is an error.
static Expected<std::vector<std::string>> scopePaths(const CheckOptions &O,
                                                     const Engine &E) {
  std::vector<std::string> Given = O.Paths, Out;
  if (!O.UnitsFrom.empty()) {
    auto List = MemoryBuffer::getFileOrSTDIN(O.UnitsFrom);
    if (!List)
      return createStringError(List.getError(), "%s: %s", O.UnitsFrom.c_str(),
                               List.getError().message().c_str());
    SmallVector<StringRef, 64> Lines;
    (*List)->getBuffer().split(Lines, '\n', -1, false);
    for (StringRef L : Lines)
      if (!L.trim().empty())
        Given.push_back(L.trim().str());
  }
  for (const std::string &G : Given) {
    SmallString<256> P(G);
    if (sys::fs::exists(P)) {
      sys::fs::make_absolute(P);
    } else {
      // Paths as findings spell them are taken too.
      P = E.Paths->absolute(G);
      if (!sys::fs::exists(P))
        return createStringError(inconvertibleErrorCode(),
                                 "%s: no such file or folder", G.c_str());
    }
    sys::path::remove_dots(P, true);
    if (P == E.Paths->root())
      return std::vector<std::string>();
    Out.push_back(E.Paths->pure(P, "/"));
  }
  return Out;
}

int runCheck(const CheckOptions &O) {
  std::vector<std::unique_ptr<Rule>> Rules;
  for (auto &R : makeRules()) {
    Expected<bool> On = selected(O.Checks, R->id());
    if (!On) {
      printError("--checks: " + toString(On.takeError()));
      return ExitUsage;
    }
    if (*On)
      Rules.push_back(std::move(R));
  }
  if (Rules.empty()) {
    printError("--checks=" + O.Checks +
               " selects no rule; see 'decontend explain'");
    return ExitUsage;
  }
  Expected<std::unique_ptr<Engine>> Loaded = loadEngine(O.Load);
  if (!Loaded) {
    printError(toString(Loaded.takeError()));
    return ExitUsage;
  }
  Engine &E = **Loaded;
  Expected<std::vector<std::string>> Below = scopePaths(O, E);
  if (!Below) {
    printError(toString(Below.takeError()));
    return ExitUsage;
  }
  Scope S;
  S.RacyCounters = O.RacyCounters;
  if (!Below->empty())
    S.Covers = [&](StringRef File) {
      return any_of(*Below, [&](StringRef P) {
        return File == P || (File.starts_with(P) && File[P.size()] == '/');
      });
    };

  Sources Files(E.Paths->root().str(), E.Paths->build().str());
  std::vector<ReportedFinding> Report;
  Coverage Seen = E.Seen;
  bool Failing = false;
  if (!E.Interrupted)
    for (const auto &R : Rules) {
      JudgeResult J = R->judge(*E.Linked, S);
      for (std::string &Why : J.CouldNotJudge)
        Seen.CouldNotJudge.push_back((R->id() + ": " + Why).str());
      dropSuppressed(J.Findings, Files);
      finishFindings(J.Findings);
      for (Finding &F : J.Findings) {
        Failing |= !O.NeverFail && F.Level >= O.FailOn;
        if (F.Level < O.Least)
          continue;
        Plan P = R->plan(*E.Linked, F, Files);
        Report.push_back({std::move(F), std::move(P)});
      }
    }
  std::stable_sort(Report.begin(), Report.end(),
                   [](const ReportedFinding &A, const ReportedFinding &B) {
                     return std::tie(A.F.File, A.F.Line, A.F.Column, A.F.Rule) <
                            std::tie(B.F.File, B.F.Line, B.F.Column, B.F.Rule);
                   });
  std::sort(Seen.CouldNotJudge.begin(), Seen.CouldNotJudge.end());
  ReportOptions R;
  R.Colour = O.Colour;
  R.ShowDiff = O.Diff;
  R.Version = DECONTEND_VERSION;
  if (O.Format == "json")
    renderJson(Report, Seen, Files, R, outs());
  else
    renderText(Report, Seen, Files, R, outs());
  outs().flush();
  if (outs().has_error()) {
    std::string Why = outs().error().message();
    outs().clear_error();
    printError("standard output: " + Why);
    return ExitIncomplete;
  }
  if (E.Interrupted) {
    printError("interrupted; " + Twine(Seen.Analysed) + " of " +
               Twine(Seen.Units) +
               " units are done and kept in the cache, run again to go on");
    return ExitIncomplete;
  }
  if (!Seen.Failed.empty())
    return ExitIncomplete;
  return Failing ? ExitFindings : ExitClean;
}

} // namespace decontend
