//===- ValueFlow.h - What becomes of a value --------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a call's result, or a read --> event that takes it --> [sinks]
//                                   |  local variable: its later mentions
//                                   |  argument: the parameter's mentions
//                                   +- returned: what the callers do with it
//
// Answers whether a number is only shown to people, or decides something.
//
// Approximations: order in the text stands for order of execution, and an
// assignment does not end what a variable held before (over-reports sinks). A
// value is followed through at most four calls and 64 callers of each function;
// beyond that it is Unknown. Arithmetic keeps a value's identity.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_VALUEFLOW_H
#define DECONTEND_ANALYSIS_PROGRAM_VALUEFLOW_H

#include "Program.h"
#include "llvm/ADT/DenseSet.h"

namespace decontend {

/// Where a value ends up: a set of bits, and one witness for the worst of them.
struct Sinks {
  enum Bit : uint8_t {
    None = 0,
    Shown = 1,    ///< Printed, traced, dumped.
    Copied = 2,   ///< Stored in a member of an object that a parameter or local
                  ///< pointer names, and that no condition tests anywhere.
    Decision = 4, ///< Tested by a condition.
    Kept = 8,     ///< Stored in a global, in another counter, or in a member
                  ///< that some condition tests.
    Unknown = 16, ///< Passed to what is not seen, or not followed further.
    Returned = 32 ///< Returned to callers; what they do is in the other bits.
  };
  uint8_t Bits = None;
  NodeId Where = NoNode; ///< Function of the first Decision, if any.
  uint32_t Event = 0;    ///< The condition there.
  bool has(uint8_t B) const { return Bits & B; }
  void merge(const Sinks &O);
};

/// Does \p Text mention the variable \p Name, as a word that is no member?
bool mentionsVariable(llvm::StringRef Text, llvm::StringRef Name);

class ValueFlow {
public:
  /// O(accesses).
  explicit ValueFlow(const Program &P);

  /// Sinks of the value of call \p Event in \p N. O(events of the functions it
  /// passes through).
  Sinks ofCall(NodeId N, uint32_t Event) const;
  /// Sinks of a value that event \p Taker takes.
  Sinks ofTaker(NodeId N, uint32_t Taker, uint32_t From) const;
  /// Sinks of what is passed as parameter \p Index of \p N.
  Sinks ofParam(NodeId N, unsigned Index) const;

private:
  static constexpr unsigned MaxDepth = 4, MaxCallers = 64;
  Sinks call(NodeId N, uint32_t Event, unsigned Depth) const;
  Sinks taker(NodeId N, uint32_t Taker, Sym From, unsigned Depth) const;
  Sinks argument(NodeId N, uint32_t Event, unsigned Argument,
                 unsigned Depth) const;
  Sinks variable(NodeId N, Sym Name, RootKind Root, unsigned Index,
                 uint32_t After, unsigned Depth) const;
  Sinks returned(NodeId N, unsigned Depth) const;
  Sinks decision(NodeId N, uint32_t Event) const;
  Sinks stored(const Expr &Left) const;
  bool onlyClamps(const FunctionFacts &F, uint32_t Branch, Sym Name) const;

  const Program &P;
  llvm::DenseSet<Sym> Tested; ///< Members that conditions test.
};

} // namespace decontend

#endif
