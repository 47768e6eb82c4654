//===- SetUp.cpp - Where counters become ready for use --------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Origins.h"
#include "RecordPlan.h"
#include "Removal.h"
#include "StubText.h"
#include "UseReach.h"
#include "analysis/program/Flow.h"
#include "fmt/format.h"
#include <algorithm>
#include <map>

namespace decontend {

namespace {

class SetUpFinder {
public:
  explicit SetUpFinder(Conversion &C)
      : C(C), P(C.P), Record(C.Counters[0]->Record), From(C, Record) {}

  /// The sets of counter \p I on objects that nobody else knows yet.
  std::vector<const CounterUse *> initial(size_t I) const {
    std::vector<const CounterUse *> Out;
    for (const CounterUse *U : C.Uses[I].Sets)
      if (U->Op && From.of(U->Node, U->Event, path(*U)).Known)
        Out.push_back(U);
    return Out;
  }

  NodeId function(size_t I) const {
    NodeId Only = NoNode;
    std::vector<const CounterUse *> Sets = initial(I);
    for (const CounterUse *U : Sets) {
      if (Only != NoNode && Only != U->Node)
        return NoNode;
      Only = U->Node;
    }
    if (!Sets.empty())
      return Only;
    for (const MakingSite &S : From.sites()) {
      if (Only != NoNode && Only != S.Node)
        return NoNode;
      Only = S.Node;
    }
    return Only;
  }

  std::optional<SetUp> run() {
    SetUp Out;
    std::map<NodeId, std::vector<InitStep>> Steps;
    for (size_t I = 0; I < C.Counters.size(); ++I) {
      std::vector<const CounterUse *> Sets = initial(I);
      std::set<NodeId> Seen;
      for (const CounterUse *U : Sets) {
        if (!Seen.insert(U->Node).second)
          return fail(fmt::format("{} sets it a second time", placeOf(C, *U)));
        Steps[U->Node].push_back(step(I, *U));
        Out.Initial.push_back(U);
      }
      if (Sets.empty())
        for (const MakingSite &S : From.sites())
          if (!addStep(I, S, Steps[S.Node]))
            return std::nullopt;
    }
    if (Steps.empty())
      return fail(fmt::format("it is not seen where a {} is made",
                              P.str(Record).str()));
    if (Steps.size() > 1)
      return fail(fmt::format("both {}() and {}() set it up",
                              P.name(Steps.begin()->first).str(),
                              P.name(std::next(Steps.begin())->first).str()));
    Out.Init = Steps.begin()->first;
    auto &List = Steps.begin()->second;
    std::sort(List.begin(), List.end(),
              [](const InitStep &A, const InitStep &B) {
                return std::make_tuple(A.Event, A.Of->Field->Line) <
                       std::make_tuple(B.Event, B.Of->Field->Line);
              });
    Origin Of = originOf(Out.Init, List.front());
    for (NodeId N : Of.Makers)
      Out.Makers.push_back(N);
    std::string Proof;
    if (!everyMaker(Out, Of, Proof) || !nothingEarlier(Out.Init, List, Of) ||
        !instances(Out, Of))
      return std::nullopt;
    Out.Steps.assign(Steps.begin(), Steps.end());
    C.L.require("init-before-first-use", true, Proof);
    return Out;
  }

private:
  std::nullopt_t fail(std::string Why) {
    C.L.require("init-before-first-use", false, std::move(Why));
    return std::nullopt;
  }

  const Expr &path(const CounterUse &U) const {
    const FunctionFacts &F = *P.node(U.Node).Facts;
    return F.Exprs[F.Accesses[U.Access].Path];
  }

  InitStep step(size_t I, const CounterUse &U) const {
    std::string Counter = spelledCounter(C, U), Value = "0";
    std::optional<SpelledCall> Call = spelledCall(C, U.Node, U.Event);
    if (Call && U.Op->By >= 0)
      Value = Call->Args[U.Op->By];
    return made(I, U.Event, true, Counter, Value);
  }

  InitStep made(size_t I, uint32_t Event, bool Replaces,
                const std::string &Counter, const std::string &Value) const {
    InitStep S;
    S.Of = C.Counters[I];
    S.Event = Event;
    S.Replaces = Replaces;
    S.Init = fillIn(C.Remedy.Init,
                    {{"c", "&" + Counter}, {"o", Counter}, {"v", Value}});
    S.Undo = fillIn(C.Remedy.Destroy, {{"c", "&" + Counter}, {"o", Counter}});
    return S;
  }

  /// Objects that come zeroed: behind the test of the allocation, and the next
  /// plain statement.
  bool addStep(size_t I, const MakingSite &S, std::vector<InitStep> &Steps) {
    const FunctionFacts &F = *P.node(S.Node).Facts;
    std::string Place = C.at(S.Node, F.Events[S.Event].Line);
    if (empty(S.Variable)) {
      fail(fmt::format("the object made at {} goes where it is not followed",
                       Place));
      return false;
    }
    if (makesSeveral(S)) {
      fail(fmt::format("{} makes several objects at once", Place));
      return false;
    }
    Flow Shape(P, F);
    bool Tested = false;
    for (uint32_t J = S.Event + 1; J < F.Events.size(); ++J) {
      const Event &E = F.Events[J];
      if (Shape.parent(J) != -1 || Shape.parent(S.Event) != -1)
        continue;
      if (E.Kind == EventKind::Branch && E.is(Event::NullTest) &&
          E.is(Event::Negated)) {
        Tested = true;
        J = E.Link;
        continue;
      }
      if (!Tested)
        continue;
      bool Plain = (E.Kind == EventKind::Assign || E.Kind == EventKind::Call) &&
                   E.is(Event::Statement) && !E.is(Event::InCondition) &&
                   !E.Text.empty();
      if (!Plain || E.Kind == EventKind::Return)
        break;
      Steps.push_back(made(I, J, false,
                           fmt::format("{}->{}", P.str(S.Variable).str(),
                                       memberName(C, *C.Counters[I]).str()),
                           "0"));
      return true;
    }
    fail(fmt::format("no plain statement follows the test of what {} "
                     "allocates",
                     Place));
    return false;
  }

  /// An array of objects: the size is not the first argument, or is multiplied.
  bool makesSeveral(const MakingSite &S) const {
    const FunctionFacts &F = *P.node(S.Node).Facts;
    for (uint32_t J = 0; J < S.Event; ++J) {
      if (F.Events[J].Link != S.Event || F.Events[J].Kind != EventKind::Call)
        continue;
      std::optional<SpelledCall> Call = spelledCall(C, S.Node, J);
      if (!Call)
        return false;
      for (size_t A = 0; A < Call->Args.size(); ++A) {
        llvm::StringRef Arg = Call->Args[A];
        if (!Arg.contains("sizeof"))
          continue;
        size_t Open = Arg.find('(');
        return A > 0 || Arg.take_front(Open).contains('*') ||
               Arg.substr(Arg.rfind(')')).contains('*');
      }
    }
    return false;
  }

  Origin originOf(NodeId Init, const InitStep &S) const {
    for (const SortedUses &Uses : C.Uses)
      for (const CounterUse *U : Uses.Sets)
        if (S.Replaces && U->Node == Init && U->Event == S.Event)
          return From.of(Init, U->Event, path(*U));
    Origin Out;
    Out.Known = true;
    Out.Makers.insert(Init);
    return Out;
  }

  /// Does every object that is made come through the set-up?
  bool everyMaker(const SetUp &Out, const Origin &Of, std::string &Proof) {
    for (const MakingSite &S : From.sites())
      if (!Of.Makers.count(S.Node)) {
        fail(fmt::format(
            "the object made at {} does not come to {}()",
            C.at(S.Node, P.node(S.Node).Facts->Events[S.Event].Line),
            P.name(Out.Init).str()));
        return false;
      }
    std::string Names;
    for (const MakingSite &S : From.sites())
      Names +=
          fmt::format("{}{}", Names.empty() ? "" : ", ",
                      C.at(S.Node, P.node(S.Node).Facts->Events[S.Event].Line));
    Proof = fmt::format(
        "every {}, made at {}, comes to {}() before anything that it is handed "
        "to uses {}",
        P.str(Record).str(), Names.empty() ? "start" : Names,
        P.name(Out.Init).str(), memberNames(C));
    return true;
  }

  bool nothingEarlier(NodeId Init, const std::vector<InitStep> &Steps,
                      const Origin &Of) {
    UseReach Reach(C);
    auto Clean = [&](NodeId N, uint32_t Begin, uint32_t End, Sym Object) {
      for (uint32_t I = Begin; I < End; ++I) {
        if (P.node(N).Facts->Events[I].Kind != EventKind::Call)
          continue;
        std::string By = Reach.by(N, I, Object);
        if (By.empty())
          continue;
        fail(fmt::format("before it is set up, {} calls {}",
                         C.at(N, P.node(N).Facts->Events[I].Line), By));
        return false;
      }
      return true;
    };
    auto Begin = [&](NodeId N) {
      for (const MakingSite &S : From.sites())
        if (S.Node == N)
          return S.Event;
      return 0u;
    };
    const FunctionFacts &F = *P.node(Init).Facts;
    for (const CounterUse *U : early(Init, Steps.front().Event)) {
      fail(fmt::format("{} uses it before it is set up", placeOf(C, *U)));
      return false;
    }
    Sym Own = Sym::None;
    for (const ParamFacts &X : F.Params)
      if (X.Record == Record)
        Own = X.Name;
    if (!Clean(Init, Begin(Init), Steps.front().Event, Own))
      return false;
    for (const HandOver &H : Of.Way) {
      Flow Shape(P, *P.node(H.Node).Facts);
      if (Shape.conditions(H.Event)) {
        fail(fmt::format(
            "{} sets it up only under a condition",
            C.at(H.Node, P.node(H.Node).Facts->Events[H.Event].Line)));
        return false;
      }
      if (!Clean(H.Node, Begin(H.Node), H.Event, H.Variable))
        return false;
    }
    return true;
  }

  std::vector<const CounterUse *> early(NodeId N, uint32_t Event) const {
    std::vector<const CounterUse *> Out;
    for (const Counter *Of : C.Counters)
      for (const CounterUse &U : Of->Uses)
        if (U.Node == N && U.Event < Event && U.Kind != UseKind::Set)
          Out.push_back(&U);
    return Out;
  }

  /// Variables of static storage: set up at start, and not initialised twice.
  bool instances(const SetUp &Out, const Origin &Of) {
    std::string Names;
    std::set<Sym> Seen;
    for (const auto &U : P.units())
      for (const GlobalFacts &G : U->Globals) {
        bool Ours = G.Record == Record && (G.Flags & GlobalFacts::Defined) &&
                    !(G.Flags & GlobalFacts::Pointer);
        if (!Ours || !Seen.insert(G.Key).second)
          continue;
        std::string Place =
            fmt::format("{} at {}:{}", P.str(G.Name).str(),
                        P.str(G.Where.File).str(), G.Where.Line);
        bool Ready = Of.Boot.count(G.Key) && !(G.Flags & GlobalFacts::Array);
        if (!Ready)
          return C.L.require("static-instance-initialised", false,
                             fmt::format("no call of {}() at start sets up {}",
                                         P.name(Out.Init).str(), Place));
        Names += (Names.empty() ? "" : ", ") + Place;
      }
    if (!dropInitialisers())
      return false;
    return C.L.require(
        "static-instance-initialised", true,
        Names.empty() ? fmt::format("no variable is a {}", P.str(Record).str())
                      : fmt::format("{}() sets up {} at start",
                                    P.name(Out.Init).str(), Names));
  }

  bool dropInitialisers() {
    std::map<std::string, std::set<std::pair<uint32_t, uint32_t>>> Spans;
    for (const auto &U : P.units())
      for (const InitFacts &I : U->Inits)
        for (const Counter *Of : C.Counters) {
          if (I.Field != Of->Key || !empty(I.Value))
            continue;
          std::string File = P.str(I.Where.File).str();
          const std::string *Contents = C.text(File);
          if (!Contents)
            return false;
          // From the `.` of `.name = value`.
          llvm::StringRef Before =
              llvm::StringRef(*Contents).take_front(I.Text.Begin).rtrim();
          bool Named = Before.consume_back("=");
          Before = Before.rtrim();
          Named &= Before.consume_back(memberName(C, *Of)) &&
                   Before.rtrim().ends_with(".");
          if (!Named)
            return C.L.require(
                "static-instance-initialised", false,
                fmt::format("{}:{} initialises it without its name", File,
                            I.Where.Line));
          Spans[File].insert({uint32_t(Before.rtrim().size() - 1), I.Text.End});
        }
    for (auto &[File, Of] : Spans) {
      const std::string *Contents = C.text(File);
      std::string Code = codeOnly(*Contents);
      Removal Gone(P, File, *Contents, Code);
      for (auto [Begin, End] : Of)
        Gone.element({Begin, End});
      for (Edit &E : Gone.finish())
        C.L.edit(std::move(E));
    }
    return true;
  }

  Conversion &C;
  const Program &P;
  const Sym Record;
  Origins From;
};

} // namespace

NodeId setUpFunction(Conversion &C, size_t I) {
  return SetUpFinder(C).function(I);
}

std::optional<SetUp> findSetUp(Conversion &C) { return SetUpFinder(C).run(); }

} // namespace decontend
