//===- Story.cpp - Sentences and trace of a finding -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "fmt/format.h"

namespace decontend {

namespace {

class Story {
public:
  Story(const Program &P, const WaitSite &S, const Heat &H, Finding &Out)
      : P(P), S(S), H(H), Out(Out), F(*P.node(S.Function).Facts),
        Call(F.Events[S.Event]) {
    Callee = P.calleeName(Call).str();
    Object = P.str(S.Object).str();
    const Event *Wait = &Call;
    if (!S.direct()) {
      const Edge &Last = P.edges()[S.Path.back()];
      Wait = &P.node(Last.Caller).Facts->Events[Last.Event];
    }
    // What the source says: liburcu's names are macros that add a prefix.
    llvm::StringRef Symbol = P.calleeName(*Wait), Macro = P.str(Wait->Macro);
    const FunctionModel *Spelled = P.modelOfMacro(*Wait);
    if (!Macro.empty() && Symbol.ends_with(Macro)) {
      Prefix = Symbol.drop_back(Macro.size()).str();
      Symbol = Macro;
    } else if (Spelled && Spelled->Wait) {
      Symbol = Macro;
    }
    Primitive = Symbol.str();
    if (S.direct())
      Callee = Primitive;
  }

  void tell() {
    Out.Subject = Object.empty() ? Primitive : Object;
    Out.Message = message();
    Out.Why.Shape = shape();
    Out.Why.Sharing = sharing();
    Out.Why.Heat = heat();
    Out.Why.Remedy = remedy();
    for (unsigned B = 0; B < 16; ++B)
      if (P.node(S.Function).Contexts & (1u << B))
        Out.Context +=
            (Out.Context.empty() ? "" : "+") + contextName(1u << B).str();
    if (Out.Context.empty())
      Out.Context = "unknown";
    trace();
  }

private:
  /// What the source calls: a macro that the models know, else the function.
  std::string spelled(const Event &E) const {
    const FunctionModel *Macro = P.modelOfMacro(E);
    return (Macro || E.Kind != EventKind::Call ? P.str(E.Macro)
                                               : P.calleeName(E))
        .str();
  }

  std::string object(const char *Otherwise) const {
    return Object.empty() ? Otherwise : "'" + Object + "'";
  }

  /// "synchronize_rcu() waits", or "mq_put_mnt() reaches synchronize_rcu()".
  std::string reach() const {
    return S.direct() ? Primitive + "()"
                      : fmt::format("{}() reaches {}()", Callee, Primitive);
  }

  std::string message() const {
    switch (S.Shape) {
    case WaitShape::ThenFree:
      return fmt::format("{}() waits for a grace period only to free {}",
                         Primitive, object("memory"));
    case WaitShape::InLoop:
      return fmt::format("each round of this loop waits for a grace period: {}",
                         reach());
    case WaitShape::OnLastPut:
      return fmt::format("dropping the last reference to {} waits for a grace "
                         "period: {}",
                         object("an object"), reach());
    case WaitShape::InWork:
      return fmt::format(
          "work item waits for a grace period for its own {}: {}",
          object("object"), reach());
    case WaitShape::InTeardown:
      return fmt::format("the end of each {} waits for a grace period: {}",
                         object("object"), reach());
    case WaitShape::InSetup:
      return fmt::format("making each {} waits for a grace period: {}",
                         object("object"), reach());
    case WaitShape::InHotPath:
      return fmt::format(
          "a frequent operation on {} waits for a grace period: {}",
          object("an object"), reach());
    case WaitShape::Repeated:
      return fmt::format("{}() waits although another grace period follows",
                         Primitive);
    case WaitShape::UnderRtnl:
      return fmt::format("{}() waits a whole grace period while RTNL is held",
                         Primitive);
    }
    return "";
  }

  std::string shape() const {
    switch (S.Shape) {
    case WaitShape::ThenFree: {
      const Event &Free = F.Events[S.After.Frees.front()];
      std::string Text =
          fmt::format("behind the wait, {}() at line {} is all that needs it",
                      P.calleeName(Free).str(), Free.Line);
      if (S.Unlink >= 0)
        Text += fmt::format("; unlinked at line {}", F.Events[S.Unlink].Line);
      return Text;
    }
    case WaitShape::InLoop:
      return fmt::format("the loop '{}' at line {} waits once per round",
                         P.str(F.Events[S.Loop].Callee).str(),
                         F.Events[S.Loop].Line);
    case WaitShape::OnLastPut:
      return fmt::format("{}() at line {} drops the reference; the wait is on "
                         "the way of whoever drops the last one",
                         P.calleeName(F.Events[S.Drop]).str(),
                         F.Events[S.Drop].Line);
    case WaitShape::InWork:
      return "a work function that waits holds a worker for the whole grace "
             "period, once per object";
    case WaitShape::InTeardown:
      return "the wait is on the way of whoever ends the object";
    case WaitShape::InSetup:
      return "the wait is on the way of whoever makes the object";
    case WaitShape::InHotPath:
      return "the wait is on the way of an ordinary operation";
    case WaitShape::Repeated: {
      bool Deferred = !S.After.Deferrals.empty();
      const Event &Next = F.Events[Deferred ? S.After.Deferrals.front()
                                            : S.After.Waits.front()];
      return fmt::format("{}() at line {} lets a grace period pass as well",
                         P.calleeName(Next).str(), Next.Line);
    }
    case WaitShape::UnderRtnl:
      return "everybody who needs RTNL waits too";
    }
    return "";
  }

  std::string sharing() const {
    if (S.Drop >= 0)
      return fmt::format("{} is counted by references", object("the object"));
    if (S.Unlink >= 0)
      return fmt::format("{} was visible to readers until {}() at line {}",
                         object("the object"), spelled(F.Events[S.Unlink]),
                         F.Events[S.Unlink].Line);
    return fmt::format("{} is read under {} by others", object("the object"),
                       S.Wait->Flavour);
  }

  std::string heat() const {
    std::string From = H.Witness.Entry ? H.Witness.Entry->Why : "";
    size_t Calls = H.Witness.Edges.size();
    std::string Away = Calls == 0 ? std::string()
                                  : fmt::format(", {} call{} away", Calls,
                                                Calls == 1 ? "" : "s");
    switch (H.Kind) {
    case HeatKind::Frequent:
      return fmt::format("{}: {}{}", contextName(H.Bit).str(), From, Away);
    case HeatKind::Rare:
      return fmt::format("rare ({}): {}{}", contextName(H.Bit).str(), From,
                         Away);
    case HeatKind::Async:
      return fmt::format("asynchronous: {}{}", From, Away);
    case HeatKind::Unknown:
      return "unknown: no entry point is seen to reach it";
    }
    return "";
  }

  std::string remedy() const {
    const WaitModel &W = *S.Wait;
    llvm::StringRef Name(W.Deferred);
    Name.consume_front(Prefix);
    std::string Deferred = Name.empty() ? "a callback" : Name.str() + "()";
    switch (S.Shape) {
    case WaitShape::ThenFree:
      return W.FreeMacro.empty()
                 ? fmt::format("free from {}", Deferred)
                 : fmt::format("{}(), or {} where more than memory is released",
                               W.FreeMacro, Deferred);
    case WaitShape::InLoop:
      return "unlink all elements, wait once, then release all; or defer each "
             "release with " +
             Deferred;
    case WaitShape::OnLastPut:
    case WaitShape::InTeardown:
      return fmt::format("release from {}, or put the objects on a list that a "
                         "work item drains with one wait per batch",
                         Deferred);
    case WaitShape::InWork:
      return "queue_rcu_work() or " + Deferred +
             ", so that the wait costs no worker";
    case WaitShape::InSetup:
    case WaitShape::InHotPath:
      return "publish without waiting and release the old object with " +
             Deferred;
    case WaitShape::Repeated:
      return "leave this wait out if the later grace period covers it";
    case WaitShape::UnderRtnl:
      return W.Expedite + "(), which is expedited under RTNL; or " + Deferred;
    }
    return "";
  }

  void step(NodeId In, uint32_t Line, uint32_t Column, std::string Note) {
    TraceStep T;
    T.File = P.str(P.node(In).Facts->Where.File).str();
    T.Line = Line;
    T.Column = Column;
    T.Function = P.name(In).str();
    T.Note = std::move(Note);
    Out.Trace.push_back(std::move(T));
  }

  void callStep(const Edge &E, const std::string &To) {
    const Event &At = P.node(E.Caller).Facts->Events[E.Event];
    const char *How = E.Kind == EdgeKind::InPlace ? "passes" : "calls";
    step(E.Caller, At.Line, At.Column, fmt::format("{} {}()", How, To));
  }

  void trace() {
    if (const EntryPoint *Entry = H.Witness.Entry) {
      TraceStep T;
      T.File = P.str(Entry->Where.File).str();
      T.Line = Entry->Where.Line;
      T.Column = Entry->Where.Column;
      T.Function = P.name(Entry->Node).str();
      T.Note = "reached from here: " + Entry->Why;
      Out.Trace.push_back(std::move(T));
      for (uint32_t E : H.Witness.Edges)
        callStep(P.edges()[E], P.name(P.edges()[E].Callee).str());
    }
    if (S.Drop >= 0 && S.Drop != int(S.Event)) {
      const Event &D = F.Events[S.Drop];
      step(S.Function, D.Line, D.Column,
           fmt::format("{}() drops the last reference", P.calleeName(D).str()));
    }
    if (S.Loop >= 0) {
      const Event &L = F.Events[S.Loop];
      step(S.Function, L.Line, L.Column,
           fmt::format("for each round of '{}'", P.str(L.Callee).str()));
    }
    if (S.Unlink >= 0) {
      const Event &U = F.Events[S.Unlink];
      step(S.Function, U.Line, U.Column, "unlinked here");
    }
    NodeId Last = S.Function;
    const Event *LastCall = &Call;
    if (!S.direct()) {
      step(S.Function, Call.Line, Call.Column,
           fmt::format("calls {}()", Callee));
      for (uint32_t E : S.Path) {
        const Edge &Ed = P.edges()[E];
        callStep(Ed, E == S.Path.back() ? Primitive : P.name(Ed.Callee).str());
        Last = Ed.Caller;
        LastCall = &P.node(Ed.Caller).Facts->Events[Ed.Event];
      }
    }
    TraceStep T;
    T.File = P.str(P.node(Last).Facts->Where.File).str();
    T.Line = LastCall->Line;
    T.Column = LastCall->Column;
    T.Function = Primitive;
    T.Note = fmt::format("waits for a grace period ({})", S.Wait->Flavour);
    Out.Trace.push_back(std::move(T));
    if (S.Shape == WaitShape::ThenFree) {
      const Event &Free = F.Events[S.After.Frees.front()];
      step(S.Function, Free.Line, Free.Column, "freed here");
    }
  }

  const Program &P;
  const WaitSite &S;
  const Heat &H;
  Finding &Out;
  const FunctionFacts &F;
  const Event &Call;
  std::string Callee, Primitive, Object;
  std::string Prefix; ///< What a macro puts before the names of its library.
};

} // namespace

void tell(const Program &P, const WaitSite &S, const Heat &H, Finding &F) {
  Story(P, S, H, F).tell();
}

} // namespace decontend
