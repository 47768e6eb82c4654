//===- Commands.h - Subcommands of decontend --------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit codes, the same for all commands: 0 nothing found, 1 findings at or
// above
// --fail-on, 2 the analysis is incomplete, 3 wrong use.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_DECONTEND_COMMANDS_H
#define DECONTEND_TOOL_DECONTEND_COMMANDS_H

#include "analysis/program/Finding.h"
#include "tool/engine/Engine.h"
#include <string>
#include <vector>

namespace decontend {

enum ExitCode {
  ExitClean = 0,
  ExitFindings = 1,
  ExitIncomplete = 2,
  ExitUsage = 3
};

struct CheckOptions {
  EngineOptions Load;
  std::vector<std::string> Paths; ///< Judge only below these; empty: all.
  std::string UnitsFrom;          ///< File that lists further paths, or empty.
  std::string Format = "text";    ///< text or json.
  std::string Checks = "*";       ///< Globs of rule ids, comma separated.
  Confidence Least = Confidence::Medium;  ///< Show from here on.
  Confidence FailOn = Confidence::Medium; ///< Exit 1 from here on.
  bool NeverFail = false;
  bool Diff = false;
  bool Colour = false;
  bool RacyCounters = false; ///< See Scope.
};

/// Analyses, judges, plans and prints to standard output.
int runCheck(const CheckOptions &O);

/// Prints the page of a rule, or all rules when \p Rule is empty.
int runExplain(llvm::StringRef Rule);

/// Prints the facts of one unit of the database as JSON.
int runFacts(const EngineOptions &O, llvm::StringRef File);

/// Runs SQL on the linked program and prints rows; without SQL, the tables.
int runQuery(const EngineOptions &O, llvm::StringRef Sql, bool Json);

/// Prints one line `decontend: error: ...` to standard error.
void printError(const llvm::Twine &Text);

} // namespace decontend

#endif
