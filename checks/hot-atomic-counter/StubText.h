//===- StubText.h - Mentions of a function that no fact shows ---*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   file --> [codeOnly] --> [mentionsOf] --> offset --> [readMention] --> what
//                                                                         |
//                  `void f(int x) { }`, `#define f(x) do { } while (0)` <-+
//
// Text that the preprocessor left out has no facts, so it is read as text: a
// prototype, a stub and an empty macro are told apart by the tokens around the
// name. Whatever else mentions the name is Unknown, and a plan must refuse.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STUBTEXT_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STUBTEXT_H

#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace decontend {

/// \p Text with comments and the inside of literals blanked, at the same
/// offsets; line ends stay. O(length).
std::string codeOnly(llvm::StringRef Text);

/// Offsets in \p Code at which the identifier \p Name stands. O(length).
std::vector<uint32_t> mentionsOf(llvm::StringRef Code, llvm::StringRef Name);

enum class MentionKind : uint8_t {
  Prototype,  ///< `void f(...);`
  Definition, ///< `void f(...) { ... }`
  Macro,      ///< `#define f(...)` with nothing, or an empty loop, as its body.
  Marker,     ///< All of a file-level macro's argument: `EXPORT_SYMBOL(f);`
  Member,     ///< `x->f` or `.f`: another thing of that name.
  Unknown,    ///< A call, an address, a macro that does something.
};

struct Mention {
  MentionKind Kind = MentionKind::Unknown;
  /// Edits that give a void function (or an empty macro) the result 0. Empty
  /// for Marker and Member.
  std::vector<Edit> ToInt;
  bool Void = false;   ///< It returned nothing so far.
  std::string Trouble; ///< Why it cannot be changed; empty if it can.
};

/// Reads what stands around the mention of \p Name at \p At. \p Code is
/// codeOnly() of \p Text, the contents of \p File. Edits name \p File.
Mention readMention(llvm::StringRef File, llvm::StringRef Text,
                    llvm::StringRef Code, uint32_t At, llvm::StringRef Name);

/// Edits that make the body at [Begin, End), braces included, return 0: every
/// `return;` and, if its end is reached, the closing brace. The text is taken
/// to have no nested functions.
std::vector<Edit> returnZero(llvm::StringRef File, llvm::StringRef Text,
                             llvm::StringRef Code, uint32_t Begin,
                             uint32_t End);

/// The offset of the word `void` that is the result of the function whose name
/// stands at \p Name; npos if there is none.
size_t voidBefore(llvm::StringRef Code, uint32_t Name);

/// The offset behind the bracket that closes the one at \p Open; npos if there
/// is none.
size_t matching(llvm::StringRef Code, size_t Open);

} // namespace decontend

#endif
