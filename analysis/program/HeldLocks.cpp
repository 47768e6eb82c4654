//===- HeldLocks.cpp - Global locks that are held on entry ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeldLocks.h"

namespace decontend {

HeldLocks::HeldLocks(const Program &P, llvm::StringRef Lock)
    : OnEntry(P.nodes().size(), true) {
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    if (!F)
      continue;
    for (uint32_t I = 0; I < F->Events.size(); ++I) {
      const Event &E = F->Events[I];
      if (E.Kind != EventKind::Call)
        continue;
      const FunctionModel *M = P.modelOf(E), *Macro = P.modelOfMacro(E);
      if ((M && M->Asserts == Lock) || (Macro && Macro->Asserts == Lock) ||
          (M && M->Lock == Lock && M->Acquires >= 0))
        Changes[N].push_back({I, true});
      else if (M && M->Lock == Lock && M->Releases >= 0)
        Changes[N].push_back({I, false});
    }
  }

  std::vector<bool> HeldEntry(P.nodes().size(), false);
  std::vector<NodeId> Lost;
  auto Lose = [&](NodeId N) {
    if (OnEntry[N]) {
      OnEntry[N] = false;
      Lost.push_back(N);
    }
  };
  for (const EntryPoint &E : P.entries())
    if (E.Holds == Lock)
      HeldEntry[E.Node] = true;
  for (const EntryPoint &E : P.entries())
    if (E.Holds != Lock)
      Lose(E.Node);
  for (NodeId N = 0; N < P.nodes().size(); ++N)
    if (P.callers(N).empty() && !HeldEntry[N])
      Lose(N);
  for (const Edge &E : P.edges())
    if (local(E.Caller, E.Event) < 0)
      Lose(E.Callee);
  while (!Lost.empty()) {
    NodeId N = Lost.back();
    Lost.pop_back();
    for (uint32_t I : P.callees(N))
      if (const Edge &E = P.edges()[I]; local(N, E.Event) == 0)
        Lose(E.Callee);
  }
  keepReached(P, HeldEntry);
}

/// Functions that only call each other are not held by assumption: something
/// outside must bring the lock in.
void HeldLocks::keepReached(const Program &P,
                            const std::vector<bool> &HeldEntry) {
  std::vector<bool> Reached(OnEntry.size(), false);
  std::vector<NodeId> Queue;
  auto Reach = [&](NodeId N) {
    if (OnEntry[N] && !Reached[N]) {
      Reached[N] = true;
      Queue.push_back(N);
    }
  };
  for (NodeId N = 0; N < OnEntry.size(); ++N)
    if (HeldEntry[N])
      Reach(N);
  for (const Edge &E : P.edges())
    if (local(E.Caller, E.Event) > 0)
      Reach(E.Callee);
  while (!Queue.empty()) {
    NodeId N = Queue.back();
    Queue.pop_back();
    for (uint32_t I : P.callees(N))
      if (const Edge &E = P.edges()[I]; local(N, E.Event) == 0)
        Reach(E.Callee);
  }
  OnEntry = std::move(Reached);
}

int HeldLocks::local(NodeId N, uint32_t Event) const {
  auto It = Changes.find(N);
  int Last = 0;
  if (It != Changes.end())
    for (const Change &C : It->second)
      if (C.Event < Event)
        Last = C.Taken ? 1 : -1;
  return Last;
}

bool HeldLocks::heldAt(NodeId N, uint32_t Event) const {
  int L = local(N, Event);
  return L ? L > 0 : OnEntry[N];
}

} // namespace decontend
