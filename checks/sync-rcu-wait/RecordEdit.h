//===- RecordEdit.h - Giving a record one more member -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A deferred free needs room in the object: a `struct rcu_head` for a callback,
// a `struct llist_node` for a list that a work item drains.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_RECORDEDIT_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_RECORDEDIT_H

#include "PlanSite.h"

namespace decontend {

struct MemberWanted {
  std::string Type;               ///< "struct rcu_head".
  std::vector<std::string> Names; ///< In order of preference.
  std::string Header;             ///< "linux/types.h"; empty: none to add.
  bool MustInclude = false; ///< A header that uses it must include Header.
  bool Reuse = true;        ///< Take a member of that type if there is one.
};

/// Finds or adds the member; guards say whether the record can be edited. The
/// edits go to \p L. None, and a failed guard, if it cannot be had.
std::optional<std::string> memberFor(const PlanSite &S, Ledger &L, Sym Record,
                                     const MemberWanted &Want);

/// Could the members of \p Record, up to an rcu_head if it has one, take more
/// than \p Bytes? A rough count that errs towards yes.
bool mayExceed(const PlanSite &S, Sym Record, uint64_t Bytes);

} // namespace decontend

#endif
