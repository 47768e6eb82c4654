//===- BodyBranches.cpp - Function bodies as events: conditions -----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"

using namespace clang;

namespace decontend {

void BodyWalker::condition(const clang::Expr *E) {
  bool Saved = InCondition;
  InCondition = true;
  if (E)
    expression(E, true);
  InCondition = Saved;
}

static const clang::Expr *stripExpectations(const clang::Expr *E,
                                            bool &Unlikely) {
  while (E) {
    E = E->IgnoreParenImpCasts();
    if (const auto *C = dyn_cast<CallExpr>(E)) {
      const FunctionDecl *FD = C->getDirectCallee();
      if (FD && FD->getBuiltinID() == Builtin::BI__builtin_expect &&
          C->getNumArgs() == 2) {
        clang::Expr::EvalResult R;
        if (C->getArg(1)->EvaluateAsInt(R, FD->getASTContext()) &&
            R.Val.getInt().isZero())
          Unlikely = true;
        E = C->getArg(0);
        continue;
      }
    }
    // !!(x) as likely() and WARN_ON() write it.
    if (const auto *U = dyn_cast<UnaryOperator>(E))
      if (U->getOpcode() == UO_LNot)
        if (const auto *V =
                dyn_cast<UnaryOperator>(U->getSubExpr()->IgnoreParenImpCasts()))
          if (V->getOpcode() == UO_LNot) {
            E = V->getSubExpr();
            continue;
          }
    return E;
  }
  return E;
}

void BodyWalker::classify(Event &Branch, const clang::Expr *Cond) {
  // What depends on a template parameter cannot be evaluated (may miss guards).
  if (Cond->isTypeDependent() || Cond->isValueDependent())
    return;
  bool Unlikely = false, Negated = false;
  const clang::Expr *E = stripExpectations(Cond, Unlikely);
  while (const auto *U = dyn_cast_or_null<UnaryOperator>(E)) {
    if (U->getOpcode() != UO_LNot)
      break;
    Negated = !Negated;
    E = stripExpectations(U->getSubExpr(), Unlikely);
  }
  if (Unlikely)
    Branch.Flags |= Event::Unlikely;
  if (!E)
    return;
  const clang::Expr *Tested = E;
  if (const auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isEqualityOp() &&
        B->getRHS()->isNullPointerConstant(
            N.Ctx, clang::Expr::NPC_ValueDependentIsNotNull)) {
      if (B->getOpcode() == BO_EQ)
        Negated = !Negated;
      Tested = B->getLHS()->IgnoreParenImpCasts();
    } else if (B->getOpcode() == BO_LT &&
               B->getRHS()->isIntegerConstantExpr(N.Ctx)) {
      Branch.Flags |= Event::ErrorTest;
      Tested = B->getLHS()->IgnoreParenImpCasts();
    }
  }
  if (Tested->getType().isNull())
    return; // not known before instantiation
  if (Tested->getType()->isPointerType())
    Branch.Flags |= Event::NullTest;
  else if (const auto *Ref = dyn_cast<DeclRefExpr>(Tested)) {
    // `if (ret)`: a status in a local variable.
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (Var && Var->hasLocalStorage() && !isa<ParmVarDecl>(Var) &&
        Ref->getType()->isIntegerType() && !Ref->getType()->isBooleanType() &&
        !Negated)
      Branch.Flags |= Event::ErrorTest;
  } else if (const auto *C = dyn_cast<CallExpr>(Tested)) {
    if (const FunctionDecl *FD = C->getDirectCallee()) {
      llvm::StringRef Name =
          FD->getIdentifier() ? FD->getName() : llvm::StringRef();
      if (Name == "IS_ERR" || Name == "IS_ERR_OR_NULL") {
        Branch.Flags |= Event::ErrorTest;
        if (C->getNumArgs())
          Tested = C->getArg(0);
      }
    }
  }
  if (Negated)
    Branch.Flags |= Event::Negated;
  addExpr(Branch, Tested);
}

void BodyWalker::ifStatement(const IfStmt *S) {
  substatement(S->getInit());
  substatement(S->getConditionVariableDeclStmt());
  // Branches that the configuration decides: walk only what is compiled in.
  clang::Expr::EvalResult R;
  if (!S->getCond()->isValueDependent() &&
      S->getCond()->isIntegerConstantExpr(N.Ctx) &&
      S->getCond()->EvaluateAsInt(R, N.Ctx)) {
    substatement(R.Val.getInt().isZero() ? S->getElse() : S->getThen());
    return;
  }
  Mark Before = mark();
  condition(S->getCond());
  size_t B = open(EventKind::Branch, S->getBeginLoc());
  consume(Before, B);
  {
    Event &E = F.Events[B];
    E.Callee = sourceText(S->getCond());
    E.Text = N.span(S->getSourceRange(), !isa<CompoundStmt>(S->getThen()));
    if (isa<CompoundStmt>(S->getThen()))
      E.Flags |= Event::Braced;
    classify(E, S->getCond());
  }
  block(S->getThen());
  close(B, S->getThen()->getEndLoc());
  if (!S->getElse())
    return;
  size_t Else = open(EventKind::Else, S->getElseLoc());
  if (isa<CompoundStmt>(S->getElse()))
    F.Events[Else].Flags |= Event::Braced;
  block(S->getElse());
  close(Else, S->getElse()->getEndLoc());
}

void BodyWalker::conditional(const clang::Expr *Cond, const clang::Expr *Then,
                             const clang::Expr *Else,
                             const clang::Expr *Whole) {
  auto Walk = [&](const clang::Expr *E, EventKind K) {
    if (!E)
      return;
    size_t Before = F.Events.size();
    size_t B = open(K, Whole->getExprLoc());
    if (K == EventKind::Branch && Cond)
      F.Events[B].Callee = sourceText(Cond);
    size_t Accesses = F.Accesses.size();
    expression(E, true);
    if (F.Events.size() == Before + 1) {
      for (size_t I = Accesses; I < F.Accesses.size(); ++I)
        F.Accesses[I].At = Before;
      F.Events.resize(Before); // nothing inside: not worth a block
      return;
    }
    close(B, Whole->getExprLoc());
  };
  Walk(Then, EventKind::Branch);
  Walk(Else, EventKind::Branch);
}

void BodyWalker::switchStatement(const SwitchStmt *S) {
  substatement(S->getInit());
  Mark Before = mark();
  condition(S->getCond());
  size_t B = open(EventKind::Switch, S->getBeginLoc());
  consume(Before, B);
  F.Events[B].Callee = sourceText(S->getCond());
  block(S->getBody());
  close(B, S->getEndLoc());
}

} // namespace decontend
