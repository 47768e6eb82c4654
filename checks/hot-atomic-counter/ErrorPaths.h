//===- ErrorPaths.h - How a function leaves after a failure -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   err = a(x);                 step a, exit 1: goto fail
//   if (err)
//           goto fail;
//   if (!b(x))                  step b, exit 2: goto fail_a
//           goto fail_a;
//   return 0;
//   fail_a:                     labels: the chain that undoes in reverse order
//           undo_a(x);
//   fail:
//           return err;
//
// Structural, from events. Exits inside loops and inside other branches are not
// listed (may miss); whoever adds a failure behind one of these must refuse:
// see unlisted().
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_ERRORPATHS_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_ERRORPATHS_H

#include "analysis/program/Flow.h"
#include "analysis/rewrite/SourceText.h"

namespace decontend {

enum class ResultKind : uint8_t { Void, Int, Pointer, Bool, Other };

/// One `if (failed) { undo...; leave }` at the outermost level.
struct ErrorExit {
  uint32_t Branch = 0;
  uint32_t Leave = 0;         ///< The goto or return.
  Sym Label = Sym::None;      ///< Of a goto.
  int Step = -1;              ///< The call that failed, if one is tested.
  Sym Status = Sym::None;     ///< Local variable that is tested, if any.
  std::vector<uint32_t> Undo; ///< Calls in the branch.
};

struct ChainLabel {
  Sym Name = Sym::None;
  uint32_t Event = 0;
};

class ErrorPaths {
public:
  /// O(events). All arguments must outlive it; \p Text is the function's file.
  ErrorPaths(const Program &P, NodeId N, const SourceText &Text);

  const Program &P;
  const NodeId Id;
  const FunctionFacts &F;
  const SourceText &Text;
  Flow Shape;

  ResultKind Result = ResultKind::Other;
  std::vector<ErrorExit> Exits;   ///< In order.
  std::vector<ChainLabel> Labels; ///< At the end of the function, in order.
  bool Mixed = false;             ///< Success runs through the labels too.
  int Final = -1;                 ///< The return at the end of the labels.
  bool Ladder = false; ///< The labels are a chain that can be added to.

  /// The last exit before event \p I and the first one behind it, or null.
  const ErrorExit *before(uint32_t I) const;
  std::vector<const ErrorExit *> behind(uint32_t I) const;
  /// An exit (or a return) that is not in Exits and lies behind \p I, before
  /// the labels: its event, or -1.
  int unlisted(uint32_t I) const;

  /// Calls from label \p Name to the end of the function.
  std::vector<uint32_t> chain(Sym Name) const;
  /// Calls that exit \p X makes, in order.
  std::vector<uint32_t> undone(const ErrorExit &X) const;
  int labelIndex(Sym Name) const;

  /// Text of the return at which label \p Name ends, or of exit \p X.
  llvm::StringRef returnText(const ErrorExit *X) const;

  /// "ipc/msg.c:499".
  std::string at(uint32_t Event) const;
  /// Source of an event without its `;`.
  std::string source(uint32_t Event) const;
  uint32_t offsetOf(uint32_t Line) const;
  std::string indentUnit() const;
  /// Is `int Name` declared in the body?
  bool declaresInt(llvm::StringRef Name) const;
  /// The name of an `int` of the function that holds error codes, or empty.
  std::string statusVariable() const;

private:
  void findLabels();
  void findExits();
  bool isError(uint32_t Branch, const Event &Return) const;
};

} // namespace decontend

#endif
