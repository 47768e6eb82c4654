//===- ContentionCheck.h - A rule as a check of clang-tidy ------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   end of unit --> [LiveUnit] --> Program --> [judge] --> findings in the main
//                                          --> [plan]      file, as diagnostics
//
// Judges as the command line does and reports with the same words. NOLINT,
// --fix and --export-fixes are clang-tidy's own.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_TIDY_PLUGIN_CONTENTIONCHECK_H
#define DECONTEND_TOOL_TIDY_PLUGIN_CONTENTIONCHECK_H

#include "LiveUnit.h"
#include "checks/Rule.h"
#include <clang-tidy/ClangTidyCheck.h>

namespace decontend {

class ContentionCheck : public clang::tidy::ClangTidyCheck {
public:
  ContentionCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context,
                  std::unique_ptr<Rule> R);

  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;
  void registerPPCallbacks(const clang::SourceManager &SM,
                           clang::Preprocessor *PP,
                           clang::Preprocessor *ModuleExpanderPP) override;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;
  void onEndOfTranslationUnit() override;

private:
  void report(const Finding &F, const Plan &P, const Engine &E,
              clang::SourceManager &SM);
  void note(clang::SourceLocation At, llvm::StringRef Text,
            llvm::ArrayRef<clang::FixItHint> Fix = {});

  const std::unique_ptr<Rule> Judge;
  ProgramOptions Around;
  const Confidence Least;
  /// Offer what a person must confirm as readily as what is proved?
  const bool ReviewFixes;
  const bool RacyCounters;
  std::shared_ptr<LiveUnit> Unit;
  clang::ASTContext *Ast = nullptr;
};

} // namespace decontend

#endif
