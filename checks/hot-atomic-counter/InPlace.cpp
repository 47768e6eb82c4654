//===- InPlace.cpp - A counter of another type, where it stands -----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InPlace.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

/// Identifiers and numbers of \p Code, in order.
static std::vector<llvm::StringRef> wordsOf(llvm::StringRef Code) {
  std::vector<llvm::StringRef> Out;
  while (true) {
    Code = Code.drop_until(isWord);
    if (Code.empty())
      return Out;
    Out.push_back(Code.take_while(isWord));
    Code = Code.drop_front(Out.back().size());
  }
}

std::string initialNumber(llvm::StringRef Init) {
  Init = Init.trim();
  while (true) {
    size_t Open = Init.find_first_of("({");
    if (Open == llvm::StringRef::npos)
      break;
    size_t Close = Init.find_last_of(")}");
    if (Close == llvm::StringRef::npos || Close < Open)
      return "";
    Init = Init.slice(Open + 1, Close).trim();
  }
  if (Init.empty())
    return "0";
  llvm::StringRef Digits = Init.rtrim("uUlL");
  long long Value = 0;
  return Digits.getAsInteger(0, Value) ? "" : Init.str();
}

std::string valueTypeOf(llvm::StringRef Type, int Width, bool Cxx, bool Plain) {
  if (Plain)
    return Type.str();
  size_t Open = Type.find('<'), Close = Type.rfind('>');
  if (Open != llvm::StringRef::npos && Close != llvm::StringRef::npos)
    return Type.slice(Open + 1, Close).trim().str();
  if (Type.consume_front("_Atomic"))
    return Type.trim(" ()").str();
  // The type's own name may say it, in words of the language.
  std::string Spelled;
  for (llvm::StringRef Word : llvm::split(Type, '_'))
    if (Word == "long" || Word == "int" || Word == "short" || Word == "char")
      Spelled += (Spelled.empty() ? "" : " ") + Word.str();
  bool Unsigned = Width > 0;
  if (!Spelled.empty() && Width)
    return (Unsigned ? "unsigned " : "") + Spelled;
  unsigned Bits = std::abs(Width);
  if (Bits == 64 || Bits == 0)
    return Unsigned ? "unsigned long long" : "long long";
  if (Bits == 32)
    return Unsigned ? "unsigned int" : "int";
  std::string Name = fmt::format("{}int{}_t", Unsigned ? "u" : "", Bits);
  return Cxx ? "std::" + Name : Name;
}

std::string InPlace::fill(llvm::StringRef Form, const UsePlace &U) const {
  return fillIn(Form, {{"c", "&" + U.Object},
                       {"o", U.Object},
                       {"name", U.Object},
                       {"n", U.Amount},
                       {"v", U.Amount}});
}

bool InPlace::requireNoOrder() {
  std::string Strong;
  for (const UsePlace &U : Places.uses()) {
    if (U.Initial)
      continue;
    std::string Code =
        Places.code(U.File).slice(U.Whole.Begin, U.Whole.End).str();
    // What it counts, and by how much, may be called anything.
    for (const std::string &Part : {U.Object, U.Amount})
      if (size_t At = Part.empty() ? std::string::npos : Code.find(Part);
          At != std::string::npos)
        Code.replace(At, Part.size(), " ");
    bool Relaxed = false;
    for (llvm::StringRef Word : wordsOf(Code)) {
      std::string Lower = Word.lower();
      for (llvm::StringRef Order :
           {"acquire", "release", "acq_rel", "seq_cst", "consume"})
        if (llvm::StringRef(Lower).ends_with(Order))
          return L.require(
              "order-not-needed", false,
              fmt::format("{} asks for the order {}", U.at(), Word.str()));
      Relaxed |= llvm::StringRef(Lower).ends_with("relaxed");
    }
    if (!Relaxed && U.Use->Op && U.Use->Op->Returns && Strong.empty() &&
        U.Op != AtomicModel::Read)
      Strong = U.at();
    if (!Relaxed && !U.Use->Op && U.Op != AtomicModel::Read && Strong.empty())
      Strong = U.at();
  }
  return L.require(
      "order-not-needed", true,
      Strong.empty()
          ? "no use asks for an order of memory"
          : fmt::format("no use asks for an order of memory; {} has the order "
                        "that the language gives by default: to be confirmed "
                        "that nobody relies on it for other data",
                        Strong));
}

bool InPlace::requireInitial(bool Any) {
  std::string Proof = "no definition of it is seen";
  for (const DeclarationPlace &D : Places.declarations()) {
    if (!D.Defines)
      continue;
    std::string Number =
        initialNumber(Places.code(D.File).slice(D.Init.Begin, D.Init.End));
    bool Zero =
        !Number.empty() && llvm::StringRef(Number).trim("0xXuUlL").empty();
    if (Number.empty() || !(Any || Zero))
      return L.require(
          "initial-value", false,
          Number.empty()
              ? D.at() + " gives it a value that is no literal"
              : fmt::format("it starts with {} at {}", Number, D.at()));
    Proof = fmt::format("it starts with {} at {}", Number, D.at());
  }
  return L.require("initial-value", true, Proof);
}

InPlace::Parts InPlace::split(const DeclarationPlace &D) const {
  llvm::StringRef Code = Places.code(D.File);
  llvm::StringRef All = Code.slice(D.Text.Begin, D.Text.End);
  std::vector<uint32_t> Names = mentionsOf(All, Places.name());
  Parts Out;
  if (Names.size() != 1)
    return Out;
  uint32_t Name = D.Text.Begin + Names[0];
  Out.NameEnd = Name + Places.name().size();
  // `long C::hits`.
  llvm::StringRef Head = Code.slice(D.Text.Begin, Name);
  while (Head.ends_with("::")) {
    Head = Head.drop_back(2);
    while (!Head.empty() && isWord(Head.back()))
      Head = Head.drop_back();
  }
  Out.TypeEnd = D.Text.Begin + Head.rtrim().size();
  uint32_t At = D.Text.Begin;
  while (At < Out.TypeEnd) {
    if (llvm::isSpace(Code[At])) {
      ++At;
      continue;
    }
    if (Code.substr(At).starts_with("[[")) {
      At = matching(Code, At);
      continue;
    }
    llvm::StringRef Word = Code.substr(At).take_while(isWord);
    if (Word == "alignas") {
      size_t Open = Code.find('(', At);
      if (Open == llvm::StringRef::npos)
        return Out;
      At = matching(Code, Open);
      continue;
    }
    static constexpr llvm::StringRef Specifiers[] = {
        "static", "inline", "extern", "mutable", "constinit", "volatile"};
    if (!llvm::is_contained(Specifiers, Word))
      break;
    At += Word.size();
  }
  Out.TypeBegin = At;
  Out.Ok = Out.TypeBegin < Out.TypeEnd;
  return Out;
}

bool InPlace::notPlain(const DeclarationPlace &D) {
  return L.require("declaration-plain", false,
                   D.at() + " says more than type, name and first value");
}

bool InPlace::plain() {
  return L.require("declaration-plain", true,
                   "its declarations say no more than type, name and first "
                   "value");
}

bool InPlace::defineAnew(llvm::StringRef Type, const std::string &Behind) {
  unsigned Definitions = 0;
  for (const DeclarationPlace &D : Places.declarations())
    Definitions += D.Defines;
  if (Definitions != 1)
    return L.require("declaration-plain", false,
                     Definitions ? "it is defined more than once"
                                 : "no definition of it is seen");
  for (const DeclarationPlace &D : Places.declarations()) {
    Parts X = split(D);
    llvm::StringRef Code = Places.code(D.File);
    std::vector<llvm::StringRef> Said, Meant = wordsOf(Places.type());
    for (llvm::StringRef Word : wordsOf(Code.slice(X.TypeBegin, X.TypeEnd)))
      if (Word != "volatile")
        Said.push_back(Word);
    llvm::StringRef Tail =
        Code.slice(X.NameEnd, D.Init.empty() ? D.Text.End - 1 : D.Init.Begin)
            .trim();
    bool Plain = X.Ok && Said == Meant && (Tail.empty() || Tail == "=");
    const std::string &Form = !D.Defines ? Remedy.Declare
                              : D.Static ? Remedy.DefineStatic
                                         : Remedy.Define;
    if (!Plain || Form.empty())
      return notPlain(D);
    std::string Value =
        D.Init.empty() ? "0"
                       : initialNumber(Code.slice(D.Init.Begin, D.Init.End));
    std::string New = fillIn(Form, {{"t", Type.str()},
                                    {"name", Places.name().str()},
                                    {"v", Value}}) +
                      ";";
    replace(D.File, D.Text, New);
    if (D.Defines || Behind.empty())
      continue;
    uint32_t Next = SourceText(*Places.text(D.File)).nextLine(D.Text.End - 1);
    replace(D.File, {Next, Next}, Behind + "\n");
  }
  return plain();
}

bool InPlace::changeType() {
  for (const DeclarationPlace &D : Places.declarations()) {
    Parts X = split(D);
    llvm::StringRef Code = Places.code(D.File);
    llvm::StringRef Tail = Code.slice(X.NameEnd, D.Text.End).ltrim();
    std::vector<llvm::StringRef> Said =
        wordsOf(Code.slice(D.Text.Begin, X.TypeBegin));
    bool Plain = X.Ok && Tail.find_first_of(";={(") == 0 &&
                 !llvm::is_contained(Said, "volatile");
    if (!Plain)
      return notPlain(D);
    // Names in a column stay there.
    SourceText Text(*Places.text(D.File));
    uint32_t Next = X.TypeEnd;
    while (llvm::isSpace(Code[Next]))
      ++Next;
    llvm::StringRef Gap = Text.text().slice(X.TypeEnd, Next);
    std::string New = Remedy.Type;
    if (Gap.size() > 1 && !Gap.contains('\n')) {
      uint32_t Line = Text.lineBegin(X.TypeBegin);
      New += padding(
          visualWidth(Text.text().slice(Line, X.TypeBegin).str() + Remedy.Type),
          visualWidth(Text.text().slice(Line, Next)), Gap.contains('\t'));
      X.TypeEnd = Next;
    }
    replace(D.File, {X.TypeBegin, X.TypeEnd}, New);
  }
  return plain();
}

static bool isOne(llvm::StringRef Amount) {
  return Amount.trim().rtrim("uUlL") == "1";
}

bool InPlace::rewriteUpdate(const UsePlace &U) {
  if (U.Initial)
    return !initialNumber(U.Amount).empty() ||
           L.require("initial-value", false,
                     U.at() + " gives it a value that is no literal");
  if (U.Statement.empty())
    return L.require("uses-are-statements", false,
                     U.at() + " updates it inside an expression");
  bool Down = U.Op == AtomicModel::Dec || U.Op == AtomicModel::Sub;
  bool One = U.Op == AtomicModel::Inc || U.Op == AtomicModel::Dec ||
             (U.Op != AtomicModel::Set && isOne(U.Amount));
  std::string New;
  UsePlace Filled = U;
  if (U.Op == AtomicModel::Set) {
    New = fill(Remedy.Set, U);
  } else {
    if (One)
      Filled.Amount = "1";
    const std::string &Step = Down ? Remedy.Dec : Remedy.Inc;
    const std::string &By = Down ? Remedy.Sub : Remedy.Add;
    New = fill(One && !Step.empty() ? Step : By, Filled);
    if (New.empty() && Down) {
      Filled.Amount = One ? "-1" : "-(" + U.Amount + ")";
      New = fill(Remedy.Add, Filled);
    }
  }
  if (New.empty())
    return L.require("form-exists", false,
                     fmt::format("{} has no form for {}", Remedy.Id, U.at()));
  llvm::StringRef Old =
      llvm::StringRef(*Places.text(U.File)).slice(U.Whole.Begin, U.Whole.End);
  llvm::StringRef Sign = llvm::StringRef(New).take_front(2);
  bool Postfix = (Sign == "++" || Sign == "--") && Old == U.Object + Sign.str();
  bool Same = llvm::equal(wordsOf(Old), wordsOf(New)) && Old.contains("=") &&
              llvm::StringRef(New).contains("=") &&
              Old.contains(Down ? "-=" : "+=");
  if (Old == New || Postfix || Same)
    return true;
  // A `(void)` in front has nothing to discard any more.
  replace(U.File, {U.Statement.Begin, U.Whole.End}, New);
  return true;
}

/// Does it include \p File, by its last name?
static bool includesFile(const SourceText &Text, llvm::StringRef File) {
  llvm::StringRef Name = File.substr(File.rfind('/') + 1);
  for (uint32_t At = 0; At < Text.text().size(); At = Text.nextLine(At)) {
    llvm::StringRef Line = Text.lineAt(At).trim();
    if (!Line.consume_front("#include"))
      continue;
    Line = Line.trim(" \t<>\"");
    if (Line.substr(Line.rfind('/') + 1) == Name)
      return true;
  }
  return false;
}

bool InPlace::include(llvm::StringRef Header) {
  std::set<std::string> In;
  for (const DeclarationPlace &D : Places.declarations())
    In.insert(D.File);
  for (const std::string &File : In) {
    SourceText Text(*Places.text(File));
    // What defines it includes what declares it.
    bool Given = llvm::any_of(In, [&](llvm::StringRef Other) {
      return Other != File && includesFile(Text, Other);
    });
    if (Text.includes(Header) || Given)
      continue;
    std::string Line = fmt::format("#include <{}>\n", Header.str());
    llvm::StringRef All = Text.text();
    std::optional<uint32_t> Place = Text.includePlace(Header);
    if (!Place && Text.hasIncludes())
      Place = Text.lineBegin(All.find("#include"));
    size_t Once = All.find("#pragma once"), Guard = All.find("#ifndef");
    if (!Place && Once != llvm::StringRef::npos) {
      Place = Text.nextLine(Once);
    } else if (!Place && Guard != llvm::StringRef::npos) {
      size_t Define = All.find("#define", Guard);
      if (Define != llvm::StringRef::npos)
        Place = Text.nextLine(Define);
    }
    if (Place && !Text.hasIncludes())
      Line.insert(0, "\n");
    if (!Place) {
      // Below the comment that heads the file.
      llvm::StringRef Code = Places.code(File);
      Place = Text.lineBegin(Code.size() - Code.ltrim().size());
      Line += "\n";
    }
    uint32_t First = ~0u;
    for (const DeclarationPlace &D : Places.declarations())
      if (D.File == File)
        First = std::min(First, D.Text.Begin);
    if (*Place > First)
      return L.require(
          "header-visible", false,
          fmt::format("{} has its includes below the declaration", File));
    replace(File, {*Place, *Place}, Line);
  }
  return true;
}

} // namespace decontend
