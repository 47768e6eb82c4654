//===- Guards.h - What must hold before a wait is moved ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function notes one guard in the ledger, with places as its proof, and
// says whether it holds. All of them look at the linked program only.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_GUARDS_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_GUARDS_H

#include "PlanSite.h"

namespace decontend {

/// comment-agrees: no comment at the wait says that it is for something else.
bool commentAgrees(const PlanSite &S, Ledger &L);

/// nothing-else-unlinked: the wait does not serve an object that is hidden
/// before it, but is not among \p Freed.
bool nothingElseUnlinked(const PlanSite &S, Ledger &L,
                         llvm::ArrayRef<const Expr *> Freed);

/// callers-do-not-rely: no caller frees, destroys or stops something right
/// behind the call, which would need that readers are gone.
bool callersDoNotRely(const PlanSite &S, Ledger &L);

/// module-outlives-callback: whoever unloads this code waits for callbacks.
bool moduleOutlivesCallback(const PlanSite &S, Ledger &L);

/// cache-outlives-callback: \p Cache is destroyed only behind a barrier.
bool cacheOutlivesCallback(const PlanSite &S, Ledger &L, const Expr &Cache);

/// domain-outlives-callback: likewise for the SRCU domain of the wait.
bool domainOutlivesCallback(const PlanSite &S, Ledger &L);

/// callback-context: \p Free is a call that may be made where nothing sleeps.
bool mayRunInCallback(const PlanSite &S, Ledger &L, uint32_t Free);

/// Functions that unload the code of the site's unit: those of its own file,
/// else those of its folder.
std::vector<NodeId> exitFunctions(const PlanSite &S);

/// Is a lock held at event \p I that the function itself took? Its event, or
/// -1.
int lockHeldAt(const PlanSite &S, uint32_t I);

} // namespace decontend

#endif
