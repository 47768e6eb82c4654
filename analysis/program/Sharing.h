//===- Sharing.h - How many cores use one object ----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   models, variables, embedding, allocations --> [sharing] --> verdict, why
//
// Is an object of this record class one of few that many cores use at a time (a
// namespace, a super block), one of many (an inode, a packet), or somebody's
// own (a task, a CPU)? What the models do not say is inferred, in this order:
//  1. a variable of static storage that is, or holds, one: few and shared;
//     in a per-CPU section: owned;
//  2. a member of another record: as that record is;
//  3. where it is allocated: only at start, set-up and administration: few;
//     in a hot place: many.
//
// Approximation: what is allocated when objects are set up counts as few if
// nothing says otherwise; may over-report (objects that users make without
// bound; test: fp_object_per_open).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_SHARING_H
#define DECONTEND_ANALYSIS_PROGRAM_SHARING_H

#include "Program.h"

namespace decontend {

struct SharingVerdict {
  enum Level : uint8_t {
    Unknown, ///< Nothing seen.
    Wide,    ///< Few, and used by many cores.
    Many,    ///< As many as users make, or short-lived.
    Owner,   ///< One user at a time.
  };
  Level Kind = Unknown;
  std::string Why;     ///< "'struct net' is one per network namespace".
  bool Proven = false; ///< By a model or a variable; else inferred.
  /// Per object that users set up, seen at its allocation.
  bool PerObject = false;
};

class Sharing {
public:
  /// O(records + globals + assignments), once per program.
  explicit Sharing(const Program &P);
  SharingVerdict of(Sym Record) const { return of(Record, 0); }
  /// Of the unnamed record at `struct @file:line`, the variable or record that
  /// holds it; \p Record itself otherwise.
  Sym named(Sym Record) const;

private:
  SharingVerdict of(Sym Record, unsigned Depth) const;

  const Program &P;
  llvm::DenseMap<Sym, std::vector<Sym>> HeldBy; ///< By value.
  llvm::DenseMap<Sym, const GlobalFacts *> Instance, PerCpu;
  struct Allocation {
    NodeId Node;
    uint32_t Event;
  };
  llvm::DenseMap<Sym, std::vector<Allocation>> Allocations;
};

} // namespace decontend

#endif
