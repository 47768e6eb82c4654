//===- HotAtomicCounter.cpp - The rule hot-atomic-counter -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HotAtomicCounter.h"
#include "Verdict.h"

using namespace decontend;

JudgeResult HotAtomicCounter::judge(const Program &P, const Scope &S) const {
  JudgeResult Out;
  Counters All(P, S.RacyCounters);
  // The whole program is looked at whatever the scope, so that a place is
  // judged alike in every front end.
  CounterJudge Judge(P);
  for (const Counter &C : All.all())
    if (std::optional<Finding> F = Judge.judge(C))
      if (S.covers(F->File))
        Out.Findings.push_back(std::move(*F));
  return Out;
}

Plan HotAtomicCounter::plan(const Program &P, const Finding &F,
                            Sources &Files) const {
  Plan Result;
  Result.Refusal = "hot-atomic-counter has no rewrite";
  return Result;
}
