//===- Markers.cpp - Marker macros, and text that is left out -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extract.h"
#include "clang/Lex/MacroArgs.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace decontend {

namespace {

class MarkerRecorder : public PPCallbacks {
public:
  MarkerRecorder(Preprocessor &PP, const ExtractOptions &O, UnitFacts &Facts)
      : PP(PP), Options(O), Facts(Facts) {
    for (const std::string &M : O.Knowledge->markers())
      Names.insert(M);
  }

  void MacroExpands(const Token &Name, const MacroDefinition &,
                    SourceRange Range, const MacroArgs *Args) override {
    const SourceManager &SM = PP.getSourceManager();
    // Markers stand in the main file, not inside other macros.
    if (!Args || Args->getNumMacroArguments() == 0 ||
        Range.getBegin().isMacroID())
      return;
    llvm::StringRef Macro = Name.getIdentifierInfo()->getName();
    if (!Names.contains(Macro) || !SM.isInMainFile(Range.getBegin()))
      return;
    std::string Text;
    for (const Token *T = Args->getUnexpArgument(0); T->isNot(tok::eof); ++T)
      Text += PP.getSpelling(*T);
    MarkerFacts M;
    M.Macro = Facts.Names.intern(Macro);
    M.Argument = Facts.Names.intern(Text);
    PresumedLoc L = SM.getPresumedLoc(Range.getBegin());
    if (L.isValid()) {
      M.Where.Line = SM.getExpansionLineNumber(Range.getBegin());
      M.Where.Column = SM.getExpansionColumnNumber(Range.getBegin());
    }
    Facts.Markers.push_back(M);
  }

  void SourceRangeSkipped(SourceRange Range, SourceLocation Endif) override {
    const SourceManager &SM = PP.getSourceManager();
    auto [FID, Begin] = SM.getDecomposedLoc(Range.getBegin());
    auto [EndFID, End] =
        SM.getDecomposedLoc(Endif.isValid() ? Endif : Range.getEnd());
    if (EndFID != FID || End <= Begin)
      return;
    const Seen &In = file(FID);
    if (empty(In.File))
      return;
    InactiveText I;
    I.File = In.File;
    I.Line = SM.getLineNumber(FID, Begin);
    I.Text = {Begin, End};
    if (In.Known &&
        In.Known->contains(KnownBodies::id(KnownBodies::InactiveName, I.Line)))
      return;
    words(FID, I);
    Facts.Inactive.push_back(std::move(I));
  }

private:
  void words(FileID FID, InactiveText &I) {
    const SourceManager &SM = PP.getSourceManager();
    bool Invalid = false;
    llvm::StringRef Buffer = SM.getBufferData(FID, &Invalid);
    if (Invalid)
      return;
    Lexer Raw(SM.getLocForStartOfFile(FID), PP.getLangOpts(), Buffer.begin(),
              Buffer.begin() + I.Text.Begin, Buffer.end());
    llvm::DenseSet<Sym> Once;
    Token T;
    while (!Raw.LexFromRawLexer(T) &&
           SM.getFileOffset(T.getLocation()) < I.Text.End)
      if (T.is(tok::raw_identifier))
        if (Sym S = Facts.Names.intern(T.getRawIdentifier());
            Once.insert(S).second)
          I.Words.push_back(S);
  }

  struct Seen {
    Sym File = Sym::None; ///< None outside the source root.
    const KnownBodies::Set *Known = nullptr;
  };
  const Seen &file(FileID FID) {
    auto [It, New] = Files.try_emplace(FID);
    if (!New)
      return It->second;
    const SourceManager &SM = PP.getSourceManager();
    OptionalFileEntryRef FE = SM.getFileEntryRefForID(FID);
    if (!FE || !Options.Paths)
      return It->second;
    if (Directory.empty())
      if (auto WD = SM.getFileManager()
                        .getVirtualFileSystem()
                        .getCurrentWorkingDirectory())
        Directory = *WD;
    std::string Pure = Options.Paths->pure(FE->getName(), Directory);
    if (llvm::sys::path::is_absolute(Pure))
      return It->second;
    It->second.File = Facts.Names.intern(Pure);
    if (Options.Known && FID != SM.getMainFileID())
      It->second.Known = Options.Known->of(Pure);
    return It->second;
  }

  Preprocessor &PP;
  const ExtractOptions &Options;
  UnitFacts &Facts;
  std::string Directory;
  llvm::DenseMap<FileID, Seen> Files;
  llvm::StringSet<> Names;
};

} // namespace

void recordMarkers(Preprocessor &PP, const ExtractOptions &O,
                   UnitFacts &Facts) {
  PP.addPPCallbacks(std::make_unique<MarkerRecorder>(PP, O, Facts));
}

} // namespace decontend
