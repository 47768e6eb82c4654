//===- MoveReads.cpp - Reads that need not stand under a lock -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   lock(l);                        lock(l);
//   if (all) {                      if (all) {
//           out->a = x->a;                  out->a = x->a;
//           out->b = read(&x->b);   }
//   }                               unlock(l);
//   unlock(l);                      if (all)
//                                           out->b = sum(&x->b);
//
// What a sum costs should not be paid under a lock. A read moves behind the
// last lock that its function gives back if nobody can see that it came later.
//
//===----------------------------------------------------------------------===//
#include "RecordPlan.h"
#include "Stability.h"
#include "StubText.h"
#include "analysis/program/Flow.h"
#include "analysis/program/Locksets.h"
#include "fmt/format.h"
#include <algorithm>
#include <map>

namespace decontend {

namespace {

class Mover {
public:
  Mover(const Conversion &C, const Locksets &Locks, NodeId N,
        const std::string &Contents)
      : C(C), P(C.P), Locks(Locks), N(N), F(*P.node(N).Facts), Shape(P, F),
        Text(Contents), Code(codeOnly(Contents)) {}

  /// Can the read move, and to a place that \p Fits? Fills in all but edits.
  bool analyse(const CounterUse &U, MovedRead &Out,
               llvm::function_ref<bool(uint32_t)> Fits) {
    Candidate X;
    X.Call = U.Event;
    const Event &Call = F.Events[U.Event];
    auto Stays = [&](std::string Why) {
      Out.Why = std::move(Why);
      return false;
    };
    if (ownLocks(U.Event).empty())
      return Stays("");
    X.Assign = Call.Link;
    if (!X.Assign || F.Events[X.Assign].Kind != EventKind::Assign ||
        !plainAssign(X))
      return Stays("it is part of a larger statement");
    int Up = Shape.parent(X.Assign);
    uint32_t Anchor = X.Assign;
    if (Up >= 0 && F.Events[Up].Kind == EventKind::Branch) {
      X.Branch = Up;
      Anchor = Up;
      Up = Shape.parent(Up);
    }
    if (Up >= 0)
      return Stays(
          fmt::format("it stands inside more than one block, see {}", at(Up)));
    std::string Names = ownLocks(Anchor);
    if (Names.empty())
      return Stays("");
    if (!findBehind(Anchor, X))
      return Stays(Names + " is not given back on the straight way");
    std::string Why = obstacle(U, X, Anchor);
    if (!Why.empty())
      return Stays(Why);
    if (!Fits(X.Behind))
      return Stays("it would stand in no better place");
    Out.Behind = X.Behind;
    Out.Moved = true;
    Out.Why = "behind " + Names;
    Found.push_back(X);
    return true;
  }

  /// Edits for all that was analysed, with \p New for the calls.
  std::vector<Edit> edits(const std::map<uint32_t, std::string> &New) {
    std::map<std::pair<int, uint32_t>, std::vector<const Candidate *>> Groups;
    for (const Candidate &X : Found)
      Groups[{X.Branch, X.Branch < 0 ? X.Assign : 0}].push_back(&X);
    std::vector<std::pair<uint32_t, Edit>> Inserted;
    std::vector<Edit> Out;
    for (auto &[Key, Group] : Groups) {
      std::string Body, Inner;
      uint32_t First = ~0u;
      const Event &To = F.Events[Group[0]->Behind];
      std::string Indent = Text.indentAt(To.Text.Begin).str();
      bool Whole = Key.first >= 0 && becomesEmpty(Key.first, Group);
      for (const Candidate *X : Group) {
        const Event &A = F.Events[X->Assign], &Call = F.Events[X->Call];
        Span Lines = linesOf(*X);
        Inner = Text.indentAt(A.Text.Begin).str();
        Body += Text.text().slice(Lines.Begin, Text.lineBegin(A.Text.Begin));
        Body += Inner;
        Body += Text.text().slice(A.Text.Begin, Call.Text.Begin);
        Body += New.at(X->Call);
        Body += Text.text().slice(Call.Text.End, Text.nextLine(A.Text.End - 1));
        First = std::min(First, A.Text.Begin);
        if (!Whole) {
          Span Gone = Text.withSpareBlank(Lines);
          Out.push_back({file(), Gone.Begin, Gone.End, ""});
        }
      }
      if (Key.first >= 0) {
        if (Whole) {
          Span Gone =
              Text.withSpareBlank(*Text.wholeLines(F.Events[Key.first].Text));
          Out.push_back({file(), Gone.Begin, Gone.End, ""});
        }
        std::string Outer = Text.indentAt(F.Events[Key.first].Text.Begin).str();
        bool Braces = llvm::StringRef(Body).count('\n') > 1;
        Body =
            fmt::format("{}if ({}){}\n{}{}", Outer, condition(Key.first),
                        Braces ? " {" : "", Body, Braces ? Outer + "}\n" : "");
        Inner = Outer;
      }
      uint32_t At = Text.nextLine(To.Text.End - 1);
      Inserted.push_back(
          {First, {file(), At, At, reindent(Body, Inner, Indent)}});
    }
    std::sort(Inserted.begin(), Inserted.end(),
              [](auto &A, auto &B) { return A.first < B.first; });
    for (auto &[Where, E] : Inserted)
      Out.push_back(std::move(E));
    return Out;
  }

private:
  struct Candidate {
    uint32_t Call = 0, Assign = 0, Behind = 0;
    int Branch = -1;
  };

  std::string file() const { return P.str(F.Where.File).str(); }
  std::string at(uint32_t Event) const { return C.at(N, F.Events[Event].Line); }

  /// `lhs = read(...);` on lines of its own.
  bool plainAssign(const Candidate &X) const {
    const Event &A = F.Events[X.Assign], &Call = F.Events[X.Call];
    if (A.Text.empty() || A.is(Event::Declares) || Call.Text.empty() ||
        !A.Text.contains(Call.Text) || !Text.wholeLines(A.Text))
      return false;
    llvm::StringRef Left =
        llvm::StringRef(Code).slice(A.Text.Begin, Call.Text.Begin).rtrim();
    llvm::StringRef Right =
        llvm::StringRef(Code).slice(Call.Text.End, A.Text.End).trim();
    return Right == ";" && Left.consume_back("=") && !Left.empty() &&
           !llvm::StringRef("=!<>+-*/%&|^").contains(Left.back()) &&
           !Left.contains('=');
  }

  /// Names of the locks that the function itself has taken.
  std::string ownLocks(uint32_t Event) const {
    std::string Names;
    for (const HeldLock &H : Locks.before(N, Event))
      if (!H.OnEntry) {
        llvm::StringRef Name = Locks.text(H.Lock);
        if (Name.empty())
          Name = Locks.kindName(H.Lock);
        Names += (Names.empty() ? "" : ", ") + Name.str();
      }
    return Names;
  }

  bool findBehind(uint32_t Anchor, Candidate &X) const {
    uint32_t From = X.Branch >= 0 ? F.Events[X.Branch].Link + 1 : X.Assign + 1;
    for (uint32_t I = From; I < F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      switch (E.Kind) {
      case EventKind::Return:
      case EventKind::Goto:
      case EventKind::Label:
      case EventKind::Break:
      case EventKind::Continue:
        return false;
      default:
        break;
      }
      if (E.Kind != EventKind::Call || Shape.parent(I) != -1)
        continue;
      if (!ownLocks(I + 1).empty())
        continue;
      X.Behind = I;
      return E.is(Event::Statement) && !E.Text.empty() &&
             bool(Text.wholeLines(E.Text));
    }
    return false;
  }

  std::string obstacle(const CounterUse &U, const Candidate &X,
                       uint32_t Anchor) const {
    for (uint32_t I = Anchor; I < X.Behind; ++I)
      switch (F.Events[I].Kind) {
      case EventKind::Return:
      case EventKind::Goto:
      case EventKind::Label:
        return at(I) + " leaves before the lock is given back";
      default:
        break;
      }
    const Expr &Left = F.exprs(F.Events[X.Assign])[0];
    std::string Why = shared(Left);
    if (!Why.empty())
      return Why;
    const Expr &Path = F.Exprs[F.Accesses[U.Access].Path];
    if (Path.Root != RootKind::Param && Path.Root != RootKind::Global &&
        !setBeforeLocks(Path.Base, Anchor))
      return "the lock may be what keeps the object";
    llvm::StringRef Spelled = P.str(Path.Text);
    if (Spelled.count("->") + Spelled.count('*') + Spelled.count('[') > 1)
      return "the lock may protect the way to the object";
    llvm::StringRef Between = llvm::StringRef(Code).slice(
        F.Events[Anchor].Text.Begin, F.Events[X.Behind].Text.End);
    if (changesIn(Between, P.str(Path.Base)))
      return P.str(Path.Base).str() + " changes before the lock is given back";
    if (X.Branch >= 0) {
      Why = impure(X.Branch, Between);
      if (!Why.empty())
        return Why;
      bool Else = F.Events[X.Branch].Link + 1 < F.Events.size() &&
                  F.Events[F.Events[X.Branch].Link + 1].Kind == EventKind::Else;
      if (Else && !F.Events[X.Branch].is(Event::Braced))
        return "it is all that the branch at " + at(X.Branch) + " governs";
      if (!F.Events[X.Branch].Text.empty() &&
          !Text.wholeLines(F.Events[X.Branch].Text))
        return "the branch at " + at(X.Branch) + " shares its lines";
    }
    return usedBetween(Left, X);
  }

  /// May others see what \p Left names?
  std::string shared(const Expr &Left) const {
    std::string Name = P.str(Left.Text).str();
    llvm::StringRef Spelled = P.str(Left.Text);
    if (Left.Root == RootKind::Local && !Spelled.contains("->") &&
        !(Left.Flags & (Expr::Deref | Expr::Indexed)))
      return "";
    if (Left.Root == RootKind::Param && Spelled.count("->") <= 1 &&
        !Spelled.contains('[')) {
      bool Called = false;
      for (uint32_t I : P.callers(N)) {
        const Edge &E = P.edges()[I];
        const FunctionFacts &G = *P.node(E.Caller).Facts;
        const Event &Call = G.Events[E.Event];
        Called = true;
        bool Own = E.Kind == EdgeKind::Direct && Left.Index < Call.NumExprs;
        if (Own) {
          const Expr &Arg = G.exprs(Call)[Left.Index];
          Own = Arg.Root == RootKind::Local && (Arg.Flags & Expr::AddressOf) &&
                !P.str(Arg.Text).contains("->");
        }
        if (!Own)
          return fmt::format("{} may be an object that others see, passed at "
                             "{}",
                             Name, C.at(E.Caller, Call.Line));
      }
      if (Called)
        return "";
    }
    return Name + " may be seen by others";
  }

  bool setBeforeLocks(Sym Variable, uint32_t Anchor) const {
    bool Set = false;
    for (uint32_t I = 0; I < Anchor; ++I) {
      const Event &E = F.Events[I];
      if (E.Kind != EventKind::Assign || E.NumExprs != 2 ||
          F.exprs(E)[0].Base != Variable || !empty(F.exprs(E)[0].Field))
        continue;
      if (!ownLocks(I).empty())
        return false;
      Set = true;
    }
    return Set;
  }

  std::string condition(int Branch) const {
    size_t Begin = F.Events[Branch].Text.Begin;
    size_t Open = Code.find('(', Begin);
    size_t Close = matching(Code, Open);
    return Text.text().slice(Open + 1, Close - 1).trim().str();
  }

  /// The condition must tell the same again behind the lock.
  std::string impure(int Branch, llvm::StringRef Between) const {
    const Event &B = F.Events[Branch];
    std::string Place = "the condition at " + at(Branch);
    if (B.Text.empty() || !Text.text().substr(B.Text.Begin).starts_with("if"))
      return Place + " is spelled by a macro";
    std::string Why = mayChange(P, condition(Branch), Between);
    return Why.empty() ? "" : Place + " " + Why;
  }

  /// Is the value looked at before the lock is given back?
  std::string usedBetween(const Expr &Left, const Candidate &X) const {
    uint32_t ElseBegin = 0, ElseEnd = 0;
    if (X.Branch >= 0) {
      uint32_t Next = F.Events[X.Branch].Link + 1;
      if (Next < F.Events.size() && F.Events[Next].Kind == EventKind::Else) {
        ElseBegin = Next;
        ElseEnd = F.Events[Next].Link;
      }
    }
    for (uint32_t I = X.Assign + 1; I <= X.Behind; ++I) {
      if (I >= ElseBegin && I < ElseEnd)
        continue;
      const Event &E = F.Events[I];
      for (const Expr &Y : F.exprs(E)) {
        bool Same = Y.Base == Left.Base && Y.Root == Left.Root;
        bool Inside = Y.Root == RootKind::Unknown &&
                      !mentionsOf(P.str(Y.Text), P.str(Left.Base)).empty();
        if (Same && !empty(Y.Field) && !empty(Left.Field) &&
            Y.Field != Left.Field)
          continue;
        if (Same || Inside)
          return fmt::format("{} may be used at {}", P.str(Left.Text).str(),
                             at(I));
      }
      bool Opens = E.Kind == EventKind::Branch || E.Kind == EventKind::Loop ||
                   E.Kind == EventKind::Switch;
      if (Opens && !mentionsOf(P.str(E.Callee), P.str(Left.Base)).empty())
        return fmt::format("{} may be used at {}", P.str(Left.Text).str(),
                           at(I));
    }
    return "";
  }

  /// Does nothing else stand in the branch?
  bool becomesEmpty(int Branch,
                    const std::vector<const Candidate *> &Group) const {
    const Event &B = F.Events[Branch];
    if (!B.is(Event::Braced))
      return true;
    size_t Close = matching(Code, Code.find('(', B.Text.Begin));
    size_t Open = Code.find('{', Close);
    llvm::StringRef Body =
        llvm::StringRef(Code).slice(Open + 1, matching(Code, Open) - 1);
    std::string Left = Body.str();
    for (const Candidate *X : Group) {
      Span S = F.Events[X->Assign].Text;
      std::fill(Left.begin() + (S.Begin - Open - 1),
                Left.begin() + (S.End - Open - 1), ' ');
    }
    bool Else = B.Link + 1 < F.Events.size() &&
                F.Events[B.Link + 1].Kind == EventKind::Else;
    return llvm::StringRef(Left).trim().empty() && !Else;
  }

  Span linesOf(const Candidate &X) const {
    Span Lines = *Text.wholeLines(F.Events[X.Assign].Text);
    Span Comment = Text.commentAbove(Lines.Begin);
    uint32_t Limit =
        X.Branch >= 0 ? F.Events[X.Branch].Text.Begin : F.Body.Begin;
    if (Comment.Begin > Limit)
      Lines.Begin = Comment.Begin;
    return Lines;
  }

  const Conversion &C;
  const Program &P;
  const Locksets &Locks;
  const NodeId N;
  const FunctionFacts &F;
  Flow Shape;
  SourceText Text;
  std::string Code;
  std::vector<Candidate> Found;
};

} // namespace

std::vector<MovedRead>
moveReads(const Conversion &C, const Locksets &Locks, NodeId N,
          llvm::ArrayRef<std::pair<const CounterUse *, std::string>> Reads,
          llvm::function_ref<bool(uint32_t)> Fits) {
  std::vector<MovedRead> Out(Reads.size());
  const std::string *Contents = C.text(C.P.str(C.P.node(N).Facts->Where.File));
  if (!Contents)
    return Out;
  Mover M(C, Locks, N, *Contents);
  std::map<uint32_t, std::string> New;
  MovedRead *First = nullptr;
  for (size_t I = 0; I < Reads.size(); ++I)
    if (M.analyse(*Reads[I].first, Out[I], Fits)) {
      New[Reads[I].first->Event] = Reads[I].second;
      if (!First)
        First = &Out[I];
    }
  if (First)
    First->Edits = M.edits(New);
  return Out;
}

} // namespace decontend
