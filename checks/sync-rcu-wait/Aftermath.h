//===- Aftermath.h - What follows a grace-period wait -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows a wait decides whether it can be a callback: only memory that is
// released, or something that needs the wait to be over.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_AFTERMATH_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_AFTERMATH_H

#include "analysis/program/Flow.h"

namespace decontend {

/// Events behind a wait, on the straight way, sorted by what they mean.
struct Aftermath {
  std::vector<uint32_t> Frees;     ///< Calls that free memory.
  std::vector<uint32_t> Blockers;  ///< What may rely on the wait being over.
  std::vector<uint32_t> Releases;  ///< Locks given back.
  std::vector<uint32_t> Deferrals; ///< call_rcu() and the like.
  std::vector<uint32_t> Waits;     ///< Further waits.
  bool LoopBehind = false;         ///< A loop over elements follows: a batch.
  unsigned FreesInLoop = 0; ///< Frees in loops that start behind the wait.
  bool StopsDevice = false; ///< Hardware or threads are stopped behind it.
  /// Are all frees in loops behind the wait? Then one wait serves many objects;
  /// a free outside as well says that the loop frees the parts of one.
  bool freesBatch() const { return FreesInLoop && FreesInLoop == Frees.size(); }
  /// Blockers that stand before the last free.
  unsigned BlockersBeforeFree = 0;
};

/// \p Wait is the index of the wait in the flow's function. O(events).
Aftermath aftermathOf(const Program &P, const Flow &F, uint32_t Wait);

/// Index of an event before \p Wait that makes the freed object \p X
/// unreachable for new readers, or -1. Looks at unlink models with the object
/// as argument, at its members, and at pointers to it that are cleared.
int unlinkedBefore(const Program &P, const Flow &F, uint32_t Wait,
                   const Expr &X);

/// Does \p Name hold in \p Text as a whole path component: `p` in `&p->list`?
bool mentions(llvm::StringRef Text, llvm::StringRef Name);

} // namespace decontend

#endif
