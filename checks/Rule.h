//===- Rule.h - The interface of a rule -------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Program --> [Rule::judge] --> Finding --> [Rule::plan] --> Plan
//
// A rule sees only the linked program, never Clang. Checks.def lists the rules.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_RULE_H
#define DECONTEND_CHECKS_RULE_H

#include "analysis/program/Finding.h"
#include "analysis/program/Program.h"
#include "analysis/rewrite/Plan.h"
#include <functional>
#include <memory>
#include <vector>

namespace decontend {

/// Which places may be reported: all, or those in given files; and what is only
/// reported on demand.
struct Scope {
  /// Empty means everywhere. Called with a file of a possible finding.
  std::function<bool(llvm::StringRef)> Covers;
  bool covers(llvm::StringRef File) const { return !Covers || Covers(File); }
  /// hot-atomic-counter: also statistics that are bumped by a plain ++.
  bool RacyCounters = false;
};

struct JudgeResult {
  std::vector<Finding> Findings;
  std::vector<std::string> CouldNotJudge; ///< Reasons, for the coverage line.
};

class Rule {
public:
  virtual ~Rule() = default;
  /// Kebab-case id; also folder, page and test name.
  virtual llvm::StringRef id() const = 0;
  /// One line for listings.
  virtual llvm::StringRef summary() const = 0;
  /// Turns the program into findings. Const and deterministic: the order of
  /// the result depends only on the program.
  virtual JudgeResult judge(const Program &P, const Scope &S) const = 0;
  /// Turns one of its findings into edits or a refusal. Reads source text
  /// through \p Files only.
  virtual Plan plan(const Program &P, const Finding &F,
                    Sources &Files) const = 0;
};

/// All rules, in the order of Checks.def.
std::vector<std::unique_ptr<Rule>> makeRules();

} // namespace decontend

#endif
