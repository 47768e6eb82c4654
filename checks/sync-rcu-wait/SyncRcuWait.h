//===- SyncRcuWait.h - A grace-period wait per object -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   every function --> [Shapes]  which shape of waiting does it have?
//                  --> [Heat]    how often is it reached, by whom?
//                  --> finding, with its confidence and its doubts
//   finding --> [PlanFree | PlanLoop | PlanWorkList] --> plan or refusal
//
// The page docs/checks/sync-rcu-wait.md tells users what is found and why.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_SYNCRCUWAIT_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_SYNCRCUWAIT_H

#include "checks/Rule.h"

namespace decontend {

class SyncRcuWait : public Rule {
public:
  llvm::StringRef id() const override { return "sync-rcu-wait"; }
  llvm::StringRef summary() const override {
    return "waits for a grace period once per object, where one wait for many, "
           "or a callback, would do";
  }
  JudgeResult judge(const Program &P, const Scope &S) const override;
  Plan plan(const Program &P, const Finding &F, Sources &Files) const override;
};

} // namespace decontend

#endif
