//===- Mentions.h - What else mentions a counter ----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   all files of the units that see the declaration
//     --> words that spell the counter's name
//     --> less those that UsePlaces knows, and other things of that name
//     --> the first that is left: a use that no plan can change
//   other source files of the folders with a use --> the same
//
// Facts show what was compiled. Macros that nobody expands, text that this
// configuration leaves out, uninstantiated templates and objects on the stack
// mention a counter without being facts; they are found as text.
//
// Approximations:
//  - A member is known by its name behind `.` or `->`. Another record's member
//    of the same name in text without facts counts as a use (may refuse too
//    often; test: fix-delete-refused.test, `struct alike`).
//  - Source files of other folders that no unit is made of are not read, nor
//    those that do not name the record or the declaring header (may miss; their
//    units do not compile any more).
//  - A name that ## pastes together is not found (may miss; what it makes does
//    not compile any more).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_MENTIONS_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_MENTIONS_H

#include "UsePlaces.h"

namespace decontend {

struct MentionSearch {
  std::string Trouble; ///< With its place; empty if nothing else is found.
  size_t Files = 0;    ///< Searched.
  size_t Folders = 0;  ///< Of files that no unit is made of.
  /// "no other mention in 12 files that see its declaration".
  std::string proof() const;
};

/// O(length of all files that see the declaration), facts of their functions
/// included.
MentionSearch searchMentions(const UsePlaces &Places);

} // namespace decontend

#endif
