//===- BodyWalker.cpp - Function bodies as events: statements -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "clang/AST/Attr.h"
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

void BodyWalker::walk(const FunctionDecl *FD) {
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(FD))
    initialisers(Constructor);
  block(FD->getBody());
  // What was an argument of something that is no call after all.
  for (Access &A : F.Accesses)
    if (A.Kind == AccessKind::Argument && !A.is(Access::Consumed)) {
      A.Kind = AccessKind::Escape;
      A.Argument = Access::NoArgument;
    }
}

void BodyWalker::substatement(const Stmt *S) {
  if (S)
    statement(S);
}

/// A body whose braces belong to the function, loop or branch around it.
void BodyWalker::block(const Stmt *S) {
  const auto *Compound = dyn_cast_or_null<CompoundStmt>(S);
  if (!Compound)
    return substatement(S);
  for (const Stmt *Child : Compound->body())
    statement(Child);
}

/// What runs on a variable when it goes out of scope, or null.
static const FunctionDecl *cleanUpOf(const VarDecl *Var) {
  if (const auto *A = Var->getAttr<CleanupAttr>())
    return A->getFunctionDecl();
  if (!Var->hasLocalStorage() || Var->getType()->isDependentType())
    return nullptr;
  const auto *Record = Var->getType()->getAsCXXRecordDecl();
  if (!Record || !Record->hasDefinition() || Record->hasTrivialDestructor())
    return nullptr;
  return Record->getDestructor();
}

static bool declaresCleanUp(const CompoundStmt *S) {
  for (const Stmt *Child : S->body())
    if (const auto *D = dyn_cast<DeclStmt>(Child))
      for (const Decl *Each : D->decls())
        if (const auto *Var = dyn_cast<VarDecl>(Each))
          if (cleanUpOf(Var))
            return true;
  return false;
}

void BodyWalker::statement(const Stmt *S) {
  if (!S)
    return;
  const Stmt *Saved = WholeStatement;
  WholeStatement = S;
  switch (S->getStmtClass()) {
  case Stmt::CompoundStmtClass: {
    if (!declaresCleanUp(cast<CompoundStmt>(S))) {
      block(S);
      break;
    }
    size_t B = open(EventKind::Scope, S->getBeginLoc());
    block(S);
    close(B, S->getEndLoc());
    break;
  }
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
    Mark Before = mark();
    if (Value)
      value(Value, {Value->isGLValue() ? Use::Address : Use::Value});
    Event &E = add(EventKind::Return, S->getBeginLoc());
    E.Text = N.span(S->getSourceRange(), true);
    if (Value)
      addExpr(E, Value);
    consume(Before, F.Events.size() - 1);
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
    break;
  case Stmt::GCCAsmStmtClass: {
    const auto *A = cast<GCCAsmStmt>(S);
    for (unsigned I = 0; I < A->getNumOutputs(); ++I)
      value(A->getOutputExpr(I), {Use::Address});
    for (unsigned I = 0; I < A->getNumInputs(); ++I) {
      const clang::Expr *In = A->getInputExpr(I);
      value(In, {In->isGLValue() ? Use::Address : Use::Value});
    }
    break;
  }
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
    // A body that starts with an iteration macro of its own is one in a file.
    if (Body && (empty(N.macroOf(Body->getBeginLoc())) ||
                 N.SM.getExpansionLoc(Body->getBeginLoc()) !=
                     N.SM.getExpansionLoc(S->getBeginLoc())))
      E.Flags |= Event::OwnBody;
    if (!isa<CXXForRangeStmt>(S) &&
        (!Cond ||
         (!Cond->isValueDependent() && Cond->isIntegerConstantExpr(N.Ctx))))
      E.Flags |= Event::Endless;
    if (Cond)
      addExpr(E, Cond);
  }
  Mark Before = mark();
  condition(Cond);
  consume(Before, L);
  block(Body);
  if (const auto *E = dyn_cast_or_null<clang::Expr>(Inc))
    condition(E);
  close(L, S->getEndLoc());
}

void BodyWalker::declarations(const DeclStmt *S) {
  for (const Decl *D : S->decls())
    if (const auto *Var = dyn_cast<VarDecl>(D))
      declare(S, Var);
}

void BodyWalker::declare(const DeclStmt *S, const VarDecl *Var) {
  // Macros declare static variables that nobody names.
  if (Var->isStaticLocal() && !Var->getLocation().isMacroID())
    collectVariable(
        N, Var, Var->getInit() ? N.span(S->getSourceRange(), true) : Span());
  const clang::Expr *Init = Var->getInit();
  if (!Init)
    return;
  collectSlotFills(N, Init, Sym::None, Sym::None, F.Key);
  Mark Before = mark();
  if (!Var->isStaticLocal()) {
    bool Reference = Var->getType()->isReferenceType();
    value(Init, {Reference ? Use::Address : Use::Value});
  }
  Event &E = add(EventKind::Assign, Var->getLocation());
  E.Flags |= Event::Declares;
  if (Var->isStaticLocal())
    E.Flags |= Event::Static;
  if (const FunctionDecl *CleanUp = cleanUpOf(Var))
    E.Callee = N.functionKey(CleanUp);
  E.Text = N.span(S->getSourceRange());
  Expr Left;
  Left.Root = Var->isStaticLocal() ? RootKind::Global : RootKind::Local;
  Left.Text = N.intern(Var->getName());
  Left.Base = Var->isStaticLocal() ? N.variableKey(Var) : Left.Text;
  Left.Record = N.recordOf(Var->getType());
  if (Var->getType()->isPointerType())
    Left.Flags |= Expr::Pointer;
  F.Exprs.push_back(Left);
  ++E.NumExprs;
  addExpr(E, Init);
  consume(Before, F.Events.size() - 1);
}

void BodyWalker::initialisers(const CXXConstructorDecl *D) {
  for (const CXXCtorInitializer *I : D->inits()) {
    if (!I->isWritten())
      continue;
    Mark Before = mark();
    value(I->getInit(), {});
    const FieldDecl *Field = I->getAnyMember();
    if (!Field)
      continue;
    Event &E = add(EventKind::Assign, I->getSourceLocation());
    Expr Left;
    Left.Root = RootKind::Param;
    Left.Index = 0xffff;
    Left.Base = N.intern("this");
    Left.Text = N.intern(("this->" + Field->getName()).str());
    Left.Field = N.fieldKey(Field);
    Left.Record = N.recordOf(Field->getType());
    F.Exprs.push_back(Left);
    ++E.NumExprs;
    addExpr(E, I->getInit());
    size_t At = F.Events.size() - 1;
    consume(Before, At);
    Access &A = F.Accesses.emplace_back();
    A.Kind = AccessKind::Write;
    A.Flags = Access::Initial;
    A.At = At;
    A.Path = F.Events[At].FirstExpr;
    A.Line = F.Events[At].Line;
    A.Column = F.Events[At].Column;
  }
}

} // namespace decontend
