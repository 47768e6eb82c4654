//===- Fallible.cpp - An initialiser that can fail now --------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Fallible.h"
#include "FailingCalls.h"
#include "StubText.h"
#include "analysis/program/Locksets.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>

namespace decontend {

std::string withArgument(llvm::StringRef Code, llvm::StringRef Name,
                         llvm::StringRef Argument) {
  Argument = Argument.trim();
  bool Address = Argument.consume_front("&");
  bool Plain = llvm::all_of(Argument, [](char C) {
    return llvm::isAlnum(C) || C == '_' || C == '-' || C == '>' || C == '.' ||
           C == '[' || C == ']';
  });
  std::string Value = Plain ? Argument.str() : "(" + Argument.str() + ")";
  std::string Out;
  size_t Last = 0;
  for (uint32_t At : mentionsOf(Code, Name)) {
    llvm::StringRef Before = Code.take_front(At).rtrim();
    if (Before.ends_with("->") || Before.ends_with("."))
      continue;
    Out += Code.slice(Last, At);
    Last = At + Name.size();
    if (Address && Code.substr(Last).starts_with("->")) {
      Out += Value + ".";
      Last += 2;
    } else {
      Out += (Address ? "&" : "") + Value;
    }
  }
  return Out + Code.substr(Last).str();
}

namespace {

class Fallible {
public:
  explicit Fallible(Conversion &C) : C(C), P(C.P), Finder(C.P) {}

  void run(NodeId Init, llvm::ArrayRef<InitStep> Steps) {
    std::vector<FailPoint> Points;
    for (const InitStep &S : Steps) {
      FailPoint Point;
      Point.Event = S.Event;
      Point.Replaces = S.Replaces;
      Point.Call = S.Init;
      Point.Name = P.str(S.Of->Field ? S.Of->Field->Name : S.Of->Key).str();
      if (!S.Undo.empty())
        Point.Undo.push_back(S.Undo);
      Points.push_back(std::move(Point));
    }
    if (Points.empty())
      return;
    Record = Steps.front().Of->Record;
    if (maySleep(Init, Steps) &&
        change(Init, std::move(Points), objectParam(Init), Record, false, 0))
      prove(Init);
  }

private:
  static constexpr unsigned MaxDepth = 3;

  bool fail(llvm::StringRef Guard, std::string Why) {
    return C.L.require(Guard, false, std::move(Why));
  }

  std::string place(NodeId N) const {
    const FunctionFacts &F = *P.node(N).Facts;
    return fmt::format("{}() at {}:{}", P.name(N).str(),
                       P.str(F.Where.File).str(), F.Where.Line);
  }

  /// What allocates may sleep, which setting a number never does.
  bool maySleep(NodeId Init, llvm::ArrayRef<InitStep> Steps) {
    Locksets Locks(P);
    const FunctionFacts &F = *P.node(Init).Facts;
    for (const InitStep &S : Steps)
      if (Locks.atomic(Init, S.Event, Certainty::Possibly))
        return fail("initialiser-may-sleep",
                    fmt::format("{}() at {} may run where nothing sleeps, and "
                                "would allocate there",
                                P.name(Init).str(),
                                C.at(Init, F.Events[S.Event].Line)));
    return C.L.require("initialiser-may-sleep", true,
                       "no caller of " + place(Init) +
                           " is seen to hold a spinning lock");
  }

  Sym objectParam(NodeId N) const {
    for (const ParamFacts &X : P.node(N).Facts->Params)
      if (X.Record == Record && !empty(Record))
        return X.Name;
    return Sym::None;
  }

  /// Makes the calls at \p Points fail in \p N, and whatever follows from that.
  bool change(NodeId N, std::vector<FailPoint> Points, Sym Object, Sym Of,
              bool Caller, unsigned Depth) {
    const FunctionFacts &F = *P.node(N).Facts;
    std::string File = P.str(F.Where.File).str();
    if (File.empty() || File[0] == '/' || File[0] == '$')
      return fail(Caller ? "callers-unwind" : "initialiser-can-fail",
                  place(N) + " lies outside the source tree");
    const std::string *Contents = C.text(File);
    if (!Contents)
      return false;
    std::vector<std::string> Undo;
    for (size_t I = Points.size(); I-- > 0;)
      Undo.insert(Undo.end(), Points[I].Undo.begin(), Points[I].Undo.end());
    FailingFunction Found = FailingCalls(C, N, std::move(Points), Object, Of,
                                         Finder, *Contents, Caller)
                                .run();
    if (!Found.Refusal.empty())
      return fail(Found.Guard, Found.Refusal);
    for (Edit &E : Found.Edits)
      C.L.edit(std::move(E));
    if (Caller)
      Unwinds.push_back(Found.Unwinds);
    else
      Own = Found.Unwinds;
    if (!Found.Order.empty())
      Orders.push_back(Found.Order);
    if (Found.BecomesInt && !redeclare(N))
      return false;
    return callers(N, Found.BecomesInt, Undo, Depth);
  }

  bool redeclare(NodeId N) {
    const Node &Which = P.node(N);
    if (Which.Exported)
      return fail("callers-unwind",
                  place(N) + " is exported, and callers outside the program "
                             "would not look at its result");
    if (Which.AddressTaken) {
      std::string Where = "its address is taken";
      for (const SlotFill &S : P.slotFills())
        if (S.Function == Which.Key)
          Where =
              fmt::format("{}:{} puts it into {}", P.str(S.Where.File).str(),
                          S.Where.Line, P.str(S.Slot).str());
      return fail("not-called-through-pointer",
                  fmt::format("{}: {}, whose callers expect no result",
                              place(N), Where));
    }
    Redeclared R = declareInt(P, C.Files, N);
    if (!R.Refusal.empty())
      return fail("prototypes-and-stubs-changed", R.Refusal);
    for (Edit &E : R.Edits)
      C.L.edit(std::move(E));
    Declared.push_back("definition of " + place(N));
    Declared.insert(Declared.end(), R.Places.begin(), R.Places.end());
    return true;
  }

  bool callers(NodeId N, bool WasVoid, const std::vector<std::string> &Undo,
               unsigned Depth) {
    std::map<NodeId, std::vector<uint32_t>> Unchecked;
    bool Called = false;
    for (uint32_t I : P.callers(N)) {
      const Edge &E = P.edges()[I];
      const Event &Call = P.node(E.Caller).Facts->Events[E.Event];
      Called = true;
      if (E.Kind != EdgeKind::Direct) {
        if (WasVoid)
          return fail("not-called-through-pointer",
                      fmt::format("{} calls {} through a pointer",
                                  C.at(E.Caller, Call.Line), P.name(N).str()));
        continue;
      }
      if (Call.is(Event::ResultUsed)) {
        Unwinds.push_back(fmt::format("{}() at {} looks at the result already",
                                      P.name(E.Caller).str(),
                                      C.at(E.Caller, Call.Line)));
        continue;
      }
      Unchecked[E.Caller].push_back(E.Event);
    }
    bool Elsewhere = P.node(N).AddressTaken || P.node(N).Exported;
    if (!Called && !Elsewhere && WasVoid)
      return fail("callers-unwind",
                  fmt::format("no caller of {} is seen", place(N)));
    for (auto &[Caller, Events] : Unchecked)
      if (!caller(Caller, Events, N, Undo, Depth))
        return false;
    return true;
  }

  bool caller(NodeId N, const std::vector<uint32_t> &Events, NodeId Callee,
              const std::vector<std::string> &Undo, unsigned Depth) {
    const FunctionFacts &F = *P.node(N).Facts;
    const FunctionFacts &G = *P.node(Callee).Facts;
    std::string Where = C.at(N, F.Events[Events[0]].Line);
    if (N == Callee)
      return fail("callers-unwind", fmt::format("{}() calls itself at {}",
                                                P.name(N).str(), Where));
    if (!Changed.insert(N).second)
      return fail("callers-unwind",
                  fmt::format("{}() calls more than one function that can fail "
                              "now, at {}",
                              P.name(N).str(), Where));
    if (Depth >= MaxDepth)
      return fail("callers-unwind",
                  fmt::format("{} functions that return nothing call each "
                              "other up to {}",
                              MaxDepth, Where));
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents)
      return false;
    SourceText Text(*Contents);
    std::vector<FailPoint> Points;
    Sym Object = Sym::None;
    for (uint32_t I : Events) {
      const Event &E = F.Events[I];
      FailPoint Point;
      Point.Event = I;
      Point.Call = Text.slice(E.Text).rtrim("; \t\n").str();
      if (E.Text.empty() || !E.is(Event::Statement) ||
          Text.text().take_front(E.Text.Begin).rtrim().ends_with("(void)") ||
          !llvm::StringRef(Point.Call).starts_with(P.name(Callee)))
        return fail("callers-unwind",
                    fmt::format("{} does not call {}() in a statement of its "
                                "own, or ignores its result on purpose",
                                C.at(N, E.Line), P.name(Callee).str()));
      for (llvm::StringRef Word : llvm::split(P.name(Callee), '_'))
        if (Word != "init" && !Word.empty())
          Point.Name += (Point.Name.empty() ? "" : "_") + Word.str();
      // The same for the caller's object, whose parameter has another name.
      llvm::StringRef Arguments = Point.Call;
      Arguments =
          Arguments.slice(Arguments.find('(') + 1, Arguments.rfind(')'));
      for (const std::string &Call : Undo) {
        std::string Mine = Call;
        for (unsigned A = 0; A < G.Params.size() && A < E.NumExprs; ++A)
          if (!mentionsOf(Call, P.str(G.Params[A].Name)).empty())
            Mine = G.Params.size() == 1
                       ? withArgument(Call, P.str(G.Params[A].Name), Arguments)
                       : withArgument(Call, P.str(G.Params[A].Name),
                                      P.str(F.exprs(E)[A].Text));
        Point.Undo.push_back(std::move(Mine));
      }
      for (const Expr &X : F.exprs(E))
        if (empty(Object) &&
            (X.Root == RootKind::Local || X.Root == RootKind::Param))
          Object = X.Base;
      Points.push_back(std::move(Point));
    }
    if (bootOnly(N))
      return stopBoot(N, Points, Text);
    return change(N, std::move(Points), Object, recordOf(N, Object), true,
                  Depth + 1);
  }

  Sym recordOf(NodeId N, Sym Variable) const {
    const FunctionFacts &F = *P.node(N).Facts;
    for (const ParamFacts &X : F.Params)
      if (X.Name == Variable)
        return X.Record;
    for (const Expr &X : F.Exprs)
      if (X.Base == Variable && X.Text == Variable && !empty(X.Record))
        return X.Record;
    return Sym::None;
  }

  /// Runs at boot, and has nobody to tell. In a module, the loader would want
  /// to know.
  bool bootOnly(NodeId N) const {
    const Node &Which = P.node(N);
    if (C.Remedy.BootFailure.empty() || Which.Contexts != CtxInit ||
        P.str(Which.Facts->ReturnType) != "void")
      return false;
    for (const MarkerFacts &M : Which.Unit->Markers)
      if (const EntryModel *E =
              P.models().entry(EntryModel::Marker, P.str(M.Macro)))
        if (E->Context == CtxExit)
          return false;
    return true;
  }

  bool stopBoot(NodeId N, const std::vector<FailPoint> &Points,
                const SourceText &Text) {
    const FunctionFacts &F = *P.node(N).Facts;
    std::string Callee =
        llvm::StringRef(C.Remedy.BootFailure)
            .take_while([](char X) { return llvm::isAlnum(X) || X == '_'; })
            .str();
    if (!declaredIn(*P.node(N).Unit, Callee))
      return fail("callers-unwind",
                  fmt::format("{}() is not declared where {} calls it", Callee,
                              place(N)));
    ErrorPaths Paths(P, N, Text);
    std::string Unit = Paths.indentUnit();
    for (const FailPoint &Point : Points) {
      Span At = F.Events[Point.Event].Text;
      std::string Indent = Text.indentAt(At.Begin).str();
      C.L.edit({P.str(F.Where.File).str(), At.Begin, At.End,
                fmt::format("if ({})\n{}{}{};", Point.Call, Indent, Unit,
                            C.Remedy.BootFailure)});
    }
    Unwinds.push_back(fmt::format("{}() at {} runs at boot only, where {}() is "
                                  "the answer",
                                  P.name(N).str(), Paths.at(Points[0].Event),
                                  Callee));
    return true;
  }

  bool declaredIn(const UnitFacts &Unit, llvm::StringRef Name) const {
    std::set<Sym> Files;
    for (const Dependency &D : Unit.Files)
      Files.insert(D.Path);
    for (const auto &U : P.units()) {
      for (const DeclFacts &D : U->Decls)
        if (P.str(D.Name) == Name && Files.count(D.Where.File))
          return true;
      for (const FunctionFacts &F : U->Functions)
        if (P.str(F.Name) == Name && Files.count(F.Where.File))
          return true;
    }
    return false;
  }

  static std::string join(const std::vector<std::string> &Parts) {
    std::string Out;
    for (const std::string &Part : Parts)
      Out += (Out.empty() ? "" : "; ") + Part;
    return Out;
  }

  void prove(NodeId Init) {
    C.L.require("initialiser-can-fail", true, Own);
    C.L.require("prototypes-and-stubs-changed", true,
                Declared.empty() ? place(Init) + " returns an int already"
                                 : fmt::format("now int: {}", join(Declared)));
    C.L.require("not-called-through-pointer", true,
                Declared.empty() ? "its type stays"
                                 : "no address of what became int is taken");
    C.L.require("callers-unwind", true,
                Unwinds.empty() ? "nobody calls it but through a pointer"
                                : join(Unwinds));
    C.L.require("nothing-half-done", true,
                "each function undoes itself what it had done when a call in "
                "it fails, and what its callers run then touches nothing that "
                "it sets up");
    if (!Orders.empty())
      C.L.require("order-free", true, join(Orders));
  }

  Conversion &C;
  const Program &P;
  TouchFinder Finder;
  Sym Record = Sym::None;
  std::string Own;
  std::vector<std::string> Unwinds, Orders, Declared;
  std::set<NodeId> Changed;
};

} // namespace

void makeFallible(Conversion &C, NodeId Init, llvm::ArrayRef<InitStep> Steps) {
  Fallible(C).run(Init, Steps);
}

} // namespace decontend
