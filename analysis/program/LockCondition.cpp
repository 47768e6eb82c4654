//===- LockCondition.cpp - What a condition says of one value -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockCondition.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace decontend {

/// Index behind the parenthesis that closes the one at the start, or npos.
static size_t behindParens(StringRef Text) {
  unsigned Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '(')
      ++Depth;
    else if (Text[I] == ')' && --Depth == 0)
      return I + 1;
  }
  return StringRef::npos;
}

/// Splits at \p Operator outside of parentheses and brackets.
static llvm::SmallVector<StringRef, 4> splitOutside(StringRef Text,
                                                    StringRef Operator) {
  llvm::SmallVector<StringRef, 4> Out;
  int Depth = 0;
  size_t Start = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '(' || Text[I] == '[')
      ++Depth;
    else if (Text[I] == ')' || Text[I] == ']')
      --Depth;
    else if (!Depth && Text.substr(I).starts_with(Operator)) {
      Out.push_back(Text.slice(Start, I).trim());
      Start = I + Operator.size();
      I = Start - 1;
    }
  }
  Out.push_back(Text.substr(Start).trim());
  return Out;
}

/// Takes off parentheses, negations and the hints of compilers.
static StringRef strip(StringRef Text, bool &Negated) {
  while (true) {
    Text = Text.trim();
    if (Text.starts_with("!") && !Text.starts_with("!=")) {
      Negated = !Negated;
      Text = Text.drop_front();
      continue;
    }
    size_t Open = Text.find('(');
    if (Open == StringRef::npos ||
        behindParens(Text.substr(Open)) != Text.size() - Open)
      return Text;
    StringRef Word = Text.take_front(Open);
    if (Word != "" && Word != "likely" && Word != "unlikely" &&
        Word != "WARN_ON" && Word != "WARN_ON_ONCE")
      return Text;
    Text = Text.substr(Open + 1).drop_back();
  }
}

LockCondition::LockCondition(StringRef Text) {
  bool Negated = false;
  Text = strip(Text, Negated);
  auto Ors = splitOutside(Text, "||"), Ands = splitOutside(Text, "&&");
  if (Ors.size() > 1 && Ands.size() > 1)
    return;
  Join = Ors.size() > 1 ? Or : Ands.size() > 1 ? And : Single;
  if (Negated && Join != Single)
    Join = Join == Or ? And : Or;
  for (StringRef Part : Join == Single ? Ands : Ors.size() > 1 ? Ors : Ands)
    read(Part, Negated);
}

LockCondition::LockCondition(StringRef Name, bool Call, bool Negated) {
  Parts.push_back({Name, Call, Negated});
}

void LockCondition::read(StringRef Text, bool Negated) {
  Text = strip(Text, Negated);
  for (auto [Operator, Flips] :
       {std::pair<StringRef, bool>{"==", true}, {"!=", false}, {"<", false}}) {
    auto Sides = splitOutside(Text, Operator);
    if (Sides.size() != 2)
      continue;
    if (Sides[1] != "0" && Sides[1] != "NULL" && Sides[1] != "false" &&
        Sides[1] != "nullptr")
      return;
    Text = strip(Sides[0], Negated);
    if (Flips)
      Negated = !Negated;
    break;
  }
  // `(err = lock_it(x))` tests the variable and the call alike.
  auto Sides = splitOutside(Text, "=");
  if (Sides.size() > 2)
    return;
  for (StringRef Side : Sides) {
    size_t Open = Side.find('(');
    if (Open == StringRef::npos) {
      if (llvm::all_of(Side,
                       [](char C) { return llvm::isAlnum(C) || C == '_'; }))
        Parts.push_back({Side, false, Negated});
      continue;
    }
    if (behindParens(Side.substr(Open)) != Side.size() - Open)
      continue;
    StringRef Name = Side.take_front(Open).rtrim();
    size_t Begin = Name.find_last_of(".>:* ");
    Name = Begin == StringRef::npos ? Name : Name.substr(Begin + 1);
    if (!Name.empty())
      Parts.push_back({Name, true, Negated});
  }
}

std::optional<bool> LockCondition::nonzero(StringRef Name, bool Call,
                                           bool Holds) const {
  if ((Join == And && !Holds) || (Join == Or && Holds))
    return std::nullopt;
  for (const Part &P : Parts)
    if (P.Name == Name && P.Call == Call)
      return P.Negated != Holds;
  return std::nullopt;
}

} // namespace decontend
