//===- Origins.h - Where the objects of a record come from ------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   ns = kzalloc(...);       <-- [sites]
//   setup(ns); --> init(ns)  <-- [origin] of init's parameter: that site
//   boot: init(&first)       <-- and that variable
//
// Approximations: an object is followed through at most four calls, and only
// through local variables and parameters; what is stored and read again is not
// (may refuse too often). The last assignment in the text counts as the one
// that holds (may do either).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_ORIGINS_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_ORIGINS_H

#include "Conversion.h"
#include <set>

namespace decontend {

/// One place where an object is allocated.
struct MakingSite {
  NodeId Node = NoNode;
  uint32_t Event = 0;       ///< The assignment.
  Sym Variable = Sym::None; ///< Local variable that holds it; none if it goes
                            ///< somewhere else at once.
};

/// A call that hands the object on, on the way to where it is set up.
struct HandOver {
  NodeId Node = NoNode;
  uint32_t Event = 0;
  Sym Variable = Sym::None;
};

struct Origin {
  bool Known = false; ///< Of every object that comes here.
  std::string Why;    ///< What is not known.
  std::set<NodeId> Makers;
  std::vector<HandOver> Way; ///< From makers, boot code excluded.
  std::set<Sym> Boot;        ///< Variables that boot code hands over.
};

/// All places of a program where objects are allocated, by record.
class MakingSites {
public:
  explicit MakingSites(const Program &P) : P(P) {}
  /// O(events) at the first question. Not thread-safe.
  llvm::ArrayRef<MakingSite> of(Sym Record) const;

private:
  const Program &P;
  mutable bool Done = false;
  mutable llvm::DenseMap<Sym, std::vector<MakingSite>> Sites;
};

class Origins {
public:
  /// O(1) if \p C has the sites of the program, else O(events). \p C must
  /// outlive it.
  Origins(const Conversion &C, Sym Record);

  llvm::ArrayRef<MakingSite> sites() const { return Sites; }
  /// Where object \p X, as event \p Event of \p N sees it, comes from.
  Origin of(NodeId N, uint32_t Event, const Expr &X) const;

private:
  void find(NodeId N, uint32_t Event, const Expr &X, unsigned Depth,
            Origin &Out) const;
  const Conversion &C;
  const Program &P;
  const Sym Record;
  llvm::ArrayRef<MakingSite> Sites;
  std::optional<MakingSites> Own; ///< If the conversion has none.
};

} // namespace decontend

#endif
