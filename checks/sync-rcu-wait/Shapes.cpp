//===- Shapes.cpp - The shapes of a wait per object -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

namespace decontend {

llvm::StringRef shapeId(WaitShape S) {
  switch (S) {
  case WaitShape::InLoop:
    return "wait-in-loop";
  case WaitShape::ThenFree:
    return "wait-then-free";
  case WaitShape::OnLastPut:
    return "wait-on-last-put";
  case WaitShape::InWork:
    return "wait-in-work";
  case WaitShape::InTeardown:
    return "wait-in-teardown";
  case WaitShape::InSetup:
    return "wait-in-setup";
  case WaitShape::InHotPath:
    return "wait-in-hot-path";
  case WaitShape::Repeated:
    return "repeated-wait";
  case WaitShape::UnderRtnl:
    return "full-wait-under-rtnl";
  }
  return "";
}

/// A chain of more calls than this says little about what the caller pays.
static constexpr unsigned MaxPath = 5;

ShapeFinder::ShapeFinder(const Program &P) : P(P), Rtnl(P, "rtnl") {
  for (const EntryPoint &E : P.entries()) {
    EntryContexts[E.Node] |= E.Context;
    if (E.Context == CtxAsync)
      WorkItems[E.Node] = true;
  }
}

bool ShapeFinder::isWorkItem(NodeId N) const { return WorkItems.lookup(N); }

/// Is the function itself put where objects of a kind end (or begin)?
bool ShapeFinder::startsTeardown(NodeId N, uint16_t Bit) const {
  return EntryContexts.lookup(N) & Bit;
}

/// Record of the object that a call is about: its first pointer argument, the
/// variable of the loop, else the first parameter.
Sym ShapeFinder::objectOf(const FunctionFacts &F, uint32_t Event) const {
  if (F.Events[Event].Kind == EventKind::Call)
    for (const Expr &X : F.exprs(F.Events[Event]))
      if ((X.Root == RootKind::Param || X.Root == RootKind::Local) &&
          !empty(X.Record))
        return X.Record;
  for (const ParamFacts &Param : F.Params)
    if (!empty(Param.Record))
      return Param.Record;
  return Sym::None;
}

/// Does a function on the path already have a site of its own that a reader can
/// mend (a loop, a last put, a wait before a free)? Then its callers are only
/// the messengers.
bool ShapeFinder::answeredBelow(llvm::ArrayRef<uint32_t> Path) const {
  for (uint32_t I : Path) {
    const Edge &E = P.edges()[I];
    Flow F(P, *P.node(E.Caller).Facts);
    if (F.elementLoop(E.Event) >= 0 || F.lastReferenceDrop(E.Event) >= 0)
      return true;
    const FunctionModel *M = P.node(E.Callee).Model;
    if (M && M->Wait) {
      Aftermath A = aftermathOf(P, F, E.Event);
      if (!A.Frees.empty() && A.Blockers.empty())
        return true;
    }
  }
  return false;
}

/// Is a function on the path itself where objects end? It is reported then.
bool ShapeFinder::entryBelow(llvm::ArrayRef<uint32_t> Path) const {
  for (uint32_t I : Path)
    if (startsTeardown(P.edges()[I].Caller, CtxTeardown))
      return true;
  return false;
}

std::optional<WaitSite> ShapeFinder::direct(NodeId N, const Flow &F,
                                            uint32_t Event,
                                            const FunctionModel &M) const {
  const FunctionFacts &Facts = F.facts();
  const Node &Node = P.node(N);
  WaitSite S;
  S.Function = N;
  S.Event = Event;
  S.Wait = &*M.Wait;
  S.Conditions = F.conditions(Event);
  S.Object = objectOf(Facts, Event);
  // The author has already paid for a quick wait.
  if (M.Wait->Cost == WaitModel::Expedited)
    return std::nullopt;
  S.After = aftermathOf(P, F, Event);
  const Expr *Freed = nullptr;
  for (uint32_t I : S.After.Frees) {
    const FunctionModel *FM = P.modelOf(Facts.Events[I]);
    auto Args = Facts.exprs(Facts.Events[I]);
    if (FM && unsigned(FM->Frees) < Args.size()) {
      const Expr &X = Args[FM->Frees];
      int Unlink = unlinkedBefore(P, F, Event, X);
      if (!Freed || Unlink >= 0) {
        Freed = &X;
        S.Unlink = Unlink;
        if (!empty(X.Record))
          S.Object = X.Record;
      }
    }
  }
  S.Drop = F.lastReferenceDrop(Event);

  bool Barrier = M.Wait->Cost == WaitModel::Barrier;
  S.Loop = F.elementLoop(Event);
  if (S.Loop >= 0 && M.Wait->Cost != WaitModel::Adaptive) {
    S.Shape = WaitShape::InLoop;
    return S;
  }
  if (Freed && S.After.BlockersBeforeFree == 0 && !Barrier &&
      !S.After.StopsDevice) {
    S.Shape = WaitShape::ThenFree;
    return S;
  }
  if (M.Wait->Cost == WaitModel::Adaptive)
    return std::nullopt;
  if (S.Drop >= 0) {
    S.Shape = WaitShape::OnLastPut;
    return S;
  }
  // Another wait of the same kind, or a deferral, lets its own period pass.
  bool Again = !S.After.Deferrals.empty();
  for (uint32_t I : S.After.Waits)
    Again |= P.modelOf(Facts.Events[I])->Wait->Flavour == M.Wait->Flavour;
  if (!Barrier && Again) {
    S.Shape = WaitShape::Repeated;
    return S;
  }
  if (isWorkItem(N)) {
    S.Shape = WaitShape::InWork;
    return S;
  }
  if (!M.Wait->Expedite.empty() && M.Wait->Flavour == "rcu" &&
      Rtnl.heldAt(N, Event)) {
    S.Shape = WaitShape::UnderRtnl;
    return S;
  }
  if (Barrier)
    return std::nullopt; // waits for callbacks: teardown of a domain needs it
  if (Node.Frequent & CtxTeardown)
    S.Shape = WaitShape::InTeardown;
  else if (Node.Frequent & CtxSetup)
    S.Shape = WaitShape::InSetup;
  else if (Node.Frequent & CtxHot)
    S.Shape = WaitShape::InHotPath;
  else if (Node.Contexts & CtxTeardown)
    S.Shape = WaitShape::InTeardown;
  else if (Node.Contexts & CtxSetup)
    S.Shape = WaitShape::InSetup;
  else
    return std::nullopt;
  return S;
}

std::optional<WaitSite> ShapeFinder::through(NodeId N, const Flow &F,
                                             const Edge &E) const {
  WaitSite S;
  S.Function = N;
  S.Event = E.Event;
  S.Path = P.waitPath(E.Callee);
  if (S.Path.empty() || S.Path.size() + 1 > MaxPath)
    return std::nullopt;
  S.Conditions = E.Conditions + P.node(E.Callee).Wait.Conditions;
  const Edge &Last = P.edges()[S.Path.back()];
  const FunctionModel *M = P.node(Last.Callee).Model;
  if (!M || !M->Wait)
    return std::nullopt;
  S.Wait = &*M->Wait;
  S.Object = objectOf(F.facts(), E.Event);
  // A wait that its own function explains is reported there.
  S.Loop = F.elementLoop(E.Event);
  S.Drop = F.lastReferenceDrop(E.Event);
  if (E.Kind == EdgeKind::InPlace) {
    const FunctionModel *Caller = P.modelOf(F.facts().Events[E.Event]);
    if (Caller && Caller->DropsRef >= 0)
      S.Drop = E.Event;
  }
  if (answeredBelow(S.Path))
    return std::nullopt;
  if (S.Loop >= 0)
    S.Shape = WaitShape::InLoop;
  else if (S.Drop >= 0)
    S.Shape = WaitShape::OnLastPut;
  else if (entryBelow(S.Path))
    return std::nullopt;
  else if (startsTeardown(N, CtxTeardown))
    S.Shape = WaitShape::InTeardown;
  else if (startsTeardown(N, CtxSetup))
    S.Shape = WaitShape::InSetup;
  else
    return std::nullopt;
  return S;
}

std::vector<WaitSite> ShapeFinder::sitesOf(NodeId N) const {
  std::vector<WaitSite> Out;
  const Node &Node = P.node(N);
  if (!Node.Facts || (Node.Model && (Node.Model->Opaque || Node.Model->Wait)))
    return Out;
  // Once per boot, per module or per program is not often.
  if (Node.Contexts && !(Node.Contexts & ~(CtxInit | CtxExit)))
    return Out;
  std::optional<Flow> F;
  uint32_t LastEvent = ~0u;
  for (uint32_t I : P.callees(N)) {
    const Edge &E = P.edges()[I];
    const FunctionModel *M = P.modelOf(Node.Facts->Events[E.Event]);
    bool Direct = M && M->Wait;
    if (!Direct && !P.node(E.Callee).Wait.waits())
      continue;
    if (E.OnErrorPath || E.Kind == EdgeKind::SlotMany || E.Event == LastEvent)
      continue;
    if (!F)
      F.emplace(P, *Node.Facts);
    std::optional<WaitSite> S =
        Direct ? direct(N, *F, E.Event, *M) : through(N, *F, E);
    if (!S)
      continue;
    LastEvent = E.Event;
    Out.push_back(std::move(*S));
  }
  return Out;
}

} // namespace decontend
