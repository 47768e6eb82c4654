//===- Report.h - Findings for people and programs --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   findings + plans + coverage --> [suppress] --> [renderText | renderJson]
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_REPORT_REPORT_H
#define DECONTEND_ANALYSIS_REPORT_REPORT_H

#include "analysis/program/Finding.h"
#include "analysis/rewrite/Plan.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace decontend {

struct FailedUnit {
  std::string File, Reason;
};

/// What was seen, said honestly in the closing line and in JSON.
struct Coverage {
  size_t Units = 0, Analysed = 0, Cached = 0; ///< Analysed includes Cached.
  std::vector<FailedUnit> Failed;
  size_t Repeated = 0; ///< Further commands for files that have one: left out.
  size_t Functions = 0, EntryPoints = 0, WithContext = 0;
  std::vector<std::string> CouldNotJudge; ///< "rule: why", sorted.
};

struct ReportedFinding {
  Finding F;
  Plan P;
};

struct ReportOptions {
  bool Colour = false;
  bool ShowTrace = true;
  bool ShowDiff = false; ///< Print each plan as a unified diff.
  std::string Version;
};

/// Rustc-like text: `file:line:column: warning: ... [contention-rule]`, source
/// line with caret, evidence, trace as notes, remedy or refusal. Ends with the
/// coverage line.
void renderText(llvm::ArrayRef<ReportedFinding> Findings, const Coverage &C,
                Sources &Files, const ReportOptions &O, llvm::raw_ostream &OS);

/// The JSON contract of docs/json.md: one object, keys in a fixed order.
void renderJson(llvm::ArrayRef<ReportedFinding> Findings, const Coverage &C,
                Sources &Files, const ReportOptions &O, llvm::raw_ostream &OS);

/// True if a NOLINT comment of the file covers rule `contention-<Rule>` at that
/// line, as clang-tidy 19 reads them: NOLINT on the line, NOLINTNEXTLINE on the
/// line above, or a NOLINTBEGIN block closed by a NOLINTEND with the same list;
/// with no list, or a list with the id or a glob. The column (0: the first that
/// is not blank) matters where a block begins or ends on the line itself.
bool isSuppressed(Sources &Files, llvm::StringRef File, uint32_t Line,
                  llvm::StringRef Rule, uint32_t Column = 0);

/// Removes suppressed findings; returns how many there were.
size_t dropSuppressed(std::vector<Finding> &Findings, Sources &Files);

} // namespace decontend

#endif
