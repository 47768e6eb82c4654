//===- Verdict.cpp - What a counter's uses amount to ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Story.h"
#include "analysis/program/Flow.h"

namespace decontend {

llvm::StringRef counterShapeId(CounterShape S) {
  switch (S) {
  case CounterShape::Dead:
    return "dead-counter";
  case CounterShape::ReportOnly:
    return "report-only-counter";
  case CounterShape::Decided:
    return "decided-counter";
  case CounterShape::HotRead:
    return "hot-read-counter";
  case CounterShape::Reference:
    return "hot-reference";
  }
  llvm_unreachable("not a shape");
}

/// Reached only by what shows figures to people, or by administrators.
bool CounterJudge::isReport(NodeId N) const {
  return P.node(N).Contexts & CtxReport;
}

bool CounterJudge::isHot(NodeId N) const {
  const Node &Of = P.node(N);
  return (Of.Contexts & CtxHot) && (Of.Frequent & CtxHot) && !isReport(N);
}

SortedUses CounterJudge::sort(const Counter &C) const {
  SortedUses S;
  for (const CounterUse &U : C.Uses) {
    switch (U.Kind) {
    case UseKind::Bump:
      S.Bumps.push_back(&U);
      break;
    case UseKind::Value:
      S.Values.push_back(&U);
      break;
    case UseKind::Set:
      S.Sets.push_back(&U);
      break;
    case UseKind::Test:
    case UseKind::Bits:
      S.Tests.push_back(&U);
      break;
    case UseKind::Racy:
      S.Racy.push_back(&U);
      break;
    case UseKind::Escape:
      S.Escapes.push_back(&U);
      break;
    case UseKind::Read:
      if (U.To.Bits == Sinks::None)
        break; // nobody wants to know
      if (isReport(U.Node) ||
          !(U.To.Bits & ~(Sinks::Shown | Sinks::Copied | Sinks::Returned)))
        S.Reports.push_back(&U);
      else if (!U.To.has(Sinks::Decision))
        S.Vague.push_back(&U);
      else if (isReport(U.To.Where))
        S.Reports.push_back(&U);
      else if (isHot(U.To.Where))
        S.HotReads.push_back(&U);
      else
        S.Decisions.push_back(&U);
      break;
    }
  }
  return S;
}

BumpHeat CounterJudge::heatOf(const CounterUse &U) const {
  BumpHeat H;
  H.Use = &U;
  const Node &Of = P.node(U.Node);
  const FunctionFacts &F = *Of.Facts;
  uint32_t At = F.Accesses[U.Access].At;
  if (At < F.Events.size()) {
    decontend::Flow Shape(P, F);
    H.Conditions = Shape.conditions(At);
    H.Rare = Shape.onErrorPath(At);
    for (int Up = Shape.parent(At); Up >= 0; Up = Shape.parent(Up))
      H.Rare |= F.Events[Up].Kind == EventKind::Branch &&
                F.Events[Up].is(Event::Unlikely);
  }
  for (uint16_t Bit : {CtxHot, CtxTeardown, CtxSetup, CtxAsync})
    if (Of.Frequent & Bit) {
      H.Context = Bit;
      break;
    }
  return H;
}

BumpHeat CounterJudge::hottest(llvm::ArrayRef<const CounterUse *> Uses) const {
  BumpHeat Best;
  auto Rank = [](const BumpHeat &H) {
    unsigned Context = H.Context == CtxHot        ? 0
                       : H.Context == CtxTeardown ? 1
                       : H.Context == CtxSetup    ? 2
                       : H.Context == CtxAsync    ? 3
                                                  : 4;
    return std::make_tuple(Context + (H.Rare ? 5u : 0u), H.Conditions);
  };
  for (const CounterUse *U : Uses) {
    BumpHeat H = heatOf(*U);
    if (!Best.Use || Rank(H) < Rank(Best))
      Best = H;
  }
  return Best;
}

namespace {

/// Collects caps on the confidence, each with its reason.
class DoubtList {
public:
  explicit DoubtList(Finding &F) : F(F) { F.Level = Confidence::High; }
  void cap(Confidence At, const llvm::Twine &Why) {
    if (F.Level > At) {
      F.Level = At;
      F.Doubts.push_back(Why.str());
    }
  }

private:
  Finding &F;
};

} // namespace

std::optional<Finding> CounterJudge::judge(const Counter &C) const {
  SortedUses S = sort(C);
  bool Reference = C.Type && C.Type->Kind == CounterTypeModel::Reference;
  if (C.Type && C.Type->Kind == CounterTypeModel::Spread)
    return std::nullopt;
  if (!S.Tests.empty() || Reference)
    return std::nullopt;
  if (S.Bumps.empty() || !S.Values.empty() || !S.Racy.empty())
    return std::nullopt;
  BumpHeat H = hottest(S.Bumps);
  if (H.Context != CtxHot || H.Rare)
    return std::nullopt;
  CounterShape Shape = !S.HotReads.empty()    ? CounterShape::HotRead
                       : !S.Decisions.empty() ? CounterShape::Decided
                       : !S.Reports.empty() || !S.Vague.empty() ||
                               !S.Escapes.empty() || C.AddressKept
                           ? CounterShape::ReportOnly
                           : CounterShape::Dead;
  SharingVerdict Share;
  if (C.Variable) {
    if (P.str(C.Variable->Section).contains("percpu"))
      return std::nullopt;
    Share.Kind = SharingVerdict::Wide;
    Share.Proven = true;
    Share.Why = "'" + P.str(C.Variable->Name).str() +
                "' is one variable for the whole program";
  } else {
    Share = Shared.of(C.Record);
  }
  if (Share.Kind == SharingVerdict::Owner)
    return std::nullopt;

  Finding F;
  DoubtList D(F);
  if (Share.Kind == SharingVerdict::Many)
    D.cap(Confidence::Low, "there are many such objects");
  else if (Share.Kind == SharingVerdict::Unknown)
    D.cap(Confidence::Medium, "it is not seen who shares the object");
  if (!S.Escapes.empty() || C.AddressKept)
    D.cap(Confidence::Low, "its address goes where nobody looks");
  if (Shape == CounterShape::HotRead)
    D.cap(Confidence::Low, "a hot path decides by its value");
  if (Shape == CounterShape::Decided)
    D.cap(Confidence::Medium, "something decides by its value");
  if (!S.Vague.empty())
    D.cap(Confidence::Medium, "it is not seen what becomes of its value");
  if (H.Conditions > 1)
    D.cap(Confidence::Medium, "it is bumped behind several conditions");
  tellCounter(P, C, S, H, Share, Shape, F);
  return F;
}

} // namespace decontend
