//===- FailingCalls.cpp - A function whose calls can fail now -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FailingCalls.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

FailingCalls::FailingCalls(Conversion &C, NodeId N,
                           std::vector<FailPoint> Given, Sym Object, Sym Record,
                           TouchFinder &Finder, llvm::StringRef Contents,
                           bool MayMove)
    : C(C), P(C.P), Finder(Finder),
      File(C.P.str(C.P.node(N).Facts->Where.File).str()), Text(Contents),
      Paths(C.P, N, Text), F(Paths.F),
      Undoes(Paths, C.Files, Finder, Object, Record), Points(std::move(Given)),
      Object(Object), MayMove(MayMove), Unit(Paths.indentUnit()) {}

bool FailingCalls::refuse(llvm::StringRef Guard, std::string Why) {
  if (Out.Refusal.empty()) {
    Out.Guard = Guard.str();
    Out.Refusal = std::move(Why);
  }
  return false;
}

FailingFunction FailingCalls::run() {
  if (editable() && pending() && halfDone() && chooseLeave() && laterExits() &&
      anchor() && chooseStatus())
    write();
  if (!Out.Refusal.empty())
    Out.Edits.clear();
  return std::move(Out);
}

/// Does \p Code end between an #if and its #endif?
static bool insideIf(llvm::StringRef Code) {
  int Depth = 0;
  for (llvm::StringRef Line : llvm::split(Code, '\n')) {
    Line = Line.ltrim(" \t");
    if (!Line.consume_front("#"))
      continue;
    Line = Line.ltrim(" \t");
    Depth += Line.starts_with("if") - Line.starts_with("endif");
  }
  return Depth > 0;
}

bool FailingCalls::editable() {
  const char *Guard = MayMove ? "callers-unwind" : "initialiser-can-fail";
  std::string Name = P.name(Paths.Id).str() + "()";
  if (F.is(FunctionFacts::MacroMade) || F.Body.empty() || F.Whole.empty())
    return refuse(Guard, fmt::format("a macro makes {} at {}:{}", Name, File,
                                     F.Where.Line));
  if (F.is(FunctionFacts::Cxx))
    return refuse(Guard, Name + " is C++, where a failure is no result");
  if (Text.text().slice(F.Body.Begin, F.Body.End).count('\n') < 2)
    return refuse(Guard, fmt::format("the body of {} at {}:{} stands on one "
                                     "line",
                                     Name, File, F.Where.Line));
  if (Paths.Result == ResultKind::Other)
    return refuse(Guard,
                  fmt::format("{} at {}:{} returns {}, in which no failure "
                              "can be told",
                              Name, File, F.Where.Line,
                              P.str(F.ReturnType).str()));
  if (Paths.Result == ResultKind::Void && !Paths.Labels.empty())
    return refuse(Guard, fmt::format("{} at {}:{} returns nothing and has "
                                     "labels",
                                     Name, File, F.Where.Line));
  for (const FailPoint &Point : Points) {
    const Event &E = F.Events[Point.Event];
    bool Plain = !E.Text.empty() && Text.slice(E.Text).ends_with(";") &&
                 Text.wholeLines(E.Text) && E.Text.Begin > F.Body.Begin &&
                 E.is(Event::Statement);
    if (!Plain)
      return refuse(Guard, fmt::format("{} is not a statement on lines of its "
                                       "own",
                                       Paths.at(Point.Event)));
    if (insideIf(Text.text().slice(F.Body.Begin, E.Text.Begin)))
      return refuse(Guard, fmt::format("{} is compiled only in some "
                                       "configurations",
                                       Paths.at(Point.Event)));
    if (int Up = Paths.Shape.parent(Point.Event); Up >= 0)
      return refuse(Guard, fmt::format("{} runs only under the condition at {}",
                                       Paths.at(Point.Event), Paths.at(Up)));
  }
  if (Paths.Result == ResultKind::Int || Paths.Result == ResultKind::Bool) {
    // `return n;` may be a count, for which a negative number is no result.
    for (uint32_t I = 0; I < F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      if (E.Kind != EventKind::Return || !E.NumExprs)
        continue;
      const Expr &X = F.exprs(E)[0];
      bool Code = X.Root == RootKind::Constant ||
                  (X.Root == RootKind::Local &&
                   P.str(X.Text) == Paths.statusVariable()) ||
                  X.Root == RootKind::Call;
      if (!Code)
        return refuse(Guard, fmt::format("{} returns something at {} that may "
                                         "not be a code",
                                         Name, Paths.at(I)));
    }
  }
  return true;
}

bool FailingCalls::pending() {
  uint32_t First = Points.front().Event, Last = Points.back().Event;
  Before = Paths.before(First);
  const char *Guard = MayMove ? "callers-unwind" : "nothing-half-done";
  // Whoever leaves earlier without a failure leaves an object behind that is
  // in use, and counters that nobody has allocated.
  for (uint32_t I = 0; !MayMove && I < Last; ++I)
    if (F.Events[I].Kind == EventKind::Return &&
        std::none_of(Paths.Exits.begin(), Paths.Exits.end(),
                     [&](const ErrorExit &X) { return X.Leave == I; }))
      return refuse(Guard, fmt::format("the way out at {} leaves {} unset",
                                       Paths.at(I), Points.back().Name));
  for (const ErrorExit &X : Paths.Exits)
    if (X.Branch > First && X.Branch < Last)
      return refuse(Guard, fmt::format("another failure at {} stands between "
                                       "{} and {}",
                                       Paths.at(X.Branch), Paths.at(First),
                                       Paths.at(Last)));
  std::vector<Undoing> Steps;
  auto Add = [&](uint32_t I, bool Certain) {
    Undoing U = Undoes.of(I, First);
    if (U.Kind == Undoing::Call && !Certain) {
      U.Kind = Undoing::Unknown;
      U.Why = fmt::format("{}() at {} runs only under a condition",
                          P.calleeName(F.Events[I]).str(), Paths.at(I));
    }
    Steps.push_back(std::move(U));
  };
  if (Before && Before->Step >= 0)
    Add(Before->Step, true);
  uint32_t From = Before ? F.Events[Before->Branch].Link + 1 : 0;
  size_t Stay = Steps.size();
  for (uint32_t I = From; I < Last; ++I) {
    bool Own = std::any_of(Points.begin(), Points.end(), [&](auto &Point) {
      return Point.Event == I ||
             F.Events[Point.Event].Text.contains(F.Events[I].Text);
    });
    if (F.Events[I].Kind == EventKind::Call && !Own)
      Add(I, Paths.Shape.parent(I) == -1);
  }
  // Out of the way of what would have to be undone, if the order is free.
  if (MayMove && Points.size() == 1)
    for (size_t I = Stay; I < Steps.size(); ++I)
      if (Steps[I].Kind != Undoing::Nothing) {
        if (tryMove(Steps[I].Step))
          Steps.resize(I);
        break;
      }
  for (size_t I = Steps.size(); I-- > 0;) {
    const Undoing &U = Steps[I];
    if (U.Kind == Undoing::Nothing)
      continue;
    if (U.Kind == Undoing::Unknown)
      return refuse(Guard,
                    fmt::format("{} before {}{}", U.Why, Paths.at(First),
                                Out.Order.empty() ? "" : "; " + Out.Order));
    if (U.Step > First)
      return refuse(Guard, fmt::format("{} stands between calls that can fail",
                                       Paths.at(U.Step)));
    Undo.push_back(U);
  }
  if (MoveTo < 0)
    Out.Order.clear();
  return true;
}

/// May the call be made in front of event \p To?
bool FailingCalls::tryMove(uint32_t To) {
  uint32_t At = Points.front().Event;
  const Event &E = F.Events[At];
  std::string Name = P.calleeName(E).str();
  Touches Mine = Finder.ofCall(Paths.Id, At), Crossed;
  std::string Names;
  auto Stays = [&](std::string Why) {
    Out.Order = fmt::format("{}() cannot move in front of {}: {}", Name,
                            Paths.at(To), Why);
    return false;
  };
  if (F.Events[To].Text.empty() || Paths.Shape.parent(To) != -1)
    return Stays("that is no statement of its own");
  if (Text.text().slice(F.Events[To].Text.Begin, E.Text.Begin).contains("\n#"))
    return Stays("what lies between depends on the configuration");
  if (!Mine.Complete)
    return Stays(fmt::format("{}() runs unknown code", Name));
  std::string Before;
  for (uint32_t I = To; I < At; ++I) {
    const Event &X = F.Events[I];
    if (X.Kind == EventKind::Assign && X.NumExprs) {
      const Expr &Left = F.exprs(X)[0];
      for (const Expr &Arg : F.exprs(E))
        if (Left.Root == RootKind::Local && empty(Left.Field) &&
            Left.Base == Arg.Base)
          return Stays(
              fmt::format("{} sets {}", Paths.at(I), P.str(Left.Base).str()));
      continue;
    }
    if (X.Kind != EventKind::Call)
      return Stays(
          fmt::format("the order at {} is not a plain one", Paths.at(I)));
    const FunctionModel *M = P.modelOf(X);
    if (M && (M->Acquires >= 0 || M->Releases >= 0 || M->LockIsGlobal))
      return Stays(fmt::format("{}() at {} is about a lock",
                               P.calleeName(X).str(), Paths.at(I)));
    Touches T = Finder.ofCall(Paths.Id, I);
    if (!T.Complete)
      return Stays(fmt::format("{}() at {} runs unknown code",
                               P.calleeName(X).str(), Paths.at(I)));
    Crossed.All.insert(Crossed.All.end(), T.All.begin(), T.All.end());
    Crossed.Reached.insert(T.Reached.begin(), T.Reached.end());
    Before += fmt::format("{}{}() at {}", Before.empty() ? "" : ", ",
                          P.calleeName(X).str(), Paths.at(I));
  }
  for (const Access &A : F.Accesses) {
    if (A.At < To || A.At >= At || A.Kind == AccessKind::Argument)
      continue;
    const Expr &X = F.Exprs[A.Path];
    std::string Path = canonicalPath(P.str(X.Text));
    if (X.Root == RootKind::Global)
      Path = "::" + P.str(X.Base).str();
    Crossed.All.push_back(
        {Path, X.Field, A.Kind != AccessKind::Read, Paths.Id, A.Line});
  }
  if (Clash Both = clash(Mine, Crossed)) {
    auto Show = [&](const Touch &T) {
      const Node &In = P.node(T.In);
      return fmt::format(
          "{} at {}:{}", T.Path.empty() ? P.str(T.Field).str() : T.Path,
          In.Facts ? P.str(In.Facts->Where.File).str() : "", T.Line);
    };
    return Stays(
        fmt::format("{} and {}", Show(*Both.First), Show(*Both.Second)));
  }
  std::set<std::string> Parts;
  for (const Touch &T : Mine.All)
    if (T.Writes && !T.Path.empty() && T.Path[0] != ':' && Parts.size() < 4)
      Parts.insert(T.Path);
  std::string Listed;
  for (const std::string &Part : Parts)
    Listed += (Listed.empty() ? "" : ", ") + Part;
  Out.Order = fmt::format("{}() moves up from {} in front of {}, and none of "
                          "them writes what the other touches ({}{})",
                          Name, Paths.at(At), Before, Listed,
                          Parts.size() == 4 ? ", ..." : "");
  MoveTo = int(To);
  return true;
}

/// What our own way out runs must not meet what the call would have set up.
bool FailingCalls::halfDone() {
  uint32_t At = Points.front().Event;
  if (!MayMove) {
    // What tears the object down destroys the counters as well.
    if (Before)
      for (uint32_t I : Paths.undone(*Before))
        if (tearsDown(I))
          return refuse("nothing-half-done",
                        fmt::format("{}() at {} runs after a failure at {} and "
                                    "tears down what is not set up yet",
                                    P.calleeName(F.Events[I]).str(),
                                    Paths.at(I), Paths.at(At)));
    return true;
  }
  Touches Set = Finder.ofCall(Paths.Id, At);
  Undoing Counterpart = Undoes.of(At, At);
  std::string Name = P.calleeName(F.Events[At]).str();
  auto Meets = [&](const Touches &By, std::string What) {
    for (const Touch &X : Set.All)
      for (const Touch &Y : By.All)
        if (X.Writes && overlap(X, Y))
          return refuse(
              "nothing-half-done",
              fmt::format("{} runs after a failure of {}() at {} and "
                          "touches {}, which that sets up",
                          What, Name, Paths.at(At),
                          Y.Path.empty() ? P.str(Y.Field).str() : Y.Path));
    return true;
  };
  for (const Undoing &U : Undo)
    if (!Meets(Undoes.touches(U), U.Text))
      return false;
  if (!Before)
    return true;
  for (uint32_t I : Paths.undone(*Before)) {
    const Event &E = F.Events[I];
    std::string What =
        fmt::format("{}() at {}", P.calleeName(E).str(), Paths.at(I));
    bool Whole = tearsDown(I);
    bool Pair = Counterpart.Kind == Undoing::Call &&
                Paths.source(I) == Counterpart.Text;
    if (Whole || Pair)
      return refuse("nothing-half-done",
                    fmt::format("{} runs after a failure of {}() at {} and "
                                "tears down what that sets up",
                                What, Name, Paths.at(At)));
    if (!Meets(Finder.ofCall(Paths.Id, I), What))
      return false;
  }
  return true;
}

/// Every failure behind the calls has to undo them as well.
bool FailingCalls::laterExits() {
  uint32_t First = Points.front().Event;
  const char *Guard = MayMove ? "callers-unwind" : "nothing-half-done";
  if (int I = Paths.unlisted(First); I >= 0)
    return refuse(Guard, fmt::format("it is not seen what the way out at {} "
                                     "undoes",
                                     Paths.at(I)));
  for (const ErrorExit *X : Paths.behind(First)) {
    if (coveredBy(*X))
      continue;
    for (const FailPoint &Point : Points)
      if (Point.Undo.empty())
        return refuse(Guard, fmt::format("the failure at {} does not undo {}",
                                         Paths.at(X->Branch), Point.Call));
    Later.push_back(X);
  }
  return true;
}

/// Does call \p I end the whole object?
bool FailingCalls::tearsDown(uint32_t I) const {
  const Event &E = F.Events[I];
  NodeId Callee = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
  return Callee != NoNode && !P.modelOf(E) &&
         (Callee == Undoes.teardown() || Undoes.freesWhole(Callee) >= 0);
}

/// Can call \p I be to call \p At what foo_exit() is to foo_init()? Only then
/// the counters are destroyed in there.
bool FailingCalls::sameLevel(uint32_t I, uint32_t At) const {
  NodeId Down = P.find(F.Events[I].Callee), Up = P.find(F.Events[At].Callee);
  if (Down == NoNode || Up == NoNode || !P.node(Down).Facts ||
      !P.node(Up).Facts)
    return false;
  const FunctionFacts &D = *P.node(Down).Facts;
  return D.Where.File == P.node(Up).Facts->Where.File &&
         P.str(D.ReturnType) == "void";
}

bool FailingCalls::coveredBy(const ErrorExit &X) {
  uint32_t At = Points.front().Event;
  Undoing Counterpart;
  if (MayMove)
    Counterpart = Undoes.of(At, At + 1);
  for (uint32_t I : Paths.undone(X))
    if (tearsDown(I) ||
        (Counterpart.Kind == Undoing::Call && sameLevel(I, At) &&
         Paths.source(I) == Counterpart.Text))
      return true;
  return false;
}

} // namespace decontend
