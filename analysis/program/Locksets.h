//===- Locksets.h - Locks that are held at each event -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   models --> [LockEffects] --> [LockFlow] per function --> net effects
//                   ^                                            |
//                   +---------- callers, to a fixpoint ----------+
//   callers, entry points --> locks on entry --> before(function, event)
//
// Net effects go from callees to callers over direct calls. Locks on entry go
// from callers to callees over all edges: what all of them surely hold (the
// greatest solution: callers that nobody is seen to reach do not count), and
// what some may hold. Where callers hold different locks, what they have in
// common is left: the path, else the class, else the kind.
//
// Approximations, besides those of LockEffects.h and LockFlow.h:
//  - Functions that nobody is seen to call, exported ones, and entry points
//  hold
//    nothing but what models say (may miss; test: fn_ExportedFunction).
//  - What a function holds while it calls a callback that it was given is not
//    known in the callback (may miss; test: fn_LockOfTheWalker).
//  - Only the first MaxPossible locks that some caller may hold are kept, of
//  the
//    others the kind (may miss; test: ManyCallersKeepTheKind).
//  - A context that is atomic by itself, such as an interrupt handler, holds no
//    lock (may miss).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCKSETS_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCKSETS_H

#include "LockEffects.h"
#include <memory>

namespace decontend {

/// One lock that is held at some place.
struct HeldLock {
  LockId Lock = 0;
  bool Surely = false;  ///< On every way; else on some.
  bool OnEntry = false; ///< Callers hold it; else this function took it.
  bool operator==(const HeldLock &) const = default;
};

using LockSet = llvm::SmallVector<HeldLock, 4>;

enum class Certainty : uint8_t {
  Surely,   ///< Held on every way there: misses rather than over-reports.
  Possibly, ///< Held on some way: over-reports rather than misses.
};

/// Which locks are held where. Computed for the whole program at the first
/// question (the cost stands in docs/architecture.md), then answered from
/// tables. Const methods may be called from one thread at a time, because the
/// first of them does the work; the program must outlive the object. Answers
/// depend on nothing but the program.
class Locksets {
public:
  explicit Locksets(const Program &P);
  ~Locksets();
  Locksets(const Locksets &) = delete;
  Locksets &operator=(const Locksets &) = delete;

  static constexpr unsigned MaxPossible = 12;

  /// Locks that are held just before event \p Event of node \p N runs; Event
  /// may be one past the last, and is then the return. Sorted by lock. Empty
  /// for nodes without a body, and where no way leads to the event. O(locks +
  /// log of the changes in that function).
  LockSet before(NodeId N, uint32_t Event) const;

  /// Locks that callers hold when \p N is entered.
  LockSet onEntry(NodeId N) const;

  /// What a call of \p N leaves changed, in terms of its parameters.
  llvm::ArrayRef<LockEffect> netEffect(NodeId N) const;

  /// Is a lock of kind \p K held?
  bool held(NodeId N, uint32_t Event, LockKind K, Certainty C) const;

  /// Is a lock of class \p Class held: a field `struct foo.lock` or a global's
  /// key, as Expr::Field and Expr::Base of the program?
  bool heldClass(NodeId N, uint32_t Event, Sym Class, Certainty C) const;

  /// Must the code at \p Event not sleep: is a spinning lock held, or RCU read,
  /// or are preemption, interrupts or softirqs off?
  bool atomic(NodeId N, uint32_t Event, Certainty C) const;

  /// The locks of before() whose waiters sleep.
  LockSet sleeping(NodeId N, uint32_t Event) const;

  const Lock &lock(LockId I) const;
  /// The lock as the function spells it (`ns->lock`), or empty.
  llvm::StringRef text(LockId I) const;
  /// `struct foo.lock`, the key of a global, or empty.
  llvm::StringRef className(LockId I) const;
  /// The kind as models spell it.
  llvm::StringRef kindName(LockId I) const;

  /// Number of functions whose own code changes what is held. For statistics.
  size_t functionsWithLocks() const;

private:
  class Whole;
  const Whole &whole() const;

  const Program &P;
  mutable std::unique_ptr<Whole> Tables;
};

} // namespace decontend

#endif
