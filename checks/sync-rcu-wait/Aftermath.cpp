//===- Aftermath.cpp - What follows a grace-period wait -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Aftermath.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

bool mentions(llvm::StringRef Text, llvm::StringRef Name) {
  if (Name.empty())
    return false;
  auto IsWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t At = Text.find(Name); At != llvm::StringRef::npos;
       At = Text.find(Name, At + 1)) {
    size_t End = At + Name.size();
    if ((At == 0 || !IsWord(Text[At - 1])) &&
        (End == Text.size() || !IsWord(Text[End])))
      return true;
  }
  return false;
}

/// An assignment that only moves a value into a local variable.
static bool isLocalAssignment(const FunctionFacts &F, const Event &E) {
  const Expr &L = F.exprs(E)[0];
  return L.Root == RootKind::Local && empty(L.Field) &&
         !(L.Flags & (Expr::Deref | Expr::Indexed));
}

Aftermath aftermathOf(const Program &P, const Flow &Shape, uint32_t Wait) {
  Aftermath A;
  const FunctionFacts &F = Shape.facts();
  const Sym WaitMacro = F.Events[Wait].Macro;
  for (uint32_t I : Shape.following(Wait)) {
    const Event &E = F.Events[I];
    // Further calls that the same macro makes belong to the wait.
    if (!empty(WaitMacro) && E.Macro == WaitMacro &&
        E.Line == F.Events[Wait].Line)
      continue;
    if (E.Kind == EventKind::Assign) {
      if (!isLocalAssignment(F, E))
        A.Blockers.push_back(I);
      continue;
    }
    if (E.Kind == EventKind::Loop)
      A.LoopBehind |= Shape.loopsOverElements(I);
    if (E.Kind != EventKind::Call)
      continue;
    const FunctionModel *M = P.modelOf(E);
    if (!M) {
      A.Blockers.push_back(I);
      continue;
    }
    if (M->StopsDevice || M->WaitsForWork)
      A.StopsDevice = true;
    if (M->Wait)
      A.Waits.push_back(I);
    else if (!M->Defers.empty())
      A.Deferrals.push_back(I);
    else if (M->Frees >= 0) {
      A.Frees.push_back(I);
      A.FreesInLoop += Shape.elementLoop(I) > int(Wait);
      A.BlockersBeforeFree = A.Blockers.size();
    } else if (M->Releases >= 0 || (M->LockIsGlobal && !M->Lock.empty()))
      A.Releases.push_back(I);
    else if (!M->Inert)
      A.Blockers.push_back(I);
  }
  return A;
}

/// Do both name one pointer that readers follow: a member, or a global?
static bool sameSlot(const Expr &A, const Expr &B) {
  if (!empty(A.Field) || !empty(B.Field))
    return A.Field == B.Field;
  return A.Root == RootKind::Global && B.Root == RootKind::Global &&
         A.Base == B.Base;
}

int unlinkedBefore(const Program &P, const Flow &Shape, uint32_t Wait,
                   const Expr &X) {
  const FunctionFacts &F = Shape.facts();
  llvm::StringRef Object = P.str(X.Base);
  llvm::StringRef Whole = P.str(X.Text);
  auto IsObject = [&](const Expr &E) {
    llvm::StringRef Text = P.str(E.Text);
    // The object itself, or a member of it: `&p->list`.
    if (mentions(Text, Object) &&
        (X.Root == RootKind::Local || X.Root == RootKind::Param))
      return true;
    return mentions(Text, Whole);
  };
  for (int I = int(Wait) - 1; I >= 0; --I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Call) {
      const FunctionModel *M = P.modelOf(E);
      if (!M || M->Unlinks < 0)
        continue;
      auto Args = F.exprs(E);
      for (const Expr &A : Args)
        if (IsObject(A))
          return I;
      // `old = rcu_dereference(slot); rcu_assign_pointer(slot, new)`, and
      // `old = rcu_xchg_pointer(&slot, new)`.
      if (unsigned(M->Unlinks) < Args.size())
        for (const Event &D : F.Events)
          if (D.Kind == EventKind::Assign && D.NumExprs == 2) {
            auto V = F.exprs(D);
            if (V[0].Base != X.Base || !empty(V[0].Field))
              continue;
            if (sameSlot(V[1], Args[M->Unlinks]) ||
                (V[1].Root == RootKind::Call && V[1].Base == E.Callee))
              return I;
          }
    } else if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
      // A macro such as rcu_assign_pointer() stores through a barrier; a plain
      // store of null hides the object as well.
      const FunctionModel *M = P.modelOfMacro(E);
      auto V = F.exprs(E);
      bool Clears = V[1].Root == RootKind::Null && !empty(V[0].Field);
      if (!(M && M->Unlinks >= 0) && !Clears)
        continue;
      for (const Event &D : F.Events)
        if (D.Kind == EventKind::Assign && D.NumExprs == 2) {
          auto W = F.exprs(D);
          if (W[0].Base == X.Base && empty(W[0].Field) && sameSlot(W[1], V[0]))
            return I;
        }
      if (IsObject(V[0]) && empty(X.Field) == false && X.Field == V[0].Field)
        return I;
    }
  }
  return -1;
}

} // namespace decontend
