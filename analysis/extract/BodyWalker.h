//===- BodyWalker.h - Function bodies as events -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_BODYWALKER_H
#define DECONTEND_ANALYSIS_EXTRACT_BODYWALKER_H

#include "Exprs.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"

namespace decontend {

/// Adds slot fills for an initialiser: `{.release = foo}`, nested and in
/// arrays.
/// \p Object is the variable's key, \p Within the enclosing function's.
void collectSlotFills(Naming &N, const clang::Expr *Init, Sym Slot, Sym Object,
                      Sym Within);

/// Walks one body in source order and appends events to a function's facts.
/// O(size of the body). Both branches of a condition are walked; what is not
/// evaluated (sizeof, typeof) is not.
class BodyWalker {
public:
  BodyWalker(Naming &N, FunctionFacts &F) : N(N), F(F) {}
  void walk(const clang::Stmt *Body) { statement(Body); }

private:
  void statement(const clang::Stmt *S);
  void substatement(const clang::Stmt *S);
  void ifStatement(const clang::IfStmt *S);
  void loop(const clang::Stmt *S, const clang::Stmt *Init,
            const clang::Expr *Cond, const clang::Stmt *Inc,
            const clang::Stmt *Body);
  void switchStatement(const clang::SwitchStmt *S);
  void declarations(const clang::DeclStmt *S);
  void condition(const clang::Expr *E);
  void expression(const clang::Expr *E, bool ResultUsed);
  void call(const clang::CallExpr *E, bool ResultUsed);
  void conditional(const clang::Expr *Cond, const clang::Expr *Then,
                   const clang::Expr *Else, const clang::Expr *Whole);
  void assign(const clang::Expr *Left, const clang::Expr *Right,
              const clang::Expr *Whole);

  Event &add(EventKind K, clang::SourceLocation L);
  size_t open(EventKind K, clang::SourceLocation L);
  void close(size_t Opener, clang::SourceLocation L);
  void addExpr(Event &E, const clang::Expr *Value);
  void classify(Event &Branch, const clang::Expr *Cond);
  Sym commentNear(clang::SourceLocation L);
  Sym sourceText(const clang::Stmt *S);

  Naming &N;
  FunctionFacts &F;
  const clang::Stmt *WholeStatement = nullptr; ///< Statement being walked.
  bool InCondition = false;
};

} // namespace decontend

#endif
