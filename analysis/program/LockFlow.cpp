//===- LockFlow.cpp - Locks along the ways through a function -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockFlow.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace decontend {

/// Adds what has become of a lock by \p Effect to what had become of it.
static uint8_t compose(uint8_t Effect, uint8_t Now) {
  // What may be held is what may be given back.
  if (Effect == (Given | Untouched) && Now == (Taken | Untouched))
    return Untouched;
  uint8_t Out = 0;
  if (Effect & Untouched)
    Out |= Now;
  if (Effect & Taken) {
    // Given back and taken again: as on entry, and sure to be held.
    if (Now & Given)
      Out |= Asserted;
    if (Now & ~Given)
      Out |= Taken;
  }
  if (Effect & Asserted)
    Out |= Now & Taken ? Now : uint8_t(Asserted);
  if (Effect & Given) {
    // Who took it under a condition gives it back under the same.
    if (Now & Taken)
      Out |= Untouched;
    if (Now & (Given | Asserted) || !(Now & Taken))
      Out |= Given;
  }
  return Out;
}

static void insert(LockState &S, LockItem Item) {
  auto It = llvm::lower_bound(
      S, Item.Lock, [](const LockItem &L, LockId R) { return L.Lock < R; });
  if (It != S.end() && It->Lock == Item.Lock) {
    Item.IfNonzero = Item.IfZero = Item.fates() | It->fates();
    Item.Cond = LockItem::None;
    Item.Of = 0;
    *It = Item;
    return;
  }
  S.insert(It, Item);
}

static LockItem merged(LockItem A, LockItem B) {
  if (A.Cond != B.Cond || A.Of != B.Of) {
    A.flatten();
    B.flatten();
  }
  A.IfNonzero |= B.IfNonzero;
  A.IfZero |= B.IfZero;
  A.Depth = std::min(A.Depth, B.Depth);
  return A;
}

/// Calls \p Each for every lock of either state with its item on both sides.
template <typename Fn>
static void both(const LockState &A, const LockState &B, Fn Each) {
  size_t I = 0, J = 0;
  while (I < A.size() || J < B.size()) {
    LockItem L, R;
    if (J == B.size() || (I < A.size() && A[I].Lock < B[J].Lock)) {
      L = A[I++];
      R.Lock = L.Lock;
      R.Depth = L.Depth;
    } else if (I == A.size() || B[J].Lock < A[I].Lock) {
      R = B[J++];
      L.Lock = R.Lock;
      L.Depth = R.Depth;
    } else {
      L = A[I++];
      R = B[J++];
    }
    Each(L, R);
  }
}

LockFlow::LockFlow(const Program &P, LockTable &Locks, const FunctionFacts &F,
                   const FunctionEffects &Effects)
    : P(P), Locks(Locks), F(F), Effects(Effects), In(F.Events.size() + 1, 0) {
  findShape();
  for (const CallEffects &C : Effects.Calls)
    EffectsAt[C.Event] = &C;
}

uint32_t LockFlow::stateId(LockState S) {
  llvm::erase_if(S, [](const LockItem &L) {
    return L.IfNonzero == Untouched && L.IfZero == Untouched;
  });
  auto [It, New] = StateIds.try_emplace(S, States.size() + 1);
  if (New)
    States.push_back(std::move(S));
  return It->second;
}

uint32_t LockFlow::join(uint32_t A, uint32_t B) {
  if (!A || !B || A == B)
    return A ? A : B;
  LockState Out;
  both(States[A - 1], States[B - 1], [&](const LockItem &L, const LockItem &R) {
    Out.push_back(merged(L, R));
  });
  return stateId(std::move(Out));
}

/// Joins the two sides of a branch, keeping apart what they did to a lock.
uint32_t LockFlow::meetAtEnd(uint32_t I) {
  auto [A, B] = Sides[I];
  if (!A || !B || A == B)
    return A ? A : B;
  uint32_t Opener = F.Events[I].Link;
  if (F.Events[Opener].Kind == EventKind::Else)
    Opener = F.Events[Opener - 1].Link;
  const Event &Branch = F.Events[Opener];
  if (!Branch.NumExprs || empty(Branch.Callee))
    return join(A, B);
  LockState Out;
  both(States[A - 1], States[B - 1], [&](LockItem L, LockItem R) {
    bool Apart = L.Cond == LockItem::None && R.Cond == LockItem::None &&
                 L.IfNonzero != R.IfNonzero;
    LockItem M = merged(L, R);
    if (Apart) {
      auto Tested = condition(Opener).variable();
      bool Swap = Tested && Tested->second;
      M.IfNonzero = Swap ? R.IfNonzero : L.IfNonzero;
      M.IfZero = Swap ? L.IfNonzero : R.IfNonzero;
      M.Cond = Tested ? LockItem::Variable : LockItem::Text;
      M.Of = uint32_t(Tested ? P.find(Tested->first) : Branch.Callee);
    }
    Out.push_back(M);
  });
  return stateId(std::move(Out));
}

void LockFlow::apply(LockState &S, const LockEffect &E, uint32_t Event) const {
  uint8_t All = E.IfNonzero | E.IfZero;
  auto Exact = llvm::find_if(
      S, [&](const LockItem &L) { return Locks.same(L.Lock, E.Lock); });
  if (Exact == S.end() && (All & Given)) {
    // Not known by its path: the one of its class that is held.
    llvm::SmallVector<size_t, 4> Held;
    for (size_t I = 0; I < S.size(); ++I)
      if ((S[I].fates() & (Taken | Asserted)) && Locks.alike(S[I].Lock, E.Lock))
        Held.push_back(I);
    if (Held.size() > 1) {
      for (size_t I : Held) {
        S[I].flatten();
        S[I].IfNonzero = S[I].IfZero = S[I].IfZero | Untouched;
      }
      return;
    }
    if (Held.size() == 1)
      Exact = S.begin() + Held[0];
  }
  LockItem L;
  L.Lock = E.Lock;
  if (Exact != S.end()) {
    L = *Exact;
    S.erase(Exact);
  }
  // Once taken in another mode, that mode counts.
  if (All & Taken && Locks.same(L.Lock, E.Lock))
    L.Lock = E.Lock;
  uint8_t Now = L.fates();
  if (isNesting(Locks[L.Lock].Kind) && Now == Taken) {
    if (E.IfNonzero == Taken && E.IfZero == Taken) {
      L.Depth = std::min(L.Depth + 1, 200);
    } else if (E.IfNonzero == Given && E.IfZero == Given && L.Depth > 1) {
      --L.Depth;
      insert(S, L);
      return;
    }
  } else if (Now != Taken) {
    L.Depth = 1;
  }
  L.IfNonzero = compose(E.IfNonzero, Now);
  L.IfZero = compose(E.IfZero, Now);
  L.Cond = LockItem::None;
  L.Of = 0;
  if (E.IfNonzero != E.IfZero) {
    L.Cond = LockItem::Result;
    L.Of = Event;
  }
  insert(S, L);
}

void LockFlow::assign(LockState &S, uint32_t I) const {
  const Event &E = F.Events[I];
  if (!E.NumExprs || S.empty())
    return;
  const Expr &Left = F.Exprs[E.FirstExpr];
  if ((Left.Root != RootKind::Local && Left.Root != RootKind::Param) ||
      !empty(Left.Field) || Left.Flags & (Expr::Deref | Expr::Indexed))
    return;
  LockState Out;
  for (LockItem L : S) {
    if ((L.Cond == LockItem::Variable && L.Of == uint32_t(Left.Base)) ||
        (L.Cond == LockItem::Text &&
         P.str(Sym(L.Of)).contains(P.str(Left.Base))))
      L.flatten();
    if (L.Cond == LockItem::Result && E.NumExprs == 2) {
      const Event &Call = F.Events[L.Of];
      const Expr &Right = F.Exprs[E.FirstExpr + 1];
      if (Call.Link == I ||
          (Right.Root == RootKind::Call && Right.Base == Call.Callee)) {
        L.Cond = LockItem::Variable;
        L.Of = uint32_t(Left.Base);
      }
    }
    // The path leads to another object now; this lock is known by its class.
    const Lock &Which = Locks[L.Lock];
    if (Which.Root == Left.Root && Which.Base == Left.Base)
      L.Lock = Locks.classOnly(L.Lock);
    insert(Out, L);
  }
  S = std::move(Out);
}

LockState LockFlow::transfer(uint32_t I, LockState S) const {
  const Event &E = F.Events[I];
  if (E.Kind == EventKind::Assign) {
    assign(S, I);
  } else if (auto It = EffectsAt.find(I); It != EffectsAt.end()) {
    for (const LockEffect &Each : It->second->Effects)
      apply(S, Each, I);
  }
  return S;
}

void LockFlow::run() {
  uint32_t End = F.Events.size();
  std::vector<bool> Dirty(End + 1, false);
  auto Reach = [&](uint32_t I, uint32_t State) {
    uint32_t New = join(In[I], State);
    if (New != In[I]) {
      In[I] = New;
      Dirty[I] = true;
    }
  };
  uint32_t Nothing = stateId({});
  Reach(0, Nothing);
  for (uint32_t I = 0; I < End; ++I)
    if (F.Events[I].Kind == EventKind::Lambda)
      Reach(I + 1, Nothing);
  llvm::SmallVector<Way, 8> Out;
  // Rounds around loops; the bound only stops states that keep being split.
  bool Again = true;
  for (unsigned Round = 0; Again && Round < 12; ++Round) {
    Again = false;
    for (uint32_t I = 0; I < End; ++I) {
      if (!Dirty[I])
        continue;
      Dirty[I] = false;
      LockState S = transfer(I, States[In[I] - 1]);
      uint32_t Plain = stateId(S);
      Out.clear();
      ways(I, Out);
      for (const Way &W : Out) {
        uint32_t Id = W.Branch < 0 && Effects.Guards.empty()
                          ? Plain
                          : stateId(along(I, W, S));
        if (auto It = Sides.find(W.To); It != Sides.end()) {
          uint32_t Opener = F.Events[W.To].Link;
          bool Second = F.Events[Opener].Kind == EventKind::Else
                            ? I > Opener
                            : I == Opener && !W.Holds;
          auto &Side = Second ? It->second.second : It->second.first;
          Side = join(Side, Id);
          Id = meetAtEnd(W.To);
          // What the sides know may grow, so the old meeting is no bound.
          if (Id != In[W.To]) {
            In[W.To] = Id;
            Dirty[W.To] = true;
          }
        } else {
          Reach(W.To, Id);
        }
        Again |= W.To <= I && Dirty[W.To];
      }
    }
  }
  // Where the way ends: at returns, and behind the last event.
  for (uint32_t I = 0; I < End; ++I)
    if (F.Events[I].Kind == EventKind::Return && In[I] && LambdaOf[I] < 0)
      leave(I, States[In[I] - 1]);
  if (In[End]) {
    AtZero = join(AtZero, In[End]);
    AtNonzero = join(AtNonzero, In[End]);
  }
}

/// Notes the state at the return at event \p I by the value that it returns.
void LockFlow::leave(uint32_t I, const LockState &At) {
  LockState S = along(I, {uint32_t(F.Events.size())}, At);
  const Event &E = F.Events[I];
  Value Returns = Value::Unknown;
  LockState IfZero = S, IfNonzero = S;
  if (E.NumExprs) {
    const Expr &X = F.Exprs[E.FirstExpr];
    StringRef Text = P.str(X.Text);
    if (X.Root == RootKind::Null || Text == "0" || Text == "false")
      Returns = Value::Zero;
    else if (X.Root == RootKind::Constant && Text != "const")
      Returns = Value::Nonzero;
    LockCondition C(Text);
    for (size_t K = 0; K < S.size(); ++K) {
      std::optional<bool> Nonzero;
      if (S[K].Cond == LockItem::Result)
        isResult(C, S[K].Of, true, Nonzero);
      else if (S[K].Cond == LockItem::Variable)
        Nonzero = C.nonzero(P.str(Sym(S[K].Of)), false, true);
      if (Nonzero) {
        IfNonzero[K].IfZero = IfNonzero[K].IfNonzero =
            *Nonzero ? S[K].IfNonzero : S[K].IfZero;
        IfZero[K].IfZero = IfZero[K].IfNonzero =
            *Nonzero ? S[K].IfZero : S[K].IfNonzero;
      }
    }
  }
  for (LockState *Each : {&IfZero, &IfNonzero})
    for (LockItem &L : *Each)
      L.flatten();
  if (Returns != Value::Nonzero)
    AtZero = join(AtZero, stateId(IfZero));
  if (Returns != Value::Zero)
    AtNonzero = join(AtNonzero, stateId(IfNonzero));
}

LockSummary LockFlow::summary() const {
  uint32_t Zero = AtZero ? AtZero : AtNonzero;
  uint32_t Nonzero = AtNonzero ? AtNonzero : AtZero;
  LockSummary Out;
  if (!Zero)
    return Out;
  // To callers, what was held on entry and still is has not been touched.
  auto Seen = [](uint8_t Fates) -> uint8_t {
    return Fates & Asserted ? (Fates & ~Asserted) | Untouched : Fates;
  };
  both(States[Nonzero - 1], States[Zero - 1],
       [&](const LockItem &L, const LockItem &R) {
         LockEffect E{L.Lock, Seen(L.fates()), Seen(R.fates())};
         if (E.IfNonzero == Untouched && E.IfZero == Untouched)
           return;
         RootKind Root = Locks[E.Lock].Root;
         if (Root != RootKind::Param && Root != RootKind::Global)
           E.Lock = Locks.classOnly(E.Lock);
         auto It = llvm::find_if(
             Out, [&](const LockEffect &O) { return O.Lock == E.Lock; });
         if (It == Out.end()) {
           Out.push_back(E);
         } else {
           It->IfNonzero |= E.IfNonzero;
           It->IfZero |= E.IfZero;
         }
       });
  // What a callee may have done is passed on once, or in the end everything
  // might do anything.
  llvm::erase_if(Out, [&](const LockEffect &E) {
    if (!(E.IfNonzero & E.IfZero & Untouched))
      return false;
    for (const CallEffects &C : Effects.Calls)
      for (const LockEffect &Own : C.Effects)
        if (!(Own.IfNonzero & Own.IfZero & Untouched) &&
            (Locks.same(Own.Lock, E.Lock) || Locks.alike(Own.Lock, E.Lock)))
          return false;
    return true;
  });
  return Out;
}

} // namespace decontend
