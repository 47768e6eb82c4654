//===- Counters.cpp - Atomic integers and all their uses ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Counters.h"
#include <algorithm>

namespace decontend {

/// `const struct foo [4]` is a `struct foo`.
static llvm::StringRef bareType(llvm::StringRef Type) {
  Type = Type.take_until([](char C) { return C == '['; }).rtrim();
  bool Again = true;
  while (Again) {
    Again = Type.consume_front("const ") | Type.consume_front("volatile ");
    Type = Type.ltrim();
  }
  return Type;
}

static Sym keyOf(const Expr &X) {
  if (!empty(X.Field))
    return X.Field;
  return X.Root == RootKind::Global ? X.Base : Sym::None;
}

Place Counter::where(const Program &P) const {
  if (Variable)
    return Variable->Where;
  Place W = InRecord->Where;
  W.Line = Field->Line;
  W.Column = 1;
  return W;
}

Counters::Counters(const Program &P, bool Racy) : P(P), Flow(P) {
  findTyped();
  findByOperation(Racy);
  collect();
  for (const auto &U : P.units())
    for (const InitFacts &I : U->Inits)
      if (auto It = ByKey.find(I.Value); It != ByKey.end())
        All[It->second].AddressKept = true;
  for (Counter &C : All)
    C.AddressKept |= C.Field && Inside.contains(P.str(C.Field->Name));
  std::stable_sort(
      All.begin(), All.end(), [&](const Counter &A, const Counter &B) {
        Place X = A.where(P), Y = B.where(P);
        return std::make_tuple(P.str(X.File), X.Line, P.str(A.Key)) <
               std::make_tuple(P.str(Y.File), Y.Line, P.str(B.Key));
      });
  ByKey.clear();
  for (uint32_t I = 0; I < All.size(); ++I)
    ByKey[All[I].Key] = I;
}

const Counter *Counters::find(Sym Key) const {
  auto It = ByKey.find(Key);
  return It == ByKey.end() ? nullptr : &All[It->second];
}

uint32_t Counters::add(Counter C) {
  auto [It, New] = ByKey.try_emplace(C.Key, All.size());
  if (New)
    All.push_back(std::move(C));
  return It->second;
}

void Counters::findTyped() {
  for (const auto &U : P.units()) {
    for (const RecordFacts &R : U->Records)
      for (const FieldFacts &F : R.Fields) {
        if (F.Flags & (FieldFacts::Pointer | FieldFacts::BitField))
          continue;
        const CounterTypeModel *M =
            P.models().counterType(bareType(P.str(F.Type)));
        if (!M && !((F.Flags & FieldFacts::Atomic) && F.Width))
          continue;
        Sym Key = P.find((P.str(R.Key) + "." + P.str(F.Name)).str());
        if (empty(Key))
          continue; // nobody mentions it
        Counter C;
        C.Key = Key;
        C.Record = R.Key;
        C.InRecord = &R;
        C.Field = &F;
        C.Unit = U.get();
        C.Type = M;
        add(C);
      }
    for (const GlobalFacts &G : U->Globals) {
      if (G.Flags & (GlobalFacts::Pointer | GlobalFacts::Const |
                     GlobalFacts::ThreadLocal))
        continue;
      const CounterTypeModel *M =
          P.models().counterType(bareType(P.str(G.Type)));
      if (!M && !((G.Flags & GlobalFacts::Atomic) && G.Width))
        continue;
      Counter C;
      C.Key = G.Key;
      C.Variable = &G;
      C.Unit = U.get();
      C.Type = M;
      add(C);
    }
  }
}

/// Plain integers to which an atomic operation is applied somewhere.
void Counters::findByOperation(bool Racy) {
  llvm::DenseMap<Sym, char> Wanted;
  for (const Node &N : P.nodes()) {
    if (!N.Facts || (N.Model && N.Model->Atomic))
      continue;
    const FunctionFacts &F = *N.Facts;
    for (const Access &A : F.Accesses) {
      const Expr &X = F.Exprs[A.Path];
      if (A.Kind == AccessKind::Argument) {
        const FunctionModel *M = P.modelOf(F.Events[A.At]);
        if (M && M->Atomic && M->Atomic->On == A.Argument &&
            M->Atomic->Op != AtomicModel::Read)
          Wanted.try_emplace(keyOf(X));
      } else if (Racy && A.Kind == AccessKind::Update &&
                 (A.Flags & (Access::Plus | Access::Minus))) {
        Wanted.try_emplace(keyOf(X));
      }
    }
  }
  for (const auto &U : P.units()) {
    for (const RecordFacts &R : U->Records)
      for (const FieldFacts &F : R.Fields) {
        if (!F.Width || (F.Flags & (FieldFacts::Pointer | FieldFacts::BitField |
                                    FieldFacts::Atomic)))
          continue;
        Sym Key = P.find((P.str(R.Key) + "." + P.str(F.Name)).str());
        if (empty(Key) || !Wanted.contains(Key))
          continue;
        Counter C;
        C.Key = Key;
        C.Record = R.Key;
        C.InRecord = &R;
        C.Field = &F;
        C.Unit = U.get();
        add(C);
      }
    for (const GlobalFacts &G : U->Globals) {
      if (!G.Width || (G.Flags & (GlobalFacts::Pointer | GlobalFacts::Const |
                                  GlobalFacts::ThreadLocal)))
        continue;
      if (!Wanted.contains(G.Key))
        continue;
      Counter C;
      C.Key = G.Key;
      C.Variable = &G;
      C.Unit = U.get();
      add(C);
    }
  }
}

void Counters::collect() {
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const Node &Of = P.node(N);
    // The body of an atomic operation is not a use of anybody's counter.
    if (!Of.Facts || (Of.Model && Of.Model->Atomic))
      continue;
    for (uint32_t I = 0; I < Of.Facts->Accesses.size(); ++I) {
      const Access &A = Of.Facts->Accesses[I];
      const Expr &X = Of.Facts->Exprs[A.Path];
      if (auto It = ByKey.find(keyOf(X)); It != ByKey.end())
        classify(All[It->second], N, I);
      else if (!empty(X.Field))
        findInside(X);
    }
  }
}

/// `x->hits.counter`: only the name of what is looked into is left.
void Counters::findInside(const Expr &X) {
  auto [It, New] = Inner.try_emplace(X.Field, false);
  if (New)
    It->second =
        P.models().counterType(P.str(X.Field).rsplit('.').first) != nullptr;
  if (!It->second)
    return;
  llvm::StringRef Outer = P.str(X.Text).rsplit('.').first;
  size_t Member = Outer.find_last_of(".>");
  if (Member != llvm::StringRef::npos)
    Inside.insert(
        Outer.substr(Member + 1).take_until([](char C) { return C == '['; }));
  else if (auto Global = ByKey.find(X.Base);
           X.Root == RootKind::Global && Global != ByKey.end())
    All[Global->second].AddressKept = true;
}

void Counters::operation(CounterUse &Use, const AtomicModel &M, NodeId N,
                         uint32_t Event) {
  const decontend::Event &E = P.node(N).Facts->Events[Event];
  Use.Op = &M;
  Use.OpNode = N;
  Use.Event = Event;
  switch (M.Op) {
  case AtomicModel::Read:
    Use.Kind = UseKind::Read;
    Use.To = Flow.ofCall(N, Event);
    return;
  case AtomicModel::Set:
    Use.Kind = UseKind::Set;
    return;
  case AtomicModel::Exchange:
    Use.Kind = UseKind::Test;
    return;
  case AtomicModel::Bits:
    Use.Kind = UseKind::Bits;
    return;
  case AtomicModel::Add:
  case AtomicModel::Sub:
  case AtomicModel::Inc:
  case AtomicModel::Dec:
    break;
  }
  if (M.Tests) {
    Use.Kind = UseKind::Test;
    return;
  }
  Use.Kind = UseKind::Bump;
  if (!M.Returns || !E.is(Event::ResultUsed))
    return;
  Use.To = Flow.ofCall(N, Event);
  if (Use.To.Bits & ~(Sinks::Shown))
    Use.Kind = UseKind::Value;
}

void Counters::classify(Counter &C, NodeId N, uint32_t Index) {
  const FunctionFacts &F = *P.node(N).Facts;
  const Access &A = F.Accesses[Index];
  CounterUse Use;
  Use.Node = Use.OpNode = N;
  Use.Access = Index;
  Use.Event = A.At;
  Use.Initial = A.is(Access::Initial);
  switch (A.Kind) {
  case AccessKind::Escape:
    Use.Kind = UseKind::Escape;
    break;
  case AccessKind::Read:
    Use.Kind = UseKind::Read;
    if (A.is(Access::Consumed))
      Use.To = Flow.ofTaker(N, A.At, A.At);
    else
      Use.To.Bits = Sinks::Unknown;
    break;
  case AccessKind::Write:
    Use.Kind = UseKind::Set;
    break;
  case AccessKind::Update:
    if (!(A.Flags & (Access::Plus | Access::Minus))) {
      Use.Kind = UseKind::Bits;
      break;
    }
    Use.Kind = A.is(Access::OneStep) ? UseKind::Bump : UseKind::Racy;
    if (A.is(Access::ResultUsed)) {
      if (A.is(Access::Consumed))
        Use.To = Flow.ofTaker(N, A.At, A.At);
      else
        Use.To.Bits = Sinks::Unknown;
      if (Use.To.Bits & ~Sinks::Shown)
        Use.Kind = UseKind::Value;
    }
    break;
  case AccessKind::Argument: {
    const Event &E = F.Events[A.At];
    const FunctionModel *M = P.modelOf(E);
    if (M && M->Atomic && M->Atomic->On == A.Argument) {
      operation(Use, *M->Atomic, N, A.At);
      break;
    }
    NodeId Callee = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
    if (Callee != NoNode && P.node(Callee).Facts &&
        A.Argument < P.node(Callee).Facts->Params.size()) {
      through(C, Use, Callee, A.Argument, 0);
      return;
    }
    Use.Kind = UseKind::Escape;
    break;
  }
  }
  C.Uses.push_back(Use);
}

/// The counter's address is parameter \p Param of \p Callee: what that does
/// with it, seen from where it is passed.
void Counters::through(Counter &C, CounterUse Use, NodeId Callee,
                       unsigned Param, unsigned Depth) {
  const FunctionFacts &F = *P.node(Callee).Facts;
  Use.Wrapped = true;
  bool Any = false;
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    for (unsigned A = 0; A < E.NumExprs; ++A) {
      const Expr &X = F.Exprs[E.FirstExpr + A];
      if (X.Root != RootKind::Param || X.Index != Param || !empty(X.Field))
        continue;
      if (E.Kind == EventKind::Branch || E.Kind == EventKind::Loop)
        continue; // tested against null
      Any = true;
      CounterUse Inner = Use;
      const FunctionModel *M = P.modelOf(E);
      NodeId Next = E.Kind == EventKind::Call && E.Via == CallVia::Direct
                        ? P.find(E.Callee)
                        : NoNode;
      if (M && M->Atomic && M->Atomic->On == int(A)) {
        operation(Inner, *M->Atomic, Callee, I);
      } else if (Next != NoNode && P.node(Next).Facts && Depth < 3 &&
                 A < P.node(Next).Facts->Params.size()) {
        through(C, Inner, Next, A, Depth + 1);
        continue;
      } else {
        Inner.Kind = UseKind::Escape;
      }
      C.Uses.push_back(Inner);
    }
  }
  for (const Access &A : F.Accesses) {
    const Expr &X = F.Exprs[A.Path];
    if (X.Root == RootKind::Param && X.Index == Param &&
        A.Kind != AccessKind::Argument) {
      Any = true;
      Use.Kind = UseKind::Escape; // looks inside the atomic type
      C.Uses.push_back(Use);
      break;
    }
  }
  if (!Any) {
    Use.Kind = UseKind::Escape;
    C.Uses.push_back(Use);
  }
}

} // namespace decontend
