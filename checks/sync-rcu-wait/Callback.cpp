//===- Callback.cpp - A function that frees after a grace period ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Callback.h"
#include "fmt/format.h"

namespace decontend {

static constexpr unsigned MaxWidth = 80;

std::string stemOf(llvm::StringRef Record) {
  Record.consume_front("struct ");
  if (Record.ends_with("_t"))
    Record = Record.drop_back(2);
  return Record.str();
}

std::string freshName(const PlanSite &S, llvm::StringRef Record,
                      llvm::StringRef Suffix) {
  std::string Base = stemOf(Record) + Suffix.str(), Name = Base;
  for (unsigned N = 2; S.taken(Name) || mentions(S.Text.text(), Name); ++N)
    Name = Base + std::to_string(N);
  return Name;
}

std::string callbackText(const PlanSite &S, llvm::StringRef Name,
                         const CallbackObject &O,
                         llvm::ArrayRef<std::string> Body) {
  std::string Unit = S.indentUnit();
  const char *Cast = S.userSpace() ? "caa_container_of" : "container_of";
  std::string Left = fmt::format("{}{} *{} =", Unit, O.Record, O.Variable);
  std::string Right =
      fmt::format("{}(head, {}, {});", Cast, O.Record, O.Member);
  std::string Gap = " ";
  if (visualWidth(Left) + 1 + Right.size() > MaxWidth)
    Gap = "\n" + Unit + Unit;
  std::string Out =
      fmt::format("static void {}(struct rcu_head *head)\n{{\n{}{}{}\n\n",
                  Name.str(), Left, Gap, Right);
  for (const std::string &Line : Body)
    Out += Unit + Line + "\n";
  return Out + "}\n\n";
}

std::string deferredName(const PlanSite &S) {
  if (S.userSpace() && S.spelled(S.event()) == "synchronize_rcu")
    return "call_rcu";
  return S.wait()->Deferred;
}

std::string deferCall(const PlanSite &S, llvm::StringRef Name,
                      const CallbackObject &O, llvm::StringRef Indent) {
  std::string Open = deferredName(S) + "(";
  if (S.wait()->DomainArg >= 0) {
    // The domain as the wait spells it.
    llvm::StringRef Call = S.Text.slice(S.event().Text);
    llvm::StringRef Inner = Call.slice(Call.find('(') + 1, Call.rfind(')'));
    Open += Inner.trim().str() + ", ";
  }
  Open += fmt::format("&{}->{},", O.Variable, O.Member);
  std::string Rest = Name.str() + ");";
  if (visualWidth(Indent) + Open.size() + 1 + Rest.size() <= MaxWidth)
    return Open + " " + Rest;
  unsigned Column = visualWidth(Indent) + Open.find('(') + 1;
  return Open + "\n" + Indent.str() +
         padding(visualWidth(Indent), Column, Indent.contains('\t')) + Rest;
}

} // namespace decontend
