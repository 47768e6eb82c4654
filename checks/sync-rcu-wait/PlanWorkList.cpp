//===- PlanWorkList.cpp - Ending objects in batches -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   unlink(p);                    unlink(p);
//   synchronize_rcu();     -->    if (llist_add(&p->free_node, &foo_free_list))
//   stop(p); free(p);                     schedule_work(&foo_free_work);
//
// A work item takes the whole list, waits once and then ends every object on
// it. Deferring alone would not help: a worker that waits once per object falls
// behind as soon as objects come faster than grace periods.
//
//===----------------------------------------------------------------------===//

#include "Callback.h"
#include "Guards.h"
#include "RecordEdit.h"
#include "fmt/format.h"
#include <algorithm>

namespace decontend {

namespace {

class WorkListPlanner {
public:
  explicit WorkListPlanner(const PlanSite &S) : S(S) {}

  Plan run() {
    L.title("end the objects from a work item that waits once per batch");
    if (!kernel() || !requireEditableWait(S, L) || !requireSourceFile(S, L) ||
        !tail() || !object() || !endsObject() || !unlocked() ||
        !commentAgrees(S, L) || !callersDoNotRely(S, L))
      return L.finish();
    limits();
    std::string Record = S.P.str(Object).str();
    List = freshName(S, Record, "_free_list");
    Worker = freshName(S, Record, "_free_workfn");
    Work = freshName(S, Record, "_free_work");
    if (!flushed())
      return L.finish();
    MemberWanted Want;
    Want.Type = "struct llist_node";
    Want.Names = {"free_node", "free_llist"};
    Want.Header = "linux/llist.h";
    Want.MustInclude = true;
    Want.Reuse = false;
    std::optional<std::string> Node = memberFor(S, L, Object, Want);
    if (!Node)
      return L.finish();
    include("linux/llist.h");
    include("linux/workqueue.h");
    uint32_t Above = S.aboveFunction();
    S.replace(L, {Above, Above}, workerText(Record, *Node));
    std::string Unit = S.indentUnit();
    S.replace(L, Tail,
              fmt::format("{0}if (llist_add(&{1}->{2}, &{3}))\n"
                          "{0}{4}schedule_work(&{5});\n",
                          Indent, Variable, *Node, List, Unit, Work));
    L.title(fmt::format("end {} from a work item that waits once per batch",
                        Record));
    return L.finish();
  }

private:
  bool kernel() {
    const WaitModel *W = S.wait();
    bool Fits = W && W->Flavour == "rcu" && W->Cost != WaitModel::Barrier;
    return L.require("plain-grace-period", Fits,
                     Fits ? "the wait is for an ordinary RCU grace period"
                          : "a batch can share only an ordinary RCU grace "
                            "period of the kernel");
  }

  /// From the wait to the end of its block: all of it moves.
  bool tail() {
    const char *Name = "tail-runs-through";
    Span Wait = *S.Text.wholeLines(S.event().Text);
    Tail.Begin = S.Text.commentAbove(Wait.Begin).Begin;
    Indent = S.Text.indentAt(S.event().Text.Begin).str();
    int Up = S.Shape.parent(S.Call);
    uint32_t Last = S.F.Events.size();
    if (Up < 0) {
      Tail.End = S.Text.lineBegin(S.F.Body.End - 1);
    } else {
      const Event &B = S.F.Events[Up];
      Last = B.Link;
      bool Simple = B.Kind == EventKind::Branch && B.is(Event::Braced) &&
                    !B.Text.empty() && S.Text.slice(B.Text).ends_with("}") &&
                    !(Last + 1 < S.F.Events.size() &&
                      S.F.Events[Last + 1].Kind == EventKind::Else);
      if (!L.require(Name, Simple,
                     fmt::format("the block around {} {}", S.at(S.Call),
                                 Simple ? "is a plain branch"
                                        : "is not one that the rest of it "
                                          "could leave")))
        return false;
      Tail.End = S.Text.lineBegin(B.Text.End - 1);
      for (uint32_t I = Last + 1; I < S.F.Events.size(); ++I)
        if (S.F.Events[I].Kind == EventKind::Call ||
            S.F.Events[I].Kind == EventKind::Assign)
          return L.require(Name, false,
                           fmt::format("{} runs behind the block, and would "
                                       "run before what is deferred",
                                       S.at(I)));
    }
    for (uint32_t I = S.Call + 1; I < Last; ++I) {
      const Event &E = S.F.Events[I];
      bool Jumps = E.Kind == EventKind::Return || E.Kind == EventKind::Goto ||
                   E.Kind == EventKind::Label;
      if (!Jumps)
        continue;
      // A plain `return;` or `return 0;` at the very end stays behind.
      bool Final =
          E.Kind == EventKind::Return && I + 1 == Last && Up < 0 &&
          !E.Text.empty() &&
          (E.NumExprs == 0 || S.F.exprs(E)[0].Root == RootKind::Constant);
      if (!L.require(Name, Final,
                     fmt::format("{} at {}",
                                 Final ? "a constant is returned"
                                       : "a jump or a result",
                                 S.at(I))))
        return false;
      Tail.End = S.Text.lineBegin(E.Text.Begin);
      while (S.Text.lineAt(Tail.End - 1).trim().empty())
        Tail.End = S.Text.lineBegin(Tail.End - 1);
    }
    Moved = S.Text.text().slice(Wait.End, Tail.End);
    bool Conditional = Moved.contains("\n#") || Moved.starts_with("#");
    return L.require(
        Name, !Moved.trim().empty() && !Conditional,
        Moved.trim().empty() ? "nothing follows the wait that could be deferred"
        : Conditional ? "what follows the wait depends on the configuration"
                      : fmt::format("all from {} to the end of its block "
                                    "can move",
                                    S.at(S.Call)));
  }

  /// One pointer is all that the tail needs.
  bool object() {
    const char *Name = "tail-self-contained";
    for (const std::string &N : S.localNames()) {
      if (S.foreignLocal(Moved, "").empty())
        break;
      if (S.foreignLocal(Moved, N).empty()) {
        Variable = N;
        break;
      }
    }
    if (!L.require(
            Name, !Variable.empty(),
            Variable.empty()
                ? fmt::format("what follows {} needs more than one of "
                              "the function's variables, or none",
                              S.at(S.Call))
                : fmt::format("what follows the wait needs only {}", Variable)))
      return false;
    bool Pointer = false;
    for (const ParamFacts &Param : S.F.Params)
      if (S.P.str(Param.Name) == Variable) {
        Object = Param.Record;
        Pointer = S.P.str(Param.Type).contains('*');
      }
    for (const Expr &X : S.F.Exprs)
      if (S.P.str(X.Base) == Variable && S.P.str(X.Text) == Variable &&
          (X.Root == RootKind::Local || X.Root == RootKind::Param)) {
        if (!empty(X.Record))
          Object = X.Record;
        Pointer |= (X.Flags & Expr::Pointer) != 0;
      }
    return L.require(
        "object-known", !empty(Object) && Pointer,
        fmt::format("{} points to {}", Variable,
                    empty(Object) ? "an unknown type" : S.P.str(Object).str()));
  }

  /// Does \p N free what its parameter \p Index points to, within two calls?
  bool freesParam(NodeId N, unsigned Index, unsigned Depth) const {
    const FunctionFacts *F = S.P.node(N).Facts;
    if (!F)
      return false;
    for (const Event &E : F->Events) {
      if (E.Kind != EventKind::Call)
        continue;
      const FunctionModel *M = S.P.modelOf(E);
      auto Args = F->exprs(E);
      for (unsigned I = 0; I < Args.size(); ++I) {
        const Expr &X = Args[I];
        if (X.Root != RootKind::Param || X.Index != Index || !empty(X.Field))
          continue;
        if (M ? M->Frees == int(I)
              : Depth > 0 && E.Via == CallVia::Direct &&
                    S.P.find(E.Callee) != NoNode &&
                    freesParam(S.P.find(E.Callee), I, Depth - 1))
          return true;
      }
    }
    return false;
  }

  /// If the tail did not free the object, whoever called might do so at once,
  /// and the work item would come too late.
  bool endsObject() {
    for (uint32_t I = S.Call + 1; I < S.F.Events.size(); ++I) {
      const Event &E = S.F.Events[I];
      if (E.Kind != EventKind::Call)
        continue;
      const FunctionModel *M = S.P.modelOf(E);
      auto Args = S.F.exprs(E);
      for (unsigned A = 0; A < Args.size(); ++A) {
        if (S.P.str(Args[A].Text) != Variable)
          continue;
        NodeId N = S.P.find(E.Callee);
        if (M ? M->Frees == int(A)
              : E.Via == CallVia::Direct && N != NoNode && freesParam(N, A, 2))
          return L.require("tail-ends-object", true,
                           fmt::format("{}() at {} frees {}",
                                       S.P.calleeName(E).str(), S.at(I),
                                       Variable));
      }
    }
    return L.require("tail-ends-object", false,
                     fmt::format("it is not seen that {} is freed behind the "
                                 "wait at {}, so its owner may free it before "
                                 "a work item runs",
                                 Variable, S.at(S.Call)));
  }

  bool unlocked() {
    int Held = lockHeldAt(S, S.Call);
    bool Frees = false;
    for (uint32_t I = S.Call + 1; I < S.F.Events.size(); ++I) {
      const FunctionModel *M = S.P.modelOf(S.F.Events[I]);
      Frees |= M && M->Releases >= 0;
    }
    return L.require(
        "no-lock-across", Held < 0 || !Frees,
        Held < 0 ? "no lock is held at the wait"
        : Frees  ? fmt::format("the lock taken at {} is given back in what "
                                "would be deferred",
                               S.at(Held))
                 : fmt::format("the lock taken at {} stays with the function",
                               S.at(Held)));
  }

  /// What a limit counts is given back later than before.
  void limits() {
    std::string Charged;
    for (uint32_t I : S.P.callees(S.Id)) {
      const Edge &E = S.P.edges()[I];
      if (E.Event <= S.Call)
        continue;
      auto IsCharge = [&](NodeId N) {
        llvm::StringRef Name = S.P.name(N);
        return Name.contains("uncharge") || Name.contains("dec_ucount") ||
               Name.contains("dec_rlimit");
      };
      bool Hit = IsCharge(E.Callee);
      for (uint32_t J : S.P.callees(E.Callee))
        Hit |= IsCharge(S.P.edges()[J].Callee);
      if (Hit && Charged.empty())
        Charged =
            fmt::format("{}() at {}", S.P.name(E.Callee).str(), S.at(E.Event));
    }
    L.require("limits", true,
              Charged.empty()
                  ? "nothing that follows the wait is seen to give back a limit"
                  : Charged + " gives back what a limit counts: to be "
                              "confirmed that doing so later is acceptable, or "
                              "move it before the deferral");
  }

  /// Work that is still queued must not outlive the code.
  bool flushed() {
    const char *Name = "module-flushes-work";
    std::vector<NodeId> Exits = exitFunctions(S);
    if (Exits.empty())
      return L.require(Name, true,
                       "no exit function in this folder: it is never unloaded");
    const Node &Exit = S.P.node(Exits[0]);
    const FunctionFacts &F = *Exit.Facts;
    std::string Where = fmt::format("{}() at {}:{}", S.P.str(Exit.Name).str(),
                                    S.P.str(F.Where.File).str(), F.Where.Line);
    bool Simple = Exits.size() == 1 && S.P.str(F.Where.File) == S.file() &&
                  !F.is(FunctionFacts::MacroMade);
    uint32_t At = S.Text.lineBegin(F.Body.End - 1);
    for (const Event &E : F.Events) {
      Simple &= E.Kind == EventKind::Call || E.Kind == EventKind::Assign;
      const FunctionModel *M = S.P.modelOf(E);
      // What the work item needs must still be there when it is flushed.
      if (M && (M->DestroysDomain || M->Frees >= 0) && !E.Text.empty())
        At = std::min(At, S.Text.lineBegin(E.Text.Begin));
    }
    if (!L.require(Name, Simple,
                   Simple ? fmt::format("{} flushes it", Where)
                          : fmt::format("{} unloads this code, and it is not "
                                        "plain where it should flush the work",
                                        Where)))
      return false;
    S.replace(L, {At, At},
              fmt::format("{}flush_work(&{});\n", S.indentUnit(), Work));
    return true;
  }

  void include(llvm::StringRef Header) {
    if (std::optional<uint32_t> At = S.Text.includePlace(Header))
      S.replace(L, {*At, *At}, fmt::format("#include <{}>\n", Header.str()));
  }

  std::string workerText(llvm::StringRef Record, llvm::StringRef Node) const {
    std::string Unit = S.indentUnit();
    std::string Next = Variable == "next" ? "tmp" : "next";
    llvm::StringRef Code = Moved.ltrim("\n");
    std::string Wait = S.Text.slice(S.event().Text).str();
    // The author's own words about the wait go with it.
    uint32_t Line = S.Text.lineBegin(S.event().Text.Begin);
    std::string Why =
        reindent(S.Text.slice(S.Text.commentAbove(Line)), Indent, Unit);
    if (Why.empty())
      Why = Unit + "/* One grace period for the whole batch. */\n";
    return fmt::format(
        "static LLIST_HEAD({list});\n\n"
        "static void {fn}(struct work_struct *unused)\n"
        "{{\n"
        "{t}struct llist_node *batch = llist_del_all(&{list});\n"
        "{t}{record} *{p}, *{next};\n\n"
        "{why}"
        "{t}{wait}\n\n"
        "{t}llist_for_each_entry_safe({p}, {next}, batch, {node}) {{\n"
        "{body}"
        "{t}}}\n"
        "}}\n\n"
        "static DECLARE_WORK({work}, {fn});\n\n",
        fmt::arg("list", List), fmt::arg("fn", Worker), fmt::arg("t", Unit),
        fmt::arg("record", Record.str()), fmt::arg("p", Variable),
        fmt::arg("next", Next), fmt::arg("wait", Wait), fmt::arg("why", Why),
        fmt::arg("node", Node.str()), fmt::arg("work", Work),
        fmt::arg("body", reindent(Code, Indent, Unit + Unit)));
  }

  const PlanSite &S;
  Ledger L;
  Span Tail;
  std::string Indent, Variable, List, Worker, Work;
  llvm::StringRef Moved;
  Sym Object = Sym::None;
};

/// The wait is made by a callee, for all its callers.
Plan refuseCallee(const PlanSite &S) {
  Ledger L;
  std::string Callee = S.P.calleeName(S.event()).str();
  L.title(fmt::format("collect the objects, wait once per batch, and use a "
                      "form of {}() that does not wait",
                      Callee));
  std::string Waits = "a callee";
  if (NodeId N = S.P.find(S.event().Callee); N != NoNode)
    if (std::vector<uint32_t> Path = S.P.waitPath(N); !Path.empty())
      Waits = fmt::format("{}() at {}",
                          S.P.name(S.P.edges()[Path.back()].Caller).str(),
                          S.where(S.P.edges()[Path.back()].Caller,
                                  S.P.edges()[Path.back()].Event));
  std::string Batch = batchForm(S, Callee);
  L.require("wait-can-be-batched", false,
            fmt::format("{} waits for every object; {}", Waits,
                        Batch.empty()
                            ? fmt::format("a form of {}() without the wait "
                                          "would be needed",
                                          Callee)
                            : fmt::format("{}() takes many at once", Batch)));
  return L.finish();
}

} // namespace

Plan planWorkList(const PlanSite &S) {
  return S.wait() ? WorkListPlanner(S).run() : refuseCallee(S);
}

} // namespace decontend
