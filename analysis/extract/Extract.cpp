//===- Extract.cpp - One compile command to facts -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extract.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <mutex>

using namespace clang;

namespace decontend {

namespace {

/// Keeps the first error; everything else is of no interest here.
class FirstError : public DiagnosticConsumer {
public:
  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < DiagnosticsEngine::Error || !Text.empty())
      return;
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    if (Info.hasSourceManager() && Info.getLocation().isValid()) {
      PresumedLoc L = Info.getSourceManager().getPresumedLoc(
          Info.getSourceManager().getExpansionLoc(Info.getLocation()));
      if (L.isValid()) {
        File = L.getFilename();
        Line = L.getLine();
      }
    }
    Text = std::string(Message);
  }
  std::string Text, File;
  unsigned Line = 0;
};

class FactsConsumer : public ASTConsumer {
public:
  FactsConsumer(CompilerInstance &CI, const ExtractOptions &O, UnitFacts &Facts)
      : CI(CI), Options(O), Facts(Facts) {
    if (auto WD = CI.getFileManager()
                      .getVirtualFileSystem()
                      .getCurrentWorkingDirectory())
      Directory = *WD;
  }

  /// Only bodies that nothing else in the unit needs: not in the main file, not
  /// constexpr, no deduced type, no template.
  bool shouldSkipFunctionBody(Decl *D) override {
    const FunctionDecl *FD = D->getAsFunction();
    if (!FD || !Options.Known || FD->isConstexpr() ||
        FD->getReturnType()->isUndeducedType() || FD->isTemplated() ||
        FD->getTemplatedKind() != FunctionDecl::TK_NonTemplate)
      return false;
    const SourceManager &SM = CI.getSourceManager();
    SourceLocation L = FD->getLocation();
    while (L.isMacroID())
      L = SM.isMacroArgExpansion(L)
              ? SM.getImmediateSpellingLoc(L)
              : SM.getImmediateExpansionRange(L).getBegin();
    auto [FID, Offset] = SM.getDecomposedLoc(SM.getExpansionLoc(L));
    if (FID == SM.getMainFileID())
      return false;
    auto [It, New] = KnownOf.try_emplace(FID, nullptr);
    if (New)
      if (OptionalFileEntryRef FE = SM.getFileEntryRefForID(FID))
        It->second =
            Options.Known->of(Options.Paths->pure(FE->getName(), Directory));
    return It->second &&
           It->second->contains(KnownBodies::id(FD->getNameAsString(),
                                                SM.getLineNumber(FID, Offset)));
  }

  void HandleTranslationUnit(ASTContext &Ctx) override {
    if (Ctx.getDiagnostics().hasErrorOccurred())
      return;
    collectFacts(Ctx, Options, Facts);
    listFiles(Ctx.getSourceManager());
  }

private:
  void listFiles(const SourceManager &SM) {
    // Slots of the location table are in the order in which files were entered.
    llvm::DenseSet<Sym> Seen;
    auto Add = [&](OptionalFileEntryRef FE) {
      if (!FE)
        return;
      std::string Pure = Options.Paths->pure(FE->getName(), Directory);
      Sym S = Facts.Names.intern(Pure);
      if (!Seen.insert(S).second)
        return;
      Facts.Files.push_back(
          {S, Options.DigestOf ? Options.DigestOf(Pure) : Digest{}});
    };
    Add(SM.getFileEntryRefForID(SM.getMainFileID()));
    for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
      const SrcMgr::SLocEntry &E = SM.getLocalSLocEntry(I);
      if (E.isFile())
        Add(E.getFile().getContentCache().OrigEntry);
    }
  }

  CompilerInstance &CI;
  const ExtractOptions &Options;
  UnitFacts &Facts;
  std::string Directory;
  llvm::DenseMap<FileID, const KnownBodies::Set *> KnownOf;
};

class FactsAction : public ASTFrontendAction {
public:
  FactsAction(const ExtractOptions &O, UnitFacts &Facts)
      : Options(O), Facts(Facts) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 llvm::StringRef) override {
    recordMarkers(CI.getPreprocessor(), Options, Facts);
    return std::make_unique<FactsConsumer>(CI, Options, Facts);
  }

private:
  const ExtractOptions &Options;
  UnitFacts &Facts;
};

void extractHere(const CompileCommand &C, const ExtractOptions &O,
                 ExtractResult &R) {
  IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS =
      llvm::vfs::createPhysicalFileSystem();
  if (std::error_code EC = FS->setCurrentWorkingDirectory(C.Directory)) {
    R.Reason = C.Directory + ": " + EC.message() +
               " (the compile database names this folder; make it again)";
    return;
  }
  std::vector<std::string> Args = normalisedArguments(C);
  std::vector<const char *> Argv;
  for (const std::string &A : Args)
    Argv.push_back(A.c_str());

  FirstError Errors;
  IntrusiveRefCntPtr<DiagnosticsEngine> Diags =
      CompilerInstance::createDiagnostics(new DiagnosticOptions(), &Errors,
                                          /*ShouldOwnClient=*/false);
  CreateInvocationOptions CIOpts;
  CIOpts.VFS = FS;
  CIOpts.Diags = Diags;
  CIOpts.ProbePrecompiled = false;
  std::shared_ptr<CompilerInvocation> Invocation =
      createInvocation(Argv, std::move(CIOpts));
  if (!Invocation) {
    R.Reason = Errors.Text.empty() ? "the compile command was not understood"
                                   : Errors.Text;
    return;
  }
  Invocation->getFrontendOpts().DisableFree = false;
  Invocation->getFrontendOpts().SkipFunctionBodies = O.Known != nullptr;
  Invocation->getDiagnosticOpts().ErrorLimit = 1;
  Invocation->getDiagnosticOpts().IgnoreWarnings = true;
  Invocation->getDiagnosticOpts().ShowCarets = false; // no closing statistics
  Diags->setIgnoreAllWarnings(true);
  // Also those that Clang, unlike older compilers, takes for errors.
  Diags->setSeverityForAll(diag::Flavor::WarningOrError,
                           diag::Severity::Ignored);
  Invocation->getLangOpts().CommentOpts.ParseAllComments = false;

  CompilerInstance CI;
  CI.setInvocation(Invocation);
  CI.setDiagnostics(Diags.get());
  CI.setFileManager(new FileManager(CI.getFileSystemOpts(), FS));
  FactsAction Action(O, R.Facts);
  bool Ran = CI.ExecuteAction(Action);
  if (Ran && !Diags->hasErrorOccurred()) {
    R.Ok = true;
    return;
  }
  R.Facts = UnitFacts();
  if (Errors.Text.empty())
    Errors.Text = "could not be parsed";
  if (!Errors.File.empty()) {
    R.Reason = O.Paths->pure(Errors.File, C.Directory) + ":" +
               std::to_string(Errors.Line) + ": ";
  }
  R.Reason += Errors.Text;
}

} // namespace

ExtractResult extractUnit(const CompileCommand &C, const ExtractOptions &O) {
  static std::once_flag Once;
  std::call_once(Once, [] { llvm::CrashRecoveryContext::Enable(); });
  ExtractResult R;
  if (!llvm::sys::fs::exists(C.File)) {
    R.Reason = "no such file (the compile database names it; make it again)";
    return R;
  }
  llvm::CrashRecoveryContext Recovery;
  // Deeply nested expressions need more stack than a thread has by default.
  bool Survived = Recovery.RunSafelyOnThread([&] { extractHere(C, O, R); },
                                             /*RequestedStackSize=*/8 << 20);
  if (!Survived) {
    R = ExtractResult();
    R.Reason = "Clang crashed on this unit (left out)";
  }
  for (MarkerFacts &M : R.Facts.Markers)
    M.Where.File = R.Facts.MainFile;
  return R;
}

} // namespace decontend
