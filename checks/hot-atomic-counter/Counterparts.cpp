//===- Counterparts.cpp - What undoes a step of a set-up ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Counterparts.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>

namespace decontend {

Counterparts::Counterparts(const ErrorPaths &Setup, Sources &Files,
                           TouchFinder &Finder, Sym Object, Sym Record)
    : S(Setup), P(Setup.P), Files(Files), Finder(Finder), Object(Object),
      Record(Record) {
  findTeardown();
}

int Counterparts::freesWhole(NodeId N) const {
  const FunctionFacts *F = P.node(N).Facts;
  if (!F || empty(Record))
    return -1;
  for (uint32_t I = 0; I < F->Events.size(); ++I) {
    const Event &E = F->Events[I];
    const FunctionModel *M = P.modelOf(E);
    if (!M || M->Frees < 0 || size_t(M->Frees) >= E.NumExprs)
      continue;
    const Expr &X = F->exprs(E)[M->Frees];
    if (X.Record == Record && empty(X.Field) && !(X.Flags & Expr::AddressOf) &&
        (X.Root == RootKind::Param || X.Root == RootKind::Local))
      return int(I);
  }
  return -1;
}

void Counterparts::findTeardown() {
  if (empty(Record))
    return;
  std::set<Sym> Undone;
  for (const ErrorExit &X : S.Exits)
    for (uint32_t I : S.undone(X))
      Undone.insert(S.F.Events[I].Callee);
  // Candidates call something that the error paths call, or free the object.
  std::map<NodeId, std::set<Sym>> Shared;
  for (Sym Callee : Undone)
    if (NodeId N = P.find(Callee); N != NoNode)
      for (uint32_t I : P.callers(N))
        Shared[P.edges()[I].Caller].insert(Callee);
  size_t Best = 0;
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    if (!F || N == S.Id)
      continue;
    Sym Takes = Sym::None;
    for (const ParamFacts &X : F->Params)
      if (X.Record == Record && empty(Takes))
        Takes = X.Name;
    if (empty(Takes))
      continue;
    auto It = Shared.find(N);
    size_t Score = It == Shared.end() ? 0 : 2 * It->second.size();
    Score += freesWhole(N) >= 0;
    if (Score > Best) {
      Best = Score;
      Teardown = N;
      Param = Takes;
    }
  }
}

/// `kfree(f->name)` undoes `f->name = kmalloc()`, though it only passes f->name
/// on.
void Counterparts::addFreed(NodeId N, uint32_t Index, Touches &By) const {
  const FunctionFacts &F = *P.node(N).Facts;
  const Event &E = F.Events[Index];
  const FunctionModel *M = P.modelOf(E);
  if (!M || M->Frees < 0 || size_t(M->Frees) >= E.NumExprs)
    return;
  const Expr &Freed = F.exprs(E)[M->Frees];
  if (!empty(Freed.Field))
    By.All.push_back(
        {canonicalPath(P.str(Freed.Text)), Freed.Field, true, N, E.Line});
}

/// What call \p Index of the teardown touches, in terms of the set-up.
Touches Counterparts::torn(uint32_t Index) {
  Touches By = Finder.ofCall(Teardown, Index);
  addFreed(Teardown, Index, By);
  for (Touch &Y : By.All) {
    llvm::StringRef Rest = Y.Path;
    if (Rest.consume_front(P.str(Param)) &&
        (Rest.empty() || !(llvm::isAlnum(Rest[0]) || Rest[0] == '_')))
      Y.Path = (P.str(Object) + Rest).str();
  }
  return By;
}

Touches Counterparts::touches(const Undoing &U) {
  if (U.From == S.Id)
    return Finder.ofCall(S.Id, U.At);
  return U.From != NoNode && U.From == Teardown ? torn(U.At) : Touches();
}

/// Call \p Event of the teardown as the set-up has to write it.
std::string Counterparts::inSetup(uint32_t Index) const {
  const FunctionFacts &F = *P.node(Teardown).Facts;
  const Event &E = F.Events[Index];
  const std::string *Contents = Files.get(P.str(F.Where.File));
  if (!Contents || E.Text.empty() || E.Text.End > Contents->size())
    return "";
  llvm::StringRef Code = llvm::StringRef(*Contents)
                             .slice(E.Text.Begin, E.Text.End)
                             .rtrim("; \t\n");
  // Only what the object leads to means the same in the set-up.
  for (const Expr &X : F.exprs(E)) {
    bool Fixed = X.Root == RootKind::Constant || X.Root == RootKind::Global ||
                 X.Root == RootKind::Null || X.Root == RootKind::Function;
    if (!Fixed && !(X.Root == RootKind::Param && X.Base == Param))
      return "";
  }
  std::string Out;
  size_t Last = 0;
  for (uint32_t At : mentionsOf(Code, P.str(Param))) {
    llvm::StringRef Before = Code.take_front(At).rtrim();
    if (Before.ends_with("->") || Before.ends_with("."))
      continue;
    Out += Code.slice(Last, At);
    Out += P.str(Object);
    Last = At + P.str(Param).size();
  }
  return Out + Code.substr(Last).str();
}

/// The assignment that takes the value of call \p Step, or -1.
int Counterparts::assignOf(uint32_t Step) const {
  const Event &E = S.F.Events[Step];
  for (uint32_t I = Step + 1; I < S.F.Events.size() && I < Step + 4; ++I) {
    const Event &A = S.F.Events[I];
    if (A.Kind == EventKind::Assign && A.NumExprs == 2 &&
        S.F.exprs(A)[1].Root == RootKind::Call &&
        S.F.exprs(A)[1].Base == E.Callee)
      return int(I);
  }
  return -1;
}

/// What frees objects of the record \p Of in this program, given that all
/// agree.
Undoing Counterparts::freeOf(uint32_t Step, Sym Variable, Sym Of) const {
  Undoing U;
  U.Step = Step;
  U.Kind = Undoing::Unknown;
  std::string Name, Where;
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionFacts *F = P.node(N).Facts;
    for (uint32_t I = 0; F && I < F->Events.size(); ++I) {
      const Event &E = F->Events[I];
      const FunctionModel *M = P.modelOf(E);
      if (!M || M->Frees < 0 || size_t(M->Frees) >= E.NumExprs)
        continue;
      const Expr &X = F->exprs(E)[M->Frees];
      if (X.Record != Of || !empty(X.Field) || (X.Flags & Expr::AddressOf))
        continue;
      std::string Here =
          fmt::format("{}:{}", P.str(F->Where.File).str(), E.Line);
      // A deferred free serves readers, of whom a new object has none.
      if (E.NumExprs != 1 || !empty(E.Macro))
        continue;
      if (Name.empty()) {
        Name = P.calleeName(E).str();
        Where = Here;
      } else if (Name != P.calleeName(E)) {
        U.Why =
            fmt::format("{}() at {} and {}() at {} both free {}", Name, Where,
                        P.calleeName(E).str(), Here, P.str(Of).str());
        return U;
      }
    }
  }
  if (Name.empty()) {
    U.Why = fmt::format("nobody frees {}", P.str(Of).str());
    return U;
  }
  U.Kind = Undoing::Call;
  U.Text = fmt::format("{}({})", Name, P.str(Variable).str());
  U.Why = "as at " + Where;
  return U;
}

/// How many of the words of \p A, parted by `_`, \p B has too.
static unsigned commonWords(llvm::StringRef A, llvm::StringRef B) {
  llvm::SmallVector<llvm::StringRef, 8> X, Y;
  A.split(X, '_', -1, false);
  B.split(Y, '_', -1, false);
  unsigned N = 0;
  for (llvm::StringRef W : X)
    N += std::find(Y.begin(), Y.end(), W) != Y.end();
  return N;
}

/// A step, and what it has written.
struct Counterparts::Wanted {
  uint32_t Step = 0;
  std::string Name;
  Touches Wrote;
  bool Keeps = false; ///< Its result is assigned.
  /// What its own failure makes, which undoes what came before it.
  std::set<uint32_t> Own;
  std::set<std::string> OwnTexts;
};

/// Through the object, or through a global: other paths may be anything.
bool Counterparts::undoes(const Wanted &W, const Touches &By) const {
  for (const Touch &X : W.Wrote.All)
    for (const Touch &Y : By.All)
      if (X.Writes && !X.Path.empty() && X.Path != P.str(Object) &&
          Y.Path != P.str(Object) && sameRoot(X.Path, Y.Path) &&
          samePart(X.Path, Y.Path))
        return true;
  return false;
}

/// On another error path of the set-up: as the author does it there.
bool Counterparts::onErrorPath(const Wanted &W, Undoing &U) {
  unsigned Best = 0;
  std::set<uint32_t> Seen = W.Own;
  for (const ErrorExit *X : S.behind(W.Step))
    for (uint32_t I : S.undone(*X)) {
      const Event &E = S.F.Events[I];
      if (!Seen.insert(I).second || E.Text.empty())
        continue;
      Touches By = Finder.ofCall(S.Id, I);
      if (W.Keeps)
        addFreed(S.Id, I, By);
      unsigned Like = 1 + commonWords(W.Name, P.calleeName(E));
      if (Like <= Best || !undoes(W, By))
        continue;
      Best = Like;
      U.Kind = Undoing::Call;
      U.Text = S.source(I);
      U.From = S.Id;
      U.At = I;
      U.Why = "as at " + S.at(I);
    }
  return Best != 0;
}

bool Counterparts::inTeardown(const Wanted &W, Undoing &U) {
  const FunctionFacts &G = *P.node(Teardown).Facts;
  unsigned Best = 0;
  for (uint32_t I = 0; I < G.Events.size(); ++I) {
    const Event &E = G.Events[I];
    if (E.Kind != EventKind::Call || !E.is(Event::Statement))
      continue;
    unsigned Like = 1 + commonWords(W.Name, P.calleeName(E));
    if (Like <= Best || !undoes(W, torn(I)))
      continue;
    std::string Text = inSetup(I);
    if (W.OwnTexts.count(Text))
      continue;
    Best = Like;
    U.Kind = Text.empty() ? Undoing::Unknown : Undoing::Call;
    U.Text = Text;
    U.From = Teardown;
    U.At = I;
    U.Why = fmt::format("as {}() does at {}:{}", P.name(Teardown).str(),
                        P.str(G.Where.File).str(), E.Line);
    if (Text.empty())
      U.Why = fmt::format("{}() at {} is undone by {}(), {}, which cannot be "
                          "said here",
                          W.Name, S.at(W.Step), P.calleeName(E).str(), U.Why);
  }
  return Best != 0;
}

/// Is the lock that call \p Step takes given back before event \p Until?
bool Counterparts::givenBack(uint32_t Step, uint32_t Until) const {
  const FunctionModel *M = P.modelOf(S.F.Events[Step]);
  for (uint32_t I = Step + 1; I < Until; ++I) {
    const FunctionModel *Other = P.modelOf(S.F.Events[I]);
    if (Other && Other->Releases >= 0 && Other->Lock == M->Lock)
      return true;
  }
  return false;
}

Undoing Counterparts::of(uint32_t Step, uint32_t Until) {
  const Event &E = S.F.Events[Step];
  const FunctionModel *M = P.modelOf(E);
  Undoing U;
  U.Step = Step;
  Wanted W;
  W.Step = Step;
  W.Name = P.calleeName(E).str();
  if (M && (M->Inert || M->Reports || M->Frees >= 0 || M->Releases >= 0))
    return U;
  if (M && M->Acquires >= 0) {
    if (givenBack(Step, Until))
      return U;
    U.Kind = Undoing::Unknown;
    U.Why = fmt::format("{}() at {} takes a lock", W.Name, S.at(Step));
    return U;
  }
  W.Wrote = Finder.ofCall(S.Id, Step);
  const Touches &T = W.Wrote;
  if (int Assign = assignOf(Step); Assign >= 0) {
    const Expr &Left = S.F.exprs(S.F.Events[Assign])[0];
    const Expr &Right = S.F.exprs(S.F.Events[Assign])[1];
    bool Makes = T.Allocates || (M && M->Allocates);
    bool Pointer = (Left.Flags | Right.Flags) & Expr::Pointer;
    if (Makes && empty(Left.Field) && Left.Root == RootKind::Local && Pointer &&
        !empty(Left.Record))
      return freeOf(Step, Left.Base, Left.Record);
    W.Keeps = true;
    W.Wrote.All.push_back({canonicalPath(P.str(Left.Text)), Left.Field,
                           !empty(Left.Field), S.Id, E.Line});
  }
  for (const ErrorExit &X : S.Exits)
    if (X.Step == int(Step))
      for (uint32_t I : S.undone(X)) {
        W.Own.insert(I);
        W.OwnTexts.insert(S.source(I));
      }
  if (onErrorPath(W, U))
    return U;
  if (Teardown != NoNode && (inTeardown(W, U) || !T.Allocates))
    return U;
  bool Plain = T.Complete && !T.Bodiless && !T.Allocates;
  bool Reads = T.Complete && !T.Allocates && !T.writes();
  if (Plain || Reads || (M && !M->Allocates && M->TakesRef < 0))
    return U;
  U.Kind = Undoing::Unknown;
  U.Why =
      fmt::format("it is not seen what undoes {}() at {}", W.Name, S.at(Step));
  return U;
}

} // namespace decontend
