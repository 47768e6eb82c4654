//===- LockFlow.h - Locks along the ways through a function -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   events --> ways (brackets, jumps, cases) --+
//                                              +--> fates before each event
//   effects of calls, guards ------------------+    and at the return
//
// A forward data flow over the lattice of LockFate sets, joined by union where
// ways meet: a lock is surely held where Taken (or Asserted) is all that can
// have become of it. What depends on the result of a call, on the variable that
// keeps it, or on the text of a condition stays in two parts until a branch
// decides.
//
// Approximations:
//  - Two conditions of the same spelling have the same outcome, unless a
//    variable in them is set between (may do either; test: SameConditionTwice).
//  - A switch may take none of its cases, even if there is a default (may miss;
//    test: fn_SwitchWithDefault).
//  - The body of a lambda holds nothing that its surroundings hold (may miss;
//    test: fn_Lambda). Computed gotos lead nowhere (may miss).
//  - A release of a lock that is not known by its path gives back the one lock
//    of its class that is held (may do either; test: GivesBackByClass); if
//    there are several, none of them is surely held any more (may miss; test:
//    fn_TwoOfOneClass).
//  - A callee that may give back what may be held is taken to do so, and what a
//    callee may do is passed on to its callers only once (may miss; tests:
//    WhatMayBeHeldIsWhatMayBeGivenBack, WhatACalleeMayDoIsPassedOnOnce).
//  - The right side of && and || counts as run (may over-report; test:
//    fp_RightSideOfAnd).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCKFLOW_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCKFLOW_H

#include "LockCondition.h"
#include "LockEffects.h"
#include <map>
#include <vector>

namespace decontend {

/// One lock that something may have happened to.
struct LockItem {
  enum CondT : uint8_t {
    None,
    Result,   ///< IfNonzero holds if the call at event Of yields nonzero.
    Variable, ///< ... if the local variable Of is nonzero.
    Text,     ///< ... if the condition spelt Of is true.
  };
  LockId Lock = 0;
  uint8_t IfNonzero = Untouched, IfZero = Untouched; ///< Sets of LockFate.
  uint8_t Depth = 1; ///< How often a nesting lock is taken, at least.
  CondT Cond = None;
  uint32_t Of = 0;
  uint8_t fates() const { return IfNonzero | IfZero; }
  /// Gives up the condition.
  void flatten() {
    IfNonzero = IfZero = fates();
    Cond = None;
    Of = 0;
  }
  auto operator<=>(const LockItem &) const = default;
};
/// Sorted by lock; locks that are not listed are untouched.
using LockState = std::vector<LockItem>;

/// Runs once over one function.
class LockFlow {
public:
  LockFlow(const Program &P, LockTable &Locks, const FunctionFacts &F,
           const FunctionEffects &Effects);

  /// O(events * changes of the state around loops).
  void run();

  /// State before \p Event, or null if no way leads there.
  const LockState *before(uint32_t Event) const {
    return In[Event] ? &States[In[Event] - 1] : nullptr;
  }

  /// Net effect on the callers. Locks that only this function can name are left
  /// with their class.
  LockSummary summary() const;

  /// Is \p Event in the body of a lambda, which runs some other time?
  bool detached(uint32_t Event) const { return LambdaOf[Event] >= 0; }

private:
  struct Way {
    uint32_t To;
    int Branch = -1; ///< Branch or loop that decides for this way.
    bool Holds = false;
  };
  enum class Value : uint8_t { Unknown, Zero, Nonzero };

  void findShape();
  uint32_t behindCondition(uint32_t Loop) const;
  void ways(uint32_t I, llvm::SmallVectorImpl<Way> &Out) const;
  void jump(uint32_t I, llvm::SmallVectorImpl<Way> &Out) const;

  uint32_t stateId(LockState S);
  uint32_t join(uint32_t A, uint32_t B);
  uint32_t meetAtEnd(uint32_t I);
  LockState transfer(uint32_t I, LockState S) const;
  void apply(LockState &S, const LockEffect &E, uint32_t Event) const;
  void assign(LockState &S, uint32_t I) const;
  LockState along(uint32_t From, const Way &W, LockState S) const;
  const LockCondition &condition(uint32_t Branch) const;
  std::optional<bool> decided(const LockItem &L, uint32_t Branch,
                              bool Holds) const;
  bool isResult(const LockCondition &C, uint32_t Call, bool Holds,
                std::optional<bool> &Nonzero) const;
  void leave(uint32_t I, const LockState &S);

  const Program &P;
  LockTable &Locks;
  const FunctionFacts &F;
  const FunctionEffects &Effects;

  std::vector<int> Parents, LambdaOf;
  llvm::DenseMap<Sym, uint32_t> Labels;
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> Cases;
  llvm::DenseMap<uint32_t, const CallEffects *> EffectsAt;
  mutable std::map<uint32_t, LockCondition> Conditions;

  std::vector<LockState> States;
  std::map<LockState, uint32_t> StateIds;
  /// State before each event, numbered from 1; 0: no way leads there. The last
  /// one stands for the return.
  std::vector<uint32_t> In;
  /// For Ends where two sides of a branch meet: the sides, before they are
  /// joined.
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> Sides;
  uint32_t AtZero = 0, AtNonzero = 0; ///< At returns of such a value.
};

} // namespace decontend

#endif
