//===- BodyAccesses.cpp - Function bodies as events: accesses -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which fields and variables a body mentions, and what it does with each. The
// parent of an expression says how it is used (Use); casts, `&` and `*` on the
// way down change that; the member or variable at the bottom records it.
//
// Approximations: an element of an array that a member points to counts as a
// read of that member (may miss updates of the elements; test: pointer
// elements). A reference that is bound to a field counts as an escape (may
// refuse too often). Templates are seen once, uninstantiated: members of
// dependent types are not seen (may miss).
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace decontend {

/// Is the object that \p E is part of a variable on the stack, by value?
static bool onStack(const clang::Expr *E) {
  while (true) {
    E = E->IgnoreParens();
    if (const auto *M = dyn_cast<MemberExpr>(E)) {
      if (M->isArrow())
        return false;
      E = M->getBase();
    } else if (const auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
      const auto *Decay = dyn_cast<ImplicitCastExpr>(S->getBase());
      if (!Decay || Decay->getCastKind() != CK_ArrayToPointerDecay)
        return false;
      E = Decay->getSubExpr();
    } else {
      break;
    }
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Var && Var->hasLocalStorage() && !Var->getType()->isReferenceType();
}

void BodyWalker::mention(const clang::Expr *E, const Use &U) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var || !Var->hasGlobalStorage() || isa<ParmVarDecl>(Var))
      return;
    // What a macro declares for itself is nobody else's.
    if (Var->isStaticLocal() && Var->getLocation().isMacroID())
      return;
  } else if (onStack(E)) {
    return;
  }
  Access A;
  A.At = F.Events.size();
  const clang::Expr *Text = E;
  switch (U.State) {
  case Use::Value:
    // Without a load it is an lvalue: a reference is bound to it, if an
    // argument is what it is.
    A.Kind = !U.Loaded && U.Direct && E->isGLValue() ? AccessKind::Argument
                                                     : AccessKind::Read;
    break;
  case Use::Address:
    A.Kind = U.Direct ? AccessKind::Argument : AccessKind::Escape;
    break;
  case Use::Write:
    A.Kind = AccessKind::Write;
    break;
  case Use::Update:
    A.Kind = AccessKind::Update;
    A.Flags |= U.Flags;
    Text = U.Whole;
    break;
  }
  if (InCondition)
    A.Flags |= Access::InCondition;
  QualType T = E->getType();
  if (!T.isNull() && T.getCanonicalType()->isAtomicType())
    A.Flags |= Access::OneStep;
  if (!empty(N.macroOf(E->getExprLoc())))
    A.Flags |= Access::FromMacro;
  Place P = N.place(Text->getExprLoc());
  A.Line = P.Line;
  A.Column = P.Column;
  A.Text = N.span(Text->getSourceRange());
  Expr Path = describe(N, E);
  auto [It, New] = Paths.try_emplace(
      {static_cast<unsigned>(Path.Text), static_cast<unsigned>(Path.Field)},
      F.Exprs.size());
  if (!New && !(F.Exprs[It->second] == Path)) {
    It->second = F.Exprs.size();
    New = true;
  }
  if (New)
    F.Exprs.push_back(Path);
  A.Path = It->second;
  F.Accesses.push_back(A);
}

void BodyWalker::member(const MemberExpr *E, const Use &U) {
  const auto *Field = dyn_cast<FieldDecl>(E->getMemberDecl());
  if (!Field) {
    expression(E->getBase(), true); // a method, or a static member
    if (isa<VarDecl>(E->getMemberDecl()))
      return;
    return;
  }
  if (!Field->isAnonymousStructOrUnion())
    mention(E, U);
  if (E->isArrow())
    expression(E->getBase(), true);
  else
    lvalueBase(E->getBase());
}

/// An offset can be added to any pointer: as good as the address.
void BodyWalker::offset(const OffsetOfExpr *E) {
  const FieldDecl *Field = offsetField(E);
  if (!Field || !isCounting(Field->getType(), N.Ctx))
    return;
  Expr Path;
  Path.Field = N.fieldKey(Field);
  Path.Text = N.intern(("offsetof(" + N.Facts.str(Path.Field) + ")").str());
  Access A;
  A.Kind = AccessKind::Escape;
  A.At = F.Events.size();
  A.Path = F.Exprs.size();
  F.Exprs.push_back(Path);
  Place P = N.place(E->getExprLoc());
  A.Line = P.Line;
  A.Column = P.Column;
  if (!empty(N.macroOf(E->getExprLoc())))
    A.Flags |= Access::FromMacro;
  F.Accesses.push_back(A);
}

/// The object in `object.member`: what it takes to reach it is read, but the
/// object itself is not used beyond the member.
void BodyWalker::lvalueBase(const clang::Expr *E) {
  while (true) {
    E = E->IgnoreParens();
    if (const auto *M = dyn_cast<MemberExpr>(E)) {
      if (M->isArrow())
        return expression(M->getBase(), true);
      E = M->getBase();
    } else if (const auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
      expression(S->getIdx(), true);
      const auto *Decay = dyn_cast<ImplicitCastExpr>(S->getBase());
      if (!Decay || Decay->getCastKind() != CK_ArrayToPointerDecay)
        return expression(S->getBase(), true);
      E = Decay->getSubExpr();
    } else if (isa<DeclRefExpr>(E)) {
      return;
    } else {
      return expression(E, true);
    }
  }
}

void BodyWalker::subscript(const ArraySubscriptExpr *E, const Use &U) {
  expression(E->getIdx(), true);
  const auto *Decay = dyn_cast<ImplicitCastExpr>(E->getBase());
  if (Decay && Decay->getCastKind() == CK_ArrayToPointerDecay)
    value(Decay->getSubExpr(), U); // an element is used as the array is
  else
    expression(E->getBase(), true);
}

void BodyWalker::unary(const UnaryOperator *E, bool ResultUsed) {
  Use U = std::exchange(Next, {});
  const clang::Expr *Sub = E->getSubExpr();
  switch (E->getOpcode()) {
  case UO_PreInc:
  case UO_PostInc:
  case UO_PreDec:
  case UO_PostDec: {
    uint8_t Flags = E->isIncrementOp() ? Access::Plus : Access::Minus;
    if (ResultUsed)
      Flags |= Access::ResultUsed;
    return value(Sub, {Use::Update, Flags, false, false, E});
  }
  case UO_AddrOf:
    U.State = Use::Address;
    return value(Sub, U);
  case UO_Deref: {
    // *(volatile T *)&x is how READ_ONCE() and WRITE_ONCE() spell x.
    const clang::Expr *Bare = Sub->IgnoreParenCasts();
    if (const auto *Addr = dyn_cast<UnaryOperator>(Bare))
      if (Addr->getOpcode() == UO_AddrOf)
        return value(Addr->getSubExpr(), U);
    return expression(Sub, true);
  }
  case UO_Extension:
    return value(Sub, U, ResultUsed);
  default:
    return expression(Sub, true);
  }
}

void BodyWalker::consume(Mark M, size_t Taker) {
  for (size_t I = M.Access; I < F.Accesses.size(); ++I) {
    Access &A = F.Accesses[I];
    if (A.is(Access::Consumed))
      continue;
    if (A.Kind == AccessKind::Argument) {
      A.Flags |= Access::Consumed;
      A.At = Taker;
    } else if (A.Kind == AccessKind::Read ||
               (A.Kind == AccessKind::Update && A.is(Access::ResultUsed))) {
      A.Flags |= Access::Consumed;
      A.At = Taker;
    } else if (A.Kind == AccessKind::Write &&
               F.Events[Taker].Kind == EventKind::Assign && A.At == Taker) {
      A.Flags |= Access::Consumed;
    }
  }
  for (size_t I = M.Event; I < F.Events.size(); ++I) {
    Event &E = F.Events[I];
    if (I != Taker && E.Kind == EventKind::Call && E.is(Event::ResultUsed) &&
        !E.Link)
      E.Link = Taker;
  }
}

void BodyWalker::number(Mark M, uint16_t Number) {
  for (size_t I = M.Access; I < F.Accesses.size(); ++I)
    if (!F.Accesses[I].is(Access::Consumed))
      F.Accesses[I].Argument = Number;
}

void BodyWalker::arguments(llvm::ArrayRef<const clang::Expr *> Args) {
  for (size_t I = 0; I < Args.size(); ++I) {
    Mark Before = mark();
    Use U;
    U.Direct = true;
    value(Args[I], U);
    number(Before, static_cast<uint16_t>(I));
  }
}

void BodyWalker::atomicBuiltin(const AtomicExpr *E, bool ResultUsed) {
  Mark Before = mark();
  llvm::SmallVector<const clang::Expr *, 4> Args = {E->getPtr()};
  // The order of memory is not an argument that anyone judges.
  if (E->getNumSubExprs() > 2)
    Args.push_back(E->getVal1());
  arguments(Args);
  Event &Ev = add(EventKind::Call, E->getExprLoc());
  Ev.Callee = N.intern(atomicBuiltinName(E));
  if (ResultUsed)
    Ev.Flags |= Event::ResultUsed;
  for (const clang::Expr *A : Args)
    addExpr(Ev, A);
  if (WholeStatement == E) {
    Ev.Flags |= Event::Statement;
    Ev.Text = N.span(E->getSourceRange(), true);
  } else {
    Ev.Text = N.span(E->getSourceRange());
  }
  consume(Before, F.Events.size() - 1);
}

} // namespace decontend
