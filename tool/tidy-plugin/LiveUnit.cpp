//===- LiveUnit.cpp - The unit that clang-tidy has parsed -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveUnit.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

namespace decontend {

namespace {

/// The recorder of markers writes into the unit for as long as the preprocessor
/// lives, which may be longer than the checks do.
class KeepAlive : public clang::PPCallbacks {
public:
  explicit KeepAlive(std::shared_ptr<LiveUnit> U) : U(std::move(U)) {}

private:
  std::shared_ptr<LiveUnit> U;
};

} // namespace

std::shared_ptr<LiveUnit> LiveUnit::of(clang::Preprocessor &PP,
                                       const ProgramOptions &O) {
  // Checks of one unit are set up one after the other, by one thread.
  thread_local std::weak_ptr<LiveUnit> Last;
  std::shared_ptr<LiveUnit> U = Last.lock();
  if (U && U->Of == &PP && U->Options == O)
    return U;
  U.reset(new LiveUnit(PP, O));
  PP.addPPCallbacks(std::make_unique<KeepAlive>(U));
  recordMarkers(PP, U->Extraction, U->Facts);
  Last = U;
  return U;
}

LiveUnit::LiveUnit(clang::Preprocessor &PP, const ProgramOptions &O)
    : Of(&PP), Options(O), Around(StoredProgram::get(O)) {
  Extraction.Knowledge = &Around->knowledge();
}

void LiveUnit::collect(clang::ASTContext &Ctx, const Engine &E) {
  const clang::SourceManager &SM = Ctx.getSourceManager();
  std::string Directory;
  if (auto WD = SM.getFileManager()
                    .getVirtualFileSystem()
                    .getCurrentWorkingDirectory())
    Directory = *WD;
  std::string Main;
  if (auto FE = SM.getFileEntryRefForID(SM.getMainFileID()))
    Main = E.Paths->pure(FE->getName(), Directory);
  // What other units give need not be given, linked and judged again.
  KnownBodies Known = knownWithout(E, Main);
  Extraction.Paths = E.Paths.get();
  Extraction.Known = &Known;
  collectFacts(Ctx, Extraction, Facts);
  Extraction.Known = nullptr;
  Extraction.Paths = nullptr;
  for (MarkerFacts &M : Facts.Markers)
    M.Where.File = Facts.MainFile;
}

void LiveUnit::use(
    clang::ASTContext &Ctx,
    llvm::function_ref<void(const Engine &, llvm::StringRef MainFile)> Use) {
  if (Ctx.getDiagnostics().hasUncompilableErrorOccurred())
    return;
  const clang::SourceManager &SM = Ctx.getSourceManager();
  auto FE = SM.getFileEntryRefForID(SM.getMainFileID());
  if (!FE)
    return;
  llvm::SmallString<256> Path(FE->getName());
  SM.getFileManager().makeAbsolutePath(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  StoredProgram::Access Access = Around->use(Path);
  if (!Collected)
    collect(Ctx, Access.engine());
  Collected = true;
  Access.layOver(Facts, Ticket);
  Use(Access.engine(), Facts.str(Facts.MainFile));
}

} // namespace decontend
