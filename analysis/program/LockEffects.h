//===- LockEffects.h - What the calls of a function do to locks -*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   models of callees and macros --+
//                                  +--> effects at events, guard variables
//   summaries of callees ----------+
//
// Approximations:
//  - A macro whose expansion calls nothing leaves no event: preempt_disable()
//  of
//    a kernel without preemption, lockdep assertions without lockdep (may
//    miss).
//  - A lock behind a local variable that is set more than once is known by its
//    kind only (may miss; test: fn_LocalPointerSetTwice).
//  - A clean-up function that releases what a separate call took is not seen
//    (may over-report; test: fp_CleanUpOfAnotherLock).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCKEFFECTS_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCKEFFECTS_H

#include "Lock.h"
#include "Program.h"
#include "llvm/ADT/SmallVector.h"

namespace decontend {

/// What may have become of a lock since the function was entered: a bit set,
/// one bit for each way to get there.
enum LockFate : uint8_t {
  Untouched = 1,
  Taken = 2,    ///< By this function.
  Given = 4,    ///< Back, though this function had not taken it.
  Asserted = 8, ///< Untouched, and the code says that it is held.
};

/// What one call does to one lock; in terms of the calling function.
struct LockEffect {
  LockId Lock = 0;
  uint8_t IfNonzero = Untouched; ///< Fates, if the call yields nonzero or true.
  uint8_t IfZero = Untouched;    ///< ... if it yields zero, false or null.
  bool operator==(const LockEffect &) const = default;
};
using LockSummary = std::vector<LockEffect>;

struct CallEffects {
  uint32_t Event = 0;
  bool NoReturn = false;
  llvm::SmallVector<LockEffect, 2> Effects; ///< In the order in which they act.
};

/// A local variable that gives locks back where it goes out of scope.
struct LockGuard {
  Sym Variable = Sym::None;
  uint32_t Declared = 0; ///< The event that initialises it.
  uint32_t Last = 0;     ///< Last event at which it is alive.
  llvm::SmallVector<LockId, 2> Locks;
};

struct FunctionEffects {
  std::vector<CallEffects> Calls; ///< In order of events, only those that act.
  std::vector<LockGuard> Guards;  ///< In order of declarations.
};

/// Finds effects. Keeps a table of models per node; functions may be asked for
/// in any order. One thread at a time.
class LockEffects {
public:
  LockEffects(const Program &P, LockTable &Locks);

  /// Does any model say that a call in \p F takes, gives or asserts a lock?
  /// O(events).
  bool actsItself(const FunctionFacts &F) const;

  /// What the calls of \p F do. \p Summaries are indexed by node and hold for
  /// callees without a model for locks. O(events), more for calls that act.
  FunctionEffects of(const FunctionFacts &F,
                     llvm::ArrayRef<LockSummary> Summaries) const;

  /// Model of what \p E calls, if it says something about locks.
  const FunctionModel *modelOf(const Event &E) const;

  /// The argument of call \p E that is parameter \p Index of \p Callee, or
  /// null.
  const Expr *argument(const FunctionFacts &Caller, const Event &E,
                       const FunctionFacts &Callee, uint16_t Index) const;

  /// A global lock by the kind that models give it: "rtnl".
  LockId globalLock(llvm::StringRef Kind) const;

private:
  struct Macros;
  class Finder;

  const Program &P;
  LockTable &Locks;
  std::vector<const FunctionModel *> ByNode;
  llvm::DenseMap<Sym, LockKind> KindOfClass;
};

/// Does \p M, which may be null, take, give or assert a lock?
bool actsOnLocks(const FunctionModel *M);

/// The name of a C++ function from its USR, with classes and namespaces,
/// without inline namespaces and template arguments: `std::mutex::lock`. Empty
/// if
/// \p Key is no USR.
std::string qualifiedName(llvm::StringRef Key);

} // namespace decontend

#endif
