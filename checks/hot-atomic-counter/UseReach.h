//===- UseReach.h - Which calls come to use a counter -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   uses of the counters --> callers, their callers ... --> functions from
//                                                           which one is
//                                                           reached
//
// A function that is passed as an argument and called in place counts, as does
// one behind an operation table. Where a table has several functions, all of
// them count if the call hands the object on, and none else (may do either;
// test: fix-record-destroy.test). What
// runs later (work, timers, callbacks of a grace period) is not reached by a
// call.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_USEREACH_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_USEREACH_H

#include "Conversion.h"

namespace decontend {

class UseReach {
public:
  /// O(edges into what reaches a use). \p C must outlive it.
  explicit UseReach(const Conversion &C);

  /// How call \p Event of \p N reaches a use: "free_ipcs(), freeque(), which
  /// uses it at ipc/msg.c:288"; empty if it does not. \p Object is the variable
  /// of N that leads to the object.
  std::string by(NodeId N, uint32_t Event, Sym Object) const;

  /// Does function \p N itself use a counter?
  bool uses(NodeId N) const { return Own.count(N) != 0; }

private:
  struct Reach {
    llvm::DenseMap<NodeId, uint32_t> Next; ///< Edge towards a use; ~0: own use.
  };
  void search(Reach &R, bool Many);
  std::string path(const Reach &R, NodeId N) const;

  const Conversion &C;
  const Program &P;
  llvm::DenseMap<NodeId, const CounterUse *> Own;
  Reach Sure; ///< Without tables of several functions.
  Reach Any;
};

} // namespace decontend

#endif
