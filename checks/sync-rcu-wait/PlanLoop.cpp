//===- PlanLoop.cpp - One wait for all elements of a loop -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for (i = 0; i < n; i++) {        for (i = 0; i < n; i++) {
//     unlink(i);                       unlink(i);
//     synchronize_rcu();        -->  }
//     release(i);                    synchronize_rcu();
//   }                                for (i = 0; i < n; i++) {
//                                      release(i);
//                                    }
//
// Where only frees follow the wait, each element is freed by a callback
// instead.
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "fmt/format.h"
#include <algorithm>
#include <set>

namespace decontend {

namespace {

class LoopPlanner {
public:
  LoopPlanner(const PlanSite &S, uint32_t Loop)
      : S(S), Loop(Loop), End(S.F.Events[Loop].Link) {}

  Plan run() {
    L.title("wait once for all elements, between unlinking and releasing them");
    if (!unconditional() || !requireEditableWait(S, L) || !straight() ||
        !unlocked() || !commentAgrees(S, L))
      return L.finish();
    bool Tail = false;
    for (uint32_t I = S.Call + 1; I < End; ++I)
      Tail |= ofBody(S.F.Events[I]);
    if (Tail && !counted())
      return L.finish();
    if (!independent() || (Tail && !ownLocals()))
      return L.finish();
    if (Tail)
      split();
    else
      moveOut();
    return L.finish();
  }

private:
  /// Does \p E do something that is neither the loop's condition nor made by
  /// the macro that steps the loop?
  bool ofBody(const Event &E) const {
    const Event &Head = S.F.Events[Loop];
    bool Stepping = E.is(Event::InCondition) ||
                    (!empty(Head.Macro) && E.Macro == Head.Macro);
    return !Stepping &&
           (E.Kind == EventKind::Call || E.Kind == EventKind::Assign);
  }

  bool unconditional() {
    bool Direct = S.Shape.parent(S.Call) == int(Loop);
    if (!L.require("wait-unconditional", Direct,
                   Direct
                       ? fmt::format("each round waits at {}; afterwards there "
                                     "is one wait, for no round as well",
                                     S.at(S.Call))
                       : fmt::format("not every round reaches the wait at {}",
                                     S.at(S.Call))))
      return false;
    int Up = S.Shape.parent(Loop);
    const Event &Head = S.F.Events[Loop];
    bool Place = (Up < 0 || S.F.Events[Up].is(Event::Braced)) &&
                 Head.is(Event::Braced) && !Head.Text.empty() &&
                 S.Text.slice(Head.Text).ends_with("}");
    return L.require("loop-is-statement", Place,
                     fmt::format("the loop at {} {}", S.at(Loop),
                                 Place ? "stands in a block and has braces"
                                       : "has no braces, or is all that a "
                                         "condition governs"));
  }

  bool straight() {
    for (uint32_t I = Loop + 1; I < End; ++I) {
      EventKind K = S.F.Events[I].Kind;
      if (K == EventKind::Break || K == EventKind::Continue ||
          K == EventKind::Return || K == EventKind::Goto ||
          K == EventKind::Label)
        return L.require("no-early-exit", false,
                         fmt::format("a jump at {} leaves or enters a round in "
                                     "its middle",
                                     S.at(I)));
    }
    return L.require("no-early-exit", true, "all rounds run to their end");
  }

  bool unlocked() {
    int Held = lockHeldAt(S, S.Call);
    bool Inside = Held > int(Loop);
    return L.require("no-lock-across", !Inside,
                     Inside ? fmt::format("the lock taken at {} is held over "
                                          "the wait of the same round",
                                          S.at(Held))
                            : "no lock of the round is held over the wait");
  }

  /// `for (i = ...; ...; i++)` over an index: its header can be run twice.
  bool counted() {
    const Event &E = S.F.Events[Loop];
    llvm::StringRef Code = S.Text.slice(E.Text);
    bool For = S.P.str(E.Callee) == "for" && empty(E.Macro) &&
               E.is(Event::Braced) && Code.starts_with("for");
    size_t Brace = Code.find('{');
    if (For && Brace != llvm::StringRef::npos) {
      Header = Code.take_front(Brace).rtrim().str();
      llvm::StringRef Init = llvm::StringRef(Header).substr(3).ltrim(" (");
      Init =
          Init.take_until([](char C) { return C == '=' || C == ';'; }).trim();
      Index = Init.substr(Init.find_last_of(" \t") + 1).str();
      bool Steps =
          !Index.empty() && (llvm::StringRef(Header).contains(Index + "++") ||
                             llvm::StringRef(Header).contains("++" + Index));
      For = Steps && llvm::StringRef(Header).count(';') == 2 &&
            llvm::StringRef(Header).find('(', 5) == llvm::StringRef::npos;
    }
    return L.require(
        "iteration-survives-unlink", For,
        For ? fmt::format("'{}' counts, so it can be run a second time", Header)
            : fmt::format("'{}' at {} may not find its elements again once "
                          "they are unlinked",
                          S.P.str(E.Callee).str(), S.at(Loop)));
  }

  /// All that a round does is known, and touches its own element: stores to
  /// places that the index or the element names, unlinking, locks, frees.
  bool independent() {
    const char *Name = "parts-are-independent";
    llvm::StringRef Body = S.Text.text().slice(bodyOpen() + 1, bodyClose());
    if (Body.contains("++") || Body.contains("--"))
      return L.require(
          Name, false,
          fmt::format("the loop at {} counts in its body", S.at(Loop)));
    std::set<Sym> Own; // local variables that each round sets
    for (uint32_t I = Loop + 1; I < End; ++I) {
      const Event &E = S.F.Events[I];
      if (E.Kind == EventKind::Assign && E.NumExprs &&
          S.F.exprs(E)[0].Root == RootKind::Local &&
          empty(S.F.exprs(E)[0].Field))
        Own.insert(S.F.exprs(E)[0].Base);
    }
    for (uint32_t I = Loop + 1; I < End; ++I) {
      const Event &E = S.F.Events[I];
      if (I == S.Call || !ofBody(E))
        continue;
      if (E.Kind == EventKind::Call) {
        const FunctionModel *M = S.P.modelOf(E);
        bool Known =
            M && !M->Wait && !M->StopsDevice && !M->WaitsForWork &&
            (M->Unlinks >= 0 || M->Frees >= 0 || M->Inert || !M->Lock.empty());
        bool FreesEarly = Known && M->Frees >= 0 && I < S.Call;
        if (!Known || FreesEarly)
          return L.require(
              Name, false,
              fmt::format("it is not known that {}() at {} of one round may "
                          "run before the wait of another",
                          S.P.calleeName(E).str(), S.at(I)));
      } else if (E.NumExprs) {
        const Expr &To = S.F.exprs(E)[0];
        llvm::StringRef Text = S.P.str(To.Text);
        bool Plain = To.Root == RootKind::Local && empty(To.Field) &&
                     !mentions(Header, S.P.str(To.Base));
        bool Element = (To.Flags & Expr::Indexed) && mentions(Text, Index);
        bool Member = To.Root == RootKind::Local && !empty(To.Field) &&
                      Own.count(To.Base);
        if (!Plain && !Element && !Member)
          return L.require(Name, false,
                           fmt::format("the store to {} at {} carries from "
                                       "one round to the next",
                                       Text.str(), S.at(I)));
      }
    }
    return L.require(Name, true, "each round touches only its own element");
  }

  /// The second part may use the index and what is the same for all rounds;
  /// addresses of elements are computed again.
  bool ownLocals() {
    std::set<std::string> Assigned;
    for (uint32_t I = Loop + 1; I < S.Call; ++I) {
      const Event &E = S.F.Events[I];
      if (E.Kind != EventKind::Assign || E.NumExprs < 2 ||
          E.is(Event::InCondition))
        continue;
      const Expr &To = S.F.exprs(E)[0], &From = S.F.exprs(E)[1];
      if (To.Root != RootKind::Local || !empty(To.Field))
        continue;
      std::string Name = S.P.str(To.Base).str();
      bool Again = E.is(Event::Declares) && (From.Flags & Expr::AddressOf) &&
                   !E.Text.empty() && S.Text.wholeLines(E.Text);
      if (Again) {
        Repeated.push_back(*S.Text.wholeLines(E.Text));
        RepeatedNames.push_back(Name);
      } else {
        Assigned.insert(Name);
      }
    }
    llvm::StringRef Second = secondPart();
    for (const std::string &Name : Assigned)
      if (mentions(Second, Name))
        return L.require("parts-are-independent", false,
                         fmt::format("`{}` carries a value from before the "
                                     "wait at {} to behind it",
                                     Name, S.at(S.Call)));
    return L.require(
        "no-local-carried", true,
        fmt::format("only the index {} is needed on both sides", Index));
  }

  uint32_t bodyOpen() const {
    return S.F.Events[Loop].Text.Begin +
           S.Text.slice(S.F.Events[Loop].Text).find('{');
  }
  uint32_t bodyClose() const { return S.F.Events[Loop].Text.End - 1; }

  llvm::StringRef secondPart() const {
    return S.Text.text().slice(S.Text.nextLine(S.event().Text.End),
                               S.Text.lineBegin(bodyClose()));
  }

  void split() {
    Span Wait = *S.Text.wholeLines(S.event().Text);
    Span Comment = S.Text.commentAbove(Wait.Begin);
    std::string Inner = S.Text.indentAt(S.event().Text.Begin).str();
    std::string Outer = S.Text.indentAt(S.F.Events[Loop].Text.Begin).str();
    std::string Moved =
        reindent(S.Text.text().slice(Comment.Begin, Wait.End), Inner, Outer);
    std::string Again;
    llvm::StringRef Second = secondPart();
    for (size_t I = 0; I < Repeated.size(); ++I)
      if (mentions(Second, RepeatedNames[I]))
        Again += S.Text.slice(Repeated[I]).str();
    if (!Again.empty())
      Again += "\n";
    std::string New =
        Outer + "}\n\n" + Moved + "\n" + Outer + Header + " {\n" + Again;
    uint32_t Begin = Comment.Begin, End = Wait.End;
    // The blank lines around the wait have lost their purpose.
    while (Begin > bodyOpen() && S.Text.lineAt(Begin - 1).trim().empty())
      Begin = S.Text.lineBegin(Begin - 1);
    while (End < bodyClose() && S.Text.lineAt(End).trim().empty())
      End = S.Text.nextLine(End);
    S.replace(L, {Begin, End}, New);
  }

  void moveOut() {
    Span Wait = *S.Text.wholeLines(S.event().Text);
    Span Comment = S.Text.commentAbove(Wait.Begin);
    std::string Inner = S.Text.indentAt(S.event().Text.Begin).str();
    std::string Outer = S.Text.indentAt(S.F.Events[Loop].Text.Begin).str();
    std::string Moved =
        reindent(S.Text.text().slice(Comment.Begin, Wait.End), Inner, Outer);
    S.replace(L, S.Text.withSpareBlank({Comment.Begin, Wait.End}), "");
    uint32_t Behind = S.Text.nextLine(S.F.Events[Loop].Text.End);
    S.replace(L, {Behind, Behind}, Moved);
  }

  const PlanSite &S;
  uint32_t Loop, End;
  Ledger L;
  std::string Header, Index;
  std::vector<Span> Repeated;
  std::vector<std::string> RepeatedNames;
};

/// The loop calls something that waits: only a form of that callee without the
/// wait would help.
Plan refuseCallee(const PlanSite &S) {
  Ledger L;
  std::string Callee = S.P.calleeName(S.event()).str();
  L.title(fmt::format("split {}() into one half that unlinks and one that "
                      "releases, and wait once between two loops",
                      Callee));
  std::string Place = "elsewhere";
  NodeId N = S.P.find(S.event().Callee);
  if (N != NoNode) {
    std::vector<uint32_t> Path = S.P.waitPath(N);
    if (!Path.empty())
      Place = "by " + calleeAndPlace(S, Path.back());
  }
  std::string Batch = batchForm(S, Callee);
  L.require("wait-in-this-file", false,
            fmt::format("the wait is made inside {}(), {}{}", Callee, Place,
                        Batch.empty()
                            ? ""
                            : fmt::format("; {}() takes many at once", Batch)));
  return L.finish();
}

} // namespace

std::string batchForm(const PlanSite &S, llvm::StringRef Callee) {
  for (llvm::StringRef Suffix : {"_array", "_many", "_bulk", "_batch", "_list"})
    if (NodeId N = S.P.find(S.P.find((Callee + Suffix).str()));
        N != NoNode && !empty(S.P.node(N).Key))
      return (Callee + Suffix).str();
  return "";
}

Plan planLoop(const PlanSite &S) {
  if (!S.wait())
    return refuseCallee(S);
  if (onlyFreesFollow(S))
    return planFree(S);
  int Loop = S.Shape.elementLoop(S.Call);
  if (Loop < 0) {
    Ledger L;
    L.require("loop-known", false, "the loop around the wait is not seen");
    return L.finish();
  }
  return LoopPlanner(S, Loop).run();
}

} // namespace decontend
