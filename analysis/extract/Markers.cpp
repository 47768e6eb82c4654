//===- Markers.cpp - Marker macros at file level --------------------------===//
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

using namespace clang;

namespace decontend {

namespace {

class MarkerRecorder : public PPCallbacks {
public:
  MarkerRecorder(Preprocessor &PP, const ExtractOptions &O, UnitFacts &Facts)
      : PP(PP), Facts(Facts) {
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

private:
  Preprocessor &PP;
  UnitFacts &Facts;
  llvm::StringSet<> Names;
};

} // namespace

void recordMarkers(Preprocessor &PP, const ExtractOptions &O,
                   UnitFacts &Facts) {
  PP.addPPCallbacks(std::make_unique<MarkerRecorder>(PP, O, Facts));
}

} // namespace decontend
