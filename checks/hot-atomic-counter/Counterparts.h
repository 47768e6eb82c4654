//===- Counterparts.h - What undoes a step of a set-up ----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   set-up function, object --> teardown: calls what the set-up's error paths
//                                         call, or frees such objects
//   step of the set-up --> parts that it writes --> call on an error path, or
//                          in the teardown, that touches these parts
//
// Approximations: a step is undone by the call that touches what it wrote; of
// several, the one whose name is most like the step's (may do either; test:
// FallibleTest.UndoesTheStepBefore). A step for which the teardown has no such
// call, and that allocates nothing, needs no undoing (may miss).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_COUNTERPARTS_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_COUNTERPARTS_H

#include "ErrorPaths.h"
#include "Touches.h"
#include "analysis/rewrite/Plan.h"

namespace decontend {

/// What has to happen to a step when a later one fails.
struct Undoing {
  enum KindT : uint8_t {
    Nothing, ///< Nothing needs undoing.
    Call,    ///< Text undoes it.
    Unknown, ///< It needs undoing, or may do, and nobody knows how.
  } Kind = Nothing;
  uint32_t Step = 0; ///< Event of the set-up.
  std::string Text;  ///< `retire_ipc_sysctls(ns)`.
  std::string Why;
  NodeId From = NoNode; ///< A place where it is called like that, if any.
  uint32_t At = 0;
};

class Counterparts {
public:
  /// \p Object is the variable of the set-up that leads to the object whose
  /// record is \p Record. All arguments must outlive it.
  Counterparts(const ErrorPaths &Setup, Sources &Files, TouchFinder &Finder,
               Sym Object, Sym Record);

  /// How call \p Step of the set-up is undone when \p Until, behind it, fails.
  Undoing of(uint32_t Step, uint32_t Until);

  /// What \p U touches, in terms of the set-up's variables.
  Touches touches(const Undoing &U);

  /// Function that tears such objects down, or none.
  NodeId teardown() const { return Teardown; }
  /// Does function \p N free a whole object of that record, itself?
  int freesWhole(NodeId N) const;

private:
  struct Wanted;
  void findTeardown();
  bool undoes(const Wanted &W, const Touches &By) const;
  bool onErrorPath(const Wanted &W, Undoing &U);
  bool inTeardown(const Wanted &W, Undoing &U);
  bool givenBack(uint32_t Step, uint32_t Until) const;
  void addFreed(NodeId N, uint32_t Event, Touches &By) const;
  Undoing freeOf(uint32_t Step, Sym Variable, Sym Of) const;
  std::string inSetup(uint32_t Event) const;
  Touches torn(uint32_t Event);
  int assignOf(uint32_t Step) const;

  const ErrorPaths &S;
  const Program &P;
  Sources &Files;
  TouchFinder &Finder;
  Sym Object, Record;
  NodeId Teardown = NoNode;
  Sym Param = Sym::None; ///< Of the teardown: the object.
};

} // namespace decontend

#endif
