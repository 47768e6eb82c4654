//===- InPlace.h - A counter of another type, where it stands ---*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   remedy's forms + UsePlaces --> declarations, updates, sets, includes
//
// For counters that need no call to set them up: what a use says is said in
// other words, at the same place.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_INPLACE_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_INPLACE_H

#include "Conversion.h"
#include "UsePlaces.h"

namespace decontend {

class InPlace {
public:
  /// All arguments must outlive it; UsePlaces::find() has succeeded.
  InPlace(const UsePlaces &Places, const CounterRemedy &Remedy, Ledger &L)
      : Places(Places), P(Places.program()), Remedy(Remedy), L(L) {}

  /// Guard `order-not-needed`: no use asks for an order of memory. Where one
  /// has the strong order that its language gives by default, the proof says
  /// that this is to be confirmed.
  bool requireNoOrder();

  /// Guard `initial-value`: each definition starts with a number, of which
  /// \p Any or only 0 will do. 0 if nothing is written.
  bool requireInitial(bool Any);

  /// Declares the counter by the remedy's forms for variables, with \p Type as
  /// their `{t}`. Behind a declaration that defines nothing, adds \p Behind on
  /// lines of its own. Guard `declaration-plain`.
  bool defineAnew(llvm::StringRef Type, const std::string &Behind = "");

  /// Gives the counter the remedy's type and leaves the rest of its declaration
  /// as it is. Guard `declaration-plain`.
  bool changeType();

  /// Rewrites an update or a set that is a statement. Notes only what fails, as
  /// guard `uses-are-statements`, `initial-value` or `form-exists`.
  /// A `x++` that the remedy understands stays.
  bool rewriteUpdate(const UsePlace &U);

  /// Includes \p Header in every file with a declaration, in sorted place.
  /// Guard `header-visible`.
  bool include(llvm::StringRef Header);

  void replace(llvm::StringRef File, Span S, std::string New) {
    L.edit({File.str(), S.Begin, S.End, std::move(New)});
  }
  /// \p Form with the places of a use filled in.
  std::string fill(llvm::StringRef Form, const UsePlace &U) const;

private:
  /// Splits a declaration into specifiers, type, and what follows the name.
  struct Parts {
    uint32_t TypeBegin = 0, TypeEnd = 0, NameEnd = 0;
    bool Ok = false;
  };
  Parts split(const DeclarationPlace &D) const;
  bool plain();
  bool notPlain(const DeclarationPlace &D);

  const UsePlaces &Places;
  const Program &P;
  const CounterRemedy &Remedy;
  Ledger &L;
};

/// The number in an initialiser such as `ATOMIC_INIT(3)`, `{3}` or `3`; "0" if
/// there is nothing between the brackets; empty if it is no literal.
std::string initialNumber(llvm::StringRef Init);

/// The integer that an atomic type spells: `std::atomic<T>` has T, `_Atomic(T)`
/// has T, `atomic_long_t` has long by its own name; else one of \p Width bits
/// (negative: signed) as \p Cxx or C spell it. A \p Plain one is an integer
/// itself.
std::string valueTypeOf(llvm::StringRef Type, int Width, bool Cxx, bool Plain);

} // namespace decontend

#endif
