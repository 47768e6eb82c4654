//===- UseReach.cpp - Which calls come to use a counter -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "UseReach.h"
#include "RecordPlan.h"
#include "fmt/format.h"
#include <deque>

namespace decontend {

/// Allocators, locks and messages use nobody's counters, whatever their bodies
/// look like to the call graph.
static bool isPlumbing(const Node &N) {
  const FunctionModel *M = N.Model;
  return M && (M->Inert || M->Reports || M->Opaque || M->Allocates ||
               M->Frees >= 0 || M->Acquires >= 0 || M->Releases >= 0);
}

UseReach::UseReach(const Conversion &C) : C(C), P(C.P) {
  for (const Counter *Of : C.Counters)
    for (const CounterUse &U : Of->Uses)
      Own.try_emplace(U.Node, &U);
  search(Sure, false);
  search(Any, true);
}

void UseReach::search(Reach &R, bool Many) {
  std::deque<NodeId> Queue;
  for (const Counter *Of : C.Counters)
    for (const CounterUse &U : Of->Uses)
      if (R.Next.try_emplace(U.Node, ~0u).second)
        Queue.push_back(U.Node);
  while (!Queue.empty()) {
    NodeId N = Queue.front();
    Queue.pop_front();
    if (isPlumbing(P.node(N)))
      continue;
    for (uint32_t I : P.callers(N)) {
      const Edge &E = P.edges()[I];
      if (E.Kind == EdgeKind::SlotMany && !Many)
        continue;
      if (R.Next.try_emplace(E.Caller, I).second)
        Queue.push_back(E.Caller);
    }
  }
}

std::string UseReach::path(const Reach &R, NodeId N) const {
  std::string Out = P.name(N).str() + "()";
  for (uint32_t I = R.Next.lookup(N); I != ~0u;
       I = R.Next.lookup(P.edges()[I].Callee))
    Out += fmt::format(", {}()", P.name(P.edges()[I].Callee).str());
  NodeId Last = N;
  for (uint32_t I = R.Next.lookup(N); I != ~0u; I = R.Next.lookup(Last))
    Last = P.edges()[I].Callee;
  return fmt::format("{}, which uses it at {}", Out,
                     placeOf(C, *Own.lookup(Last)));
}

std::string UseReach::by(NodeId N, uint32_t Event, Sym Object) const {
  const FunctionFacts &F = *P.node(N).Facts;
  bool Passes = false;
  for (const Expr &X : F.exprs(F.Events[Event]))
    Passes |= !empty(Object) && X.Base == Object;
  for (uint32_t I : P.callees(N)) {
    const Edge &E = P.edges()[I];
    if (E.Event != Event || isPlumbing(P.node(E.Callee)))
      continue;
    if (E.Kind == EdgeKind::SlotMany && !Passes)
      continue;
    const Reach &R = Passes ? Any : Sure;
    if (!R.Next.count(E.Callee))
      continue;
    std::string Path = path(R, E.Callee);
    // Where a function is passed along, say who calls it.
    if (E.Kind == EdgeKind::InPlace)
      Path = fmt::format("{}(), {}", P.calleeName(F.Events[Event]).str(), Path);
    return Path;
  }
  return "";
}

} // namespace decontend
