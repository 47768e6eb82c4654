//===- UsePlaces.cpp - Where a counter stands in the text -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "UsePlaces.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

std::vector<Span> splitArguments(llvm::StringRef Code, uint32_t Begin,
                                 uint32_t End) {
  std::vector<Span> Out;
  auto Add = [&](uint32_t From, uint32_t To) {
    while (From < To && llvm::isSpace(Code[From]))
      ++From;
    while (To > From && llvm::isSpace(Code[To - 1]))
      --To;
    Out.push_back({From, To});
  };
  unsigned Depth = 0;
  uint32_t From = Begin;
  for (uint32_t I = Begin; I < End; ++I) {
    char X = Code[I];
    if (X == '(' || X == '[' || X == '{') {
      ++Depth;
    } else if (X == ')' || X == ']' || X == '}') {
      --Depth;
    } else if (X == ',' && Depth == 0) {
      Add(From, I);
      From = I + 1;
    }
  }
  if (From < End)
    Add(From, End);
  return Out;
}

std::string indentUnitOf(const SourceText &Text, const FunctionFacts &F) {
  for (uint32_t At = Text.nextLine(F.Body.Begin); At < F.Body.End;
       At = Text.nextLine(At)) {
    llvm::StringRef Indent = Text.indentAt(At);
    if (!Indent.empty() && !Text.lineAt(At).trim().empty())
      return Indent.str();
  }
  return "\t";
}

std::string listFiles(const std::set<std::string> &Files) {
  std::vector<std::string> All(Files.begin(), Files.end());
  if (All.size() > 3) {
    size_t More = All.size() - 2;
    All.resize(2);
    All.push_back(fmt::format("{} more", More));
  }
  std::string Out;
  for (size_t I = 0; I < All.size(); ++I)
    Out += (I == 0 ? "" : I + 1 == All.size() ? " and " : ", ") + All[I];
  return Out;
}

static bool inTree(llvm::StringRef File) {
  return !File.empty() && !File.starts_with("/") && !File.starts_with("$");
}

llvm::StringRef UsePlaces::type() const {
  llvm::StringRef Type = P.str(C.Field ? C.Field->Type : C.Variable->Type);
  Type = Type.take_until([](char X) { return X == '['; }).rtrim();
  while (Type.consume_front("volatile ") || Type.consume_front("const "))
    Type = Type.ltrim();
  return Type;
}

const std::string *UsePlaces::text(llvm::StringRef File) const {
  return inTree(File) && !File.contains("uapi/") ? Files.get(File) : nullptr;
}

llvm::StringRef UsePlaces::code(llvm::StringRef File) const {
  auto It = Codes.find(File);
  if (It == Codes.end()) {
    const std::string *Text = text(File);
    It = Codes.emplace(File.str(), Text ? codeOnly(*Text) : "").first;
  }
  return It->second;
}

std::string UsePlaces::summary() const {
  size_t Updates = 0, Reads = 0, Sets = 0;
  std::set<std::string> In;
  for (const UsePlace &U : Uses) {
    ++(U.Op == AtomicModel::Read  ? Reads
       : U.Op == AtomicModel::Set ? Sets
                                  : Updates);
    In.insert(U.File);
  }
  std::vector<std::string> Parts;
  auto Count = [&](size_t N, const char *What) {
    if (N)
      Parts.push_back(fmt::format("{} {}{}", N, What, N == 1 ? "" : "s"));
  };
  Count(Updates, "update");
  Count(Reads, "read");
  Count(Sets, "set");
  std::string Out;
  for (size_t I = 0; I < Parts.size(); ++I)
    Out += (I == 0 ? "" : I + 1 == Parts.size() ? " and " : ", ") + Parts[I];
  return Out + " in " + listFiles(In);
}

bool UsePlaces::find() {
  if (!findDeclarations())
    return false;
  if (C.AddressKept) {
    std::string Where = "a static initialiser";
    for (const auto &U : P.units())
      for (const InitFacts &I : U->Inits)
        if (I.Value == C.Key)
          Where = fmt::format("{} at {}:{}",
                              P.str(empty(I.Field) ? I.Object : I.Field)
                                  .take_until([](char X) { return X == '@'; })
                                  .str(),
                              P.str(I.Where.File).str(), I.Where.Line);
    return L.require("address-not-kept", false,
                     fmt::format("{} keeps its address or offset", Where));
  }
  L.require("address-not-kept", true,
            "no initialiser of a static object keeps its address");
  return findUses();
}

bool UsePlaces::findDeclarations() {
  if (!(C.Field ? member() : variable()))
    return false;
  std::string Where;
  for (const DeclarationPlace &D : Decls) {
    const std::string *Text = text(D.File);
    bool Good = Text && !D.Text.empty() && D.Text.End <= Text->size() &&
                Text->compare(D.Text.End - 1, 1, ";") == 0 &&
                mentionsOf(code(D.File).slice(D.Text.Begin, D.Text.End), name())
                        .size() == 1;
    // A declarator of its own: `int a, b;` would need its text split.
    if (Good)
      Good =
          splitArguments(code(D.File), D.Text.Begin, D.Text.End - 1).size() ==
              1 ||
          code(D.File).slice(D.Text.Begin, D.Text.End).contains('<');
    if (!Good)
      return L.require(
          "declaration-editable", false,
          D.at() + (llvm::StringRef(D.File).contains("uapi/")
                        ? " is part of the interface to user space"
                    : !inTree(D.File)
                        ? " lies outside the source tree"
                        : " does not declare it alone, or a macro does"));
    Where += (Where.empty() ? "" : ", ") + D.at();
  }
  return L.require("declaration-editable", true,
                   "declared by itself at " + Where);
}

bool UsePlaces::member() {
  const RecordFacts &R = *C.InRecord;
  DeclarationPlace D;
  D.File = P.str(R.Where.File).str();
  D.Line = C.Field->Line;
  D.Text = C.Field->Text;
  Decls.push_back(D);
  std::string Key = P.str(R.Key).str();
  const char *Trouble =
      (R.Flags & RecordFacts::Packed) ? "is packed"
      : (R.Flags & RecordFacts::Union) || (C.Field->Flags & FieldFacts::InUnion)
          ? "overlays it with other members"
          : nullptr;
  if (!L.require("layout-free", !Trouble,
                 Trouble ? fmt::format("{} at {} {}", Key, D.at(), Trouble)
                         : fmt::format("{} is neither packed nor a union, and "
                                       "no interface to user space",
                                       Key)))
    return false;
  for (const auto &U : P.units())
    for (const InitFacts &I : U->Inits)
      if (I.Field == C.Key)
        Inits.push_back({U.get(), &I});
  return true;
}

bool UsePlaces::variable() {
  std::set<std::pair<std::string, uint32_t>> Seen;
  for (const auto &U : P.units()) {
    for (const GlobalFacts &G : U->Globals) {
      if (G.Key != C.Key)
        continue;
      DeclarationPlace D;
      D.File = P.str(G.Where.File).str();
      D.Line = G.Where.Line;
      D.Text = G.Text;
      D.Init = G.Init;
      D.Static = G.Flags & GlobalFacts::Static;
      if (Seen.insert({D.File, G.Text.Begin}).second)
        Decls.push_back(D);
    }
    for (const MarkerFacts &M : U->Markers) {
      const EntryModel *E =
          P.models().entry(EntryModel::Marker, P.str(M.Macro));
      if (E && E->Exports && M.Argument == C.Variable->Name &&
          !(C.Variable->Flags & GlobalFacts::Static))
        return L.require("not-exported", false,
                         fmt::format("{} at {}:{} gives it to code that is not "
                                     "seen",
                                     P.str(M.Macro).str(),
                                     P.str(U->MainFile).str(), M.Where.Line));
    }
  }
  for (const auto &U : P.units())
    for (const DeclFacts &X : U->Decls) {
      if (X.Key != C.Key)
        continue;
      DeclarationPlace D;
      D.File = P.str(X.Where.File).str();
      D.Line = X.Where.Line;
      D.Text = X.Text;
      D.Defines = false;
      if (Seen.insert({D.File, X.Text.Begin}).second)
        Decls.push_back(D);
    }
  return L.require("not-exported", true, "no marker exports it");
}

bool UsePlaces::fail(const UsePlace &At, const std::string &What) {
  return L.require("uses-editable", false, At.at() + " " + What);
}

bool UsePlaces::findUses() {
  for (const CounterUse &U : C.Uses) {
    UsePlace Place;
    if (!place(U, Place))
      return false;
    Uses.push_back(std::move(Place));
  }
  return L.require("uses-editable", true,
                   "all uses are spelled where they stand: " + summary());
}

} // namespace decontend
