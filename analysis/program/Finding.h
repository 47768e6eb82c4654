//===- Finding.h - What a rule has to say -----------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A finding answers four questions: what shape the code has, who shares the
// object, how often the place is reached, what to do. Strings, not Syms: there
// are few findings, and reports outlive the program.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_FINDING_H
#define DECONTEND_ANALYSIS_PROGRAM_FINDING_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace decontend {

enum class Confidence : uint8_t { Low, Medium, High };

/// "low", "medium", "high".
llvm::StringRef confidenceName(Confidence C);

/// The inverse; false if \p Text is none of the three.
bool parseConfidence(llvm::StringRef Text, Confidence &Out);

/// One step of a trace: "at this place, in this function, this happens".
struct TraceStep {
  std::string File;
  uint32_t Line = 0, Column = 0;
  std::string Function;
  std::string Note;
  bool operator==(const TraceStep &) const = default;
};

/// Shape, sharing, heat, remedy: each one sentence, shown to the reader.
struct Evidence {
  std::string Shape, Sharing, Heat, Remedy;
  bool operator==(const Evidence &) const = default;
};

struct Finding {
  std::string Rule;  ///< "sync-rcu-wait".
  std::string Shape; ///< Kebab-case id of the shape: "wait-then-free".
  std::string File;  ///< Relative to the root.
  uint32_t Line = 0, Column = 0;
  std::string Function; ///< Name of the enclosing function.
  std::string Subject; ///< What it is about: "struct hsr_port", "kern_unmount".
  std::string Message; ///< One sentence, no full stop, lower case start.
  Confidence Level = Confidence::Medium;
  std::string Context; ///< "teardown", "hot+setup", "unknown".
  Evidence Why;
  std::vector<TraceStep> Trace;    ///< From where it is reached to the wait.
  std::vector<std::string> Doubts; ///< Why the confidence is not higher.
  std::string Fingerprint;         ///< Set by the driver, see fingerprint().
};

/// Sorts by file, line, column, rule, shape, subject and sets fingerprints:
/// 16 hex digits of BLAKE3 over rule, file, function, subject and an ordinal
/// that counts equal ones in order; never a line number.
void finishFindings(std::vector<Finding> &Findings);

} // namespace decontend

#endif
