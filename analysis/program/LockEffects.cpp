//===- LockEffects.cpp - What the calls of a function do to locks ---------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockEffects.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using llvm::StringRef;

namespace decontend {

/// One expansion of a macro that the models know as a lock: all events at its
/// place.
struct MacroUse {
  const FunctionModel *Model = nullptr;
  uint32_t First = 0, Last = 0; ///< Calls.
  int Args = -1;                ///< First call that is given the lock.
  int Inner = -1;               ///< First call in it that acts itself.
};
struct LockEffects::Macros {
  std::map<std::tuple<Sym, uint32_t, uint32_t>, MacroUse> Uses;
  static std::tuple<Sym, uint32_t, uint32_t> key(const Event &E) {
    return {E.Macro, E.Line, E.Column};
  }
};

class LockEffects::Finder {
public:
  Finder(const LockEffects &All, const FunctionFacts &F,
         llvm::ArrayRef<LockSummary> Summaries)
      : All(All), P(All.P), Locks(All.Locks), F(F), Summaries(Summaries) {}

  FunctionEffects run();

private:
  void findMacros();
  void findGuards();
  void call(uint32_t I, const FunctionModel *M, uint32_t ArgsOf, bool Macro);
  void summary(uint32_t I);
  const LockGuard *guard(const Expr &X) const;
  Lock resolve(const Expr &X, uint32_t I, unsigned Depth) const;
  const Expr *onlyValue(const Expr &X) const;
  LockId lockOf(uint32_t I, int Arg, const FunctionModel &M, StringRef Kind,
                LockMode Mode) const;
  void add(uint32_t I, LockId L, uint8_t IfNonzero, uint8_t IfZero) {
    if (Out.Calls.empty() || Out.Calls.back().Event != I)
      Out.Calls.emplace_back().Event = I;
    Out.Calls.back().Effects.push_back({L, IfNonzero, IfZero});
  }

  const LockEffects &All;
  const Program &P;
  LockTable &Locks;
  const FunctionFacts &F;
  llvm::ArrayRef<LockSummary> Summaries;
  Macros Seen;
  FunctionEffects Out;
};

void LockEffects::Finder::findMacros() {
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind != EventKind::Call || empty(E.Macro))
      continue;
    const FunctionModel *M = P.modelOfMacro(E);
    if (!actsOnLocks(M))
      continue;
    auto [It, New] = Seen.Uses.try_emplace(Macros::key(E));
    MacroUse &Use = It->second;
    if (New) {
      Use.Model = M;
      Use.First = I;
    }
    Use.Last = I;
    int Arg = std::max({M->Acquires, M->Releases, M->AssertsArg});
    if (Use.Args < 0 && Arg >= 0 && Arg < E.NumExprs) {
      RootKind Root = F.Exprs[E.FirstExpr + Arg].Root;
      if (Root != RootKind::Constant && Root != RootKind::Unknown)
        Use.Args = I;
    }
    const FunctionModel *Inner = All.modelOf(E);
    if (Use.Inner < 0 && actsOnLocks(Inner) && Inner->Lock == M->Lock)
      Use.Inner = I;
  }
}

void LockEffects::Finder::findGuards() {
  std::vector<uint32_t> Open;
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::End && !Open.empty())
      Open.pop_back();
    else if (E.Kind != EventKind::Call && E.Link > I)
      Open.push_back(I);
    if (E.Kind != EventKind::Assign || !E.is(Event::Declares) ||
        empty(E.Callee) || !E.NumExprs)
      continue;
    LockGuard G;
    G.Variable = F.Exprs[E.FirstExpr].Base;
    G.Declared = I;
    G.Last = Open.empty() ? F.Events.size() - 1 : F.Events[Open.back()].Link;
    // What the head of a loop declares, lives as long as the loop.
    for (uint32_t J = I + 1; J < F.Events.size(); ++J) {
      const Event &L = F.Events[J];
      if (L.Kind == EventKind::Loop) {
        bool OneMacro = !empty(E.Macro) && Macros::key(E) == Macros::key(L);
        if (OneMacro || (!L.Text.empty() && L.Text.contains(E.Text)))
          G.Last = L.Link;
      }
      if (L.Kind != EventKind::Call && L.Kind != EventKind::Assign)
        break;
    }
    Out.Guards.push_back(std::move(G));
  }
}

const LockGuard *LockEffects::Finder::guard(const Expr &X) const {
  if (X.Root != RootKind::Local || !empty(X.Field))
    return nullptr;
  for (const LockGuard &G : llvm::reverse(Out.Guards))
    if (G.Variable == X.Base)
      return &G;
  return nullptr;
}

/// The value of a local variable that is set once, and leads to a lock.
const Expr *LockEffects::Finder::onlyValue(const Expr &X) const {
  const Expr *Value = nullptr;
  for (const Event &E : F.Events) {
    if (E.Kind != EventKind::Assign || E.NumExprs != 2)
      continue;
    const Expr &L = F.Exprs[E.FirstExpr];
    if (L.Root != RootKind::Local || L.Base != X.Base || !empty(L.Field))
      continue;
    if (Value)
      return nullptr;
    Value = &F.Exprs[E.FirstExpr + 1];
  }
  if (Value && (Value->Root == RootKind::Param ||
                Value->Root == RootKind::Global || !empty(Value->Field)))
    return Value;
  return nullptr;
}

Lock LockEffects::Finder::resolve(const Expr &X, uint32_t I,
                                  unsigned Depth) const {
  StringRef Text = P.str(X.Text);
  if (X.Root == RootKind::Call && empty(X.Field) && Depth < 4)
    for (uint32_t J = I; J-- > 0;) {
      const Event &E = F.Events[J];
      if (E.Kind != EventKind::Call || E.Callee != X.Base)
        continue;
      const FunctionModel *M = All.modelOf(E);
      if (M && M->ReturnsArg >= 0 && M->ReturnsArg < E.NumExprs)
        return resolve(F.Exprs[E.FirstExpr + M->ReturnsArg], J, Depth + 1);
      break;
    }
  if (X.Root == RootKind::Local && empty(X.Field) && Depth < 4 &&
      !Text.starts_with("&"))
    if (const Expr *Value = onlyValue(X))
      return resolve(*Value, I, Depth + 1);
  Lock L;
  L.Root = X.Root;
  L.Index = X.Root == RootKind::Param ? X.Index : 0;
  L.Base = X.Base;
  L.Class = !empty(X.Field)              ? X.Field
            : X.Root == RootKind::Global ? X.Base
                                         : Sym::None;
  std::string Object;
  if (Text.consume_front("&"))
    Object = Text.str();
  else
    Object = (X.Flags & Expr::Pointer ? "*" : "") + Text.str();
  StringRef Whole = Object;
  if (Whole.consume_back(".dep_map")) {
    Object = Whole.str();
    L.Class = Sym::None;
  }
  // A text that was cut may be that of another lock too.
  if (X.Root == RootKind::Unknown || X.Root == RootKind::Constant ||
      X.Root == RootKind::Null || Text.size() >= 118) {
    L.Root = RootKind::Unknown;
    L.Base = Sym::None;
    Object.clear();
  }
  L.Text = Locks.names().intern(Object);
  return L;
}

LockId LockEffects::Finder::lockOf(uint32_t I, int Arg, const FunctionModel &M,
                                   StringRef Kind, LockMode Mode) const {
  const Event &E = F.Events[I];
  Lock L;
  if (M.LockIsGlobal || Arg < 0) {
    L.Root = RootKind::Global;
    L.Base = L.Class = P.find(M.LockObject);
    L.Text = Locks.names().intern(
        M.LockObject.empty() ? Kind : StringRef(M.LockObject).split('@').first);
  } else {
    if (Arg < E.NumExprs)
      L = resolve(F.Exprs[E.FirstExpr + Arg], I, 0);
    if (!M.LockObject.empty()) {
      L.Class = P.find(M.LockObject);
      StringRef Text = Locks.names().str(L.Text);
      StringRef Member = StringRef(M.LockObject).rsplit('.').second;
      if (!Text.empty())
        L.Text = Locks.names().intern(Text.consume_front("*")
                                          ? (Text + "->" + Member).str()
                                          : (Text + "." + Member).str());
    }
  }
  L.Kind = lockKind(Kind);
  L.KindName = Locks.names().intern(Kind);
  if (Kind == "lock") {
    auto It = All.KindOfClass.find(L.Class);
    if (It != All.KindOfClass.end())
      L.Kind = It->second;
  }
  L.Mode = Mode;
  return Locks.intern(L);
}

void LockEffects::Finder::call(uint32_t I, const FunctionModel *M,
                               uint32_t ArgsOf, bool Macro) {
  const Event &E = F.Events[I], &Args = F.Events[ArgsOf];
  if (M->NoReturn) {
    add(I, 0, Untouched, Untouched);
    Out.Calls.back().Effects.pop_back();
    Out.Calls.back().NoReturn = true;
    return;
  }
  auto With = [&](uint8_t IfNonzero, uint8_t IfZero) {
    for (const std::string &Kind : M->LockWith)
      add(I, All.globalLock(Kind), IfNonzero, IfZero);
  };
  // A method of a guard acts on the locks of the guard.
  const LockGuard *G = nullptr;
  if (Args.NumExprs && !M->LockIsGlobal &&
      (M->Acquires == 0 || M->Releases == 0))
    G = guard(F.Exprs[Args.FirstExpr]);
  auto Each = [&](int From, bool Rest, uint8_t IfNonzero, uint8_t IfZero) {
    auto Mode = IfNonzero == Given ? LockMode::Exclusive
                                   : static_cast<LockMode>(M->LockMode);
    if (G) {
      for (LockId L : G->Locks)
        add(I, L, IfNonzero, IfZero);
      return;
    }
    int To = Rest ? Args.NumExprs : From + 1;
    for (int A = From; A < To; ++A)
      add(I, lockOf(ArgsOf, A, *M, M->Lock, Mode), IfNonzero, IfZero);
  };
  if (M->Releases >= 0) {
    Each(M->Releases, false, Given, Given);
    if (M->Acquires < 0)
      With(Given, Given);
  }
  if (M->Acquires >= 0) {
    uint8_t IfNonzero = Taken, IfZero = Taken;
    // Who does not look at the outcome counts on success.
    if (E.is(Event::ResultUsed) || E.is(Event::InCondition) || Macro) {
      if (M->LockOn == FunctionModel::Nonzero)
        IfZero = Untouched;
      if (M->LockOn == FunctionModel::Zero)
        IfNonzero = Untouched;
    }
    for (const Expr &X : F.exprs(Args))
      for (const std::string &Record : M->LockUnless)
        if (P.str(X.Record) == Record)
          IfNonzero = IfZero = Taken | Untouched;
    bool Unsure = IfNonzero == (Taken | Untouched);
    Each(M->Acquires, M->LockRest && !Unsure, IfNonzero, IfZero);
    With(IfNonzero, IfZero);
  }
  if (!M->Asserts.empty())
    add(I, lockOf(ArgsOf, M->AssertsArg, *M, M->Asserts, LockMode::Exclusive),
        Asserted, Asserted);
}

void LockEffects::Finder::summary(uint32_t I) {
  const Event &E = F.Events[I];
  NodeId N = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
  if (N == NoNode || Summaries[N].empty() || !P.node(N).Facts)
    return;
  const FunctionFacts &Callee = *P.node(N).Facts;
  for (const LockEffect &S : Summaries[N]) {
    Lock L = Locks[S.Lock];
    if (L.Root == RootKind::Param) {
      const Expr *X = All.argument(F, E, Callee, L.Index);
      std::string Text;
      if (X && X->Root != RootKind::Unknown && X->Root != RootKind::Constant &&
          X->Root != RootKind::Null)
        Text = placeArgument(
            Locks.names().str(L.Text), P.str(L.Base), P.str(X->Text),
            !(X->Flags & Expr::Pointer) && !P.str(X->Text).starts_with("&"));
      if (Text.empty() || Text.size() > 120) {
        L = Locks[Locks.classOnly(S.Lock)];
      } else {
        // The pointer itself was the lock: now its field or variable is known.
        if (empty(L.Class))
          L.Class = !empty(X->Field)              ? X->Field
                    : X->Root == RootKind::Global ? X->Base
                                                  : Sym::None;
        L.Root = X->Root;
        L.Base = X->Base;
        L.Index = X->Root == RootKind::Param ? X->Index : 0;
        L.Text = Locks.names().intern(Text);
      }
    }
    add(I, Locks.intern(L), S.IfNonzero, S.IfZero);
  }
}

FunctionEffects LockEffects::Finder::run() {
  findMacros();
  findGuards();
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Call) {
      const FunctionModel *M = All.modelOf(E);
      auto It =
          empty(E.Macro) ? Seen.Uses.end() : Seen.Uses.find(Macros::key(E));
      if (It != Seen.Uses.end() &&
          (It->second.Inner < 0 ||
           It->second.Model->LockOn != FunctionModel::Always)) {
        // The macro decides, once for all the calls in it.
        const MacroUse &Use = It->second;
        if (I == (Use.Inner < 0 ? Use.First : Use.Last))
          call(I, Use.Model,
               Use.Inner >= 0  ? Use.Inner
               : Use.Args >= 0 ? Use.Args
                               : Use.First,
               true);
      } else if (M) {
        call(I, M, I, false);
      } else {
        summary(I);
      }
    }
    if (E.Kind == EventKind::Assign && E.is(Event::Declares) &&
        !empty(E.Callee))
      for (LockGuard &G : Out.Guards) {
        if (G.Declared != I)
          continue;
        for (const CallEffects &C : Out.Calls)
          if (F.Events[C.Event].Link == I || C.Event + 1 == I)
            for (const LockEffect &L : C.Effects)
              if ((L.IfNonzero | L.IfZero) & Taken)
                G.Locks.push_back(L.Lock);
      }
  }
  return std::move(Out);
}

FunctionEffects LockEffects::of(const FunctionFacts &F,
                                llvm::ArrayRef<LockSummary> Summaries) const {
  return Finder(*this, F, Summaries).run();
}

} // namespace decontend
