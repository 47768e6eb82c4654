//===- Instances.cpp - Where objects of a record lie ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Instances.h"
#include "analysis/program/Sharing.h"
#include "fmt/format.h"
#include <set>

namespace decontend {

Instances instancesOf(const Program &P, Sym Record) {
  // The record and all that hold one by value.
  std::set<Sym> Holders = {Record};
  for (unsigned Depth = 0; Depth < 8; ++Depth) {
    size_t Before = Holders.size();
    for (const auto &U : P.units())
      for (const RecordFacts &R : U->Records)
        for (const FieldFacts &F : R.Fields)
          if (!(F.Flags & FieldFacts::Pointer) && !empty(F.Record) &&
              Holders.count(F.Record) && !P.str(F.Type).contains('*'))
            Holders.insert(R.Key);
    if (Holders.size() == Before)
      break;
  }
  Instances Out;
  for (const auto &U : P.units())
    for (const GlobalFacts &G : U->Globals)
      if (!(G.Flags & GlobalFacts::Pointer) && !empty(G.Record) &&
          Holders.count(G.Record) && Out.Static.empty())
        Out.Static =
            fmt::format("{}:{}", P.str(G.Where.File).str(), G.Where.Line);
  for (const Node &N : P.nodes()) {
    if (!N.Facts)
      continue;
    for (const Event &E : N.Facts->Events) {
      if (E.Kind != EventKind::Assign || E.NumExprs != 2 || !Out.Heap.empty())
        continue;
      const Expr &Left = N.Facts->exprs(E)[0], &Right = N.Facts->exprs(E)[1];
      if (Right.Root != RootKind::Call || empty(Left.Record) ||
          !Holders.count(Left.Record))
        continue;
      NodeId Callee = P.find(Right.Base);
      const FunctionFacts *Body =
          Callee == NoNode ? nullptr : P.node(Callee).Facts;
      if (Body && !P.str(Body->ReturnType).starts_with("void"))
        continue;
      Out.Heap =
          fmt::format("{}:{} allocates {}", P.str(N.Facts->Where.File).str(),
                      E.Line, P.str(Left.Record).str());
    }
  }
  SharingVerdict Share = Sharing(P).of(Record);
  if (Share.Kind == SharingVerdict::Many)
    Out.Many = Share.Why;
  return Out;
}

} // namespace decontend
