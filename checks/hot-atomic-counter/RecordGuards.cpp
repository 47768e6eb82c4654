//===- RecordGuards.cpp - May a member change its type? -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mentions.h"
#include "RecordPlan.h"
#include "StubText.h"
#include "fmt/format.h"
#include <set>

namespace decontend {

std::optional<SpelledCall> spelledCall(const Conversion &C, NodeId N,
                                       uint32_t Index) {
  const FunctionFacts &F = *C.P.node(N).Facts;
  const Event &E = F.Events[Index];
  const std::string *Contents = C.Files.get(C.P.str(F.Where.File));
  if (!Contents || E.Text.empty() || E.Text.End > Contents->size() ||
      E.is(Event::FromMacro))
    return std::nullopt;
  llvm::StringRef Text =
      llvm::StringRef(*Contents).slice(E.Text.Begin, E.Text.End);
  std::string Code = codeOnly(Text);
  size_t Open = Code.find('(');
  size_t Close = Open == std::string::npos ? Open : matching(Code, Open);
  if (Close == std::string::npos ||
      !llvm::StringRef(Code).substr(Close).trim("; \t\n").empty())
    return std::nullopt;
  SpelledCall Out;
  Out.Text = {E.Text.Begin, E.Text.Begin + uint32_t(Close)};
  int Depth = 0;
  size_t From = Open + 1;
  for (size_t I = From; I < Close; ++I) {
    char X = Code[I];
    bool Last = I + 1 == Close;
    if ((X == ',' && Depth == 0) || Last) {
      Out.Args.push_back(Text.slice(From, I).trim().str());
      From = I + 1;
    }
    Depth += (X == '(' || X == '[' || X == '{');
    Depth -= (X == ')' || X == ']' || X == '}');
  }
  if (Out.Args.size() != E.NumExprs)
    return std::nullopt;
  return Out;
}

std::string spelledCounter(const Conversion &C, const CounterUse &U) {
  const FunctionFacts &F = *C.P.node(U.Node).Facts;
  const Access &A = F.Accesses[U.Access];
  const std::string *Contents = C.Files.get(C.P.str(F.Where.File));
  if (!Contents || A.Text.empty() || A.Text.End > Contents->size())
    return "";
  llvm::StringRef Text =
      llvm::StringRef(*Contents).slice(A.Text.Begin, A.Text.End);
  return Text.trim().str();
}

std::string fitted(const Conversion &C, llvm::StringRef File, Span At,
                   std::string New) {
  constexpr unsigned MaxColumns = 80;
  const std::string *Contents = C.Files.get(File);
  size_t Open = New.find('('), Comma = New.rfind(", ");
  if (!Contents || Comma == std::string::npos || Open > Comma)
    return New;
  SourceText Text(*Contents);
  llvm::StringRef Line = Text.lineAt(At.Begin).rtrim("\r\n");
  llvm::StringRef Before = Line.take_front(At.Begin - Text.lineBegin(At.Begin));
  llvm::StringRef After = Text.text().slice(At.End, Text.nextLine(At.End));
  unsigned Column = visualWidth(Before);
  if (Column + New.size() + After.rtrim().size() <= MaxColumns)
    return New;
  bool Tabs = Text.indentAt(At.Begin).contains('\t');
  return New.substr(0, Comma + 1) + "\n" + padding(0, Column + Open + 1, Tabs) +
         New.substr(Comma + 2);
}

std::string placeOf(const Conversion &C, const CounterUse &U) {
  return C.at(U.Node, C.P.node(U.Node).Facts->Accesses[U.Access].Line);
}

std::string placeOf(const Conversion &C, llvm::StringRef File,
                    uint32_t Offset) {
  const std::string *Contents = C.Files.get(File);
  uint32_t Line = 1;
  if (Contents)
    Line += llvm::StringRef(*Contents).take_front(Offset).count('\n');
  return fmt::format("{}:{}", File.str(), Line);
}

llvm::StringRef memberName(const Conversion &C, const Counter &Of) {
  return C.P.str(Of.Field->Name);
}

std::string memberNames(const Conversion &C) {
  std::string Out;
  for (size_t I = 0; I < C.Counters.size(); ++I) {
    if (I)
      Out += I + 1 == C.Counters.size() ? " and " : ", ";
    Out += memberName(C, *C.Counters[I]);
  }
  return Out;
}

/// Why use \p U cannot be rewritten where it stands; empty if it can.
static std::string obstacle(const Conversion &C, const CounterUse &U) {
  const FunctionFacts &F = *C.P.node(U.Node).Facts;
  std::string Place = placeOf(C, U);
  llvm::StringRef File = C.P.str(F.Where.File);
  if (File.starts_with("/") || File.starts_with("$"))
    return Place + " lies outside the source tree";
  switch (U.Kind) {
  case UseKind::Value:
    return fmt::format("the value that {} gives is used", Place);
  case UseKind::Test:
  case UseKind::Bits:
    return fmt::format("{} does more than count", Place);
  case UseKind::Racy:
    return fmt::format("{} changes it without atomicity", Place);
  case UseKind::Escape:
    return fmt::format("its address leaves at {}", Place);
  case UseKind::Bump:
  case UseKind::Read:
  case UseKind::Set:
    break;
  }
  if (U.Wrapped)
    return fmt::format("{} uses it through a function that takes its address",
                       Place);
  if (!U.Op || U.Initial)
    return fmt::format("{} uses it as a plain integer", Place);
  if (spelledCounter(C, U).empty())
    return fmt::format("a macro spells the use at {}", Place);
  std::optional<SpelledCall> Call = spelledCall(C, U.Node, U.Event);
  if (!Call)
    return fmt::format("a macro spells the call at {}", Place);
  if (!Call->Text.contains(F.Accesses[U.Access].Text))
    return fmt::format("the call at {} does not name it", Place);
  const Event &E = F.Events[U.Event];
  if (U.Kind != UseKind::Read && !E.is(Event::Statement))
    return fmt::format("{} is no statement of its own", Place);
  return "";
}

bool convertible(const Conversion &C, size_t I, std::string &Why) {
  const Counter &Of = *C.Counters[I];
  if (Of.AddressKept) {
    Why = "a static initialiser keeps its address";
    return false;
  }
  for (const CounterUse &U : Of.Uses) {
    Why = obstacle(C, U);
    if (!Why.empty())
      return false;
  }
  return true;
}

static bool requireUses(Conversion &C) {
  unsigned Bumps = 0, Reads = 0, Sets = 0;
  std::set<std::string> Files;
  for (size_t I = 0; I < C.Counters.size(); ++I) {
    std::string Why;
    if (!convertible(C, I, Why))
      return C.L.require(
          "all-uses-convertible", false,
          fmt::format("{}: {}", C.P.str(C.Counters[I]->Key).str(), Why));
    for (const CounterUse &U : C.Counters[I]->Uses) {
      Bumps += U.Kind == UseKind::Bump;
      Reads += U.Kind == UseKind::Read;
      Sets += U.Kind == UseKind::Set;
      Files.insert(C.P.str(C.P.node(U.Node).Facts->Where.File).str());
    }
  }
  std::string Listed;
  for (const std::string &File : Files)
    Listed += (Listed.empty() ? "" : ", ") + File;
  return C.L.require(
      "all-uses-convertible", true,
      fmt::format("the {} units of the program update {} at {} places, read "
                  "at {} and set at {}, all of them calls written out in {}",
                  C.P.units().size(), memberNames(C), Bumps, Reads, Sets,
                  Listed));
}

static bool requireNoHiddenMention(Conversion &C) {
  size_t Files = 0;
  for (const Counter *Of : C.Counters) {
    Ledger Own;
    UsePlaces Places(C.P, *Of, C.Files, Own);
    if (!Places.find())
      return C.L.require("no-use-in-left-out-text", false,
                         Own.finish().Refusal);
    MentionSearch Found = searchMentions(Places);
    Files = Found.Files;
    if (!Found.Trouble.empty())
      return C.L.require(
          "no-use-in-left-out-text", false,
          fmt::format("{}: {}", C.P.str(Of->Key).str(), Found.Trouble));
  }
  return C.L.require(
      "no-use-in-left-out-text", true,
      fmt::format("nothing else mentions {} in the {} files of the units that "
                  "see {}, text that this configuration leaves out included",
                  memberNames(C), Files, C.P.str(C.Counters[0]->Record).str()));
}

static std::string layoutTrouble(const Conversion &C, const Counter &Of) {
  const RecordFacts &R = *Of.InRecord;
  const FieldFacts &F = *Of.Field;
  llvm::StringRef File = C.P.str(R.Where.File);
  std::string Record = C.P.str(R.Key).str();
  if (File.starts_with("/") || File.starts_with("$"))
    return Record + " lies outside the source tree";
  if (File.contains("uapi/"))
    return Record + " is part of the interface to user space";
  if (R.Flags & RecordFacts::Packed)
    return Record + " is packed";
  if (R.Flags & RecordFacts::Cxx)
    return Record + " is a C++ class";
  if ((R.Flags & RecordFacts::Union) || (F.Flags & FieldFacts::InUnion))
    return fmt::format("{} shares its bytes with other members",
                       C.P.str(Of.Key).str());
  if (F.Flags & (FieldFacts::Array | FieldFacts::BitField))
    return fmt::format("{} is an array", C.P.str(Of.Key).str());
  if (Record.find('@') != std::string::npos)
    return "the record has no name";
  for (const auto &U : C.P.units())
    for (const RecordFacts &Outer : U->Records)
      for (const FieldFacts &Inner : Outer.Fields)
        if (Inner.Record == R.Key && !(Inner.Flags & FieldFacts::Pointer) &&
            (Inner.Flags & (FieldFacts::InUnion | FieldFacts::Array)))
          return fmt::format("{} is a member of {} at {}:{}, which {}", Record,
                             C.P.str(Outer.Key).str(),
                             C.P.str(Outer.Where.File).str(), Inner.Line,
                             Inner.Flags & FieldFacts::InUnion
                                 ? "shares its bytes with others"
                                 : "has several");
  return "";
}

static bool requireLayout(Conversion &C) {
  for (const Counter *Of : C.Counters) {
    std::string Why = layoutTrouble(C, *Of);
    if (!Why.empty())
      return C.L.require("layout-free", false, std::move(Why));
  }
  const RecordFacts &R = *C.Counters[0]->InRecord;
  return C.L.require(
      "layout-free", true,
      fmt::format("{} at {}:{} is neither packed, nor part of a union or of "
                  "the interface to user space",
                  C.P.str(R.Key).str(), C.P.str(R.Where.File).str(),
                  R.Where.Line));
}

/// Each object costs an integer for each CPU and an allocation of its own.
static bool requireFew(Conversion &C) {
  Sym Record = C.Counters[0]->Record;
  SharingVerdict V = Sharing(C.P).of(Record);
  std::string Name = C.P.str(Record).str();
  if (V.Kind == SharingVerdict::Many || V.Kind == SharingVerdict::Owner)
    return C.L.require("objects-are-few", false,
                       fmt::format("{}: {}, and each would need an integer for "
                                   "every CPU",
                                   Name, V.Why));
  return C.L.require(
      "objects-are-few", true,
      V.Kind == SharingVerdict::Wide
          ? V.Why
          : fmt::format("to be confirmed: it is not seen how many {} there "
                        "are, and each needs an integer for every CPU",
                        Name));
}

bool requireConvertible(Conversion &C) {
  return requireLayout(C) && requireUses(C) && requireFew(C) &&
         requireNoHiddenMention(C) && requireNoCopies(C);
}

} // namespace decontend
