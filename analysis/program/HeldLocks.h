//===- HeldLocks.h - Global locks that are held on entry --------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_HELDLOCKS_H
#define DECONTEND_ANALYSIS_PROGRAM_HELDLOCKS_H

#include "Program.h"

namespace decontend {

/// Where one global lock (`rtnl`) is held. It is held at an event if the
/// function takes it or asserts it before, or if every caller and every entry
/// point holds it: the greatest solution of that equation over the call graph.
///
/// Approximation: within a function, order in the text stands for order of
/// execution, so a lock taken in a branch counts as taken behind it (may
/// over-report); a function that nobody is seen to call does not hold it (may
/// miss).
class HeldLocks {
public:
  /// O(events + edges), once per program and lock.
  HeldLocks(const Program &P, llvm::StringRef Lock);

  /// Is the lock held whenever event \p Event of node \p N runs? O(changes of
  /// the lock in that function).
  bool heldAt(NodeId N, uint32_t Event) const;

private:
  /// What the function itself did last before the event: 1 took, -1 gave back,
  /// 0 nothing.
  int local(NodeId N, uint32_t Event) const;

  void keepReached(const Program &P, const std::vector<bool> &HeldEntry);

  struct Change {
    uint32_t Event;
    bool Taken;
  };
  llvm::DenseMap<NodeId, std::vector<Change>> Changes;
  std::vector<bool> OnEntry;
};

} // namespace decontend

#endif
