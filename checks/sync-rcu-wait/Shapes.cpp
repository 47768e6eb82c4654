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
    if (E.Worker)
      WorkItems[E.Node] = true;
  }
}

bool ShapeFinder::isWorkItem(NodeId N) const { return WorkItems.lookup(N); }

/// Is the function itself put where objects of a kind end (or begin)?
bool ShapeFinder::startsAs(NodeId N, uint16_t Bit) const {
  return EntryContexts.lookup(N) & Bit;
}

/// Record of the first parameter; of a work function that is the work itself.
static Sym parameterRecord(const FunctionFacts &F) {
  return F.Params.empty() ? Sym::None : F.Params[0].Record;
}

/// Record of a variable: of a parameter, or of what a local is set to.
static Sym recordOfVariable(const FunctionFacts &F, const Expr &X) {
  if (X.Root == RootKind::Param && X.Index < F.Params.size())
    return F.Params[X.Index].Record;
  if (X.Root == RootKind::Local)
    for (const Event &E : F.Events)
      if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
        const Expr &Left = F.Exprs[E.FirstExpr];
        if (Left.Root == RootKind::Local && Left.Base == X.Base &&
            empty(Left.Field) && !empty(Left.Record))
          return Left.Record;
      }
  return Sym::None;
}

/// The record whose reference is dropped: `p` of `&p->refs`.
Sym ShapeFinder::droppedObject(const FunctionFacts &F, uint32_t Drop) const {
  const FunctionModel *M = P.modelOf(F.Events[Drop]);
  auto Args = F.exprs(F.Events[Drop]);
  if (!M || M->DropsRef < 0 || unsigned(M->DropsRef) >= Args.size())
    return Sym::None;
  const Expr &X = Args[M->DropsRef];
  if (empty(X.Field))
    return X.Record;
  return recordOfVariable(F, X);
}

/// Record of the object that a call is about: its first argument; in a function
/// that a slot calls, what it takes from its parameter (`file->private_data`,
/// container_of(work)); else the first parameter.
Sym ShapeFinder::objectOf(NodeId N, uint32_t Event) const {
  const FunctionFacts &F = *P.node(N).Facts;
  const struct Event &Call = F.Events[Event];
  const FunctionModel *M = P.modelOf(Call);
  if (Call.Kind == EventKind::Call && !(M && M->Wait))
    for (const Expr &X : F.exprs(Call))
      if ((X.Root == RootKind::Param || X.Root == RootKind::Local) &&
          !empty(X.Record))
        return X.Record;
  if (P.node(N).AddressTaken)
    for (const struct Event &E : F.Events)
      if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
        auto V = F.exprs(E);
        if (V[0].Root == RootKind::Local && !empty(V[0].Record) &&
            V[1].Root == RootKind::Param &&
            (!empty(V[1].Field) ||
             P.str(V[1].Text).starts_with("container_of(")))
          return V[0].Record;
      }
  for (const ParamFacts &Param : F.Params)
    if (!empty(Param.Record))
      return Param.Record;
  return Sym::None;
}

/// Is the domain of a wait part of an object, so that another object may have
/// another one? Waits on different domains cannot be one.
bool ShapeFinder::ownDomain(const FunctionFacts &F, uint32_t Wait) const {
  const FunctionModel *M = P.modelOf(F.Events[Wait]);
  auto Args = F.exprs(F.Events[Wait]);
  return M && M->Wait && M->Wait->DomainArg >= 0 &&
         unsigned(M->Wait->DomainArg) < Args.size() &&
         Args[M->Wait->DomainArg].Root != RootKind::Global;
}

/// Does a function on the path already have a site of its own that a reader can
/// mend (a loop, a last put, a wait before a free)? Then its callers are only
/// the messengers.
bool ShapeFinder::answeredBelow(llvm::ArrayRef<uint32_t> Path) const {
  for (uint32_t I : Path) {
    const Edge &E = P.edges()[I];
    Flow F(P, *P.node(E.Caller).Facts);
    if (F.payingLoop(E.Event) >= 0 || F.lastReferenceDrop(E.Event) >= 0)
      return true;
    if (E.Kind == EdgeKind::InPlace) {
      const FunctionModel *Put = P.modelOf(F.facts().Events[E.Event]);
      if (Put && Put->DropsRef >= 0)
        return true;
    }
    const FunctionModel *M = P.node(E.Callee).Model;
    if (M && M->Wait) {
      Aftermath A = aftermathOf(P, F, E.Event);
      if (!A.Frees.empty() && A.Blockers.empty())
        return true;
    }
  }
  return false;
}

/// Is there a finding on the path anyway: a function where objects end, or one
/// whose own wait has a shape? One finding for one wait is enough.
bool ShapeFinder::reportedBelow(llvm::ArrayRef<uint32_t> Path) const {
  for (uint32_t I : Path)
    if (startsAs(P.edges()[I].Caller, CtxTeardown))
      return true;
  const Edge &Last = P.edges()[Path.back()];
  Flow F(P, *P.node(Last.Caller).Facts);
  const FunctionModel *M =
      P.modelOf(P.node(Last.Caller).Facts->Events[Last.Event]);
  return M && M->Wait && direct(Last.Caller, F, Last.Event, *M);
}

/// A thread that waits in its main loop before it goes over what was queued
/// serves a batch with one wait.
static bool inEndlessLoop(const Flow &F, uint32_t Wait) {
  for (int Up = F.parent(Wait); Up >= 0; Up = F.parent(Up))
    if (F.facts().Events[Up].is(Event::Endless))
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
  S.Guards = F.guards(Event);
  S.Object = objectOf(N, Event);
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
  if (S.Drop >= 0 && !Freed)
    if (Sym Dropped = droppedObject(Facts, S.Drop); !empty(Dropped))
      S.Object = Dropped;

  bool Barrier = M.Wait->Cost == WaitModel::Barrier;
  S.Loop = F.payingLoop(Event);
  if (S.Loop >= 0 && M.Wait->Cost != WaitModel::Adaptive) {
    S.Conditions += F.skips(Event);
    S.OwnDomain = ownDomain(Facts, Event);
    S.Shape = WaitShape::InLoop;
    return S;
  }
  // One wait, then a loop that frees: this is the remedy, not the defect.
  if (S.After.freesBatch())
    return std::nullopt;
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
  for (uint32_t I : S.After.Waits) {
    // A barrier waits for callbacks, not for readers.
    const WaitModel &Next = *P.modelOf(Facts.Events[I])->Wait;
    Again |= Next.Flavour == M.Wait->Flavour && Next.Cost != WaitModel::Barrier;
  }
  if (!Barrier && Again) {
    S.Shape = WaitShape::Repeated;
    return S;
  }
  if (isWorkItem(N)) {
    // One wait for all that was queued, or for no object at all.
    if ((S.After.LoopBehind && S.After.Frees.empty()) ||
        S.Object == parameterRecord(Facts))
      return std::nullopt;
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
  // A function that others call in order to wait: they are to be judged.
  if (!Facts.is(FunctionFacts::Static) && S.After.Frees.empty() &&
      S.After.Blockers.empty() && S.After.Waits.empty())
    return std::nullopt;
  if (Node.Frequent & CtxTeardown)
    S.Shape = WaitShape::InTeardown;
  else if (Node.Frequent & CtxSetup)
    S.Shape = WaitShape::InSetup;
  else if ((Node.Frequent & CtxHot) &&
           !(S.After.LoopBehind && inEndlessLoop(F, Event)))
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
  S.Guards = E.Guards + P.node(E.Callee).Wait.Guards;
  const Edge &Last = P.edges()[S.Path.back()];
  const FunctionModel *M = P.node(Last.Callee).Model;
  if (!M || !M->Wait)
    return std::nullopt;
  S.Wait = &*M->Wait;
  S.Object = objectOf(N, E.Event);
  // A wait that its own function explains is reported there.
  S.Loop = F.payingLoop(E.Event);
  S.Drop = F.lastReferenceDrop(E.Event);
  if (E.Kind == EdgeKind::InPlace) {
    const FunctionModel *Caller = P.modelOf(F.facts().Events[E.Event]);
    if (Caller && Caller->DropsRef >= 0)
      S.Drop = E.Event;
  }
  if (S.Drop >= 0)
    if (Sym Dropped = droppedObject(F.facts(), S.Drop); !empty(Dropped))
      S.Object = Dropped;
  if (answeredBelow(S.Path))
    return std::nullopt;
  if (S.Wait->Cost == WaitModel::Barrier && S.Loop < 0 && S.Drop < 0)
    return std::nullopt; // as above
  if (S.Loop >= 0) {
    S.Conditions += F.skips(E.Event);
    S.OwnDomain = ownDomain(*P.node(Last.Caller).Facts, Last.Event);
    S.Shape = WaitShape::InLoop;
  } else if (S.Drop >= 0)
    S.Shape = WaitShape::OnLastPut;
  else if (reportedBelow(S.Path))
    return std::nullopt;
  else if (startsAs(N, CtxTeardown))
    S.Shape = WaitShape::InTeardown;
  else if (startsAs(N, CtxSetup))
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
