//===- Plan.cpp - Which plan answers which shape --------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSite.h"
#include "SyncRcuWait.h"
#include "fmt/format.h"

namespace decontend {

/// A plan that only says which guard cannot be proved.
static Plan advice(std::string Title, llvm::StringRef Guard, std::string Why) {
  Ledger L;
  L.title(std::move(Title));
  L.require(Guard, false, std::move(Why));
  return L.finish();
}

/// The call that the finding points at: the wait itself before others, since
/// macros put several calls at one place.
static std::optional<uint32_t> callAt(const Program &P, const FunctionFacts &F,
                                      const Finding &Found) {
  std::optional<uint32_t> Best;
  int BestRank = -1;
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind != EventKind::Call || E.Line != Found.Line ||
        E.Column != Found.Column)
      continue;
    const FunctionModel *M = P.modelOf(E);
    NodeId N = P.find(E.Callee);
    int Rank = M && M->Wait ? 2 : N != NoNode && P.node(N).Wait.waits() ? 1 : 0;
    if (Rank > BestRank) {
      Best = I;
      BestRank = Rank;
    }
  }
  return Best;
}

static NodeId functionOf(const Program &P, const Finding &Found) {
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    if (F && P.str(F->Where.File) == Found.File &&
        P.name(N) == Found.Function && F->Where.Line <= Found.Line &&
        Found.Line <= F->EndLine)
      return N;
  }
  return NoNode;
}

/// synchronize_net() does what synchronize_rcu() does, sooner under RTNL.
static Plan planRtnl(const PlanSite &S) {
  Ledger L;
  const std::string &Better = S.wait() ? S.wait()->Expedite : S.Found.File;
  L.title(fmt::format("wait with {}()", Better));
  if (!requireEditableWait(S, L))
    return L.finish();
  L.require("rtnl-held", true,
            S.Found.Why.Shape.empty() ? "the finding shows that RTNL is held"
                                      : S.Found.Why.Shape);
  bool Visible = false;
  for (const Dependency &D : S.Function.Unit->Files)
    Visible |= S.P.str(D.Path) == "include/linux/netdevice.h" ||
               S.Text.includes("linux/netdevice.h");
  if (!L.require("declaration-visible", Visible,
                 Visible ? "the unit includes linux/netdevice.h"
                         : "the unit does not include linux/netdevice.h"))
    return L.finish();
  std::string Name = S.spelled(S.event());
  uint32_t Begin = S.event().Text.Begin;
  S.replace(L, {Begin, uint32_t(Begin + Name.size())}, Better);
  return L.finish();
}

Plan SyncRcuWait::plan(const Program &P, const Finding &F,
                       Sources &Files) const {
  NodeId N = functionOf(P, F);
  if (N == NoNode)
    return advice("", "function-known",
                  fmt::format("{}() is not found in {}", F.Function, F.File));
  const FunctionFacts &Facts = *P.node(N).Facts;
  std::optional<uint32_t> Call = callAt(P, Facts, F);
  const std::string *Text = Files.get(F.File);
  if (!Call || !Text)
    return advice(
        "", "source-readable",
        fmt::format("{}:{} does not show the call any more", F.File, F.Line));
  PlanSite S(P, F, Files, N, *Call, *Text);
  if (Facts.is(FunctionFacts::MacroMade))
    return advice("", "written-here",
                  fmt::format("a macro makes {}()", F.Function));
  const std::string Subject = F.Subject.empty() ? "the object" : F.Subject;

  if (F.Shape == "wait-then-free" && S.wait())
    return planFree(S);
  if (F.Shape == "wait-in-loop")
    return planLoop(S);
  if (F.Shape == "wait-on-last-put" || F.Shape == "wait-in-teardown") {
    if (onlyFreesFollow(S))
      return planFree(S);
    return planWorkList(S);
  }
  if (F.Shape == "full-wait-under-rtnl" && S.wait())
    return planRtnl(S);
  if (F.Shape == "repeated-wait")
    return advice("leave this wait out, or start the grace period before the "
                  "work that lies between",
                  "later-wait-covers-it",
                  "it is not proved that what runs between the two waits may "
                  "run while readers are still there");
  if (F.Shape == "wait-in-work")
    return advice("queue the work with queue_rcu_work(), or free from a "
                  "callback",
                  "queued-once-unreachable",
                  fmt::format("it is not proved that {} is unreachable when "
                              "its work is queued",
                              Subject));
  if (F.Shape == "wait-in-setup")
    return advice("publish without waiting and free the old object from a "
                  "callback",
                  "setup-does-not-rely",
                  fmt::format("it is not proved that whoever makes {} needs "
                              "no grace period before going on",
                              Subject));
  if (F.Shape == "wait-in-hot-path")
    return advice("publish without waiting and free the old object from a "
                  "callback",
                  "callers-do-not-rely",
                  "it is not proved that the caller needs no grace period "
                  "before it returns");
  return advice("", "shape-known",
                fmt::format("no rewrite is known for the shape {}", F.Shape));
}

} // namespace decontend
