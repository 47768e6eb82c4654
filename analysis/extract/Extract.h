//===- Extract.h - Clang AST to facts ---------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   CompileCommand --> [extractUnit] --> UnitFacts or a reason why not
//
//   extractUnit = normalise flags -> parse (known header bodies skipped)
//                 -> collectFacts -> forget the AST
//
// One call uses one thread and shares nothing mutable; many may run at once.
// The AST does not outlive the call.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_EXTRACT_H
#define DECONTEND_ANALYSIS_EXTRACT_EXTRACT_H

#include "CompileCommands.h"
#include "KnownBodies.h"
#include "UnitPaths.h"
#include "analysis/facts/Facts.h"
#include "analysis/models/Models.h"
#include <functional>
#include <string>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace decontend {

/// Changes whenever extraction would say something else for the same source;
/// part of every shard's key.
constexpr unsigned ExtractorVersion = 6;

struct ExtractOptions {
  const Models *Knowledge = nullptr;  ///< Must be set.
  const UnitPaths *Paths = nullptr;   ///< Must be set.
  const KnownBodies *Known = nullptr; ///< Bodies to skip; null: none.
  /// Digest of a file's current content; called with pure paths.
  std::function<Digest(llvm::StringRef)> DigestOf;
};

struct ExtractResult {
  UnitFacts Facts;
  bool Ok = false;
  std::string Reason; ///< First error, `file:line: text`, when not Ok.
};

/// Parses one unit and collects its facts. Blocks for about as long as
/// `clang -fsyntax-only`. A crash inside Clang is contained: the result is not
/// Ok and says so. May miss: functions that only other `#if` branches define.
ExtractResult extractUnit(const CompileCommand &C, const ExtractOptions &O);

/// Collects facts from an AST that somebody else owns (clang-tidy, clangd).
/// Facts.Files is left empty; Markers come from a MarkerRecorder.
void collectFacts(clang::ASTContext &Ctx, const ExtractOptions &O,
                  UnitFacts &Facts);

/// Hears marker macros (`module_exit(x)`, `EXPORT_SYMBOL(x)`) and text that is
/// left out while a unit is preprocessed, and adds them to \p Facts, which like
/// \p O must outlive \p PP.
void recordMarkers(clang::Preprocessor &PP, const ExtractOptions &O,
                   UnitFacts &Facts);

} // namespace decontend

#endif
