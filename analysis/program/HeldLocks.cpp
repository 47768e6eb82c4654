//===- HeldLocks.cpp - Global locks that are held on entry ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

namespace decontend {

namespace {

enum class State : uint8_t { Unknown, Asking, Held, NotHeld };

/// Answers for one lock. A cycle of calls is held if all ways into it are.
class HeldOnEntry {
public:
  HeldOnEntry(const Program &P, llvm::StringRef Lock)
      : P(P), Lock(Lock), States(P.nodes().size(), State::Unknown) {
    for (const EntryPoint &E : P.entries())
      (E.Holds == Lock ? HeldEntries : FreeEntries).push_back(E.Node);
  }

  /// What the function itself says before the event: 1 takes, -1 gives back.
  int local(NodeId N, uint32_t Event) const {
    const FunctionFacts &F = *P.node(N).Facts;
    int Last = 0;
    for (uint32_t I = 0; I < Event; ++I) {
      const struct Event &E = F.Events[I];
      if (E.Kind != EventKind::Call)
        continue;
      const FunctionModel *M = P.modelOf(E);
      const FunctionModel *Macro =
          empty(E.Macro) ? nullptr : P.models().function(P.str(E.Macro));
      if (Macro && Macro->Asserts == Lock)
        Last = 1;
      if (!M)
        continue;
      if (M->Asserts == Lock || (M->Lock == Lock && M->Acquires >= 0))
        Last = 1;
      else if (M->Lock == Lock && M->Releases >= 0)
        Last = -1;
    }
    return Last;
  }

  bool at(NodeId N, uint32_t Event) {
    int L = local(N, Event);
    return L ? L > 0 : entry(N);
  }

private:
  bool entry(NodeId N) {
    if (States[N] != State::Unknown)
      return States[N] != State::NotHeld;
    States[N] = State::Asking;
    bool Any = false, All = true;
    for (NodeId E : HeldEntries)
      Any |= E == N;
    for (NodeId E : FreeEntries)
      All &= E != N;
    for (uint32_t I : P.callers(N)) {
      if (!All)
        break;
      const Edge &E = P.edges()[I];
      Any = true;
      All &= at(E.Caller, E.Event);
    }
    bool Held = Any && All;
    States[N] = Held ? State::Held : State::NotHeld;
    return Held;
  }

  const Program &P;
  llvm::StringRef Lock;
  std::vector<State> States;
  std::vector<NodeId> HeldEntries, FreeEntries;
};

} // namespace

bool Program::holdsGlobalLock(NodeId N, uint32_t Event,
                              llvm::StringRef Lock) const {
  return HeldOnEntry(*this, Lock).at(N, Event);
}

} // namespace decontend
