//===- PlanDelete.cpp - A counter that nobody reads goes ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conversion.h"
#include "Mentions.h"
#include "Removal.h"
#include "StubText.h"
#include "fmt/format.h"

namespace decontend {

namespace {

class DeletePlanner {
public:
  DeletePlanner(const Program &P, const Counter &C, Sources &Files)
      : C(C), Places(P, C, Files, L), P(P) {}

  Plan run() {
    L.title(fmt::format("delete {}, which nobody reads",
                        P.str(C.Field ? C.Key : C.Variable->Name).str()));
    if (!unread() || !Places.find() || !search() || !instances() ||
        !notEmptied() || !remove())
      return L.finish();
    return L.finish();
  }

private:
  bool fail(llvm::StringRef Guard, const CounterUse &U,
            const std::string &What) {
    const FunctionFacts &F = *P.node(U.Node).Facts;
    return L.require(Guard, false,
                     fmt::format("{}:{} {}", P.str(F.Where.File).str(),
                                 F.Accesses[U.Access].Line, What));
  }

  bool unread() {
    for (const CounterUse &U : C.Uses) {
      if (U.Kind == UseKind::Read)
        return fail("nobody-reads", U, "reads it");
      if (U.To.Bits != Sinks::None)
        return fail("result-unused", U,
                    "uses the value that the update yields");
    }
    return true;
  }

  bool search() {
    MentionSearch Found = searchMentions(Places);
    if (!L.require("nobody-reads", Found.Trouble.empty(),
                   Found.Trouble.empty()
                       ? fmt::format("{} and no read; {}", Places.summary(),
                                     Found.proof())
                       : Found.Trouble))
      return false;
    return L.require("result-unused", true, "no update's result is used");
  }

  /// Without names, the values behind it would move to other members.
  bool instances() {
    if (!C.Field)
      return true;
    for (const auto &U : P.units())
      for (const GlobalFacts &G : U->Globals) {
        if (G.Record != C.Record || G.Init.empty() ||
            (G.Flags & GlobalFacts::Pointer))
          continue;
        std::string File = P.str(G.Where.File).str();
        llvm::StringRef Init =
            Places.code(File).slice(G.Init.Begin, G.Init.End);
        bool Named = Init.contains('.') || Init.contains('[');
        bool Empty = Init.drop_front(std::min<size_t>(1, Init.size()))
                         .take_until([](char X) { return X == '}'; })
                         .trim()
                         .empty();
        if (!Named && !Empty)
          return L.require("initialisers-named", false,
                           fmt::format("{}:{} initialises its members by their "
                                       "order",
                                       File, G.Where.Line));
      }
    return L.require("initialisers-named", true,
                     "no static instance is initialised by order of members");
  }

  bool notEmptied() {
    return !C.Field ||
           L.require("record-keeps-members", C.InRecord->Fields.size() > 1,
                     C.InRecord->Fields.size() > 1
                         ? P.str(C.Record).str() + " has other members"
                         : P.str(C.Record).str() + " has no other member");
  }

  Removal &removal(const std::string &File) {
    auto It = Removals.find(File);
    if (It == Removals.end())
      It = Removals
               .emplace(File,
                        Removal(P, File, *Places.text(File), Places.code(File)))
               .first;
    return It->second;
  }

  bool remove() {
    for (const UsePlace &U : Places.uses()) {
      if (U.Initial) {
        removal(U.File).element(U.Whole);
        continue;
      }
      if (U.Statement.empty())
        return L.require("uses-are-statements", false,
                         U.at() + " updates it inside an expression");
      removal(U.File).statement(Places.function(U), U.Statement);
    }
    for (auto [Unit, Init] : Places.initialisers())
      if (!designated(*Init))
        return false;
    for (const DeclarationPlace &D : Places.declarations()) {
      removal(D.File).declaration(D.Text, Places.name());
      if (C.Field)
        undocument(D);
    }
    for (auto &[File, R] : Removals) {
      std::vector<Edit> Edits = R.finish();
      if (!R.trouble().empty())
        return L.require(R.troubleGuard(), false, R.trouble());
      for (Edit &E : Edits)
        L.edit(std::move(E));
    }
    L.require("nothing-else-lost", true,
              "what goes computes nothing but its amounts");
    return L.require("no-empty-body", true,
                     "no loop or branch with an effect loses its body");
  }

  /// `.hits = ATOMIC_INIT(0)` of a static instance.
  bool designated(const InitFacts &I) {
    std::string File = P.str(I.Where.File).str();
    if (!Places.text(File))
      return L.require("initialisers-named", false,
                       File + " initialises it and cannot be edited");
    llvm::StringRef Before = Places.code(File).take_front(I.Text.Begin).rtrim();
    bool Named = Before.consume_back("=");
    Before = Before.rtrim();
    Named &= Before.consume_back(Places.name());
    Before = Before.rtrim();
    Named &= Before.consume_back(".");
    if (!Named)
      return L.require(
          "initialisers-named", false,
          fmt::format("{}:{} initialises it by its place", File, I.Where.Line));
    if (Seen.insert({File, I.Text.Begin}).second)
      removal(File).element({uint32_t(Before.size()), I.Text.End});
    return true;
  }

  /// The line about the member in the kernel-doc comment of its record.
  void undocument(const DeclarationPlace &D) {
    SourceText Text(*Places.text(D.File));
    uint32_t At = 0;
    for (uint32_t Line = 1; Line < C.InRecord->Where.Line; ++Line)
      At = Text.nextLine(At);
    Span Doc = Text.commentAbove(At);
    if (!Text.slice(Doc).trim().starts_with("/**"))
      return;
    for (uint32_t Line = Doc.Begin; Line < Doc.End;
         Line = Text.nextLine(Line)) {
      llvm::StringRef Code = Text.lineAt(Line).trim();
      if (!Code.consume_front("*") || !Code.ltrim().starts_with("@") ||
          Code.ltrim().drop_front().take_until(
              [](char X) { return X == ':'; }) != Places.name())
        continue;
      uint32_t End = Text.nextLine(Line);
      while (End < Doc.End) {
        llvm::StringRef Next = Text.lineAt(End).trim();
        if (Next.contains("*/") || Next == "*" ||
            Next.drop_front(Next.starts_with("*")).ltrim().starts_with("@"))
          break;
        End = Text.nextLine(End);
      }
      L.edit({D.File, Line, End, ""});
      return;
    }
  }

  const Counter &C;
  Ledger L;
  UsePlaces Places;
  const Program &P;
  std::map<std::string, Removal> Removals;
  std::set<std::pair<std::string, uint32_t>> Seen;
};

} // namespace

Plan planDelete(const Program &P, const CounterJudge &, const Counter &C,
                Sources &Files) {
  return DeletePlanner(P, C, Files).run();
}

} // namespace decontend
