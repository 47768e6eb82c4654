//===- PlanReads.cpp - Reads of a member as sums --------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RecordPlan.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

namespace decontend {

namespace {

class ReadPlanner {
public:
  ReadPlanner(Conversion &C, const CounterJudge &J, const Locksets &Locks)
      : C(C), P(C.P), J(J), Locks(Locks) {}

  bool run(bool &Approximate) {
    std::map<NodeId, std::vector<Read>> ByFunction;
    for (size_t I = 0; I < C.Counters.size(); ++I)
      for (const CounterUse &U : C.Counters[I]->Uses)
        if (U.Kind == UseKind::Read)
          ByFunction[U.Node].push_back({&U, C.Counters[I], falls(I)});
    for (auto &[N, Reads] : ByFunction) {
      std::sort(Reads.begin(), Reads.end(), [](const Read &A, const Read &B) {
        return A.Use->Event < B.Use->Event;
      });
      if (!function(N, Reads))
        return false;
    }
    Approximate = Cheap;
    if (Proof.empty())
      Proof = "nobody reads it";
    return C.L.require("reads-may-sum", true, Proof) &&
           C.L.require("width-kept", true,
                       Casts ? "sums are cast to what was read before where "
                               "that is not what they are assigned to"
                             : "sums go where an integer of the old width, or "
                               "of their own, is wanted: the same bits as "
                               "before");
  }

private:
  struct Read {
    const CounterUse *Use;
    const Counter *Of;
    bool Falls; ///< It is decremented somewhere, too.
    std::string Cast = {};
    bool Unsigned = false; ///< Where the value goes.
  };

  bool falls(size_t I) const {
    for (const CounterUse *U : C.Uses[I].Bumps)
      if (U->Op->Op == AtomicModel::Sub || U->Op->Op == AtomicModel::Dec)
        return true;
    return false;
  }

  bool function(NodeId N, std::vector<Read> &Reads) {
    std::vector<std::pair<const CounterUse *, std::string>> Sums;
    for (Read &R : Reads) {
      if (!width(R))
        return false;
      Sums.push_back({R.Use, isHot(*R.Use) ? "" : exact(R)});
    }
    std::vector<std::pair<const CounterUse *, std::string>> Movable;
    for (auto &S : Sums)
      if (!S.second.empty())
        Movable.push_back(S);
    std::vector<MovedRead> Moves =
        moveReads(C, Locks, N, Movable, [&](uint32_t Behind) {
          return !Locks.atomic(N, Behind + 1, Certainty::Possibly);
        });
    if (C.L.failed())
      return false;
    size_t Next = 0;
    for (size_t I = 0; I < Reads.size(); ++I) {
      MovedRead None, &M = Sums[I].second.empty() ? None : Moves[Next++];
      if (!one(N, Reads[I], Sums[I].second, M))
        return false;
    }
    return true;
  }

  bool one(NodeId N, const Read &R, const std::string &Sum, MovedRead &M) {
    std::string Place = placeOf(C, *R.Use);
    if (M.Moved) {
      for (Edit &E : M.Edits)
        C.L.edit(std::move(E));
      note(fmt::format("{} moves {}{}", Place, M.Why, clamped(R)));
      return true;
    }
    const char *Why = Sum.empty() ? "is on a hot path"
                      : Locks.atomic(N, R.Use->Event, Certainty::Possibly)
                          ? "may not sleep or take long"
                          : nullptr;
    if (!Why) {
      if (Sum.empty())
        return C.L.require("remedy-complete", false,
                           fmt::format("{} has no sum", C.Remedy.Id));
      replace(R, Sum);
      note(fmt::format("{} sums where it stands{}{}", Place,
                       M.Why.empty() ? "" : ": " + M.Why, clamped(R)));
      return true;
    }
    const std::string &Form =
        C.Remedy.ReadPositive.empty() ? C.Remedy.Read : C.Remedy.ReadPositive;
    if (Form.empty())
      return C.L.require("reads-may-sum", false,
                         fmt::format("{} {}, and {} has no cheap read", Place,
                                     Why, C.Remedy.Id));
    replace(R, R.Cast + fill(Form, R));
    Cheap = true;
    note(fmt::format("{} {} and reads the approximate value{}", Place, Why,
                     C.Remedy.ReadPositive.empty() || !R.Falls
                         ? ""
                         : ", 0 where that is negative"));
    return true;
  }

  void note(const std::string &Text) {
    Proof += (Proof.empty() ? "" : "; ") + Text;
  }

  std::string fill(const std::string &Form, const Read &R) const {
    std::string Counter = spelledCounter(C, *R.Use);
    return fillIn(Form, {{"c", "&" + Counter}, {"o", Counter}});
  }

  /// While it is summed, a decrement may be seen without its increment: what
  /// goes into an unsigned integer must not become huge by that.
  bool clamps(const Read &R) const {
    return R.Falls && R.Unsigned && !C.Remedy.SumPositive.empty();
  }
  const char *clamped(const Read &R) const {
    return clamps(R) ? ", 0 where the sum is negative" : "";
  }

  std::string exact(const Read &R) {
    const std::string &Form = clamps(R) ? C.Remedy.SumPositive : C.Remedy.Sum;
    return Form.empty() ? "" : R.Cast + fill(Form, R);
  }

  void replace(const Read &R, std::string New) {
    std::optional<SpelledCall> Call = spelledCall(C, R.Use->Node, R.Use->Event);
    std::string File = P.str(P.node(R.Use->Node).Facts->Where.File).str();
    C.L.edit({File, Call->Text.Begin, Call->Text.End,
              fitted(C, File, Call->Text, std::move(New))});
  }

  bool isHot(const CounterUse &U) const {
    BumpHeat H = J.hottest({&U});
    return H.Reach.Any && H.Reach.At != Pace::Control;
  }

  /// Width of the member that is assigned to, negative if signed; 0: no member.
  int memberWidth(Sym Field) const {
    llvm::StringRef Key = P.str(Field);
    auto [Record, Name] = Key.rsplit('.');
    const RecordFacts *R = P.record(P.find(Record), nullptr);
    for (const auto &U : P.units()) {
      if (R)
        break;
      R = P.record(P.find(Record), U.get());
    }
    if (R)
      for (const FieldFacts &F : R->Fields)
        if (P.str(F.Name) == Name)
          return F.Width;
    return 0;
  }

  /// Width of an integer type that people spell a lot; 0: another one.
  static int typeWidth(llvm::StringRef Type) {
    struct {
      llvm::StringRef Name;
      int Width;
    } Known[] = {{"int", -32},
                 {"s32", -32},
                 {"unsigned int", 32},
                 {"unsigned", 32},
                 {"u32", 32},
                 {"long", -64},
                 {"s64", -64},
                 {"long long", -64},
                 {"unsigned long", 64},
                 {"u64", 64},
                 {"size_t", 64},
                 {"ssize_t", -64},
                 {"loff_t", -64},
                 {"unsigned long long", 64},
                 {"short", -16},
                 {"unsigned short", 16},
                 {"u16", 16}};
    for (auto &K : Known)
      if (K.Name == Type)
        return K.Width;
    return 0;
  }

  /// Width of a local variable by its declaration in the function's text.
  int localWidth(const FunctionFacts &F, llvm::StringRef Name) const {
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents)
      return 0;
    llvm::StringRef Body =
        llvm::StringRef(*Contents).slice(F.Body.Begin, F.Body.End);
    while (!Body.empty()) {
      auto [Line, Rest] = Body.split('\n');
      Body = Rest;
      Line = Line.trim();
      size_t At = Line.find(Name);
      if (At == llvm::StringRef::npos || At == 0)
        continue;
      llvm::StringRef After = Line.drop_front(At + Name.size()).ltrim();
      llvm::StringRef Before = Line.take_front(At);
      // `int a, b = 0, c;`: the type ends where the first name starts.
      llvm::StringRef Head = Before.split(',').first.rtrim();
      if (Before.contains(','))
        Head = Head.take_front(Head.find_last_of(" \t")).rtrim();
      bool Declares = After.starts_with(";") || After.starts_with(",") ||
                      After.starts_with("=");
      if (Declares && typeWidth(Head))
        return typeWidth(Head);
    }
    return 0;
  }

  /// Finds out what the value is assigned to, and whether a cast is needed so
  /// that it stays what was read before.
  bool width(Read &R) {
    const FunctionFacts &F = *P.node(R.Use->Node).Facts;
    const Event &E = F.Events[R.Use->Event];
    int Old = R.Of->Type ? R.Of->Type->Width : 0;
    if (!E.is(Event::ResultUsed) || !Old)
      return Old || C.L.require("width-kept", false,
                                fmt::format("it is not known how wide {} is",
                                            P.str(R.Of->Field->Type).str()));
    int To = 0;
    if (E.Link) {
      const Event &Taker = F.Events[E.Link];
      if (Taker.Kind == EventKind::Assign && assignsOnly(F, Taker, E)) {
        const Expr &Left = F.exprs(Taker)[0];
        To = !empty(Left.Field)             ? memberWidth(Left.Field)
             : Left.Root == RootKind::Local ? localWidth(F, P.str(Left.Base))
                                            : 0;
      } else if (Taker.Kind == EventKind::Return && returnsOnly(F, Taker, E)) {
        To = typeWidth(P.str(F.ReturnType));
      }
    }
    R.Unsigned = To > 0;
    if (To && std::abs(To) <= std::abs(Old))
      return true;
    if (std::abs(Old) == 32) {
      R.Cast = Old < 0 ? "(int)" : "(unsigned int)";
      ++Casts;
      return true;
    }
    // As wide as a sum: only a format cares whether it was a long.
    std::string Type = oldType(R);
    if (Type == "long" || Type == "unsigned long") {
      R.Cast = "(" + Type + ")";
      ++Casts;
    }
    return true;
  }

  std::string oldType(const Read &R) const {
    const Event &E = P.node(R.Use->Node).Facts->Events[R.Use->Event];
    NodeId Callee = P.find(E.Callee);
    if (Callee != NoNode && P.node(Callee).Facts)
      return P.str(P.node(Callee).Facts->ReturnType).str();
    return P.str(R.Of->Field->Type).contains("long") ? "long" : "long long";
  }

  /// `lhs = read;`, nothing around the call.
  bool assignsOnly(const FunctionFacts &F, const Event &Assign,
                   const Event &Call) const {
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents || Assign.Text.empty() || !Assign.Text.contains(Call.Text))
      return false;
    llvm::StringRef Text = *Contents;
    return Text.slice(Call.Text.End, Assign.Text.End).trim(" \t\n;").empty() &&
           Text.slice(Assign.Text.Begin, Call.Text.Begin)
               .rtrim()
               .ends_with("=");
  }

  bool returnsOnly(const FunctionFacts &F, const Event &Return,
                   const Event &Call) const {
    const std::string *Contents = C.text(P.str(F.Where.File));
    if (!Contents || Return.Text.empty())
      return false;
    llvm::StringRef Text = *Contents;
    return Text.slice(Call.Text.End, Return.Text.End).trim(" \t\n;").empty() &&
           Text.slice(Return.Text.Begin, Call.Text.Begin).trim() == "return";
  }

  Conversion &C;
  const Program &P;
  const CounterJudge &J;
  const Locksets &Locks;
  std::string Proof;
  bool Cheap = false;
  unsigned Casts = 0;
};

} // namespace

bool planReads(Conversion &C, const CounterJudge &J, const Locksets &Locks,
               bool &Approximate) {
  return ReadPlanner(C, J, Locks).run(Approximate);
}

} // namespace decontend
