//===- PlanSite.h - The place that a plan is about --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   finding --> [locate] --> PlanSite --> [planFree, planLoop, ...] --> Ledger
//                                                                        |
//                                                        plan or refusal +
//
// Findings carry strings only, so the function and the call are looked up again
// by file, name, line and column.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_PLANSITE_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_PLANSITE_H

#include "Aftermath.h"
#include "analysis/program/Finding.h"
#include "analysis/rewrite/Ledger.h"
#include "analysis/rewrite/SourceText.h"

namespace decontend {

struct PlanSite {
  PlanSite(const Program &P, const Finding &Found, Sources &Files, NodeId Id,
           uint32_t Call, llvm::StringRef Text);

  const Program &P;
  const Finding &Found;
  Sources &Files;
  NodeId Id;
  const Node &Function;
  const FunctionFacts &F;
  Flow Shape;
  uint32_t Call;              ///< The event that the finding points at.
  const FunctionModel *Model; ///< Of that call, or null.
  SourceText Text;            ///< Of the finding's file.

  /// The wait, if the call is one; null if a callee waits.
  const WaitModel *wait() const {
    return Model && Model->Wait ? &*Model->Wait : nullptr;
  }
  const Event &event() const { return F.Events[Call]; }
  bool userSpace() const;
  llvm::StringRef file() const { return Found.File; }

  /// "net/hsr/hsr_slave.c:249".
  std::string at(uint32_t Event) const;
  std::string where(NodeId N, uint32_t Event) const;
  /// Name of a call as the source spells it.
  std::string spelled(const Event &E) const;
  /// One level of indentation as this function has it.
  std::string indentUnit() const;
  /// Above the function and the comment that belongs to it.
  uint32_t aboveFunction() const;
  /// Names of parameters and local variables, sorted.
  std::vector<std::string> localNames() const;
  /// The first of localNames() that \p Code uses as a variable, other than
  /// \p Allowed; empty if there is none.
  std::string foreignLocal(llvm::StringRef Code, llvm::StringRef Allowed) const;
  /// Is \p Name in use anywhere in the program?
  bool taken(llvm::StringRef Name) const { return !empty(P.find(Name)); }

  void replace(Ledger &L, Span S, std::string New) const;
};

/// "kern_unmount() at fs/namespace.c:12", for a path to a wait.
std::string calleeAndPlace(const PlanSite &S, uint32_t EdgeIndex);

/// A function of the program that does for many what \p Callee does for one;
/// empty if there is none.
std::string batchForm(const PlanSite &S, llvm::StringRef Callee);

/// The wait is written out in this file, as a statement on lines of its own.
bool requireEditableWait(const PlanSite &S, Ledger &L);

/// The function stands in a source file, where others can be put beside it.
bool requireSourceFile(const PlanSite &S, Ledger &L);

/// Deletes the wait with its lines and a comment that only explains it.
void deleteWait(const PlanSite &S, Ledger &L);

Plan planFree(const PlanSite &S);
Plan planLoop(const PlanSite &S);
Plan planWorkList(const PlanSite &S);

/// Would planFree() take this wait on: is memory all that is released behind
/// it, as far as shape goes?
bool onlyFreesFollow(const PlanSite &S);

} // namespace decontend

#endif
