//===- Callback.h - A function that frees after a grace period --*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_CALLBACK_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_CALLBACK_H

#include "PlanSite.h"

namespace decontend {

/// What the callback works on.
struct CallbackObject {
  std::string Record;   ///< "struct foo".
  std::string Variable; ///< Its name in the function, kept in the callback.
  std::string Member;   ///< The rcu_head in it.
};

/// "hsr_port" for "struct hsr_port".
std::string stemOf(llvm::StringRef Record);

/// `<stem><Suffix>`, or with a number behind it if that is taken.
std::string freshName(const PlanSite &S, llvm::StringRef Record,
                      llvm::StringRef Suffix);

/// Text of a static callback named \p Name that runs \p Body (lines without
/// indentation) on the object.
std::string callbackText(const PlanSite &S, llvm::StringRef Name,
                         const CallbackObject &O,
                         llvm::ArrayRef<std::string> Body);

/// The asynchronous form of the wait. liburcu's plain names are macros for one
/// flavour; what the source spells plainly stays plain.
std::string deferredName(const PlanSite &S);

/// `call_rcu(&p->rcu, name);`, broken like kernel code if it is too wide.
std::string deferCall(const PlanSite &S, llvm::StringRef Name,
                      const CallbackObject &O, llvm::StringRef Indent);

} // namespace decontend

#endif
