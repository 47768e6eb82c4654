//===- Suppression.cpp - NOLINT comments ----------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reading is clang-tidy's: the marks are found in the text, not in tokens,
// so they work in any comment; a list of globs may follow at once in brackets;
// globs with a leading minus are dropped; a block exists only between a BEGIN
// and the END that closes it with the same list, innermost first.
//
//===----------------------------------------------------------------------===//
#include "analysis/report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <optional>
#include <tuple>

namespace decontend {
namespace {

enum class MarkKind { Line, NextLine, Begin, End, Other };

struct Mark {
  MarkKind Kind;
  size_t Offset; ///< Of the `N`.
  /// The globs between the brackets, trimmed; nothing if there are no brackets.
  std::optional<llvm::SmallVector<llvm::StringRef, 2>> Globs;
};

MarkKind kindOf(llvm::StringRef Word) {
  if (Word == "NOLINT")
    return MarkKind::Line;
  if (Word == "NOLINTNEXTLINE")
    return MarkKind::NextLine;
  if (Word == "NOLINTBEGIN")
    return MarkKind::Begin;
  if (Word == "NOLINTEND")
    return MarkKind::End;
  return MarkKind::Other;
}

std::vector<Mark> findMarks(llvm::StringRef Text) {
  std::vector<Mark> Marks;
  for (size_t At = 0;
       (At = Text.find("NOLINT", At)) != llvm::StringRef::npos;) {
    llvm::StringRef Word = Text.substr(At).take_while(llvm::isAlpha);
    const size_t Begin = At;
    At += Word.size();
    const MarkKind Kind = kindOf(Word);
    if (Kind == MarkKind::Other)
      continue;
    Mark M{Kind, Begin, std::nullopt};
    llvm::StringRef Rest = Text.substr(At);
    if (Rest.consume_front("(")) {
      // Without a closing bracket on the line the mark counts as having none.
      llvm::StringRef List = Rest.substr(0, Rest.find_first_of(")\n"));
      if (Rest.substr(List.size()).starts_with(")")) {
        M.Globs.emplace();
        List.split(*M.Globs, ',');
        for (llvm::StringRef &Glob : *M.Globs)
          Glob = Glob.trim();
        At += List.size() + 2;
      }
    }
    Marks.push_back(std::move(M));
  }
  return Marks;
}

/// Matches a glob in which only `*` is special.
bool globMatches(llvm::StringRef Glob, llvm::StringRef Name) {
  const bool Open = Glob.contains('*');
  auto [Head, Tail] = Glob.split('*');
  if (!Open)
    return Glob == Name;
  if (!Name.consume_front(Head))
    return false;
  // Each inner piece is best taken where it first fits.
  while (Tail.contains('*')) {
    llvm::StringRef Piece;
    std::tie(Piece, Tail) = Tail.split('*');
    size_t Found = Name.find(Piece);
    if (Found == llvm::StringRef::npos)
      return false;
    Name = Name.substr(Found + Piece.size());
  }
  return Name.ends_with(Tail);
}

bool covers(const Mark &M, llvm::StringRef Name) {
  if (!M.Globs)
    return true;
  return llvm::any_of(*M.Globs, [&](llvm::StringRef Glob) {
    return !Glob.starts_with("-") && globMatches(Glob, Name);
  });
}

bool hasMark(llvm::StringRef Line, MarkKind Kind, llvm::StringRef Name) {
  return llvm::any_of(findMarks(Line), [&](const Mark &M) {
    return M.Kind == Kind && covers(M, Name);
  });
}

bool inBlock(llvm::StringRef Text, size_t Offset, llvm::StringRef Name) {
  std::vector<Mark> Open;
  for (Mark &M : findMarks(Text)) {
    if (M.Kind == MarkKind::Begin) {
      Open.push_back(std::move(M));
    } else if (M.Kind == MarkKind::End && !Open.empty() &&
               Open.back().Globs == M.Globs) {
      const Mark &Begin = Open.back();
      if (Begin.Offset < Offset && Offset < M.Offset && covers(Begin, Name))
        return true;
      Open.pop_back();
    }
  }
  return false;
}

} // namespace

bool isSuppressed(Sources &Files, llvm::StringRef File, uint32_t Line,
                  llvm::StringRef Rule, uint32_t Column) {
  const std::string *Contents = Files.get(File);
  if (!Contents)
    return false;
  llvm::StringRef Text = *Contents;
  llvm::StringRef Here = Files.line(File, Line);
  // Most files have no mark at all.
  if (!Here.data() || !Text.contains("NOLINT"))
    return false;
  const std::string Name = ("contention-" + Rule).str();
  const size_t Within = Column ? Column - 1 : Here.size() - Here.ltrim().size();
  const size_t Offset =
      Here.data() - Text.data() + std::min(Within, Here.size());

  // Only a line feed ends a line here, whatever Clang counts as one.
  const size_t Begin = Text.take_front(Offset).rfind('\n') + 1;
  if (hasMark(Text.slice(Begin, Text.find('\n', Offset)), MarkKind::Line, Name))
    return true;
  if (Begin != 0) {
    const size_t Previous = Text.take_front(Begin - 1).rfind('\n') + 1;
    if (hasMark(Text.slice(Previous, Begin - 1), MarkKind::NextLine, Name))
      return true;
  }
  return inBlock(Text, Offset, Name);
}

size_t dropSuppressed(std::vector<Finding> &Findings, Sources &Files) {
  const size_t Before = Findings.size();
  llvm::erase_if(Findings, [&](const Finding &F) {
    return isSuppressed(Files, F.File, F.Line, F.Rule, F.Column);
  });
  return Before - Findings.size();
}

} // namespace decontend
