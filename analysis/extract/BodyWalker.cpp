//===- BodyWalker.cpp - Function bodies as events: statements -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace decontend {

Event &BodyWalker::add(EventKind K, SourceLocation L) {
  Event &E = F.Events.emplace_back();
  E.Kind = K;
  Place P = N.place(L);
  E.Line = P.Line;
  E.Column = P.Column;
  E.Macro = N.macroOf(L);
  if (!empty(E.Macro))
    E.Flags |= Event::FromMacro;
  if (InCondition)
    E.Flags |= Event::InCondition;
  E.FirstExpr = F.Exprs.size();
  return E;
}

void BodyWalker::addExpr(Event &E, const clang::Expr *Value) {
  // Describing may not add events, so E stays valid.
  F.Exprs.push_back(describe(N, Value));
  ++E.NumExprs;
}

size_t BodyWalker::open(EventKind K, SourceLocation L) {
  add(K, L);
  return F.Events.size() - 1;
}

void BodyWalker::close(size_t Opener, SourceLocation L) {
  Event &E = add(EventKind::End, L);
  E.Flags &= ~Event::InCondition;
  E.Link = Opener;
  F.Events[Opener].Link = F.Events.size() - 1;
}

Sym BodyWalker::sourceText(const Stmt *S) {
  llvm::StringRef Text = Lexer::getSourceText(
      CharSourceRange::getTokenRange(
          N.SM.getExpansionRange(S->getSourceRange()).getAsRange()),
      N.SM, N.Ctx.getLangOpts());
  std::string Out;
  bool Space = false;
  for (char C : Text.take_front(400)) {
    if (llvm::isSpace(C)) {
      Space = true;
      continue;
    }
    if (Space && !Out.empty())
      Out += ' ';
    Space = false;
    Out += C;
  }
  if (Out.size() > 100)
    Out.resize(100);
  return N.intern(Out);
}

/// The comment that ends on the line above, or stands behind on the same line.
/// Looks at raw text: Clang keeps only documentation comments.
Sym BodyWalker::commentNear(SourceLocation L) {
  L = N.SM.getExpansionLoc(N.fileLoc(L));
  auto [FID, Offset] = N.SM.getDecomposedLoc(L);
  bool Invalid = false;
  llvm::StringRef Buffer = N.SM.getBufferData(FID, &Invalid);
  if (Invalid || Offset > Buffer.size())
    return Sym::None;
  llvm::StringRef Rest =
      Buffer.substr(Offset).take_until([](char C) { return C == '\n'; });
  std::string Text;
  size_t LineStart = Buffer.rfind('\n', Offset);
  llvm::StringRef Above =
      LineStart == llvm::StringRef::npos ? "" : Buffer.take_front(LineStart);
  llvm::StringRef Trimmed = Above.rtrim(" \t\r");
  if (Trimmed.ends_with("*/")) {
    size_t Begin = Trimmed.rfind("/*");
    // Only a comment that starts its line belongs to what follows.
    if (Begin != llvm::StringRef::npos) {
      size_t Bol = Trimmed.rfind('\n', Begin);
      llvm::StringRef Lead =
          Trimmed.slice(Bol == llvm::StringRef::npos ? 0 : Bol + 1, Begin);
      if (Lead.trim().empty() && Trimmed.size() - Begin < 4000)
        Text = Trimmed.substr(Begin).str();
    }
  } else {
    while (true) {
      size_t Bol = Trimmed.rfind('\n');
      llvm::StringRef Line =
          Trimmed.substr(Bol == llvm::StringRef::npos ? 0 : Bol + 1);
      if (!Line.trim().starts_with("//") || Text.size() > 2000)
        break;
      Text = Line.trim().str() + " " + Text;
      Trimmed = Trimmed.take_front(Bol == llvm::StringRef::npos ? 0 : Bol);
    }
  }
  size_t Beside = std::min(Rest.find("/*"), Rest.find("//"));
  if (Beside != llvm::StringRef::npos)
    Text += " " + Rest.substr(Beside).str();
  if (Text.size() > 600)
    Text.resize(600);
  return N.intern(llvm::StringRef(Text).trim());
}

void BodyWalker::substatement(const Stmt *S) {
  if (S)
    statement(S);
}

void BodyWalker::statement(const Stmt *S) {
  if (!S)
    return;
  const Stmt *Saved = WholeStatement;
  WholeStatement = S;
  switch (S->getStmtClass()) {
  case Stmt::CompoundStmtClass:
    for (const Stmt *Child : cast<CompoundStmt>(S)->body())
      statement(Child);
    break;
  case Stmt::IfStmtClass:
    ifStatement(cast<IfStmt>(S));
    break;
  case Stmt::ForStmtClass: {
    const auto *L = cast<ForStmt>(S);
    loop(S, L->getInit(), L->getCond(), L->getInc(), L->getBody());
    break;
  }
  case Stmt::WhileStmtClass: {
    const auto *L = cast<WhileStmt>(S);
    loop(S, L->getConditionVariableDeclStmt(), L->getCond(), nullptr,
         L->getBody());
    break;
  }
  case Stmt::DoStmtClass: {
    const auto *L = cast<DoStmt>(S);
    // do { } while (0) is how macros make a statement, not a loop.
    clang::Expr::EvalResult R;
    if (!L->getCond()->isValueDependent() &&
        L->getCond()->EvaluateAsInt(R, N.Ctx) && R.Val.getInt().isZero()) {
      statement(L->getBody());
      break;
    }
    loop(S, nullptr, L->getCond(), nullptr, L->getBody());
    break;
  }
  case Stmt::CXXForRangeStmtClass: {
    const auto *L = cast<CXXForRangeStmt>(S);
    loop(S, L->getRangeStmt(), nullptr, nullptr, L->getBody());
    break;
  }
  case Stmt::SwitchStmtClass:
    switchStatement(cast<SwitchStmt>(S));
    break;
  case Stmt::CaseStmtClass:
  case Stmt::DefaultStmtClass:
    add(EventKind::Case, S->getBeginLoc());
    substatement(cast<SwitchCase>(S)->getSubStmt());
    break;
  case Stmt::LabelStmtClass: {
    const auto *L = cast<LabelStmt>(S);
    add(EventKind::Label, S->getBeginLoc()).Callee = N.intern(L->getName());
    substatement(L->getSubStmt());
    break;
  }
  case Stmt::GotoStmtClass: {
    Event &E = add(EventKind::Goto, S->getBeginLoc());
    E.Callee = N.intern(cast<GotoStmt>(S)->getLabel()->getName());
    E.Text = N.span(S->getSourceRange(), true);
    break;
  }
  case Stmt::BreakStmtClass:
    add(EventKind::Break, S->getBeginLoc());
    break;
  case Stmt::ContinueStmtClass:
    add(EventKind::Continue, S->getBeginLoc());
    break;
  case Stmt::ReturnStmtClass: {
    const clang::Expr *Value = cast<ReturnStmt>(S)->getRetValue();
    if (Value)
      expression(Value, true);
    Event &E = add(EventKind::Return, S->getBeginLoc());
    E.Text = N.span(S->getSourceRange(), true);
    if (Value)
      addExpr(E, Value);
    break;
  }
  case Stmt::DeclStmtClass:
    declarations(cast<DeclStmt>(S));
    break;
  case Stmt::AttributedStmtClass:
    statement(cast<AttributedStmt>(S)->getSubStmt());
    break;
  case Stmt::CXXTryStmtClass: {
    const auto *T = cast<CXXTryStmt>(S);
    statement(T->getTryBlock());
    for (unsigned I = 0; I < T->getNumHandlers(); ++I) {
      size_t B = open(EventKind::Branch, T->getHandler(I)->getBeginLoc());
      F.Events[B].Callee = N.intern("catch");
      F.Events[B].Flags |= Event::ErrorTest;
      statement(T->getHandler(I)->getHandlerBlock());
      close(B, T->getHandler(I)->getEndLoc());
    }
    break;
  }
  case Stmt::NullStmtClass:
  case Stmt::GCCAsmStmtClass:
    break;
  default:
    if (const auto *E = dyn_cast<clang::Expr>(S))
      expression(E, false);
    else
      for (const Stmt *Child : S->children())
        substatement(Child);
    break;
  }
  WholeStatement = Saved;
}

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
  condition(S->getCond());
  size_t B = open(EventKind::Branch, S->getBeginLoc());
  {
    Event &E = F.Events[B];
    E.Callee = sourceText(S->getCond());
    E.Text = N.span(S->getSourceRange(), !isa<CompoundStmt>(S->getThen()));
    if (isa<CompoundStmt>(S->getThen()))
      E.Flags |= Event::Braced;
    classify(E, S->getCond());
  }
  substatement(S->getThen());
  close(B, S->getThen()->getEndLoc());
  if (!S->getElse())
    return;
  size_t Else = open(EventKind::Else, S->getElseLoc());
  if (isa<CompoundStmt>(S->getElse()))
    F.Events[Else].Flags |= Event::Braced;
  substatement(S->getElse());
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
    expression(E, true);
    if (F.Events.size() == Before + 1) {
      F.Events.resize(Before); // nothing inside: not worth a block
      return;
    }
    close(B, Whole->getExprLoc());
  };
  Walk(Then, EventKind::Branch);
  Walk(Else, EventKind::Branch);
}

void BodyWalker::loop(const Stmt *S, const Stmt *Init, const clang::Expr *Cond,
                      const Stmt *Inc, const Stmt *Body) {
  substatement(Init);
  size_t L = open(EventKind::Loop, S->getBeginLoc());
  {
    Event &E = F.Events[L];
    E.Callee = !empty(E.Macro) ? E.Macro
                               : N.intern(isa<ForStmt>(S)     ? "for"
                                          : isa<WhileStmt>(S) ? "while"
                                          : isa<DoStmt>(S)    ? "do"
                                                              : "for-range");
    E.Text = N.span(S->getSourceRange(), !isa_and_nonnull<CompoundStmt>(Body));
    if (isa_and_nonnull<CompoundStmt>(Body))
      E.Flags |= Event::Braced;
    if (Body && empty(N.macroOf(Body->getBeginLoc())))
      E.Flags |= Event::OwnBody;
    if (!isa<CXXForRangeStmt>(S) &&
        (!Cond ||
         (!Cond->isValueDependent() && Cond->isIntegerConstantExpr(N.Ctx))))
      E.Flags |= Event::Endless;
    if (Cond)
      addExpr(E, Cond);
  }
  condition(Cond);
  substatement(Body);
  if (const auto *E = dyn_cast_or_null<clang::Expr>(Inc))
    condition(E);
  close(L, S->getEndLoc());
}

void BodyWalker::switchStatement(const SwitchStmt *S) {
  substatement(S->getInit());
  condition(S->getCond());
  size_t B = open(EventKind::Switch, S->getBeginLoc());
  F.Events[B].Callee = sourceText(S->getCond());
  substatement(S->getBody());
  close(B, S->getEndLoc());
}

void BodyWalker::declarations(const DeclStmt *S) {
  for (const Decl *D : S->decls()) {
    const auto *Var = dyn_cast<VarDecl>(D);
    if (!Var)
      continue;
    const clang::Expr *Init = Var->getInit();
    if (!Init)
      continue;
    collectSlotFills(N, Init, Sym::None, Sym::None, F.Key);
    if (Var->isStaticLocal() || !isa<InitListExpr>(Init->IgnoreParenCasts()))
      if (!Var->isStaticLocal())
        expression(Init, true);
    Event &E = add(EventKind::Assign, Var->getLocation());
    E.Flags |= Event::Declares;
    if (Var->isStaticLocal())
      E.Flags |= Event::Static;
    E.Text = N.span(S->getSourceRange());
    Expr Left;
    Left.Root = RootKind::Local;
    Left.Base = Left.Text = N.intern(Var->getName());
    Left.Record = N.recordOf(Var->getType());
    F.Exprs.push_back(Left);
    ++E.NumExprs;
    addExpr(E, Init);
  }
}

} // namespace decontend
