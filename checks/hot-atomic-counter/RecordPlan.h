//===- RecordPlan.h - Parts of the plan for a member ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   counters of one record --> [guards]   may they change at all?
//                          --> [planReads]   exact, or cheap: decides how
//                          --> [planUpdates] updates are written
//                          --> [findSetUp]   who makes objects, who sets up
//                              --> makeFallible, destroyAfterLastUse
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_RECORDPLAN_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_RECORDPLAN_H

#include "Conversion.h"
#include "analysis/program/Locksets.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace decontend {

/// A call as its author spelled it.
struct SpelledCall {
  Span Text;                     ///< Without a `;` behind it.
  std::vector<std::string> Args; ///< As many as the event has.
};

/// Call \p Event of \p N, if all of it stands in a file; O(its length).
std::optional<SpelledCall> spelledCall(const Conversion &C, NodeId N,
                                       uint32_t Event);

/// \p New with a line end behind one of its commas if it is too long for the
/// place at \p At, where the text up to \p At.End goes; aligned to its bracket.
std::string fitted(const Conversion &C, llvm::StringRef File, Span At,
                   std::string New);

/// The counter as use \p U spells it, without `&`: `ns->msg_bytes`. Empty if a
/// macro spells it.
std::string spelledCounter(const Conversion &C, const CounterUse &U);

/// `file:line` of a use, or of an offset in a file.
std::string placeOf(const Conversion &C, const CounterUse &U);
std::string placeOf(const Conversion &C, llvm::StringRef File, uint32_t Offset);

/// The name of a counter's member.
llvm::StringRef memberName(const Conversion &C, const Counter &Of);

/// "msg_bytes and msg_hdrs".
std::string memberNames(const Conversion &C);

/// Can every use of counter \p I be rewritten where it stands? Appends why not.
bool convertible(const Conversion &C, size_t I, std::string &Why);

/// Guards `all-uses-convertible`, `no-use-in-left-out-text`, `layout-free`,
/// `objects-are-few` and `whole-object-copies` (RecordGuards.cpp,
/// ObjectCopies.cpp). False if one fails.
bool requireConvertible(Conversion &C);
bool requireNoCopies(Conversion &C);

/// Rewrites the declaration and sees to the include (PlanUses.cpp).
bool planDeclaration(Conversion &C);

/// Rewrites the reads, moved out of locks where that is possible, and tells
/// whether some of them are approximate now (PlanReads.cpp).
bool planReads(Conversion &C, const CounterJudge &J, const Locksets &Locks,
               bool &Approximate);

/// Rewrites bumps, and those sets that are not in \p Initial.
bool planUpdates(Conversion &C, bool Approximate,
                 llvm::ArrayRef<const CounterUse *> Initial);

/// A read that can stand behind the locks around it.
struct MovedRead {
  bool Moved = false;
  uint32_t Behind = 0;     ///< The event behind which it stands then.
  std::string Why;         ///< The locks that it left, or why it stays; empty
                           ///< if its function takes no lock around it.
  std::vector<Edit> Edits; ///< For all of them; of the first that moved.
};

/// Moves the statements `lhs = New;` of \p Reads, which stand in function \p N,
/// out of the locks that the function takes around them, if what follows its
/// new event \p Fits (MoveReads.cpp). One answer for each of \p Reads.
std::vector<MovedRead>
moveReads(const Conversion &C, const Locksets &Locks, NodeId N,
          llvm::ArrayRef<std::pair<const CounterUse *, std::string>> Reads,
          llvm::function_ref<bool(uint32_t)> Fits);

/// Where the objects of a record come from.
struct SetUp {
  NodeId Init = NoNode; ///< Sets the counters up; may be the one that makes.
  std::vector<std::pair<NodeId, std::vector<InitStep>>> Steps; ///< By function.
  std::vector<const CounterUse *> Initial; ///< The sets that Steps replace.
  std::vector<NodeId> Makers;              ///< Functions that allocate objects.
};

/// Finds it and writes the guards `init-before-first-use` and
/// `static-instance-initialised` (SetUp.cpp). Nothing if one fails.
std::optional<SetUp> findSetUp(Conversion &C);

/// The function whose sets make counter \p I ready, or the one that allocates
/// its objects: what tells whether two counters go together. NoNode: unclear.
NodeId setUpFunction(Conversion &C, size_t I);

} // namespace decontend

#endif
