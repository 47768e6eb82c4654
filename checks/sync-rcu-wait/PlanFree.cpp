//===- PlanFree.cpp - Waiting only to free memory -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   synchronize_rcu(); kfree(p);   --> kfree_rcu(p, rcu);
//   synchronize_rcu(); several     --> call_rcu(&p->rcu, foo_free_rcu);
//                     frees of p       with the frees in the callback
//
//===----------------------------------------------------------------------===//

#include "Callback.h"
#include "Guards.h"
#include "RecordEdit.h"
#include "fmt/format.h"
#include <algorithm>

namespace decontend {

namespace {

/// kfree_rcu() encodes the offset of its head in a pointer below this.
constexpr uint64_t MaxHeadOffset = 4000;

/// One freeing call behind the wait.
struct Release {
  uint32_t Event = 0;
  const FunctionModel *Model = nullptr;
  const Expr *Object = nullptr; ///< The argument that is freed.
  std::string Argument;         ///< As the source writes it.
  bool whole() const {
    return empty(Object->Field) &&
           !(Object->Flags & (Expr::AddressOf | Expr::Deref | Expr::Indexed)) &&
           (Object->Root == RootKind::Local || Object->Root == RootKind::Param);
  }
};

class FreePlanner {
public:
  explicit FreePlanner(const PlanSite &S)
      : S(S), After(aftermathOf(S.P, S.Shape, S.Call)) {}

  Plan run() {
    L.title("free after the grace period, without waiting for it");
    if (!deferredForm() || !requireEditableWait(S, L) || !onlyMemory() ||
        !collect() || !sameBlock())
      return L.finish();
    if (!commentAgrees(S, L) || !unlinked() || !nothingElse())
      return L.finish();
    if (!callersDoNotRely(S, L) || !domainOutlivesCallback(S, L))
      return L.finish();
    if (direct())
      freeDirectly();
    else
      freeInCallback();
    return L.finish();
  }

private:
  bool deferredForm() {
    const WaitModel &W = *S.wait();
    return L.require(
        "deferred-form-exists",
        !W.Deferred.empty() && W.Cost != WaitModel::Barrier,
        W.Deferred.empty()
            ? fmt::format("{} has no asynchronous form", S.Model->Name)
            : fmt::format("{}() is the asynchronous form", deferredName(S)));
  }

  std::string name(uint32_t I) const {
    const Event &E = S.F.Events[I];
    if (E.Kind == EventKind::Call)
      return S.P.calleeName(E).str() + "()";
    return "assignment to " +
           (E.NumExprs ? S.P.str(S.F.exprs(E)[0].Text).str() : "");
  }

  /// Nothing but frees, and nothing behind them that could need the wait.
  bool onlyMemory() {
    if (!L.require("something-is-freed", !After.Frees.empty(),
                   After.Frees.empty()
                       ? "no modelled free follows the wait"
                       : fmt::format("{} at {} frees", name(After.Frees[0]),
                                     S.at(After.Frees[0]))))
      return false;
    uint32_t Last = After.Frees.back();
    if (S.Shape.elementLoop(Last) != S.Shape.elementLoop(S.Call))
      return L.require("free-not-in-loop", false,
                       fmt::format("{} at {} frees one object after another: "
                                   "the wait serves all of them already",
                                   name(Last), S.at(Last)));
    for (uint32_t I : After.Blockers)
      if (I < Last)
        return L.require("only-memory-released", false,
                         fmt::format("{} at {} runs between the wait and the "
                                     "free and may need the wait",
                                     name(I), S.at(I)));
    for (uint32_t I : S.Shape.following(S.Call)) {
      const Event &E = S.F.Events[I];
      if (I < Last &&
          (E.Kind == EventKind::Assign || E.Kind == EventKind::Loop))
        return L.require(
            "only-memory-released", false,
            fmt::format("{} at {} reads what is to be freed only "
                        "after the wait",
                        E.Kind == EventKind::Loop ? "the loop" : name(I),
                        S.at(I)));
    }
    L.require(
        "only-memory-released", true,
        fmt::format("nothing but frees follows the wait up to {}", S.at(Last)));
    if (!After.Blockers.empty())
      return L.require("nothing-after-needs-the-wait", false,
                       fmt::format("{} at {} follows the free and may need "
                                   "that readers are gone",
                                   name(After.Blockers[0]),
                                   S.at(After.Blockers[0])));
    if (!After.Waits.empty() || !After.Deferrals.empty())
      return L.require(
          "nothing-after-needs-the-wait", false,
          fmt::format(
              "{} at {} orders something behind this wait",
              name(After.Waits.empty() ? After.Deferrals[0] : After.Waits[0]),
              S.at(After.Waits.empty() ? After.Deferrals[0] : After.Waits[0])));
    if (!loopLeft())
      return false;
    return L.require("nothing-after-needs-the-wait", true,
                     After.Releases.empty()
                         ? "the function ends behind the free"
                         : "only locks are given back behind the free");
  }

  /// What runs behind the loops around the wait has waited too, so far.
  bool loopLeft() {
    for (int Up = S.Shape.parent(S.Call); Up >= 0; Up = S.Shape.parent(Up)) {
      if (S.F.Events[Up].Kind != EventKind::Loop)
        continue;
      Aftermath A = aftermathOf(S.P, S.Shape, S.F.Events[Up].Link);
      for (const std::vector<uint32_t> *Calls : {&A.Blockers, &A.Frees})
        if (!Calls->empty())
          return L.require("nothing-after-needs-the-wait", false,
                           fmt::format("{} at {} follows the loop and may "
                                       "need that readers are gone",
                                       name(Calls->front()),
                                       S.at(Calls->front())));
    }
    return true;
  }

  bool collect() {
    for (uint32_t I : After.Frees) {
      const Event &E = S.F.Events[I];
      Release R;
      R.Event = I;
      R.Model = S.P.modelOf(E);
      auto Args = S.F.exprs(E);
      bool Fits = R.Model && size_t(R.Model->Frees) < Args.size() &&
                  E.is(Event::Statement) && !E.Text.empty() &&
                  S.Text.slice(E.Text).ends_with(";") &&
                  S.Text.wholeLines(E.Text);
      if (!L.require("free-written-here", bool(Fits),
                     fmt::format("{} at {} {} a statement on lines of its own",
                                 name(I), S.at(I), Fits ? "is" : "is not")))
        return false;
      R.Object = &Args[R.Model->Frees];
      llvm::StringRef Code = S.Text.slice(E.Text);
      R.Argument = Code.slice(Code.find('(') + 1, Code.rfind(')')).trim().str();
      Releases.push_back(std::move(R));
    }
    return true;
  }

  /// The wait and the free run under the same conditions; a test of the freed
  /// pointer against null may stand between.
  bool sameBlock() {
    int Block = S.Shape.parent(S.Call);
    for (const Release &R : Releases) {
      int Up = S.Shape.parent(R.Event);
      if (Up != Block && Up >= 0 && S.Shape.parent(Up) == Block &&
          S.Shape.isNullGuard(Up) && Releases.size() == 1 &&
          S.F.Events[Up].NumExprs &&
          S.F.exprs(S.F.Events[Up])[0].Text == R.Object->Text) {
        Guarded = true;
        continue;
      }
      if (Up != Block)
        return L.require("free-not-conditional", false,
                         fmt::format("{} at {} does not run whenever the wait "
                                     "at {} does",
                                     name(R.Event), S.at(R.Event),
                                     S.at(S.Call)));
    }
    return L.require("free-not-conditional", true,
                     "the wait and the free stand in one block");
  }

  bool unlinked() {
    const Release &Last = Releases.back();
    int I = unlinkedBefore(S.P, S.Shape, S.Call, *Last.Object);
    if (I >= 0 && S.F.Events[I].Kind == EventKind::Call)
      for (const Expr &X : S.F.exprs(S.F.Events[I]))
        MemberUnlinked |= X.Base == Last.Object->Base && !empty(X.Field);
    return L.require(
        "unlinked-before-wait", I >= 0,
        I >= 0 ? fmt::format("{} is made unreachable at {}",
                             S.P.str(Last.Object->Text).str(), S.at(I))
               : fmt::format("it is not seen where {} becomes "
                             "unreachable for readers before {}",
                             S.P.str(Last.Object->Text).str(), S.at(S.Call)));
  }

  bool nothingElse() {
    std::vector<const Expr *> Freed;
    for (const Release &R : Releases)
      Freed.push_back(R.Object);
    return nothingElseUnlinked(S, L, Freed);
  }

  /// Each call has a form that takes a head, and all objects are whole ones.
  bool direct() const {
    if (S.wait()->FreeMacro.empty() || S.userSpace())
      return false;
    for (const Release &R : Releases) {
      if (R.Model->FreeByRcu.empty() || R.Argument.empty() ||
          R.Argument[0] == '(' || (R.Object->Flags & Expr::AddressOf))
        return false;
      if (Releases.size() > 1 &&
          (!R.whole() || unlinkedBefore(S.P, S.Shape, S.Call, *R.Object) < 0))
        return false;
    }
    return true;
  }

  MemberWanted headWanted() const {
    MemberWanted Want;
    Want.Type = S.wait()->HeadType;
    Want.Names = {"rcu", "rcu_head"};
    Want.Header = "linux/types.h";
    if (S.userSpace()) {
      std::reverse(Want.Names.begin(), Want.Names.end());
      Want.Header.clear();
    }
    return Want;
  }

  void freeDirectly() {
    for (const Release &R : Releases)
      if (mayExceed(S, R.Object->Record, MaxHeadOffset))
        return freeInCallback();
    std::string What;
    for (const Release &R : Releases) {
      std::optional<std::string> Head =
          memberFor(S, L, R.Object->Record, headWanted());
      if (!Head)
        return;
      L.require("same-object", true,
                fmt::format("{} frees the {} that was unlinked", name(R.Event),
                            S.P.str(R.Object->Record).str()));
      S.replace(
          L, S.F.Events[R.Event].Text,
          fmt::format("{}({}, {});", R.Model->FreeByRcu, R.Argument, *Head));
      What = fmt::format("free {} with {}()", S.P.str(R.Object->Record).str(),
                         R.Model->FreeByRcu);
    }
    L.title(What);
    L.require("module-outlives-callback", true,
              "kfree_rcu() frees by code of the kernel itself, which is never "
              "unloaded");
    deleteWait(S, L);
  }

  void freeInCallback() {
    const Release &Last = Releases.back();
    std::string Object = S.P.str(Last.Object->Base).str();
    if (!L.require("same-object", Last.whole(),
                   fmt::format("{} at {} {}", name(Last.Event),
                               S.at(Last.Event),
                               Last.whole() ? "frees the object itself"
                                            : "frees only a part of it, and a "
                                              "callback needs the object")))
      return;
    std::vector<std::string> Body;
    for (const Release &R : Releases) {
      std::string Code = S.Text.slice(S.F.Events[R.Event].Text).str();
      std::string Other = S.foreignLocal(Code, Object);
      bool Self = R.Object->Base == Last.Object->Base && Other.empty();
      if (!L.require(
              "callback-self-contained", Self,
              Self ? fmt::format("{} at {} uses {} only", name(R.Event),
                                 S.at(R.Event), Object)
                   : fmt::format("{} at {} uses {}, which a callback "
                                 "does not have",
                                 name(R.Event), S.at(R.Event),
                                 Other.empty() ? "another object" : Other)) ||
          !mayRunInCallback(S, L, R.Event))
        return;
      if (R.Model->CacheArg >= 0 &&
          !cacheOutlivesCallback(
              S, L, S.F.exprs(S.F.Events[R.Event])[R.Model->CacheArg]))
        return;
      Body.push_back(std::move(Code));
    }
    if (!requireSourceFile(S, L) || !moduleOutlivesCallback(S, L))
      return;
    std::optional<std::string> Head =
        memberFor(S, L, Last.Object->Record, headWanted());
    if (!Head)
      return;
    CallbackObject O{S.P.str(Last.Object->Record).str(), Object, *Head};
    std::string Name = freshName(S, O.Record, "_free_rcu");
    uint32_t Above = S.aboveFunction();
    S.replace(L, {Above, Above}, callbackText(S, Name, O, Body));
    for (const Release &R : llvm::ArrayRef(Releases).drop_back())
      S.replace(L, *S.Text.wholeLines(S.F.Events[R.Event].Text), "");
    Span At = S.F.Events[Last.Event].Text;
    std::string Indent = S.Text.indentAt(At.Begin).str();
    std::string Call = deferCall(S, Name, O, Indent);
    // kfree(NULL) is fine, call_rcu() on a member of it is not. Where members
    // are freed too, the pointer was never null.
    if (!Guarded && !MemberUnlinked && Releases.size() == 1) {
      std::string Unit = S.indentUnit();
      Call = fmt::format("if ({})\n{}{}{}", Object, Indent, Unit,
                         deferCall(S, Name, O, Indent + Unit));
    }
    S.replace(L, At, std::move(Call));
    deleteWait(S, L);
    L.title(fmt::format("free {} in a callback of {}()", O.Record,
                        deferredName(S)));
  }

  const PlanSite &S;
  Aftermath After;
  Ledger L;
  std::vector<Release> Releases;
  bool Guarded = false;
  /// A member of the object was unlinked, so the object is not null.
  bool MemberUnlinked = false;
};

} // namespace

bool onlyFreesFollow(const PlanSite &S) {
  if (!S.wait())
    return false;
  Aftermath A = aftermathOf(S.P, S.Shape, S.Call);
  return !A.Frees.empty() && A.Blockers.empty() && A.Waits.empty() &&
         A.Deferrals.empty();
}

Plan planFree(const PlanSite &S) { return FreePlanner(S).run(); }

} // namespace decontend
