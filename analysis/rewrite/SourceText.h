//===- SourceText.h - Lines, comments and includes of a file ----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edits should look as if the file's author had made them. This is what that
// needs to know of the text: where lines and comments start, how far something
// is indented, where an include belongs. Purely textual; offsets in bytes.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_REWRITE_SOURCETEXT_H
#define DECONTEND_ANALYSIS_REWRITE_SOURCETEXT_H

#include "analysis/facts/Facts.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace decontend {

class SourceText {
public:
  explicit SourceText(llvm::StringRef Text) : Text(Text) {}

  llvm::StringRef text() const { return Text; }
  llvm::StringRef slice(Span S) const { return Text.slice(S.Begin, S.End); }

  /// Start of the line that \p At is in, and start of the next one.
  uint32_t lineBegin(uint32_t At) const;
  uint32_t nextLine(uint32_t At) const;
  llvm::StringRef lineAt(uint32_t At) const {
    return Text.slice(lineBegin(At), nextLine(At));
  }
  llvm::StringRef indentAt(uint32_t At) const;

  /// The lines of \p S with their ends, if nothing else but a comment behind
  /// it stands on them.
  std::optional<Span> wholeLines(Span S) const;

  /// The comment that stands directly above the line of \p At, as whole lines;
  /// empty (at the line's start) if there is none.
  Span commentAbove(uint32_t At) const;

  /// Widens \p Lines so that deleting them leaves no two blank lines in a row,
  /// nor a blank line at the edge of a block.
  Span withSpareBlank(Span Lines) const;

  /// Where `#include <Header>` belongs among the includes, in sorted place if
  /// they are sorted; none if the file has it or has no includes at all.
  std::optional<uint32_t> includePlace(llvm::StringRef Header) const;
  bool includes(llvm::StringRef Header) const;
  bool hasIncludes() const { return Text.contains("#include"); }

private:
  llvm::StringRef Text;
};

/// Width of \p S on the screen, tabs to multiples of eight.
unsigned visualWidth(llvm::StringRef S);

/// \p Block with the indentation \p From of its lines replaced by \p To.
std::string reindent(llvm::StringRef Block, llvm::StringRef From,
                     llvm::StringRef To);

/// Tabs (or spaces, if \p Tabs is false) that lead from column \p From to \p
/// To.
std::string padding(unsigned From, unsigned To, bool Tabs);

} // namespace decontend

#endif
