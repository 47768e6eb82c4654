//===- PlanSite.cpp - The place that a plan is about ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSite.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <set>

namespace decontend {

PlanSite::PlanSite(const Program &P, const Finding &Found, Sources &Files,
                   NodeId Id, uint32_t Call, llvm::StringRef Text)
    : P(P), Found(Found), Files(Files), Id(Id), Function(P.node(Id)),
      F(*Function.Facts), Shape(P, F), Call(Call),
      Model(P.modelOf(F.Events[Call])), Text(Text) {}

bool PlanSite::userSpace() const {
  return wait() && llvm::StringRef(wait()->Flavour).starts_with("urcu");
}

std::string PlanSite::at(uint32_t Event) const { return where(Id, Event); }

std::string PlanSite::where(NodeId N, uint32_t Event) const {
  const FunctionFacts &Facts = *P.node(N).Facts;
  return fmt::format("{}:{}", P.str(Facts.Where.File).str(),
                     Facts.Events[Event].Line);
}

std::string PlanSite::spelled(const Event &E) const {
  llvm::StringRef Code = Text.slice(E.Text).ltrim();
  llvm::StringRef Word =
      Code.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
  return Word.empty() ? P.calleeName(E).str() : Word.str();
}

std::string PlanSite::indentUnit() const {
  for (uint32_t At = Text.nextLine(F.Body.Begin); At < F.Body.End;
       At = Text.nextLine(At)) {
    llvm::StringRef Line = Text.lineAt(At), Indent = Text.indentAt(At);
    if (!Indent.empty() && !Line.trim().empty())
      return Indent.str();
    if (Text.nextLine(At) == At)
      break;
  }
  return "\t";
}

uint32_t PlanSite::aboveFunction() const {
  return Text.commentAbove(F.Whole.Begin).Begin;
}

std::vector<std::string> PlanSite::localNames() const {
  std::set<std::string> Names;
  for (const ParamFacts &Param : F.Params)
    Names.insert(P.str(Param.Name).str());
  for (const Expr &X : F.Exprs)
    if (X.Root == RootKind::Local)
      Names.insert(P.str(X.Base).str());
  Names.erase("");
  return {Names.begin(), Names.end()};
}

std::string PlanSite::foreignLocal(llvm::StringRef Code,
                                   llvm::StringRef Allowed) const {
  for (const std::string &Name : localNames()) {
    if (Name == Allowed)
      continue;
    auto IsWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
    for (size_t I = Code.find(Name); I != llvm::StringRef::npos;
         I = Code.find(Name, I + 1)) {
      llvm::StringRef Before = Code.take_front(I).rtrim();
      llvm::StringRef After = Code.substr(I + Name.size());
      bool Whole = (I == 0 || !IsWord(Code[I - 1])) &&
                   (After.empty() || !IsWord(After[0]));
      bool Member = Before.ends_with("->") || Before.ends_with(".");
      bool Tag = Before.ends_with("struct") || Before.ends_with("union");
      if (Whole && !Member && !Tag)
        return Name;
    }
  }
  return "";
}

void PlanSite::replace(Ledger &L, Span S, std::string New) const {
  L.edit({Found.File, S.Begin, S.End, std::move(New)});
}

std::string calleeAndPlace(const PlanSite &S, uint32_t EdgeIndex) {
  const Edge &E = S.P.edges()[EdgeIndex];
  return fmt::format("{}() at {}", S.P.name(E.Callee).str(),
                     S.where(E.Caller, E.Event));
}

bool requireSourceFile(const PlanSite &S, Ledger &L) {
  bool Main = S.F.Where.File == S.Function.Unit->MainFile;
  return L.require("own-source-file", Main,
                   fmt::format("{} is {}", S.Found.File,
                               Main ? "a source file"
                                    : "included by others, and no place for "
                                      "a function of its own"));
}

bool requireEditableWait(const PlanSite &S, Ledger &L) {
  if (S.file().starts_with("/") || S.file().starts_with("$"))
    return L.require("inside-the-root", false,
                     S.Found.File + " lies outside the source tree");
  const Event &E = S.event();
  std::string Name = S.P.calleeName(E).str();
  bool Fits = E.Text.End <= S.Text.text().size();
  bool Here = E.is(Event::Statement) && !E.Text.empty() && Fits &&
              S.Text.slice(E.Text).ends_with(";");
  if (!L.require("written-here", Here,
                 fmt::format("{}() at {} {}", Name, S.at(S.Call),
                             Here ? "stands in the file as a statement"
                                  : "is part of a macro or an expression")))
    return false;
  bool Alone = bool(S.Text.wholeLines(E.Text));
  int Up = S.Shape.parent(S.Call);
  bool Bare = Up >= 0 && !S.F.Events[Up].is(Event::Braced) &&
              S.F.Events[Up].Kind != EventKind::Switch;
  return L.require("wait-unconditional", Alone && !Bare,
                   Alone && !Bare
                       ? fmt::format("{}() at {} is a statement of its block",
                                     Name, S.at(S.Call))
                       : fmt::format("{}() at {} shares its line or is all "
                                     "that a condition governs",
                                     Name, S.at(S.Call)));
}

void deleteWait(const PlanSite &S, Ledger &L) {
  std::optional<Span> Lines = S.Text.wholeLines(S.event().Text);
  if (!Lines)
    return;
  Span Comment = S.Text.commentAbove(Lines->Begin);
  std::string Words = S.Text.slice(Comment).lower();
  for (llvm::StringRef Word :
       {"grace", "synchronize", "rcu", "reader", "quiesc", "wait"})
    if (llvm::StringRef(Words).contains(Word))
      Lines->Begin = Comment.Begin;
  S.replace(L, S.Text.withSpareBlank(*Lines), "");
}

} // namespace decontend
