//===- Conversion.h - Counters that one plan converts -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   finding --> counter --> [group]: counters of the same record that are set
//                            |       up together and convert alike
//                            +--> remedy (models)
//   group --> [planRecord]    a member of an object: struct percpu_counter
//               declaration, updates, reads     (PlanUses.cpp)
//               initialisation that may fail     (Fallible.cpp)
//               destruction after the last use   (Destroy.cpp)
//         --> [planVariable]  a variable of static storage: per-CPU variable
//         --> [planUserSpace] the runtime's counter, C and C++
//
// All parts write into one Ledger; one guard that fails refuses the whole.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_CONVERSION_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_CONVERSION_H

#include "Verdict.h"
#include "analysis/rewrite/Ledger.h"
#include "analysis/rewrite/SourceText.h"

namespace decontend {

class Locksets;
class MakingSites;

/// What one conversion works on. Lives as long as the plan is made.
struct Conversion {
  const Program &P;
  Sources &Files;
  const CounterRemedy &Remedy;
  /// The finding's counter and others that go with it, by place of declaration,
  /// so that the plan of each of them is the same.
  std::vector<const Counter *> Counters;
  std::vector<SortedUses> Uses; ///< Of each counter.
  Ledger &L;
  const MakingSites *Made = nullptr; ///< Of the program, if known already.

  /// "ipc/msg.c:499".
  std::string at(NodeId N, uint32_t Line) const;
  /// Contents of a file; null after a failed guard `file-readable`.
  const std::string *text(llvm::StringRef File) const;
};

/// `percpu_counter_add({c}, {n})` with its places filled in: {"c", ...} for
/// `{c}`, the address of the counter. Places that are not given stay.
std::string fillIn(llvm::StringRef Form,
                   llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> By);

/// One initialisation of a counter inside an initialiser function.
struct InitStep {
  const Counter *Of = nullptr;
  uint32_t Event = 0; ///< The statement that it replaces, or that it follows
                      ///< when Replaces is false.
  bool Replaces = true;
  std::string Init; ///< `percpu_counter_init(&ns->bytes, 0, GFP_KERNEL)`.
  std::string Undo; ///< `percpu_counter_destroy(&ns->bytes)`.
};

/// Fallible.cpp: puts \p Steps, in order of events, into function \p Init,
/// which may now fail: unwinds the earlier ones when a later one fails, turns
/// `void` into `int` in the definition, in prototypes and in stubs of text that
/// no configuration of this build compiles, and makes every caller check and
/// unwind in reverse order. Writes guards and edits.
void makeFallible(Conversion &C, NodeId Init, llvm::ArrayRef<InitStep> Steps);

/// Destroy.cpp: destroys the counters where objects that \p Init has set up are
/// torn down, after the last use that anything called there reaches.
void destroyAfterLastUse(Conversion &C, NodeId Init,
                         llvm::ArrayRef<InitStep> Steps);

/// Is there a function \p Name, or a declaration of one? O(declarations).
bool isDeclared(const Program &P, llvm::StringRef Name);

Plan planRecord(const Program &P, const Counters &All, const CounterJudge &J,
                const Locksets &Locks, const MakingSites &Made,
                const Counter &C, const CounterRemedy &Remedy, Sources &Files);
Plan planVariable(const Program &P, const CounterJudge &J, const Counter &C,
                  const CounterRemedy &Remedy, Sources &Files);
Plan planUserSpace(const Program &P, const CounterJudge &J, const Counter &C,
                   const CounterRemedy &Remedy, Sources &Files);

/// Deletes a counter that nobody reads, with all that touches it.
Plan planDelete(const Program &P, const CounterJudge &J, const Counter &C,
                Sources &Files);

} // namespace decontend

#endif
