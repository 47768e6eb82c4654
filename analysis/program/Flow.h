//===- Flow.h - Where an event stands in its function -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers questions about the block structure of one function: what encloses an
// event, is it in a loop over elements, does it run only after an error, which
// events follow it on the straight way. Structural, without a CFG.
//
// Approximation: code between a return (or goto) and a label counts as error
// handling when every goto to that label stands in a test for an error or is
// unlikely, or the label's name says so. May miss findings in such code.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_FLOW_H
#define DECONTEND_ANALYSIS_PROGRAM_FLOW_H

#include "Program.h"

namespace decontend {

class Flow {
public:
  /// O(events).
  Flow(const Program &P, const FunctionFacts &F);

  const FunctionFacts &facts() const { return F; }

  /// Index of the opener of the block around event \p I, or -1.
  int parent(uint32_t I) const { return Parents[I]; }

  /// Innermost loop over elements around \p I, or -1. Waiting loops that macros
  /// make, and endless retry loops left by break, do not count.
  int elementLoop(uint32_t I) const;

  /// Is event \p I a loop over elements in that sense?
  bool loopsOverElements(uint32_t I) const;

  /// Is the loop around \p I left right behind it, by break, return or goto,
  /// or as soon as it has worked?
  /// Then it runs for one element only.
  bool leavesLoop(uint32_t I) const;

  /// Innermost element loop around \p I that is not left behind it, or -1: the
  /// one in which \p I runs once per element.
  int payingLoop(uint32_t I) const;

  /// Does \p I run only when something has failed?
  bool onErrorPath(uint32_t I) const { return OnError[I]; }

  /// Number of conditions around \p I, not counting tests against null, tests
  /// that drop the last reference, and element loops.
  unsigned conditions(uint32_t I) const;

  /// Number of tests on the way to \p I whether something optional is there: a
  /// member or a value looked up that is null makes it not happen. Not counted
  /// by conditions(). O(events).
  unsigned guards(uint32_t I) const;

  /// Number of `continue`s on the way to \p I in the element loop around it:
  /// what they skip does not happen. O(events of the loop).
  unsigned skips(uint32_t I) const;

  /// Number of branches before \p I, in the blocks around it, that leave the
  /// function with success: what follows is then for the rest only. `return;`,
  /// `return 0;` and the like, neither unlikely nor after a test for an error.
  /// A goto does not count (may over-report heat). O(events before I).
  unsigned earlyLeaves(uint32_t I) const;

  /// The event that drops the last reference and so lets \p I run, or -1:
  /// `if (refcount_dec_and_test(...)) {I}` or `if (!...) return; I`.
  int lastReferenceDrop(uint32_t I) const;

  /// Events after \p I in its own block and the blocks around it, up to the
  /// innermost loop or the end: what runs next on the straight way.
  std::vector<uint32_t> following(uint32_t I) const;

  /// Is \p I a branch that only tests a pointer against null (or for an error
  /// pointer) on the way to its body?
  bool isNullGuard(uint32_t I) const;

  /// Does the condition of branch \p I drop a reference? Index of that call.
  int dropInCondition(uint32_t I) const;

private:
  bool isErrorBranch(uint32_t I) const;
  void markErrors();
  bool leavesBefore(uint32_t J, uint32_t I) const;
  bool bodyLeaves(uint32_t Branch) const;
  bool jumpLeaves(uint32_t J, int Loop) const;
  bool leaves(uint32_t I, int Loop) const;
  bool setBy(Sym Name, uint32_t I) const;

  const Program &P;
  const FunctionFacts &F;
  std::vector<int> Parents;
  std::vector<bool> OnError;
};

} // namespace decontend

#endif
