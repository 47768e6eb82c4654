//===- ValueFlow.cpp - What becomes of a value ----------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueFlow.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

void Sinks::merge(const Sinks &O) {
  if (!has(Decision) && O.has(Decision)) {
    Where = O.Where;
    Event = O.Event;
  }
  Bits |= O.Bits;
}

static Sinks sink(uint8_t Bits) {
  Sinks S;
  S.Bits = Bits;
  return S;
}

bool mentionsVariable(llvm::StringRef Text, llvm::StringRef Name) {
  if (Name.empty())
    return false;
  auto IsWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t At = Text.find(Name); At != llvm::StringRef::npos;
       At = Text.find(Name, At + 1)) {
    size_t End = At + Name.size();
    bool Member = (At >= 1 && Text[At - 1] == '.') ||
                  (At >= 2 && Text.substr(At - 2, 2) == "->");
    if (!Member && (At == 0 || !IsWord(Text[At - 1])) &&
        (End == Text.size() || !IsWord(Text[End])))
      return true;
  }
  return false;
}

static bool opensCondition(EventKind K) {
  return K == EventKind::Branch || K == EventKind::Loop ||
         K == EventKind::Switch;
}

ValueFlow::ValueFlow(const Program &P) : P(P) {
  for (const Node &N : P.nodes()) {
    // What shows figures may skip those that are zero.
    if (!N.Facts || (N.Contexts & CtxReport))
      continue;
    for (const Access &A : N.Facts->Accesses)
      if (A.Kind == AccessKind::Read && A.is(Access::Consumed) &&
          opensCondition(N.Facts->Events[A.At].Kind))
        Tested.insert(N.Facts->Exprs[A.Path].Field);
  }
}

/// A value stored through \p Left, which is no plain local variable.
Sinks ValueFlow::stored(const Expr &Left) const {
  if (Left.Root == RootKind::Global)
    return sink(Sinks::Kept);
  // Through an out-parameter into a variable of the caller.
  if (empty(Left.Field))
    return sink(Sinks::Unknown);
  return sink(Tested.contains(Left.Field) ? Sinks::Kept : Sinks::Copied);
}

Sinks ValueFlow::ofCall(NodeId N, uint32_t Event) const {
  return call(N, Event, 0);
}

Sinks ValueFlow::ofTaker(NodeId N, uint32_t Taker, uint32_t From) const {
  return taker(N, Taker, Sym::None, 0);
}

Sinks ValueFlow::ofParam(NodeId N, unsigned Index) const {
  const FunctionFacts *F = P.node(N).Facts;
  if (!F || Index >= F->Params.size())
    return sink(Sinks::Unknown);
  return variable(N, F->Params[Index].Name, RootKind::Param, Index, 0, 0);
}

/// A condition decides, unless it is part of an assertion or a message.
Sinks ValueFlow::decision(NodeId N, uint32_t Event) const {
  const decontend::Event &E = P.node(N).Facts->Events[Event];
  if (const FunctionModel *M = P.modelOfMacro(E))
    if (M->Inert || M->Reports)
      return sink(Sinks::Shown);
  Sinks S = sink(Sinks::Decision);
  S.Where = N;
  S.Event = Event;
  return S;
}

Sinks ValueFlow::call(NodeId N, uint32_t Event, unsigned Depth) const {
  const FunctionFacts &F = *P.node(N).Facts;
  const decontend::Event &E = F.Events[Event];
  if (!E.is(Event::ResultUsed))
    return {};
  if (!E.Link)
    return sink(Sinks::Unknown);
  return taker(N, E.Link, E.Callee, Depth);
}

/// \p From is the callee whose value it is, to find the argument it became.
Sinks ValueFlow::taker(NodeId N, uint32_t Taker, Sym From,
                       unsigned Depth) const {
  const FunctionFacts &F = *P.node(N).Facts;
  const Event &E = F.Events[Taker];
  if (opensCondition(E.Kind))
    return decision(N, Taker);
  switch (E.Kind) {
  case EventKind::Return:
    return returned(N, Depth);
  case EventKind::Assign: {
    const Expr &L = F.Exprs[E.FirstExpr];
    if (L.Root == RootKind::Local && empty(L.Field) &&
        !(L.Flags & (Expr::Deref | Expr::Indexed)))
      return variable(N, L.Base, RootKind::Local, 0, Taker + 1, Depth);
    return stored(L);
  }
  case EventKind::Call: {
    for (unsigned A = 0; A < E.NumExprs; ++A) {
      const Expr &X = F.Exprs[E.FirstExpr + A];
      if (X.Root == RootKind::Call && X.Base == From && !empty(From))
        return argument(N, Taker, A, Depth);
    }
    // Part of a larger expression: some argument.
    const FunctionModel *M = P.modelOf(E);
    if (M && (M->Reports || M->Inert))
      return sink(Sinks::Shown);
    Sinks S = sink(Sinks::Unknown);
    S.merge(call(N, Taker, Depth));
    return S;
  }
  default:
    return sink(Sinks::Unknown);
  }
}

Sinks ValueFlow::argument(NodeId N, uint32_t Event, unsigned Argument,
                          unsigned Depth) const {
  const FunctionFacts &F = *P.node(N).Facts;
  const decontend::Event &E = F.Events[Event];
  if (const FunctionModel *M = P.modelOf(E)) {
    if (M->Reports || M->Inert)
      return sink(Sinks::Shown);
    if (M->Atomic)
      return sink(int(Argument) == M->Atomic->By ? Sinks::Kept : Sinks::None);
  }
  NodeId Callee = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
  if (Callee == NoNode || !P.node(Callee).Facts || Depth >= MaxDepth) {
    Sinks S = sink(Sinks::Unknown);
    S.merge(call(N, Event, Depth));
    return S;
  }
  const FunctionFacts &G = *P.node(Callee).Facts;
  // What follows a format is printed.
  if (Argument >= G.Params.size())
    return sink(G.is(FunctionFacts::Variadic) ? Sinks::Shown : Sinks::Unknown);
  Sinks S = variable(Callee, G.Params[Argument].Name, RootKind::Param, Argument,
                     0, Depth + 1);
  // What the callee returns goes on here, not at all of its callers.
  if (S.has(Sinks::Returned)) {
    S.Bits &= ~Sinks::Returned;
    S.merge(call(N, Event, Depth + 1));
  }
  return S;
}

/// `if (val < 0) val = 0;` bends the value and decides nothing else.
bool ValueFlow::onlyClamps(const FunctionFacts &F, uint32_t Branch,
                           Sym Name) const {
  const Event &B = F.Events[Branch];
  if (B.Kind != EventKind::Branch || !B.Link)
    return false;
  for (uint32_t I = Branch + 1; I < B.Link; ++I) {
    const Event &E = F.Events[I];
    if (E.Kind != EventKind::Assign || F.Exprs[E.FirstExpr].Base != Name ||
        !empty(F.Exprs[E.FirstExpr].Field))
      return false;
  }
  return B.Link > Branch + 1;
}

Sinks ValueFlow::variable(NodeId N, Sym Name, RootKind Root, unsigned Index,
                          uint32_t After, unsigned Depth) const {
  const FunctionFacts &F = *P.node(N).Facts;
  llvm::StringRef Word = P.str(Name);
  if (empty(Name) || Depth > MaxDepth)
    return sink(Sinks::Unknown);
  Sinks S;
  bool Seen = false;
  for (uint32_t I = After; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (opensCondition(E.Kind) && mentionsVariable(P.str(E.Callee), Word)) {
      Seen = true;
      if (!onlyClamps(F, I, Name))
        S.merge(decision(N, I));
      continue;
    }
    for (unsigned A = 0; A < E.NumExprs; ++A) {
      const Expr &X = F.Exprs[E.FirstExpr + A];
      bool Itself = X.Root == Root && X.Base == Name && empty(X.Field) &&
                    (Root != RootKind::Param || X.Index == Index);
      if (!Itself && !(X.Root == RootKind::Unknown &&
                       mentionsVariable(P.str(X.Text), Word)))
        continue;
      if (E.Kind == EventKind::Assign && A == 0)
        continue; // overwritten
      Seen = true;
      if (E.Kind == EventKind::Call) {
        S.merge(argument(N, I, A, Depth));
      } else if (E.Kind == EventKind::Return) {
        if (Root == RootKind::Param)
          S.merge(sink(Sinks::Returned)); // the caller knows what it did
        else
          S.merge(returned(N, Depth));
      } else if (E.Kind == EventKind::Assign) {
        const Expr &L = F.Exprs[E.FirstExpr];
        if (L.Root == RootKind::Local && empty(L.Field)) {
          if (L.Base != Name)
            S.merge(variable(N, L.Base, RootKind::Local, 0, I + 1, Depth + 1));
        } else {
          S.merge(stored(L));
        }
      } else if (opensCondition(E.Kind)) {
        S.merge(decision(N, I));
      }
    }
  }
  // A value that nobody seems to use went where the facts do not look.
  if (!Seen)
    S.merge(sink(Sinks::Unknown));
  return S;
}

Sinks ValueFlow::returned(NodeId N, unsigned Depth) const {
  Sinks S = sink(Sinks::Returned);
  const Node &Of = P.node(N);
  llvm::ArrayRef<uint32_t> Callers = P.callers(N);
  // Fewer callers of callers, so that the whole stays within bounds.
  if (Depth >= MaxDepth || Callers.size() > (MaxCallers >> (2 * Depth)) ||
      Callers.empty()) {
    // A slot that people read through shows what it returns.
    bool Report = Callers.empty() && (Of.Contexts & CtxReport);
    S.merge(sink(Report ? Sinks::Shown : Sinks::Unknown));
    return S;
  }
  for (uint32_t I : Callers) {
    const Edge &C = P.edges()[I];
    const Event &E = P.node(C.Caller).Facts->Events[C.Event];
    if (C.Kind == EdgeKind::InPlace) {
      S.merge(sink(Sinks::Unknown));
      continue;
    }
    if (E.is(Event::ResultUsed))
      S.merge(call(C.Caller, C.Event, Depth + 1));
  }
  return S;
}

} // namespace decontend
