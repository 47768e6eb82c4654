//===- ContentionCheck.cpp - A rule as a check of clang-tidy --------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionCheck.h"
#include "FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace clang::ast_matchers;

template <> struct clang::tidy::OptionEnumMapping<decontend::Confidence> {
  static llvm::ArrayRef<std::pair<decontend::Confidence, llvm::StringRef>>
  getEnumMapping() {
    using decontend::Confidence;
    static constexpr std::pair<Confidence, llvm::StringRef> Mapping[] = {
        {Confidence::Low, "low"},
        {Confidence::Medium, "medium"},
        {Confidence::High, "high"}};
    return Mapping;
  }
};

namespace decontend {

ContentionCheck::ContentionCheck(llvm::StringRef Name,
                                 tidy::ClangTidyContext *Context,
                                 std::unique_ptr<Rule> R)
    : ClangTidyCheck(Name, Context), Judge(std::move(R)),
      Least(Options.get("MinConfidence", Confidence::Medium)),
      ReviewFixes(Options.get("ReviewFixes", true)),
      RacyCounters(Options.get("RacyCounters", false)) {
  Around.Folder = Options.get("Program", "").str();
  Around.Root = Options.get("Root", "").str();
  Around.CacheDir = Options.get("CacheDir", "").str();
  llvm::SmallVector<llvm::StringRef, 4> Files;
  Options.get("Models", "").split(Files, ';', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef F : Files)
    Around.Models.push_back(F.trim().str());
}

void ContentionCheck::storeOptions(tidy::ClangTidyOptions::OptionMap &Opts) {
  Options.store(Opts, "Program", Around.Folder);
  Options.store(Opts, "Root", Around.Root);
  Options.store(Opts, "CacheDir", Around.CacheDir);
  Options.store(Opts, "Models", llvm::join(Around.Models, ";"));
  Options.store(Opts, "MinConfidence", Least);
  Options.store(Opts, "ReviewFixes", ReviewFixes);
  Options.store(Opts, "RacyCounters", RacyCounters);
}

void ContentionCheck::registerPPCallbacks(const SourceManager &,
                                          Preprocessor *PP, Preprocessor *) {
  Unit = LiveUnit::of(*PP, Around);
}

void ContentionCheck::registerMatchers(MatchFinder *Finder) {
  // Only to learn the context. Not translationUnitDecl(): hosts that visit part
  // of a unit never match it. Findings lie in functions, so one is there.
  Finder->addMatcher(functionDecl(isDefinition()).bind("any"), this);
}

void ContentionCheck::check(const MatchFinder::MatchResult &Result) {
  Ast = Result.Context;
}

void ContentionCheck::onEndOfTranslationUnit() {
  if (!Ast || !Unit)
    return;
  SourceManager &SM = Ast->getSourceManager();
  Unit->use(*Ast, [&](const Engine &E, llvm::StringRef Main) {
    Scope OnlyMain;
    OnlyMain.RacyCounters = RacyCounters;
    OnlyMain.Covers = [&](llvm::StringRef File) { return File == Main; };
    JudgeResult J = Judge->judge(*E.Linked, OnlyMain);
    finishFindings(J.Findings);
    Sources Files(E.Paths->root().str(), E.Paths->build().str());
    // An editor's buffer may be newer than the file.
    Files.set(Main, SM.getBufferData(SM.getMainFileID()).str());
    for (const Finding &F : J.Findings)
      if (F.Level >= Least && F.File == Main)
        report(F, Judge->plan(*E.Linked, F, Files), E, SM);
  });
  Ast = nullptr;
}

/// Where a step of a trace stands; invalid if its file cannot be read. Files
/// that the unit does not include are entered, to be shown like any other.
static SourceLocation locationOf(const TraceStep &S, const Engine &E,
                                 llvm::StringRef Main, SourceManager &SM) {
  if (S.Line == 0)
    return {};
  FileID FID = SM.getMainFileID();
  if (S.File != Main) {
    auto FE = SM.getFileManager().getOptionalFileRef(E.Paths->absolute(S.File));
    if (!FE)
      return {};
    FID = SM.getOrCreateFileID(*FE, SrcMgr::C_User);
  }
  return SM.translateLineCol(FID, S.Line, std::max(S.Column, 1u));
}

void ContentionCheck::note(SourceLocation At, llvm::StringRef Text,
                           llvm::ArrayRef<FixItHint> Fix) {
  auto D = diag(At, "%0", DiagnosticIDs::Note);
  D << Text;
  for (const FixItHint &H : Fix)
    D << H;
}

void ContentionCheck::report(const Finding &F, const Plan &P, const Engine &E,
                             SourceManager &SM) {
  SourceLocation At =
      SM.translateLineCol(SM.getMainFileID(), F.Line, std::max(F.Column, 1u));
  bool Here = P.available() && At.isFileID() && liesIn(P, F.File);
  std::vector<FixItHint> Fix;
  if (Here)
    Fix = fixIts(P, SM.getMainFileID(), SM);
  {
    auto D = diag(At, "%0");
    D << F.Message;
    if (P.Level == Tier::Safe || ReviewFixes)
      for (const FixItHint &H : Fix)
        D << H;
  }
  for (const TraceStep &S : F.Trace) {
    SourceLocation L = locationOf(S, E, F.File, SM);
    std::string Text =
        S.Function.empty() ? S.Note : "in " + S.Function + ": " + S.Note;
    if (L.isInvalid()) {
      L = At;
      Text = S.File + ":" + std::to_string(S.Line) + ": " + Text;
    }
    note(L, Text);
  }
  if (F.Level != Confidence::High && !F.Doubts.empty())
    note(At, "confidence is " + confidenceName(F.Level).str() + ": " +
                 llvm::join(F.Doubts, "; "));
  if (!P.available()) {
    if (!P.Refusal.empty())
      note(At, "no fix: " + P.Refusal);
  } else if (!Here) {
    note(At, "fix: " + P.Title + " (" + tierName(P.Level).str() +
                 "); it edits " + llvm::join(P.files(), ", ") +
                 ": see 'decontend check -p " + Unit->program().folder() +
                 " --diff " + F.File + "'");
  } else if (P.Level != Tier::Safe) {
    // A fix on a note is applied with --fix-notes only.
    note(At, "fix, to be reviewed: " + P.Title,
         ReviewFixes ? std::vector<FixItHint>() : Fix);
  }
  std::string Last = F.Why.Remedy.empty() ? "" : F.Why.Remedy + "; ";
  note(At, Last + "see 'decontend explain " + F.Rule + "'");
}

} // namespace decontend
