//===- Touches.h - What a call reads and writes -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   accesses of a function --> paths from its parameters and from globals
//   its calls              --> the callee's paths, with arguments put in
//                              (`ids->in_use` of `f(&ns->ids[1])` becomes
//                               `ns->ids[1].in_use`)
//
// Tells whether two calls may change places, and which function undoes what
// another one did.
//
// Approximations, with their direction:
//  - A function without a body in the program touches what its arguments point
//    to and nothing else (may miss).
//  - What functions that both calls reach do to objects of their own (the
//    allocator, an id generator) commutes (may miss).
//  - Modelled allocations, frees, locks and output touch nothing (may miss).
//  - Two paths from different variables are the same if they end in the same
//    member (may over-report).
// Test: FallibleTouches in test/unit/FallibleTextTest.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_TOUCHES_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_TOUCHES_H

#include "analysis/program/Program.h"
#include <map>
#include <set>
#include <tuple>

namespace decontend {

/// One object part that is read or written.
struct Touch {
  /// `ns->ids[1].in_use`, starting with a variable of the function that is
  /// asked about, or with `::` and a global's key. Empty: a part of an object
  /// that no parameter leads to.
  std::string Path;
  Sym Field = Sym::None; ///< Last member, if any.
  bool Writes = false;
  NodeId In = NoNode; ///< Where.
  uint32_t Line = 0;
  bool operator<(const Touch &O) const {
    return std::tie(Path, Field, Writes, In, Line) <
           std::tie(O.Path, O.Field, O.Writes, O.In, O.Line);
  }
};

struct Touches {
  std::vector<Touch> All;   ///< Sorted, each once.
  std::set<NodeId> Reached; ///< Functions that run.
  bool Complete = true;     ///< False: unknown code may run.
  bool Allocates = false;   ///< A modelled allocation is reached.
  bool Bodiless = false;    ///< A function without body or model is reached.
  bool writes() const;
};

class TouchFinder {
public:
  explicit TouchFinder(const Program &P) : P(P) {}

  /// What call \p Event of \p N touches, as paths from \p N's variables. O(size
  /// of what it reaches), at most six calls deep.
  Touches ofCall(NodeId N, uint32_t Event);
  /// What the body of \p N touches, as paths from its parameters.
  const Touches &ofBody(NodeId N) { return body(N, MaxDepth); }

private:
  static constexpr unsigned MaxDepth = 6;
  const Touches &body(NodeId N, unsigned Depth);
  void call(NodeId N, uint32_t Event, unsigned Depth, Touches &Out);

  const Program &P;
  std::map<std::pair<NodeId, unsigned>, Touches> Known; ///< By depth, too.
  std::set<NodeId> Busy;
};

/// Two touches that forbid changing the order, or nulls.
struct Clash {
  const Touch *First = nullptr, *Second = nullptr;
  explicit operator bool() const { return First; }
};

/// May one part be (in) the other?
bool overlap(const Touch &A, const Touch &B);

/// The first pair in which one side writes what the other touches. Pointers
/// into \p A and \p B.
Clash clash(const Touches &A, const Touches &B);

/// A path in canonical form: without a leading `&`, `(*x).y` as `x->y`.
std::string canonicalPath(llvm::StringRef Text);

/// Do both start with the same variable?
bool sameRoot(llvm::StringRef A, llvm::StringRef B);

/// Is one path a part of the other, or the same?
bool samePart(llvm::StringRef A, llvm::StringRef B);

} // namespace decontend

#endif
