//===- Removal.h - Taking statements out of a text --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   statements of one file --> [widen] an `if` whose body would be empty, and
//                                      whose condition does nothing, goes too
//                          --> [lines] whole lines, spare blank lines, comments
//                                      that explain nothing else
//
// Approximation: `)` in front of a statement is the head of a loop or a branch
// (may refuse too often: a macro without a `;`; test: fix-delete-refused.test,
// `after_macro`).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_REMOVAL_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_REMOVAL_H

#include "analysis/program/Program.h"
#include "analysis/rewrite/Plan.h"
#include "analysis/rewrite/SourceText.h"
#include <map>

namespace decontend {

class Removal {
public:
  /// \p Text and \p Code, its codeOnly(), must outlive it.
  Removal(const Program &P, std::string File, llvm::StringRef Text,
          llvm::StringRef Code)
      : P(P), File(std::move(File)), Text(Text), Code(Code), Left(Code) {}

  /// Takes the statement \p S of \p F out. Call for all before finish().
  void statement(const FunctionFacts &F, Span S);
  /// Takes a declaration out, with the comment that belongs to it alone.
  /// \p Name is what it declares.
  void declaration(Span S, llvm::StringRef Name);
  /// Takes `.name = value` out of an initialiser, or `name(value)` out of a
  /// constructor's list, with the comma or colon that belongs to it.
  void element(Span S);

  /// The edits, in order of place; trouble() says whether they may be made.
  std::vector<Edit> finish();
  /// Why something cannot go, with its place; empty if all can. Guard name in
  /// troubleGuard().
  const std::string &trouble() const { return Trouble; }
  llvm::StringRef troubleGuard() const { return Guard; }

private:
  struct Taken {
    const FunctionFacts *F = nullptr;
    Span S;
    llvm::StringRef Name; ///< Of a declaration.
    bool Element = false;
  };

  bool widen(Taken &T);
  bool pure(const FunctionFacts &F, Span Condition) const;
  void orphans(const Taken &T);
  void fail(llvm::StringRef Name, uint32_t At, const std::string &What);
  void blank(Span S);
  Span lines(const Taken &T) const;

  const Program &P;
  std::string File;
  SourceText Text;
  llvm::StringRef Code;
  std::string Left; ///< Code without what was taken so far.
  std::vector<Taken> All;
  std::string Trouble, Guard;
};

} // namespace decontend

#endif
