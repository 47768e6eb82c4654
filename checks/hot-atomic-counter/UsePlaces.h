//===- UsePlaces.h - Where a counter stands in the text ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Counter --> [declarations] --> its definitions, `extern`s, initialisers
//           --> [uses]         --> `atomic_add(n, &s->hits);` as spans:
//                                   whole, statement, mention, amount
//
// What a macro spells has no text that could be edited, and is a failed guard.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_USEPLACES_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_USEPLACES_H

#include "analysis/program/Counters.h"
#include "analysis/rewrite/Ledger.h"
#include "analysis/rewrite/SourceText.h"
#include <map>
#include <set>

namespace decontend {

/// One use of a counter in a file.
struct UsePlace {
  const CounterUse *Use = nullptr;
  std::string File;
  uint32_t Line = 0;
  /// Read, Set, Add, Sub, Inc or Dec; others are no uses that a plan converts.
  AtomicModel::OpKind Op = AtomicModel::Read;
  Span Whole;     ///< The call, the operator with its operands, or the read.
  Span Statement; ///< Whole with its `;` and a `(void)` before it, if it is
                  ///< a statement of its own; else empty.
  Span Mention;   ///< `s->hits` in it.
  std::string Object;   ///< Text of Mention.
  std::string Amount;   ///< Text of what is added or set; empty for Read.
  bool Initial = false; ///< In a constructor's initialiser list: Whole is
                        ///< `hits(0)`.
  std::string at() const { return File + ":" + std::to_string(Line); }
};

/// One declaration of a counter in a file.
struct DeclarationPlace {
  std::string File;
  uint32_t Line = 0;
  Span Text; ///< With its `;`.
  Span Init; ///< What stands behind `=`, if anything does.
  bool Defines = true;
  bool Static = false;
  std::string at() const { return File + ":" + std::to_string(Line); }
};

class UsePlaces {
public:
  /// All arguments must outlive it.
  UsePlaces(const Program &P, const Counter &C, Sources &Files, Ledger &L)
      : P(P), C(C), Files(Files), L(L) {}

  /// Fills in uses() and declarations(). Guards: `declaration-editable`,
  /// `layout-free`, `not-exported`, `address-not-kept`, `uses-editable`. False
  /// as soon as one fails.
  bool find();

  llvm::ArrayRef<UsePlace> uses() const { return Uses; }
  /// Definitions first; one if the counter is a member.
  llvm::ArrayRef<DeclarationPlace> declarations() const { return Decls; }
  /// Initialisers of the member in static instances, as InitFacts gives them.
  llvm::ArrayRef<std::pair<const UnitFacts *, const InitFacts *>>
  initialisers() const {
    return Inits;
  }

  const Program &program() const { return P; }
  Sources &sources() const { return Files; }
  const Counter &counter() const { return C; }
  llvm::StringRef name() const {
    return P.str(C.Field ? C.Field->Name : C.Variable->Name);
  }
  /// Type as the facts spell it, without qualifiers and array bounds.
  llvm::StringRef type() const;
  const FunctionFacts &function(const UsePlace &U) const {
    return *P.node(U.Use->Node).Facts;
  }
  /// Contents of \p File, or null. Only files below the source root that are
  /// not interfaces to user space; others are null, too.
  const std::string *text(llvm::StringRef File) const;
  /// codeOnly() of it; empty if there is none. O(length), once for each file.
  llvm::StringRef code(llvm::StringRef File) const;

  /// "3 updates, 1 read and 2 sets in a.c and b.c".
  std::string summary() const;

private:
  bool findDeclarations();
  bool findUses();
  bool place(const CounterUse &U, UsePlace &Out);
  bool call(const CounterUse &U, UsePlace &Out);
  bool update(const Access &A, UsePlace &Out);
  bool constructorInit(const Access &A, UsePlace &Out);
  void statement(UsePlace &Out, bool Known) const;
  bool fail(const UsePlace &At, const std::string &What);
  bool member();
  bool variable();

  const Program &P;
  const Counter &C;
  Sources &Files;
  Ledger &L;
  std::vector<UsePlace> Uses;
  std::vector<DeclarationPlace> Decls;
  std::vector<std::pair<const UnitFacts *, const InitFacts *>> Inits;
  mutable std::map<std::string, std::string, std::less<>> Codes;
};

/// Texts of the arguments between the brackets at [Begin, End) of \p Text;
/// \p Code is codeOnly() of it. As spans, trimmed.
std::vector<Span> splitArguments(llvm::StringRef Code, uint32_t Begin,
                                 uint32_t End);

/// One level of indentation as \p F has it.
std::string indentUnitOf(const SourceText &Text, const FunctionFacts &F);

/// "a.c, b.c and 3 more".
std::string listFiles(const std::set<std::string> &Files);

} // namespace decontend

#endif
