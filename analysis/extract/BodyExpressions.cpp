//===- BodyExpressions.cpp - Function bodies as events: expressions -------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/Builtins.h"
#include <utility>

using namespace clang;

namespace decontend {

void BodyWalker::expression(const clang::Expr *E, bool ResultUsed) {
  Use U = std::exchange(Next, {});
  if (!E)
    return;
  E = E->IgnoreParens();
  switch (E->getStmtClass()) {
  case Stmt::DeclRefExprClass:
    mention(E, U);
    return;
  case Stmt::MemberExprClass:
    member(cast<MemberExpr>(E), U);
    return;
  case Stmt::ArraySubscriptExprClass:
    subscript(cast<ArraySubscriptExpr>(E), U);
    return;
  case Stmt::IntegerLiteralClass:
  case Stmt::StringLiteralClass:
  case Stmt::CharacterLiteralClass:
  case Stmt::FloatingLiteralClass:
  case Stmt::UnaryExprOrTypeTraitExprClass:
  case Stmt::CXXThisExprClass:
  case Stmt::ImplicitValueInitExprClass:
    return;
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
  case Stmt::UserDefinedLiteralClass:
    call(cast<CallExpr>(E), ResultUsed);
    return;
  case Stmt::OffsetOfExprClass:
    offset(cast<OffsetOfExpr>(E));
    return;
  case Stmt::AtomicExprClass:
    atomicBuiltin(cast<AtomicExpr>(E), ResultUsed);
    return;
  case Stmt::UnaryOperatorClass: {
    const auto *Unary = cast<UnaryOperator>(E);
    Next = U;
    unary(Unary, ResultUsed);
    return;
  }
  case Stmt::StmtExprClass: {
    bool Saved = InCondition;
    InCondition = false;
    const CompoundStmt *Body = cast<StmtExpr>(E)->getSubStmt();
    for (const Stmt *Child : Body->body()) {
      const auto *Last = dyn_cast<clang::Expr>(Child);
      if (Last && Child == Body->body_back()) {
        InCondition = Saved;
        Next = U;
        expression(Last, ResultUsed);
      } else {
        statement(Child);
      }
    }
    InCondition = Saved;
    return;
  }
  case Stmt::ConditionalOperatorClass: {
    const auto *C = cast<ConditionalOperator>(E);
    clang::Expr::EvalResult R;
    if (!C->getCond()->isValueDependent() &&
        C->getCond()->EvaluateAsInt(R, N.Ctx)) {
      Next = U;
      expression(R.Val.getInt().isZero() ? C->getFalseExpr() : C->getTrueExpr(),
                 ResultUsed);
      return;
    }
    expression(C->getCond(), true);
    conditional(C->getCond(), C->getTrueExpr(), C->getFalseExpr(), C);
    return;
  }
  case Stmt::ChooseExprClass: {
    const auto *C = cast<ChooseExpr>(E);
    Next = U;
    if (!C->isConditionDependent())
      expression(C->getChosenSubExpr(), ResultUsed);
    return;
  }
  case Stmt::GenericSelectionExprClass: {
    const auto *G = cast<GenericSelectionExpr>(E);
    Next = U;
    if (!G->isResultDependent())
      expression(G->getResultExpr(), ResultUsed);
    return;
  }
  case Stmt::CompoundLiteralExprClass:
    collectSlotFills(N, E, Sym::None, Sym::None, F.Key);
    break;
  case Stmt::LambdaExprClass: {
    const auto *L = cast<LambdaExpr>(E);
    for (const clang::Expr *Init : L->capture_inits())
      expression(Init, true);
    size_t B = open(EventKind::Lambda, E->getBeginLoc());
    block(L->getBody());
    close(B, E->getEndLoc());
    return;
  }
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    construct(cast<CXXConstructExpr>(E));
    return;
  case Stmt::CXXDeleteExprClass: {
    const auto *D = cast<CXXDeleteExpr>(E);
    Mark Before = mark();
    expression(D->getArgument(), true);
    Event &Ev = add(EventKind::Call, E->getBeginLoc());
    Ev.Callee = N.intern("operator delete");
    if (WholeStatement == E) {
      Ev.Flags |= Event::Statement;
      Ev.Text = N.span(E->getSourceRange(), true);
    }
    addExpr(Ev, D->getArgument());
    consume(Before, F.Events.size() - 1);
    return;
  }
  default:
    break;
  }
  if (const auto *Bin = dyn_cast<BinaryOperator>(E))
    if (binary(Bin, ResultUsed))
      return;
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    bool Void = !E->getType().isNull() && E->getType()->isVoidType();
    const Stmt *Saved = WholeStatement;
    if (WholeStatement == E)
      WholeStatement = Cast->getSubExpr()->IgnoreParens();
    if (Cast->getCastKind() == CK_LValueToRValue)
      U.Loaded = true;
    else if (Cast->getCastKind() == CK_ArrayToPointerDecay)
      U.State = Use::Address;
    Next = U;
    expression(Cast->getSubExpr(), ResultUsed && !Void);
    WholeStatement = Saved;
    return;
  }
  if (isa<FullExpr>(E) && WholeStatement == E) {
    const clang::Expr *Inner = cast<FullExpr>(E)->getSubExpr()->IgnoreParens();
    WholeStatement = Inner;
    Next = U;
    expression(Inner, ResultUsed);
    return;
  }
  if (isa<FullExpr, MaterializeTemporaryExpr>(E)) {
    Next = U;
    expression(cast<clang::Expr>(*E->child_begin()), true);
    return;
  }
  for (const Stmt *Child : E->children())
    if (const auto *Sub = dyn_cast_or_null<clang::Expr>(Child))
      expression(Sub, true);
}

/// Returns false for an operator that only computes.
bool BodyWalker::binary(const BinaryOperator *E, bool ResultUsed) {
  if (E->isLogicalOp()) {
    // The right side runs only for one outcome of the left.
    expression(E->getLHS(), true);
    expression(E->getRHS(), true);
    return true;
  }
  if (E->isAssignmentOp()) {
    Mark Before = mark();
    expression(E->getRHS(), true);
    Use U{Use::Write};
    if (E->isCompoundAssignmentOp()) {
      U.State = Use::Update;
      U.Whole = E;
      if (ResultUsed)
        U.Flags |= Access::ResultUsed;
      if (E->getOpcode() == BO_AddAssign)
        U.Flags |= Access::Plus;
      if (E->getOpcode() == BO_SubAssign)
        U.Flags |= Access::Minus;
    }
    value(E->getLHS(), U);
    assign(E->getLHS(), E->getRHS(), E);
    size_t At = F.Events.size() - 1;
    consume(Before, At);
    return true;
  }
  if (E->getOpcode() == BO_Comma) {
    expression(E->getLHS(), false);
    expression(E->getRHS(), ResultUsed);
    return true;
  }
  return false;
}

void BodyWalker::construct(const CXXConstructExpr *E) {
  Mark Before = mark();
  arguments({E->getArgs(), E->getNumArgs()});
  if (E->getConstructor()->isTrivial() ||
      E->getConstructor()->isCopyOrMoveConstructor())
    return;
  Event &Ev = add(EventKind::Call, E->getExprLoc());
  Ev.Callee = N.functionKey(E->getConstructor());
  for (const clang::Expr *A : E->arguments())
    addExpr(Ev, A);
  consume(Before, F.Events.size() - 1);
}

/// Calls that only exist to fail the build, or to hint the optimiser.
static bool isCompileTimeOnly(const FunctionDecl *FD) {
  if (FD->hasAttr<ErrorAttr>())
    return true;
  switch (FD->getBuiltinID()) {
  case Builtin::BI__builtin_expect:
  case Builtin::BI__builtin_unreachable:
    return true;
  default:
    return false;
  }
}

/// Builtins that look at the type or the spelling of their arguments only.
static bool isUnevaluated(const FunctionDecl *FD) {
  switch (FD->getBuiltinID()) {
  case Builtin::BI__builtin_constant_p:
  case Builtin::BI__builtin_object_size:
  case Builtin::BI__builtin_dynamic_object_size:
    return true;
  default:
    return false;
  }
}

void BodyWalker::call(const CallExpr *E, bool ResultUsed) {
  CalleeName C = calleeOf(N, E);
  if (C.Function && isUnevaluated(C.Function))
    return;
  Mark Before = mark();
  llvm::SmallVector<const clang::Expr *, 8> Args;
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(E))
    Args.push_back(Method->getImplicitObjectArgument());
  Args.append(E->arg_begin(), E->arg_end());
  arguments(Args);
  if (C.Via != CallVia::Direct) {
    Mark Callee = mark();
    expression(E->getCallee(), true);
    for (size_t I = Callee.Access; I < F.Accesses.size(); ++I)
      F.Accesses[I].Flags |= Access::Consumed;
  }
  if (C.Function && isCompileTimeOnly(C.Function))
    return;
  Event &Ev =
      add(EventKind::Call,
          E->getExprLoc().isValid() ? E->getExprLoc() : E->getBeginLoc());
  Ev.Via = C.Via;
  Ev.Callee = C.Name;
  if (ResultUsed)
    Ev.Flags |= Event::ResultUsed;
  for (const clang::Expr *A : Args)
    addExpr(Ev, A);
  consume(Before, F.Events.size() - 1);
  const Stmt *Whole = WholeStatement;
  if (const auto *Bare = dyn_cast_or_null<clang::Expr>(Whole))
    Whole = Bare->IgnoreParens();
  if (Whole == E) {
    Ev.Flags |= Event::Statement;
    Ev.Text = N.span(E->getSourceRange(), true);
  } else {
    Ev.Text = N.span(E->getSourceRange());
  }
  bool Waits = C.Function && C.Function->getIdentifier() &&
               N.isWait(N.intern(C.Function->getName()));
  if (Waits || N.isWait(Ev.Macro)) {
    Sym Comment = commentNear(E->getExprLoc());
    F.Events.back().Comment = Comment;
  }
}

void BodyWalker::assign(const clang::Expr *Left, const clang::Expr *Right,
                        const clang::Expr *Whole) {
  Event &E = add(EventKind::Assign, Whole->getExprLoc());
  if (WholeStatement == Whole) {
    E.Flags |= Event::Statement;
    E.Text = N.span(Whole->getSourceRange(), true);
  }
  addExpr(E, Left);
  addExpr(E, Right);
  const FunctionDecl *Fn = functionValue(Right);
  if (!Fn)
    return;
  const Expr &L = F.Exprs[E.FirstExpr];
  SlotFill Fill;
  Fill.Slot = !empty(L.Field)              ? L.Field
              : L.Root == RootKind::Global ? L.Base
                                           : Sym::None;
  if (empty(Fill.Slot))
    return;
  Fill.Function = N.functionKey(Fn);
  Fill.Within = F.Key;
  Fill.Where = N.place(Whole->getExprLoc());
  N.Facts.Slots.push_back(Fill);
}

} // namespace decontend
