//===- Verdict.cpp - From a site to a finding -----------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

/// A longer way from an entry is too weak to call a function frequent: generic
/// code reaches nearly everything in the end.
static constexpr size_t MaxHeatPath = 8;

Heat heatOf(const Program &P, NodeId N) {
  Heat H;
  const Node &Node = P.node(N);
  auto Try = [&](uint16_t Bits, HeatKind Kind) {
    for (uint16_t Bit : {CtxTeardown, CtxHot, CtxSetup, CtxAdmin, CtxAsync,
                         CtxInit, CtxExit}) {
      if (!(Bits & Bit) || H.Bit != CtxNone)
        continue;
      Program::HeatWitness W = P.heat(N, Bit);
      if (Kind == HeatKind::Frequent && W.Edges.size() > MaxHeatPath)
        continue;
      H.Kind = Kind;
      H.Bit = Bit;
      H.Witness = std::move(W);
    }
  };
  Try(Node.Frequent & (CtxTeardown | CtxHot | CtxSetup), HeatKind::Frequent);
  Try(Node.Contexts & (CtxTeardown | CtxSetup | CtxAdmin | CtxHot),
      HeatKind::Rare);
  Try(Node.Contexts & CtxAsync, HeatKind::Async);
  Try(Node.Contexts & (CtxInit | CtxExit), HeatKind::Rare);
  return H;
}

namespace {

/// Collects caps on the confidence, each with its reason.
class Caps {
public:
  Caps(Confidence Start, std::vector<std::string> &Doubts)
      : Level(Start), Doubts(Doubts) {}
  void cap(Confidence At, const llvm::Twine &Why) {
    if (Level > At) {
      Level = At;
      Doubts.push_back(Why.str());
    }
  }
  Confidence Level;

private:
  std::vector<std::string> &Doubts;
};

} // namespace

/// Words by which authors say that a wait does more than free memory.
static bool commentObjects(llvm::StringRef Comment) {
  std::string Lower = Comment.lower();
  for (llvm::StringRef Word : {"also", "as well", "in addition"})
    if (mentions(Lower, Word))
      return true;
  return false;
}

/// Does the loop go from element to element? `for` and iteration macros do;
/// `while` does if it sets the variable that it tests, or takes elements off a
/// list, and else repeats an attempt.
static bool walksElements(const Program &P, const FunctionFacts &F,
                          uint32_t Loop) {
  const Event &L = F.Events[Loop];
  llvm::StringRef Keyword = P.str(L.Callee);
  if (!empty(L.Macro) || Keyword.starts_with("for"))
    return true;
  Sym Tested = Sym::None;
  auto IsVariable = [](const Expr &X) {
    return (X.Root == RootKind::Local || X.Root == RootKind::Param) &&
           empty(X.Field);
  };
  if (L.NumExprs && IsVariable(F.exprs(L)[0]))
    Tested = F.exprs(L)[0].Base;
  for (uint32_t I = Loop + 1; I < L.Link; ++I)
    if (const Event &E = F.Events[I]; E.Kind == EventKind::Assign) {
      auto V = F.exprs(E);
      // Elements are objects: an option letter or a line of text is none.
      if (!IsVariable(V[0]) || empty(V[0].Record))
        continue;
      if (V[0].Base == Tested || E.is(Event::InCondition) ||
          P.str(V[1].Text).starts_with("container_of("))
        return true;
    }
  return false;
}

Confidence confidenceOf(const Program &P, const WaitSite &S, const Heat &H,
                        std::vector<std::string> &Doubts) {
  Caps C(Confidence::High, Doubts);
  const FunctionFacts &F = *P.node(S.Function).Facts;
  const Event &Call = F.Events[S.Event];
  switch (S.Shape) {
  case WaitShape::ThenFree:
    if (S.Unlink < 0)
      C.cap(Confidence::Medium,
            "it is not seen where the freed object is unlinked");
    if (!S.After.Blockers.empty())
      C.cap(Confidence::Medium,
            "more follows the free (line " +
                llvm::Twine(F.Events[S.After.Blockers[0]].Line) +
                "), which may need the wait");
    if (S.Conditions > 2)
      C.cap(Confidence::Medium, "the wait stands behind several conditions");
    break;
  case WaitShape::InLoop:
    if (!walksElements(P, F, S.Loop))
      C.cap(Confidence::Low, "the loop repeats until something is done, it "
                             "walks no elements");
    if (S.Conditions > 0)
      C.cap(Confidence::Medium, "not every round of the loop waits");
    if (S.OwnDomain)
      C.cap(Confidence::Medium, "each element may have a domain of its own");
    if (S.Guards > 0)
      C.cap(Confidence::Medium, "the wait is only for what may be absent");
    if (S.Conditions > 1 || S.Path.size() > 3)
      C.cap(Confidence::Low, "the wait is far away or behind conditions");
    break;
  case WaitShape::OnLastPut:
    if (S.Conditions > 0)
      C.cap(Confidence::Medium, "not every last reference waits");
    if (S.Guards > 0)
      C.cap(Confidence::Medium, "the wait is only for what may be absent");
    if (H.Bit == CtxSetup)
      C.cap(Confidence::Low, "set-up only gives back what it took itself");
    if (S.Conditions > 1)
      C.cap(Confidence::Low, "the wait stands behind several conditions");
    break;
  case WaitShape::InTeardown:
    C.cap(Confidence::Medium, "what follows the wait may need it");
    if (S.Conditions > 1 || S.Path.size() > 2)
      C.cap(Confidence::Low, "the wait is far away or behind conditions");
    break;
  case WaitShape::InSetup:
    C.cap(Confidence::Medium, "set-up may rely on the wait");
    if (S.Conditions > 0 || S.Path.size() > 1)
      C.cap(Confidence::Low, "the wait is far away or behind conditions");
    break;
  case WaitShape::InHotPath:
    C.cap(Confidence::Medium, "the caller may rely on the wait");
    if (S.Conditions > 2 || H.Witness.Edges.size() > 3)
      C.cap(Confidence::Low, "the way there is long or behind conditions");
    break;
  case WaitShape::InWork:
    C.cap(Confidence::Medium, "a work item may wait; it only holds a worker");
    if (S.Conditions > 1)
      C.cap(Confidence::Low, "the wait stands behind several conditions");
    break;
  case WaitShape::Repeated:
    C.cap(Confidence::Medium, "the two waits may order different things");
    if ((S.After.Deferrals.empty() || S.After.Waits.empty()) &&
        !S.After.Blockers.empty())
      C.cap(Confidence::Low,
            "what stands between the waits may need the first");
    break;
  case WaitShape::UnderRtnl:
    // The cheaper wait orders the same things: nothing to doubt but the heat.
    break;
  }
  if (S.After.StopsDevice && S.Shape != WaitShape::InLoop &&
      S.Shape != WaitShape::InWork && S.Shape != WaitShape::Repeated)
    C.cap(Confidence::Low, "hardware, work or a thread is stopped behind it");
  if (S.Shape != WaitShape::InLoop && !empty(Call.Comment) &&
      commentObjects(P.str(Call.Comment)))
    C.cap(Confidence::Low, "a comment says that the wait does more: \"" +
                               P.str(Call.Comment).take_front(120) + "\"");
  switch (H.Kind) {
  case HeatKind::Frequent:
    break;
  case HeatKind::Rare:
    C.cap(Confidence::Medium, "only reached on administration or hot-plug");
    if (S.Shape == WaitShape::InTeardown || S.Shape == WaitShape::InSetup ||
        S.Shape == WaitShape::InHotPath ||
        (S.Shape == WaitShape::InLoop && S.Path.size() > 1))
      C.cap(Confidence::Low, "rare, and the wait may be needed");
    if (!(H.Bit & (CtxTeardown | CtxSetup | CtxAdmin | CtxHot)))
      C.cap(Confidence::Low, "only reached at start or end");
    break;
  case HeatKind::Async:
    if (S.Shape != WaitShape::InLoop && S.Shape != WaitShape::InWork)
      C.cap(Confidence::Low, "already asynchronous");
    break;
  case HeatKind::Unknown:
    C.cap(Confidence::Medium, "it is not seen who calls it");
    break;
  }
  return C.Level;
}

std::optional<Finding> verdict(const Program &P, const WaitSite &S) {
  Finding F;
  const FunctionFacts &Facts = *P.node(S.Function).Facts;
  const Event &Call = Facts.Events[S.Event];
  Heat H = heatOf(P, S.Function);
  F.Rule = "sync-rcu-wait";
  F.Shape = shapeId(S.Shape).str();
  F.File = P.str(Facts.Where.File).str();
  F.Line = Call.Line;
  F.Column = Call.Column;
  F.Function = P.name(S.Function).str();
  F.Level = confidenceOf(P, S, H, F.Doubts);
  tell(P, S, H, F);
  return F;
}

} // namespace decontend
