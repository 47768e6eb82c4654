//===- SourceText.cpp - Lines, comments and includes of a file ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceText.h"
#include <algorithm>
#include <utility>
#include <vector>

namespace decontend {

uint32_t SourceText::lineBegin(uint32_t At) const {
  size_t End = Text.take_front(At).rfind('\n');
  return End == llvm::StringRef::npos ? 0 : End + 1;
}

uint32_t SourceText::nextLine(uint32_t At) const {
  size_t End = Text.find('\n', At);
  return End == llvm::StringRef::npos ? Text.size() : End + 1;
}

llvm::StringRef SourceText::indentAt(uint32_t At) const {
  llvm::StringRef Line = lineAt(At);
  return Line.take_front(Line.size() - Line.ltrim(" \t").size());
}

std::optional<Span> SourceText::wholeLines(Span S) const {
  uint32_t Begin = lineBegin(S.Begin), End = nextLine(S.End);
  llvm::StringRef Before = Text.slice(Begin, S.Begin);
  llvm::StringRef After = Text.slice(S.End, End).trim();
  bool Comment =
      After.starts_with("//") ||
      (After.starts_with("/*") && After.find("*/") + 2 == After.size());
  if (!Before.trim().empty() || (!After.empty() && !Comment))
    return std::nullopt;
  return Span{Begin, End};
}

Span SourceText::commentAbove(uint32_t At) const {
  uint32_t End = lineBegin(At), Begin = End;
  if (Begin == 0 || lineAt(Begin - 1).trim().empty())
    return {End, End};
  llvm::StringRef Above = Text.take_front(End);
  llvm::StringRef Trimmed = Above.rtrim(" \t\r\n");
  if (Trimmed.ends_with("*/")) {
    size_t Open = Trimmed.rfind("/*");
    if (Open != llvm::StringRef::npos &&
        Text.slice(lineBegin(Open), Open).trim().empty())
      return {lineBegin(Open), End};
    return {End, End};
  }
  while (Begin > 0 && lineAt(Begin - 1).trim().starts_with("//"))
    Begin = lineBegin(Begin - 1);
  return {Begin, End};
}

Span SourceText::withSpareBlank(Span Lines) const {
  llvm::StringRef Before =
      Lines.Begin ? lineAt(Lines.Begin - 1).trim() : llvm::StringRef("{");
  llvm::StringRef After =
      Lines.End < Text.size() ? lineAt(Lines.End).trim() : llvm::StringRef("}");
  bool BlankBefore = Before.empty(), BlankAfter = After.empty();
  if (BlankAfter && (BlankBefore || Before.ends_with("{")))
    Lines.End = nextLine(Lines.End);
  else if (BlankBefore && After.starts_with("}"))
    Lines.Begin = lineBegin(Lines.Begin - 1);
  return Lines;
}

bool SourceText::includes(llvm::StringRef Header) const {
  return Text.contains(("#include <" + Header + ">").str()) ||
         Text.contains(("#include \"" + Header + "\"").str());
}

std::optional<uint32_t> SourceText::includePlace(llvm::StringRef Header) const {
  if (includes(Header))
    return std::nullopt;
  // Those inside an #ifdef are not always there.
  std::vector<std::pair<uint32_t, llvm::StringRef>> Lines;
  unsigned Conditions = 0;
  for (uint32_t At = 0; At < Text.size(); At = nextLine(At)) {
    llvm::StringRef Line = lineAt(At).trim();
    if (Line.starts_with("#if") && !Lines.empty())
      ++Conditions;
    if (Line.starts_with("#endif") && Conditions)
      --Conditions;
    if (Conditions == 0 && Line.consume_front("#include <"))
      Lines.push_back({At, Line.take_until([](char C) { return C == '>'; })});
  }
  if (Lines.empty())
    return std::nullopt;
  llvm::StringRef Folder = Header.take_front(Header.rfind('/') + 1);
  uint32_t Place = ~0u;
  for (auto [At, Name] : Lines) {
    if (Name.take_front(Name.rfind('/') + 1) != Folder)
      continue;
    // Behind the last one that sorts before it; files are not always sorted.
    if (Name < Header || Place == ~0u)
      Place = Name < Header ? nextLine(At) : At;
  }
  return Place == ~0u ? nextLine(Lines.back().first) : Place;
}

unsigned visualWidth(llvm::StringRef S) {
  unsigned Width = 0;
  for (char C : S)
    Width = C == '\t' ? (Width / 8 + 1) * 8 : Width + 1;
  return Width;
}

std::string reindent(llvm::StringRef Block, llvm::StringRef From,
                     llvm::StringRef To) {
  std::string Out;
  while (!Block.empty()) {
    auto [Line, Rest] = Block.split('\n');
    bool Ended = Line.size() < Block.size();
    if (!Line.trim().empty()) {
      if (Line.consume_front(From))
        Out += To;
      Out += Line;
    }
    if (Ended)
      Out += '\n';
    Block = Rest;
  }
  return Out;
}

std::string padding(unsigned From, unsigned To, bool Tabs) {
  std::string Out;
  if (!Tabs)
    return std::string(To > From ? To - From : 1, ' ');
  while (From < To) {
    unsigned Stop = (From / 8 + 1) * 8;
    if (Stop > To) {
      Out.append(To - From, ' ');
      From = To;
    } else {
      Out += '\t';
      From = Stop;
    }
  }
  return Out.empty() ? " " : Out;
}

} // namespace decontend
