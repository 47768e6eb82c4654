//===- SyncRcuWait.cpp - A grace-period wait per object -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncRcuWait.h"
#include "Shapes.h"
#include "Verdict.h"
#include <map>

namespace decontend {

JudgeResult SyncRcuWait::judge(const Program &P, const Scope &S) const {
  JudgeResult Out;
  bool AnyWait = false;
  for (const Node &N : P.nodes())
    AnyWait |= N.Model && N.Model->Wait;
  if (!AnyWait) {
    Out.CouldNotJudge.push_back("no call of a known grace-period wait in the "
                                "program (see docs/models.md "
                                "to add one)");
    return Out;
  }
  // The whole program is looked at whatever the scope, so that a place is
  // judged alike in every front end.
  ShapeFinder Finder(P);
  std::vector<std::pair<WaitSite, Finding>> Found;
  for (NodeId N = 0; N < P.nodes().size(); ++N)
    for (WaitSite &Site : Finder.sitesOf(N))
      if (std::optional<Finding> F = verdict(P, Site))
        Found.push_back({std::move(Site), std::move(*F)});

  // A wait that is reported with more confidence where it is paid (a loop, a
  // last put in some caller) is not reported again as the helper that waits.
  std::map<std::pair<NodeId, uint32_t>, Confidence> Explained;
  for (const auto &[Site, F] : Found)
    if (!Site.direct()) {
      const Edge &Last = P.edges()[Site.Path.back()];
      Confidence &Best = Explained[{Last.Caller, Last.Event}];
      Best = std::max(Best, F.Level);
    }
  for (auto &[Site, F] : Found) {
    auto It = Explained.find({Site.Function, Site.Event});
    bool Weak = Site.Shape == WaitShape::InTeardown ||
                Site.Shape == WaitShape::InSetup ||
                Site.Shape == WaitShape::InHotPath;
    if (Weak && Site.direct() && It != Explained.end() && It->second > F.Level)
      continue;
    if (S.covers(F.File))
      Out.Findings.push_back(std::move(F));
  }
  return Out;
}

} // namespace decontend
