//===- Stability.cpp - What stays the same over some text -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Stability.h"
#include "StubText.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

/// Does \p After start with an assignment, compound ones included?
static bool assigns(llvm::StringRef After) {
  for (llvm::StringRef Op :
       {"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})
    if (After.starts_with(Op))
      return true;
  return After.starts_with("=") && !After.starts_with("==");
}

bool changesIn(llvm::StringRef Code, llvm::StringRef Name) {
  for (uint32_t At : mentionsOf(Code, Name)) {
    llvm::StringRef Before = Code.take_front(At).rtrim();
    llvm::StringRef After = Code.drop_front(At + Name.size()).ltrim();
    if (Before.ends_with("->") || Before.ends_with("."))
      continue; // a member of that name
    bool Member = After.starts_with("->") || After.starts_with(".") ||
                  After.starts_with("[");
    if (Member)
      continue;
    if (Before.ends_with("++") || Before.ends_with("--") ||
        After.starts_with("++") || After.starts_with("--") || assigns(After))
      return true;
    if (Before.ends_with("&") && !Before.ends_with("&&"))
      return true;
  }
  return false;
}

std::string mayChange(const Program &P, llvm::StringRef Cond,
                      llvm::StringRef Code) {
  for (llvm::StringRef Part : {"->", ".", "[", "(", "{", "*", "++", "--", "?"})
    if (Cond.contains(Part))
      return "looks at more than variables and constants";
  llvm::StringRef Rest = Cond;
  while (!Rest.empty()) {
    Rest = Rest.drop_until([](char X) { return llvm::isAlpha(X) || X == '_'; });
    llvm::StringRef Word =
        Rest.take_while([](char X) { return llvm::isAlnum(X) || X == '_'; });
    Rest = Rest.drop_front(Word.size());
    if (Word.empty())
      continue;
    if (assigns(Rest.ltrim()) || changesIn(Code, Word))
      return "depends on " + Word.str() + ", which changes";
    Sym Key = P.find(Word);
    if (!empty(Key) && P.global(Key))
      return "depends on the variable " + Word.str();
  }
  return "";
}

} // namespace decontend
