//===- Presence.cpp - Is the object there, and does it run? ---------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Presence.h"

namespace decontend {

bool surelyBefore(const Flow &Shape, uint32_t I, uint32_t Until) {
  // A jump may pass it by.
  for (uint32_t J = I; J < Until; ++J)
    if (Shape.facts().Events[J].Kind == EventKind::Label)
      return false;
  if (Shape.parent(I) == -1)
    return true;
  if (Until < Shape.facts().Events.size())
    for (int Up = Shape.parent(Until); Up >= 0; Up = Shape.parent(Up))
      if (Up == Shape.parent(I))
        return true;
  return false;
}

/// Does the branch at \p I leave the function?
static bool leaves(const FunctionFacts &F, uint32_t I) {
  for (uint32_t J = I + 1; J < F.Events[I].Link; ++J)
    if (F.Events[J].Kind == EventKind::Return)
      return true;
  return false;
}

static bool isThere(const Program &P, NodeId N, Sym Object, uint32_t Until,
                    unsigned Depth);

/// Does the function that event \p I calls look into the object in any case?
static bool calleeLooks(const Program &P, const FunctionFacts &F, uint32_t I,
                        Sym Object, unsigned Depth) {
  const Event &E = F.Events[I];
  NodeId Callee = E.Kind == EventKind::Call && E.Via == CallVia::Direct
                      ? P.find(E.Callee)
                      : NoNode;
  if (Depth == 0 || Callee == NoNode || !P.node(Callee).Facts)
    return false;
  const FunctionFacts &G = *P.node(Callee).Facts;
  auto X = F.exprs(E);
  for (size_t A = 0; A < X.size() && A < G.Params.size(); ++A)
    if (X[A].Base == Object && empty(X[A].Field) &&
        !(X[A].Flags & Expr::AddressOf) &&
        isThere(P, Callee, G.Params[A].Name, G.Events.size(), Depth - 1))
      return true;
  return false;
}

static bool isThere(const Program &P, NodeId N, Sym Object, uint32_t Until,
                    unsigned Depth) {
  const FunctionFacts &F = *P.node(N).Facts;
  Flow Shape(P, F);
  bool Found = false;
  for (uint32_t I = 0; I < Until; ++I) {
    const Event &E = F.Events[I];
    auto X = F.exprs(E);
    if (E.Kind == EventKind::Assign && E.NumExprs == 2 && X[0].Base == Object &&
        empty(X[0].Field)) {
      Found = P.str(X[1].Text).starts_with("container_of(");
    } else if (E.Kind == EventKind::Branch && E.is(Event::NullTest) &&
               E.is(Event::Negated) && E.NumExprs && X[0].Base == Object &&
               empty(X[0].Field)) {
      Found |= leaves(F, I) && surelyBefore(Shape, I, Until);
    } else if (surelyBefore(Shape, I, Until)) {
      for (const Expr &Y : X)
        Found |= Y.Base == Object && !empty(Y.Field);
      Found |= calleeLooks(P, F, I, Object, Depth);
    }
  }
  for (const Access &A : F.Accesses)
    Found |= A.At < Until && surelyBefore(Shape, A.At, Until) &&
             F.Exprs[A.Path].Base == Object;
  if (Until < F.Events.size())
    for (int Up = Shape.parent(Until); Up >= 0; Up = Shape.parent(Up))
      Found |= Shape.isNullGuard(Up);
  return Found;
}

bool isThere(const Program &P, NodeId N, Sym Object, uint32_t Until) {
  return isThere(P, N, Object, Until, 3);
}

} // namespace decontend
