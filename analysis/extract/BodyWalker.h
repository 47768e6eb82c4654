//===- BodyWalker.h - Function bodies as events -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_BODYWALKER_H
#define DECONTEND_ANALYSIS_EXTRACT_BODYWALKER_H

#include "Exprs.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"

namespace decontend {

/// Adds slot fills for an initialiser: `{.release = foo}`, nested and in
/// arrays.
/// \p Object is the variable's key, \p Within the enclosing function's.
void collectSlotFills(Naming &N, const clang::Expr *Init, Sym Slot, Sym Object,
                      Sym Within);

/// Notes every integer or atomic, member or global, that the default
/// initialiser of the member \p Within names: no function body shows such uses.
void noteMentions(Naming &N, const clang::Expr *Init, Sym Within);

/// Adds the facts of a variable of static storage; \p Text is the span of its
/// declaration.
void collectVariable(Naming &N, const clang::VarDecl *VD, Span Text);

/// Bits of the integer that \p T is, or that its elements or an atomic hold;
/// negative when signed, 0 for anything else. \p Atomic is set for _Atomic and
/// std::atomic.
int8_t integerWidth(clang::QualType T, const clang::ASTContext &Ctx,
                    bool &Atomic);

/// Is \p T an integer, or a record without a name of its own, as atomic_t is?
bool isCounting(clang::QualType T, const clang::ASTContext &Ctx);

/// The member whose offset \p E takes, or null.
const clang::FieldDecl *offsetField(const clang::OffsetOfExpr *E);

/// Walks one body in source order and appends events to a function's facts.
/// O(size of the body). Both branches of a condition are walked; what is not
/// evaluated (sizeof, typeof) is not.
class BodyWalker {
public:
  BodyWalker(Naming &N, FunctionFacts &F) : N(N), F(F) {}
  void walk(const clang::FunctionDecl *FD);

private:
  void statement(const clang::Stmt *S);
  void block(const clang::Stmt *S);
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

  void initialisers(const clang::CXXConstructorDecl *D);
  void atomicBuiltin(const clang::AtomicExpr *E, bool ResultUsed);
  void unary(const clang::UnaryOperator *E, bool ResultUsed);
  bool binary(const clang::BinaryOperator *E, bool ResultUsed);
  void construct(const clang::CXXConstructExpr *E);
  void declare(const clang::DeclStmt *S, const clang::VarDecl *Var);

  // Accesses (BodyAccesses.cpp).

  /// What the parent of an expression does with it.
  struct Use {
    enum StateT : uint8_t { Value, Address, Write, Update } State = Value;
    uint8_t Flags = 0;                  ///< Access flags for Update.
    bool Loaded = false;                ///< Below an lvalue-to-rvalue cast.
    bool Direct = false;                ///< An argument itself, not part of it.
    const clang::Expr *Whole = nullptr; ///< Update: the whole expression.
  };
  void mention(const clang::Expr *E, const Use &U);
  void member(const clang::MemberExpr *E, const Use &U);
  void offset(const clang::OffsetOfExpr *E);
  void subscript(const clang::ArraySubscriptExpr *E, const Use &U);
  void lvalueBase(const clang::Expr *E);
  void value(const clang::Expr *E, Use U, bool ResultUsed = true) {
    Next = U;
    expression(E, ResultUsed);
  }
  /// What has been recorded so far, so that a later event can claim the rest.
  struct Mark {
    size_t Event, Access;
  };
  Mark mark() const { return {F.Events.size(), F.Accesses.size()}; }
  /// Event \p Taker takes the values that came up since \p M and that nothing
  /// has taken yet.
  void consume(Mark M, size_t Taker);
  /// What came up since \p M belongs to argument \p Number of a call to come.
  void number(Mark M, uint16_t Number);
  void arguments(llvm::ArrayRef<const clang::Expr *> Args);

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
  Use Next; ///< For the expression that is walked next.
  llvm::DenseMap<std::pair<unsigned, unsigned>, uint32_t>
      Paths; ///< By text, field.
};

} // namespace decontend

#endif
