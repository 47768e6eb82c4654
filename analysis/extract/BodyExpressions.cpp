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

using namespace clang;

namespace decontend {

void BodyWalker::expression(const clang::Expr *E, bool ResultUsed) {
  if (!E)
    return;
  E = E->IgnoreParens();
  switch (E->getStmtClass()) {
  case Stmt::DeclRefExprClass:
  case Stmt::IntegerLiteralClass:
  case Stmt::StringLiteralClass:
  case Stmt::CharacterLiteralClass:
  case Stmt::FloatingLiteralClass:
  case Stmt::UnaryExprOrTypeTraitExprClass:
  case Stmt::OffsetOfExprClass:
  case Stmt::CXXThisExprClass:
  case Stmt::ImplicitValueInitExprClass:
    return;
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
  case Stmt::UserDefinedLiteralClass:
    call(cast<CallExpr>(E), ResultUsed);
    return;
  case Stmt::StmtExprClass: {
    bool Saved = InCondition;
    InCondition = false;
    const CompoundStmt *Body = cast<StmtExpr>(E)->getSubStmt();
    for (const Stmt *Child : Body->body()) {
      const auto *Last = dyn_cast<clang::Expr>(Child);
      if (Last && Child == Body->body_back()) {
        InCondition = Saved;
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
    if (!C->isConditionDependent())
      expression(C->getChosenSubExpr(), ResultUsed);
    return;
  }
  case Stmt::GenericSelectionExprClass: {
    const auto *G = cast<GenericSelectionExpr>(E);
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
    statement(L->getBody());
    close(B, E->getEndLoc());
    return;
  }
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass: {
    const auto *C = cast<CXXConstructExpr>(E);
    for (const clang::Expr *A : C->arguments())
      expression(A, true);
    if (C->getConstructor()->isTrivial() ||
        C->getConstructor()->isCopyOrMoveConstructor())
      return;
    Event &Ev = add(EventKind::Call, E->getExprLoc());
    Ev.Callee = N.functionKey(C->getConstructor());
    for (const clang::Expr *A : C->arguments())
      addExpr(Ev, A);
    return;
  }
  case Stmt::CXXDeleteExprClass: {
    const auto *D = cast<CXXDeleteExpr>(E);
    expression(D->getArgument(), true);
    Event &Ev = add(EventKind::Call, E->getBeginLoc());
    Ev.Callee = N.intern("operator delete");
    if (WholeStatement == E) {
      Ev.Flags |= Event::Statement;
      Ev.Text = N.span(E->getSourceRange(), true);
    }
    addExpr(Ev, D->getArgument());
    return;
  }
  default:
    break;
  }
  if (const auto *Bin = dyn_cast<BinaryOperator>(E)) {
    if (Bin->isLogicalOp()) {
      // The right side runs only for one outcome of the left.
      expression(Bin->getLHS(), true);
      expression(Bin->getRHS(), true);
      return;
    }
    if (Bin->isAssignmentOp()) {
      expression(Bin->getRHS(), true);
      expression(Bin->getLHS(), true);
      assign(Bin->getLHS(), Bin->getRHS(), E);
      return;
    }
    if (Bin->getOpcode() == BO_Comma) {
      expression(Bin->getLHS(), false);
      expression(Bin->getRHS(), ResultUsed);
      return;
    }
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    bool Void = !E->getType().isNull() && E->getType()->isVoidType();
    const Stmt *Saved = WholeStatement;
    if (WholeStatement == E)
      WholeStatement = Cast->getSubExpr()->IgnoreParens();
    expression(Cast->getSubExpr(), ResultUsed && !Void);
    WholeStatement = Saved;
    return;
  }
  if (isa<FullExpr>(E) && WholeStatement == E) {
    const clang::Expr *Inner = cast<FullExpr>(E)->getSubExpr()->IgnoreParens();
    WholeStatement = Inner;
    expression(Inner, ResultUsed);
    return;
  }
  for (const Stmt *Child : E->children())
    if (const auto *Sub = dyn_cast_or_null<clang::Expr>(Child))
      expression(Sub, true);
}

/// Calls that only exist to fail the build, or to hint the optimiser.
static bool isCompileTimeOnly(const FunctionDecl *FD) {
  if (FD->hasAttr<ErrorAttr>())
    return true;
  switch (FD->getBuiltinID()) {
  case Builtin::BI__builtin_expect:
  case Builtin::BI__builtin_constant_p:
  case Builtin::BI__builtin_object_size:
  case Builtin::BI__builtin_dynamic_object_size:
  case Builtin::BI__builtin_unreachable:
    return true;
  default:
    return false;
  }
}

void BodyWalker::call(const CallExpr *E, bool ResultUsed) {
  CalleeName C = calleeOf(N, E);
  if (C.Function &&
      C.Function->getBuiltinID() == Builtin::BI__builtin_constant_p)
    return; // its argument is not evaluated
  for (const clang::Expr *A : E->arguments())
    expression(A, true);
  if (C.Via != CallVia::Direct)
    expression(E->getCallee(), true);
  if (C.Function && isCompileTimeOnly(C.Function))
    return;
  Event &Ev =
      add(EventKind::Call,
          E->getExprLoc().isValid() ? E->getExprLoc() : E->getBeginLoc());
  Ev.Via = C.Via;
  Ev.Callee = C.Name;
  if (ResultUsed)
    Ev.Flags |= Event::ResultUsed;
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(E))
    addExpr(Ev, Method->getImplicitObjectArgument());
  for (const clang::Expr *A : E->arguments())
    addExpr(Ev, A);
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

void collectSlotFills(Naming &N, const clang::Expr *Init, Sym Slot, Sym Object,
                      Sym Within) {
  if (!Init)
    return;
  Init = Init->IgnoreParenCasts();
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Init))
    return collectSlotFills(N, Literal->getInitializer(), Slot, Object, Within);
  if (const auto *U = dyn_cast<UnaryOperator>(Init))
    if (U->getOpcode() == UO_AddrOf)
      if (const auto *Literal =
              dyn_cast<CompoundLiteralExpr>(U->getSubExpr()->IgnoreParens()))
        return collectSlotFills(N, Literal->getInitializer(), Sym::None, Object,
                                Within);
  if (const auto *List = dyn_cast<InitListExpr>(Init)) {
    if (const InitListExpr *Semantic = List->getSemanticForm())
      List = Semantic;
    const auto *Record = List->getType().isNull()
                             ? nullptr
                             : List->getType()->getAs<RecordType>();
    if (!Record) {
      for (const clang::Expr *E : List->inits())
        collectSlotFills(N, E, Slot, Object, Within);
      return;
    }
    if (const FieldDecl *Only = List->getInitializedFieldInUnion()) {
      for (const clang::Expr *E : List->inits())
        collectSlotFills(N, E, N.fieldKey(Only), Object, Within);
      return;
    }
    auto Field = Record->getDecl()->field_begin();
    auto End = Record->getDecl()->field_end();
    for (const clang::Expr *E : List->inits()) {
      while (Field != End && Field->isUnnamedBitField())
        ++Field;
      if (Field == End)
        break;
      if (!isa<ImplicitValueInitExpr>(E))
        collectSlotFills(N, E, N.fieldKey(*Field), Object, Within);
      ++Field;
    }
    return;
  }
  const FunctionDecl *Fn = functionValue(Init);
  if (!Fn || empty(Slot))
    return;
  SlotFill Fill;
  Fill.Slot = Slot;
  Fill.Function = N.functionKey(Fn);
  Fill.Object = Object;
  Fill.Within = Within;
  Fill.Where = N.place(Init->getExprLoc());
  N.Facts.Slots.push_back(Fill);
}

} // namespace decontend
