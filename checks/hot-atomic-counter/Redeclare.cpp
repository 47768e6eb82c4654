//===- Redeclare.cpp - From void to int, wherever it is written -----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fallible.h"
#include "StubText.h"
#include "fmt/format.h"
#include <algorithm>
#include <set>

namespace decontend {

namespace {

class Redeclarer {
public:
  Redeclarer(const Program &P, Sources &Files, NodeId N)
      : P(P), Files(Files), N(N), Name(P.name(N)) {}

  Redeclared run() {
    for (const std::string &File : files())
      if (Out.Refusal.empty())
        search(File);
    return std::move(Out);
  }

private:
  /// Files in which the function can be mentioned: all that a unit is made of
  /// which sees one of its declarations.
  std::set<std::string> files() const {
    const FunctionFacts &F = *P.node(N).Facts;
    std::set<Sym> Declare = {F.Where.File};
    for (const auto &U : P.units())
      for (const DeclFacts &D : U->Decls)
        if (D.Function && D.Key == P.node(N).Key)
          Declare.insert(D.Where.File);
    std::set<std::string> Out = {P.str(F.Where.File).str()};
    // Nobody else can name a static function of a source file.
    if (F.is(FunctionFacts::Static) && !F.is(FunctionFacts::InHeader))
      return Out;
    for (const auto &U : P.units()) {
      bool Sees = std::any_of(
          U->Files.begin(), U->Files.end(),
          [&](const Dependency &D) { return Declare.count(D.Path) != 0; });
      for (const Dependency &D : U->Files)
        if (Sees && !P.str(D.Path).starts_with("/"))
          Out.insert(P.str(D.Path).str());
    }
    for (Sym File : Declare)
      Out.insert(P.str(File).str());
    return Out;
  }

  /// Spans of calls in \p File, and the place of the definition: others see to
  /// these.
  std::vector<Span> seenTo(llvm::StringRef File) const {
    std::vector<Span> Out;
    const FunctionFacts &F = *P.node(N).Facts;
    if (P.str(F.Where.File) == File)
      Out.push_back({F.Whole.Begin, F.Body.Begin});
    for (uint32_t I : P.callers(N)) {
      const Edge &E = P.edges()[I];
      const FunctionFacts &G = *P.node(E.Caller).Facts;
      if (P.str(G.Where.File) == File)
        Out.push_back(G.Events[E.Event].Text);
    }
    return Out;
  }

  void search(llvm::StringRef File) {
    const std::string *Contents = Files.get(File);
    if (!Contents) {
      Out.Refusal = fmt::format("{} cannot be read", File.str());
      return;
    }
    if (!llvm::StringRef(*Contents).contains(Name))
      return;
    std::string Code = codeOnly(*Contents);
    std::vector<Span> Known = seenTo(File);
    for (uint32_t At : mentionsOf(Code, Name)) {
      Span Here{At, uint32_t(At + Name.size())};
      if (std::any_of(Known.begin(), Known.end(),
                      [&](Span S) { return S.contains(Here); }))
        continue;
      std::string Place = fmt::format(
          "{}:{}", File.str(),
          1 + llvm::StringRef(*Contents).take_front(At).count('\n'));
      Mention M = readMention(File, *Contents, Code, At, Name);
      if (M.Kind == MentionKind::Marker || M.Kind == MentionKind::Member)
        continue;
      if (M.Trouble.empty() && !M.Void)
        M.Trouble = "it is declared with another result";
      if (M.Trouble.empty() && File.starts_with("$"))
        M.Trouble = "a generated file declares it";
      if (!M.Trouble.empty()) {
        Out.Refusal =
            fmt::format("{}() at {}: {}", Name.str(), Place, M.Trouble);
        return;
      }
      const char *What = M.Kind == MentionKind::Prototype    ? "prototype"
                         : M.Kind == MentionKind::Definition ? "stub"
                                                             : "macro";
      Out.Places.push_back(fmt::format("{} at {}", What, Place));
      Out.Edits.insert(Out.Edits.end(), M.ToInt.begin(), M.ToInt.end());
    }
  }

  const Program &P;
  Sources &Files;
  NodeId N;
  llvm::StringRef Name;
  Redeclared Out;
};

} // namespace

Redeclared declareInt(const Program &P, Sources &Files, NodeId N) {
  return Redeclarer(P, Files, N).run();
}

} // namespace decontend
