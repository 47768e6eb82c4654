//===- Destroy.cpp - Counters go after their last use ---------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   free of an object --> its function, not the one that made the object
//     --> a function of the initialiser's file that it calls for the object,
//         if nothing behind that call reaches a use: at the end of that
//     --> else in front of the free
//
// What a function behind the last statement of its body, or in front of a free,
// destroys cannot be used by anything that this function has called: it ran
// before. What is called behind it is looked at.
//
// Approximation: who may still use an object that somebody tears down would use
// freed memory already, unless the free waits for a grace period; that a
// counter goes somewhat earlier than its object is taken to be no difference,
// but for waits in between (may miss).
//
//===----------------------------------------------------------------------===//
#include "ErrorPaths.h"
#include "Fallible.h"
#include "Origins.h"
#include "Presence.h"
#include "RecordPlan.h"
#include "UseReach.h"
#include "fmt/format.h"
#include <algorithm>
#include <set>

namespace decontend {

namespace {

class DestroyPlanner {
public:
  DestroyPlanner(Conversion &C, NodeId Init, llvm::ArrayRef<InitStep> Steps)
      : C(C), P(C.P), Init(Init), Steps(Steps),
        Record(Steps.front().Of->Record), From(C, Record), Reach(C) {}

  void run() {
    if (Steps.front().Undo.empty()) {
      C.L.require("destroy-after-last-use", true,
                  C.Remedy.Type + " needs no destruction");
      return;
    }
    if (!findVariable() || !findFreers())
      return;
    std::string Proof;
    NodeId Level = commonLevel(Proof);
    if (Level != NoNode) {
      if (!notBeforeSetUp(Level))
        return;
      atEnd(Level);
    } else {
      for (const Freer &F : Freers)
        if (!notBeforeSetUp(F.Node) || !inFront(F, Proof))
          return;
    }
    C.L.require("destroy-after-last-use", true, Proof);
    C.L.require("object-not-freed-by-rcu-while-used", true, Immediate);
  }

private:
  /// A call that frees an object for good.
  struct Freer {
    NodeId Node = NoNode;
    uint32_t Event = 0;
    const Expr *Object = nullptr;
  };

  bool fail(std::string Why) {
    return C.L.require("destroy-after-last-use", false, std::move(Why));
  }
  std::string at(NodeId N, uint32_t Event) const {
    return C.at(N, P.node(N).Facts->Events[Event].Line);
  }

  /// The variable of the initialiser that the steps spell, and how it came.
  bool findVariable() {
    const FunctionFacts &F = *P.node(Init).Facts;
    Expr X;
    for (unsigned I = 0; I < F.Params.size(); ++I)
      if (F.Params[I].Record == Record) {
        X.Root = RootKind::Param;
        X.Index = I;
        X.Base = F.Params[I].Name;
        break;
      }
    for (const MakingSite &S : From.sites())
      if (S.Node == Init) {
        X.Root = RootKind::Local;
        X.Base = S.Variable;
      }
    Variable = X.Base;
    if (empty(Variable) ||
        !llvm::StringRef(Steps.front().Undo).contains(P.str(Variable)))
      return fail(fmt::format("{}() does not lead to its object by a variable "
                              "of its own",
                              P.name(Init).str()));
    Of = From.of(Init, Steps.front().Event, X);
    return true;
  }

  bool findFreers() {
    for (NodeId N = 0; N < P.nodes().size(); ++N) {
      const FunctionFacts *F = P.node(N).Facts;
      for (uint32_t I = 0; F && I < F->Events.size(); ++I) {
        const FunctionModel *M = P.modelOf(F->Events[I]);
        if (!M || (M->Frees < 0 && M->Defers.empty()))
          continue;
        auto Args = F->exprs(F->Events[I]);
        for (size_t A = 0; A < Args.size(); ++A) {
          const Expr &X = Args[A];
          if (X.Record != Record || !empty(X.Field) ||
              (X.Flags & Expr::AddressOf) || !(X.Flags & Expr::Pointer))
            continue;
          if (!M->Defers.empty())
            return C.L.require(
                "object-not-freed-by-rcu-while-used", false,
                fmt::format(
                    "{}() at {} frees the object when readers are gone, "
                    "who may still use the counter until then",
                    P.calleeName(F->Events[I]).str(), at(N, I)));
          if (int(A) == M->Frees && !freesOwn(N, I))
            Freers.push_back({N, I, &X});
        }
      }
    }
    if (C.L.failed())
      return false;
    if (Freers.empty())
      return fail(fmt::format("it is not seen where a {} is freed",
                              P.str(Record).str()));
    for (const Freer &F : Freers)
      Immediate +=
          fmt::format("{}{}() at {}", Immediate.empty() ? "" : ", ",
                      P.calleeName(P.node(F.Node).Facts->Events[F.Event]).str(),
                      at(F.Node, F.Event));
    Immediate += " frees the object at once: whoever still used a counter then "
                 "would use freed memory as it is";
    return true;
  }

  /// Frees what the same function has made: the error paths that the
  /// initialiser's callers get undo that.
  bool freesOwn(NodeId N, uint32_t Event) const {
    for (const MakingSite &S : From.sites())
      if (S.Node == N && S.Event < Event)
        return true;
    return false;
  }

  /// A function at the level of the initialiser that all freers call.
  NodeId commonLevel(std::string &Proof) {
    NodeId Level = NoNode;
    for (const Freer &F : Freers) {
      std::string Why;
      NodeId N = levelOf(F, Why);
      if (N == NoNode || (Level != NoNode && Level != N))
        return NoNode;
      Level = N;
      Proof = Why;
    }
    return Level;
  }

  static unsigned commonWords(llvm::StringRef A, llvm::StringRef B) {
    llvm::SmallVector<llvm::StringRef, 8> X, Y;
    A.split(X, '_', -1, false);
    B.split(Y, '_', -1, false);
    return std::count_if(X.begin(), X.end(), [&](llvm::StringRef W) {
      return std::find(Y.begin(), Y.end(), W) != Y.end();
    });
  }

  NodeId levelOf(const Freer &T, std::string &Proof) {
    const FunctionFacts &F = *P.node(T.Node).Facts;
    Flow Shape(P, F);
    NodeId Best = NoNode;
    uint32_t BestCall = 0;
    unsigned Like = 0;
    for (uint32_t I = 0; I < T.Event; ++I) {
      const Event &E = F.Events[I];
      NodeId N = E.Kind == EventKind::Call && E.Via == CallVia::Direct
                     ? P.find(E.Callee)
                     : NoNode;
      if (N == NoNode || N == Init || !surelyBefore(Shape, I, T.Event) ||
          !isLevel(N, T))
        continue;
      bool Passes = false;
      for (const Expr &X : F.exprs(E))
        Passes |= X.Base == T.Object->Base && X.Root == T.Object->Root &&
                  empty(X.Field);
      unsigned Words = commonWords(P.name(N), P.name(Init));
      if (!Passes || Words <= Like)
        continue;
      Best = N;
      BestCall = I;
      Like = Words;
    }
    if (Best == NoNode || !quietBehind(T, BestCall, Proof))
      return NoNode;
    Proof = fmt::format("{}() destroys at its end, {}; {}", P.name(Best).str(),
                        lastUse(Best), Proof);
    return Best;
  }

  bool isLevel(NodeId N, const Freer &T) const {
    const FunctionFacts *F = P.node(N).Facts;
    if (!F || F->Where.File != P.node(Init).Facts->Where.File ||
        P.str(F->ReturnType) != "void" || F->is(FunctionFacts::MacroMade) ||
        P.node(N).Exported || P.node(N).AddressTaken || empty(objectOf(N)))
      return false;
    for (const Event &E : F->Events)
      if (E.Kind == EventKind::Return || E.Kind == EventKind::Goto)
        return false;
    for (uint32_t I : P.callers(N)) {
      NodeId By = P.edges()[I].Caller;
      bool Known = Of.Makers.count(By) != 0;
      for (const Freer &Other : Freers)
        Known |= Other.Node == By;
      if (!Known)
        return false;
    }
    const std::string *Contents = C.Files.get(P.str(F->Where.File));
    if (!Contents)
      return false;
    SourceText Text(*Contents);
    uint32_t Close = F->Body.End - 1;
    return Text.text().slice(Text.lineBegin(Close), Close).trim().empty() &&
           isThere(P, N, objectOf(N), F->Events.size());
  }

  Sym objectOf(NodeId N) const {
    for (const ParamFacts &X : P.node(N).Facts->Params)
      if (X.Record == Record)
        return X.Name;
    return Sym::None;
  }

  /// Does nothing behind call \p Call of the teardown use a counter, or wait
  /// for those who may?
  bool quietBehind(const Freer &T, uint32_t Call, std::string &Proof) const {
    const FunctionFacts &F = *P.node(T.Node).Facts;
    std::string Names;
    for (const Counter *Counter : C.Counters)
      for (const CounterUse &U : Counter->Uses)
        if (U.Node == T.Node && U.Event > Call)
          return false;
    for (uint32_t I = Call + 1; I < F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      if (E.Kind != EventKind::Call)
        continue;
      const FunctionModel *M = P.modelOf(E);
      if ((M && (M->Wait || M->WaitsForWork)) ||
          !Reach.by(T.Node, I, T.Object->Base).empty())
        return false;
      Names += fmt::format("{}{}()", Names.empty() ? "" : ", ",
                           P.calleeName(E).str());
    }
    Proof = fmt::format("what {}() calls behind it ({}) reaches no use",
                        P.name(T.Node).str(), Names);
    return true;
  }

  /// The last call of \p N that reaches a use.
  std::string lastUse(NodeId N) const {
    const FunctionFacts &F = *P.node(N).Facts;
    for (uint32_t I = F.Events.size(); I-- > 0;)
      if (F.Events[I].Kind == EventKind::Call) {
        std::string By = Reach.by(N, I, objectOf(N));
        if (!By.empty())
          return fmt::format("after {} calls {}", at(N, I), By);
      }
    return "which calls nothing that reaches a use";
  }

  /// Functions that call \p Destroyer, and those that call these.
  std::set<NodeId> leadTo(NodeId Destroyer) const {
    std::set<NodeId> Out = {Destroyer};
    std::vector<NodeId> Open = {Destroyer};
    while (!Open.empty()) {
      NodeId N = Open.back();
      Open.pop_back();
      for (uint32_t I : P.callers(N))
        if (P.edges()[I].Kind != EdgeKind::SlotMany &&
            Out.insert(P.edges()[I].Caller).second)
          Open.push_back(P.edges()[I].Caller);
    }
    return Out;
  }

  /// No error path may destroy what is not set up yet.
  bool notBeforeSetUp(NodeId Destroyer) {
    std::vector<HandOver> All = Of.Way;
    if (Of.Makers.count(Init))
      All.push_back({Init, Steps.front().Event, Variable});
    std::set<NodeId> Leading = leadTo(Destroyer);
    for (const HandOver &H : All) {
      const FunctionFacts &F = *P.node(H.Node).Facts;
      const std::string *Contents = C.text(P.str(F.Where.File));
      if (!Contents)
        return false;
      SourceText Text(*Contents);
      ErrorPaths Paths(P, H.Node, Text);
      auto Destroys = [&](uint32_t I) {
        bool Passes = false;
        for (const Expr &X : F.exprs(F.Events[I]))
          Passes |= X.Base == H.Variable;
        for (uint32_t E : P.callees(H.Node))
          if (Passes && P.edges()[E].Event == I &&
              Leading.count(P.edges()[E].Callee))
            return true;
        return false;
      };
      auto Fail = [&](uint32_t I) {
        return fail(fmt::format(
            "{} calls {}(), which would destroy {}, before it is set up at {}",
            at(H.Node, I), P.calleeName(F.Events[I]).str(), memberNames(C),
            at(H.Node, H.Event)));
      };
      for (uint32_t I = 0; I < H.Event; ++I) {
        const Event &E = F.Events[I];
        if (E.Kind == EventKind::Call && Destroys(I))
          return Fail(I);
        if (E.Kind == EventKind::Goto)
          for (uint32_t J : Paths.chain(E.Callee))
            if (Destroys(J))
              return Fail(J);
      }
    }
    return true;
  }

  std::string undo(const InitStep &S, Sym Object) const {
    return withArgument(S.Undo, P.str(Variable), P.str(Object));
  }

  void atEnd(NodeId N) {
    const FunctionFacts &F = *P.node(N).Facts;
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents)
      return;
    SourceText Text(*Contents);
    uint32_t Close = Text.lineBegin(F.Body.End - 1);
    ErrorPaths Paths(P, N, Text);
    std::string New;
    for (const InitStep &S : Steps)
      New += Paths.indentUnit() + undo(S, objectOf(N)) + ";\n";
    C.L.edit({P.str(F.Where.File).str(), Close, Close, New});
  }

  bool inFront(const Freer &T, std::string &Proof) {
    const FunctionFacts &F = *P.node(T.Node).Facts;
    const Event &E = F.Events[T.Event];
    std::string Place = at(T.Node, T.Event);
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents)
      return false;
    SourceText Text(*Contents);
    Flow Shape(P, F);
    int Up = Shape.parent(T.Event);
    bool Bare = Up >= 0 && !F.Events[Up].is(Event::Braced);
    if (E.Text.empty() || !E.is(Event::Statement) || Bare ||
        !Text.wholeLines(E.Text))
      return fail(fmt::format("the free at {} is no statement on lines of its "
                              "own",
                              Place));
    if (!isThere(P, T.Node, T.Object->Base, T.Event))
      return fail(fmt::format("{} may free a null pointer", Place));
    std::string Indent = Text.indentAt(E.Text.Begin).str(), New;
    for (const InitStep &S : Steps)
      New += Indent + undo(S, T.Object->Base) + ";\n";
    uint32_t Line = Text.lineBegin(E.Text.Begin);
    C.L.edit({P.str(F.Where.File).str(), Line, Line, New});
    Proof += fmt::format("{}destroyed in front of the free at {}",
                         Proof.empty() ? "" : "; ", Place);
    return true;
  }

  Conversion &C;
  const Program &P;
  const NodeId Init;
  llvm::ArrayRef<InitStep> Steps;
  const Sym Record;
  Origins From;
  UseReach Reach;
  Sym Variable = Sym::None;
  Origin Of;
  std::vector<Freer> Freers;
  std::string Immediate;
};

} // namespace

void destroyAfterLastUse(Conversion &C, NodeId Init,
                         llvm::ArrayRef<InitStep> Steps) {
  DestroyPlanner(C, Init, Steps).run();
}

} // namespace decontend
