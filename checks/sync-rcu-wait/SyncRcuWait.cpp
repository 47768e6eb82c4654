//===- SyncRcuWait.cpp - A grace-period wait per object -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncRcuWait.h"
#include "Shapes.h"
#include "Verdict.h"

namespace decontend {

JudgeResult SyncRcuWait::judge(const Program &P, const Scope &S) const {
  JudgeResult Out;
  bool AnyWait = false;
  for (const Node &N : P.nodes())
    AnyWait |= N.Model && N.Model->Wait;
  if (!AnyWait) {
    Out.CouldNotJudge.push_back(
        "no call of a known grace-period wait in the program (see docs/models.md "
        "to add one)");
    return Out;
  }
  ShapeFinder Finder(P);
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    if (!F || !S.covers(P.str(F->Where.File)))
      continue;
    for (const WaitSite &Site : Finder.sitesOf(N))
      if (std::optional<Finding> Found = verdict(P, Site))
        Out.Findings.push_back(std::move(*Found));
  }
  return Out;
}

} // namespace decontend
