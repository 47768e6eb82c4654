//===- Origins.cpp - Where the objects of a record come from --------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Origins.h"
#include "fmt/format.h"

namespace decontend {

/// The record of which `p = allocate(...)` makes an object; none if \p E is
/// something else.
static Sym madeBy(const Program &P, const FunctionFacts &F, const Event &E) {
  if (E.Kind != EventKind::Assign || E.NumExprs != 2)
    return Sym::None;
  auto X = F.exprs(E);
  if (!(X[0].Flags & Expr::Pointer) || X[1].Root != RootKind::Call)
    return Sym::None;
  NodeId From = P.find(X[1].Base);
  bool Makes =
      From != NoNode && P.node(From).Model && P.node(From).Model->Allocates;
  return Makes ? X[0].Record : Sym::None;
}

llvm::ArrayRef<MakingSite> MakingSites::of(Sym Record) const {
  if (!Done)
    for (NodeId N = 0; N < P.nodes().size(); ++N) {
      const FunctionFacts *F = P.node(N).Facts;
      for (uint32_t I = 0; F && I < F->Events.size(); ++I) {
        Sym Of = madeBy(P, *F, F->Events[I]);
        if (empty(Of))
          continue;
        const Expr &Left = F->exprs(F->Events[I])[0];
        bool Plain = Left.Root == RootKind::Local && empty(Left.Field);
        Sites[Of].push_back({N, I, Plain ? Left.Base : Sym::None});
      }
    }
  Done = true;
  auto It = Sites.find(Record);
  if (It == Sites.end())
    return {};
  return It->second;
}

Origins::Origins(const Conversion &C, Sym Record)
    : C(C), P(C.P), Record(Record) {
  if (!C.Made)
    Own.emplace(P);
  Sites = (C.Made ? *C.Made : *Own).of(Record);
}

Origin Origins::of(NodeId N, uint32_t Event, const Expr &X) const {
  Origin Out;
  find(N, Event, X, 0, Out);
  Out.Known = Out.Why.empty();
  return Out;
}

void Origins::find(NodeId N, uint32_t Event, const Expr &X, unsigned Depth,
                   Origin &Out) const {
  const FunctionFacts &F = *P.node(N).Facts;
  auto Unknown = [&](std::string Why) {
    if (Out.Why.empty())
      Out.Why = fmt::format("{} {}", C.at(N, F.Events[Event].Line), Why);
  };
  if (X.Root == RootKind::Local) {
    int Last = -1;
    for (uint32_t I = 0; I < Event; ++I) {
      const decontend::Event &E = F.Events[I];
      if (E.Kind == EventKind::Assign && E.NumExprs == 2 &&
          F.exprs(E)[0].Base == X.Base && empty(F.exprs(E)[0].Field))
        Last = I;
    }
    if (Last < 0 || madeBy(P, F, F.Events[Last]) != Record)
      return Unknown("works on an object that it has not made");
    Out.Makers.insert(N);
    return;
  }
  if (X.Root != RootKind::Param)
    return Unknown("works on an object that it was not given");
  if (Depth > 3)
    return Unknown("is too far from where its object is made");
  const Node &Which = P.node(N);
  if (Which.Exported || Which.AddressTaken)
    return Unknown(
        fmt::format("is in {}(), which others may call", P.name(N).str()));
  if (P.callers(N).empty())
    return Unknown("is in a function that nobody is seen to call");
  for (uint32_t I : P.callers(N)) {
    const Edge &E = P.edges()[I];
    const FunctionFacts &G = *P.node(E.Caller).Facts;
    const decontend::Event &Call = G.Events[E.Event];
    if (E.Kind != EdgeKind::Direct || X.Index >= Call.NumExprs)
      return Unknown("gets its object through a pointer to a function");
    const Expr &Arg = G.exprs(Call)[X.Index];
    if (Arg.Root == RootKind::Global && empty(Arg.Field)) {
      if (P.node(E.Caller).Contexts != CtxInit)
        return Unknown(fmt::format("gets a variable from {}, which does not "
                                   "only run at start",
                                   C.at(E.Caller, Call.Line)));
      Out.Boot.insert(Arg.Base);
      continue;
    }
    if (!empty(Arg.Field))
      return Unknown(fmt::format("gets a part of something from {}",
                                 C.at(E.Caller, Call.Line)));
    Out.Way.push_back({E.Caller, E.Event, Arg.Base});
    find(E.Caller, E.Event, Arg, Depth + 1, Out);
  }
}

} // namespace decontend
