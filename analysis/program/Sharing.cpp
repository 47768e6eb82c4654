//===- Sharing.cpp - How many cores use one object ------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sharing.h"
#include <algorithm>

namespace decontend {

Sharing::Sharing(const Program &P) : P(P) {
  for (const auto &U : P.units()) {
    for (const RecordFacts &R : U->Records)
      for (const FieldFacts &F : R.Fields) {
        if (empty(F.Record) || (F.Flags & FieldFacts::Pointer))
          continue;
        std::vector<Sym> &By = HeldBy[F.Record];
        if (std::find(By.begin(), By.end(), R.Key) == By.end())
          By.push_back(R.Key);
      }
    for (const GlobalFacts &G : U->Globals) {
      if (empty(G.Record) || (G.Flags & GlobalFacts::Pointer))
        continue;
      bool Own = P.str(G.Section).contains("percpu") ||
                 (G.Flags & GlobalFacts::ThreadLocal);
      (Own ? PerCpu : Instance).try_emplace(G.Record, &G);
    }
  }
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    if (!F)
      continue;
    for (uint32_t I = 0; I < F->Events.size(); ++I) {
      const Event &E = F->Events[I];
      if (E.Kind != EventKind::Assign || E.NumExprs != 2)
        continue;
      const Expr &L = F->Exprs[E.FirstExpr], &R = F->Exprs[E.FirstExpr + 1];
      if (R.Root != RootKind::Call || empty(L.Record) || !empty(R.Field))
        continue;
      NodeId Callee = P.find(R.Base);
      if (Callee != NoNode && P.node(Callee).Model &&
          P.node(Callee).Model->Allocates)
        Allocations[L.Record].push_back({N, I});
    }
  }
}

Sym Sharing::named(Sym Record) const {
  for (unsigned Depth = 0; Depth < 4; ++Depth) {
    if (!P.str(Record).contains('@'))
      return Record;
    auto It = HeldBy.find(Record);
    if (It == HeldBy.end() || It->second.size() != 1)
      return Record;
    Record = It->second.front();
  }
  return Record;
}

SharingVerdict Sharing::of(Sym Record, unsigned Depth) const {
  SharingVerdict V;
  std::string Name = "'" + P.str(Record).str() + "'";
  if (const RecordModel *M = P.models().record(P.str(Record))) {
    V.Kind = M->Sharing == RecordModel::Wide   ? SharingVerdict::Wide
             : M->Sharing == RecordModel::Many ? SharingVerdict::Many
                                               : SharingVerdict::Owner;
    V.Proven = true;
    V.Why = Name + " is " + M->Why;
    return V;
  }
  if (auto It = Instance.find(Record); It != Instance.end()) {
    V.Kind = SharingVerdict::Wide;
    V.Proven = true;
    V.Why = "the variable '" + P.str(It->second->Name).str() + "' is a " + Name;
    return V;
  }
  if (auto It = PerCpu.find(Record); It != PerCpu.end()) {
    V.Kind = SharingVerdict::Owner;
    V.Proven = true;
    V.Why = "'" + P.str(It->second->Name).str() + "' is per CPU or per thread";
    return V;
  }
  // The record that holds it decides; the least shared of several.
  if (auto It = HeldBy.find(Record); It != HeldBy.end() && Depth < 4) {
    for (Sym By : It->second) {
      SharingVerdict Outer = of(By, Depth + 1);
      if (Outer.Kind == SharingVerdict::Unknown)
        continue;
      if (V.Kind == SharingVerdict::Unknown || Outer.Kind > V.Kind)
        V = std::move(Outer);
    }
    if (V.Kind != SharingVerdict::Unknown)
      return V;
  }
  auto It = Allocations.find(Record);
  if (It == Allocations.end())
    return V;
  uint16_t All = CtxNone, Frequent = CtxNone;
  for (const Allocation &A : It->second) {
    All |= P.node(A.Node).Contexts;
    Frequent |= P.node(A.Node).Frequent;
  }
  const Allocation &A = It->second.front();
  std::string At = " is allocated in " + P.name(A.Node).str() + "()";
  constexpr uint16_t Few = CtxInit | CtxSetup | CtxAdmin | CtxExit;
  if (Frequent & CtxHot) {
    V.Kind = SharingVerdict::Many;
    V.Why = Name + At + ", which runs often";
  } else if (All & Few) {
    V.Kind = SharingVerdict::Wide;
    V.PerObject = true;
    V.Why = Name + At + ", once per set-up";
  }
  return V;
}

} // namespace decontend
