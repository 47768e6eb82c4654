//===- CallGraph.cpp - Calls, slots and callbacks as edges ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   events --> direct edges
//          --> parameters that are called, or put into a slot ("flows")
//   arguments + flows --> in-place edges, slot fills, entry points
//   slot fills --> slot edges
//
//===----------------------------------------------------------------------===//

#include "Flow.h"
#include "Program.h"
#include <algorithm>

namespace decontend {

namespace {
/// What a function does with one of its function pointer parameters.
struct ParamFlow {
  bool CalledInPlace = false;
  uint16_t Context = CtxNone; ///< Called later, in this context.
  Sym Slot = Sym::None;       ///< Stored into this slot.
};
} // namespace

using FlowMap = llvm::DenseMap<std::pair<NodeId, unsigned>, ParamFlow>;

/// Learns from one function what it does with its parameters. True if new.
static bool learn(const Program &P, NodeId N, FlowMap &Flows) {
  const FunctionFacts &F = *P.node(N).Facts;
  bool Changed = false;
  auto Merge = [&](unsigned Param, const ParamFlow &New) {
    ParamFlow &Old = Flows[{N, Param}];
    if (New.CalledInPlace && !Old.CalledInPlace)
      Old.CalledInPlace = Changed = true;
    if ((Old.Context | New.Context) != Old.Context) {
      Old.Context |= New.Context;
      Changed = true;
    }
    if (empty(Old.Slot) && !empty(New.Slot)) {
      Old.Slot = New.Slot;
      Changed = true;
    }
  };
  for (const Event &E : F.Events) {
    if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
      const Expr &L = F.Exprs[E.FirstExpr], &R = F.Exprs[E.FirstExpr + 1];
      // Harmless for data: a slot counts only where a function is passed.
      if (R.Root == RootKind::Param && empty(R.Field) && !empty(L.Field) &&
          R.Index < F.Params.size())
        Merge(R.Index, {false, CtxNone, L.Field});
      continue;
    }
    if (E.Kind != EventKind::Call)
      continue;
    if (E.Via == CallVia::Variable) {
      for (unsigned I = 0; I < F.Params.size(); ++I)
        if (F.Params[I].Name == E.Callee && !empty(E.Callee))
          Merge(I, {true, CtxNone, Sym::None});
      continue;
    }
    if (E.Via != CallVia::Direct)
      continue;
    NodeId Callee = P.find(E.Callee);
    const FunctionModel *M = P.modelOf(E);
    for (unsigned A = 0; A < E.NumExprs; ++A) {
      const Expr &X = F.Exprs[E.FirstExpr + A];
      if (X.Root != RootKind::Param || !empty(X.Field) || X.Index == 0xffff)
        continue;
      if (M)
        for (const CallbackModel &C : M->Callbacks)
          if (C.Arg == int(A))
            Merge(X.Index, {C.Inline, C.Context, Sym::None});
      if (auto It = Flows.find({Callee, A}); It != Flows.end()) {
        ParamFlow Copy = It->second;
        Merge(X.Index, Copy);
      }
    }
  }
  return Changed;
}

void Program::buildEdges() {
  FlowMap Flows;
  // Wrappers of wrappers are few; the bound only stops pathological chains.
  for (unsigned Round = 0; Round < 6; ++Round) {
    bool Changed = false;
    for (NodeId N = 0; N < Nodes.size(); ++N)
      if (Nodes[N].Facts && !Nodes[N].Facts->Params.empty())
        Changed |= learn(*this, N, Flows);
    if (!Changed)
      break;
  }

  struct Pending {
    NodeId Caller;
    uint32_t Event;
    Sym Slot;
    bool OnError;
    uint8_t Conditions, Guards;
  };
  std::vector<Pending> ThroughSlots;
  auto AddEdge = [&](NodeId Caller, NodeId Callee, uint32_t Event,
                     EdgeKind Kind, bool OnError, unsigned Conditions,
                     unsigned Guards) {
    Edges.push_back({Caller, Callee, Event, Kind, OnError,
                     uint8_t(std::min(Conditions, 200u)),
                     uint8_t(std::min(Guards, 200u))});
  };
  for (NodeId N = 0; N < Nodes.size(); ++N) {
    if (!Nodes[N].Facts)
      continue;
    const FunctionFacts &F = *Nodes[N].Facts;
    Flow Shape(*this, F);
    for (uint32_t I = 0; I < F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      if (E.Kind != EventKind::Call)
        continue;
      bool OnError = Shape.onErrorPath(I);
      unsigned Conditions = Shape.conditions(I);
      unsigned Guards = Shape.guards(I);
      NodeId Callee = NoNode;
      if (E.Via == CallVia::Direct) {
        Callee = find(E.Callee);
        AddEdge(N, Callee, I, EdgeKind::Direct, OnError, Conditions, Guards);
      } else if (E.Via == CallVia::Slot) {
        ThroughSlots.push_back({N, I, E.Callee, OnError,
                                uint8_t(std::min(Conditions, 200u)),
                                uint8_t(std::min(Guards, 200u))});
      }
      const FunctionModel *M = modelOf(E);
      for (unsigned A = 0; A < E.NumExprs; ++A) {
        const Expr &X = F.Exprs[E.FirstExpr + A];
        if (X.Root != RootKind::Function)
          continue;
        NodeId Target = nodeFor(X.Base);
        Nodes[Target].AddressTaken = true;
        ParamFlow Use;
        std::string Holds;
        if (auto It = Flows.find({Callee, A}); It != Flows.end())
          Use = It->second;
        if (M)
          for (const CallbackModel &C : M->Callbacks)
            if (C.Arg == int(A)) {
              Use.Context |= C.Context;
              Use.CalledInPlace |= C.Inline;
              Holds = C.Holds;
            }
        if (Use.CalledInPlace)
          AddEdge(N, Target, I, EdgeKind::InPlace, OnError, Conditions, Guards);
        Place Where{F.Where.File, E.Line, E.Column};
        if (!empty(Use.Slot))
          AllSlots.push_back({Use.Slot, X.Base, Sym::None, F.Key, Where});
        if (Use.Context)
          Entries.push_back({Target, Use.Context,
                             ("passed to " + calleeName(E) + "()").str(), Where,
                             Holds, false});
      }
    }
  }

  for (const SlotFill &S : AllSlots) {
    NodeId Target = nodeFor(S.Function);
    Nodes[Target].AddressTaken = true;
    std::vector<NodeId> &T = SlotTargets[S.Slot];
    if (std::find(T.begin(), T.end(), Target) == T.end())
      T.push_back(Target);
  }
  for (const Pending &C : ThroughSlots) {
    auto It = SlotTargets.find(C.Slot);
    if (It == SlotTargets.end())
      continue;
    EdgeKind Kind =
        It->second.size() == 1 ? EdgeKind::Slot : EdgeKind::SlotMany;
    for (NodeId T : It->second)
      AddEdge(C.Caller, T, C.Event, Kind, C.OnError, C.Conditions, C.Guards);
  }
  std::stable_sort(
      Edges.begin(), Edges.end(), [](const Edge &A, const Edge &B) {
        return std::tie(A.Caller, A.Event) < std::tie(B.Caller, B.Event);
      });
  Out.resize(Nodes.size());
  In.resize(Nodes.size());
  for (uint32_t I = 0; I < Edges.size(); ++I) {
    Out[Edges[I].Caller].push_back(I);
    In[Edges[I].Callee].push_back(I);
  }
}

} // namespace decontend
