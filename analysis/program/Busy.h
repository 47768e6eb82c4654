//===- Busy.h - What runs for each unit of work -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   entry points that are hot, and not only to report or to administer
//     --> shortest way over calls, counted in conditions --> busy functions
//
// Contexts say that a function can be reached from a system call; this says how
// surely it is: with few conditions on the way, or only in some far corner.
// What models call a control call (an ioctl, a socket option) and what one core
// runs at a time (an interrupt handler of one device) is told apart, too.
//
// Algorithm: Dijkstra over the call graph, once per pace; an edge costs its
// conditions (tests for something optional included, and branches before it
// that leave the function with success) and one tenth for the call itself.
// O(edges log edges).
//
// Approximation: the conditions of a way are not related to each other (may
// over-report), and a way over calls that nobody sees is missing (may miss).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_BUSY_H
#define DECONTEND_ANALYSIS_PROGRAM_BUSY_H

#include "Program.h"

namespace decontend {

class Busy {
public:
  explicit Busy(const Program &P);

  /// How a function is reached at best.
  struct Reach {
    bool Any = false;
    unsigned Conditions = 0; ///< On the way.
    unsigned Calls = 0;
    Pace At = Pace::Work;
    const EntryPoint *Entry = nullptr;
  };
  Reach of(NodeId N) const;
  /// Edges from the entry to \p N.
  std::vector<uint32_t> way(NodeId N) const;

private:
  struct Step {
    uint32_t Cost = ~0u;
    uint32_t Edge = ~0u; ///< ~0: an entry itself.
    uint32_t Entry = ~0u;
    uint16_t Calls = 0, Conditions = 0;
  };
  void search(Pace At);
  const std::vector<uint8_t> &skips(NodeId N);

  const Program &P;
  std::vector<Step> Best[4]; ///< By pace.
  /// By node, then by its callees: how often the function is left before.
  llvm::DenseMap<NodeId, std::vector<uint8_t>> Skips;
};

} // namespace decontend

#endif
