//===- Locksets.cpp - Locks that are held at each event -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Locksets.h"
#include "LocksetsWhole.h"
#include <set>

namespace decontend {

Locksets::Whole::Whole(const Program &P)
    : P(P), Effects(P, Locks), Summaries(P.nodes().size()),
      Entries(P.nodes().size()) {
  orderCallees();
  summarise();
  enterAll();
}

/// Numbers nodes so that callees come before callers, but for recursion.
void Locksets::Whole::orderCallees() {
  Order.assign(P.nodes().size(), ~0u);
  uint32_t Next = 0;
  std::vector<bool> Entered(P.nodes().size(), false);
  std::vector<std::pair<NodeId, size_t>> Stack;
  for (NodeId Root = 0; Root < P.nodes().size(); ++Root) {
    if (Entered[Root])
      continue;
    Entered[Root] = true;
    Stack.push_back({Root, 0});
    while (!Stack.empty()) {
      auto &[N, At] = Stack.back();
      auto Out = P.callees(N);
      if (At == Out.size()) {
        Order[N] = Next++;
        Stack.pop_back();
        continue;
      }
      NodeId To = P.edges()[Out[At++]].Callee;
      if (!Entered[To]) {
        Entered[To] = true;
        Stack.push_back({To, 0});
      }
    }
  }
}

uint32_t Locksets::Whole::setId(FateSet S) {
  auto [It, New] = SetIds.try_emplace(S, Sets.size());
  if (New)
    Sets.push_back(std::move(S));
  return It->second;
}

/// Computes states and net effect of one function. True if the effect is new.
bool Locksets::Whole::analyse(NodeId N) {
  const FunctionFacts &F = *P.node(N).Facts;
  FunctionEffects Own = Effects.of(F, Summaries);
  if (Own.Calls.empty())
    return false;
  LockFlow Flow(P, Locks, F, Own);
  Flow.run();
  Body B;
  uint32_t Last = ~1u;
  const LockState *LastState = nullptr;
  for (uint32_t I = 0; I <= F.Events.size(); ++I) {
    const LockState *S = Flow.before(I);
    uint32_t Id = Unreached;
    if (S && S == LastState) {
      Id = Last;
    } else if (S) {
      FateSet Fates;
      for (const LockItem &L : *S)
        Fates.push_back({L.Lock, L.fates()});
      Id = setId(std::move(Fates));
    }
    if (Id != Last)
      B.Changes.push_back({I, Id});
    Last = Id;
    LastState = S;
    if (I < F.Events.size() && F.Events[I].Kind == EventKind::Lambda)
      B.Detached.push_back({I, F.Events[I].Link});
  }
  Bodies[N] = std::move(B);
  LockSummary New = Flow.summary();
  if (New == Summaries[N])
    return false;
  Summaries[N] = std::move(New);
  return true;
}

void Locksets::Whole::summarise() {
  std::set<std::pair<uint32_t, NodeId>> Queue;
  for (NodeId N = 0; N < P.nodes().size(); ++N)
    if (P.node(N).Facts && Effects.actsItself(*P.node(N).Facts))
      Queue.insert({Order[N], N});
  // Recursion that goes on changing its effect is left as it is.
  constexpr uint8_t MaxVisits = 6;
  std::vector<uint8_t> Visits(P.nodes().size(), 0);
  while (!Queue.empty()) {
    NodeId N = Queue.begin()->second;
    Queue.erase(Queue.begin());
    ++Visits[N];
    if (!analyse(N))
      continue;
    for (uint32_t I : P.callers(N)) {
      const Edge &E = P.edges()[I];
      if (E.Kind == EdgeKind::Direct && Visits[E.Caller] < MaxVisits)
        Queue.insert({Order[E.Caller], E.Caller});
    }
  }
}

const Locksets::Whole::FateSet *Locksets::Whole::fates(NodeId N, uint32_t Event,
                                                       bool &Detached) const {
  static const FateSet Nothing;
  Detached = false;
  auto It = Bodies.find(N);
  if (It == Bodies.end())
    return &Nothing;
  for (auto [Begin, End] : It->second.Detached)
    Detached |= Begin < Event && Event <= End;
  const auto &Changes = It->second.Changes;
  auto At = llvm::upper_bound(
      Changes, Event, [](uint32_t E, const auto &C) { return E < C.first; });
  if (At == Changes.begin())
    return &Nothing;
  uint32_t Set = std::prev(At)->second;
  return Set == Unreached ? nullptr : &Sets[Set];
}

LockSet Locksets::Whole::before(NodeId N, uint32_t Event) const {
  LockSet Out;
  if (!P.node(N).Facts)
    return Out;
  bool Detached = false;
  const FateSet *Now = fates(N, Event, Detached);
  if (!Now)
    return Out;
  const auto &Entry = Entries[N].Held;
  auto Add = [&](HeldLock H) {
    for (HeldLock &Old : Out)
      if (Locks.same(Old.Lock, H.Lock)) {
        Old.Surely |= H.Surely;
        return;
      }
    Out.push_back(H);
  };
  for (const Fate &F : *Now)
    if (F.Fates & (Taken | Asserted)) {
      // Untouched is as good, if all callers hold it.
      bool Held = false;
      if (!Detached)
        for (const HeldLock &H : Entry)
          Held |= H.Surely && Locks.same(H.Lock, F.Lock);
      uint8_t Bad = Held ? Given : Given | Untouched;
      Add({F.Lock, !(F.Fates & Bad), !(F.Fates & Taken)});
    }
  if (!Detached)
    for (const HeldLock &H : Entry) {
      uint8_t Fates = Untouched;
      bool Exact = false;
      for (const Fate &F : *Now)
        if (Locks.same(F.Lock, H.Lock)) {
          Fates = F.Fates;
          Exact = true;
        }
      if (!Exact)
        for (const Fate &F : *Now) {
          bool Unknown = empty(Locks[F.Lock].Text) || empty(Locks[H.Lock].Text);
          if (!Unknown || !Locks.alike(F.Lock, H.Lock))
            continue;
          // What the code asserts is the one that callers hold.
          if (F.Fates & Asserted)
            Fates = Given;
          else if (F.Fates & Given)
            Fates = F.Fates;
        }
      if (Fates & Untouched)
        Add({H.Lock, H.Surely && Fates == Untouched, true});
    }
  llvm::sort(Out, [](const HeldLock &A, const HeldLock &B) {
    return A.Lock < B.Lock;
  });
  return Out;
}

bool Locksets::Whole::surelyAtomic(NodeId N, uint32_t Event,
                                   const LockSet &Held) const {
  for (const HeldLock &H : Held)
    if (H.Surely && isAtomic(Locks[H.Lock].Kind))
      return true;
  if (!Entries[N].SurelyAtomic)
    return false;
  bool Detached = false;
  const FateSet *Now = fates(N, Event, Detached);
  return Now && !Detached && llvm::none_of(*Now, [&](const Fate &F) {
           return F.Fates & Given && isAtomic(Locks[F.Lock].Kind);
         });
}

Locksets::Locksets(const Program &P) : P(P) {}
Locksets::~Locksets() = default;

const Locksets::Whole &Locksets::whole() const {
  if (!Tables)
    Tables = std::make_unique<Whole>(P);
  return *Tables;
}

LockSet Locksets::before(NodeId N, uint32_t Event) const {
  return whole().before(N, Event);
}

LockSet Locksets::onEntry(NodeId N) const {
  const auto &Held = whole().Entries[N].Held;
  return LockSet(Held.begin(), Held.end());
}

llvm::ArrayRef<LockEffect> Locksets::netEffect(NodeId N) const {
  return whole().Summaries[N];
}

template <typename Fn>
static bool any(const LockSet &Held, Certainty C, Fn Wanted) {
  for (const HeldLock &H : Held)
    if ((H.Surely || C == Certainty::Possibly) && Wanted(H.Lock))
      return true;
  return false;
}

bool Locksets::held(NodeId N, uint32_t Event, LockKind K, Certainty C) const {
  const Whole &W = whole();
  if (C == Certainty::Possibly && W.Entries[N].Dropped >> unsigned(K) & 1)
    return true;
  return any(W.before(N, Event), C,
             [&](LockId I) { return W.Locks[I].Kind == K; });
}

bool Locksets::heldClass(NodeId N, uint32_t Event, Sym Class,
                         Certainty C) const {
  const Whole &W = whole();
  return !empty(Class) && any(W.before(N, Event), C, [&](LockId I) {
    return W.Locks[I].Class == Class;
  });
}

bool Locksets::atomic(NodeId N, uint32_t Event, Certainty C) const {
  const Whole &W = whole();
  LockSet Held = W.before(N, Event);
  if (C == Certainty::Surely)
    return W.surelyAtomic(N, Event, Held);
  for (unsigned K = 0; K <= unsigned(LockKind::Other); ++K)
    if (isAtomic(LockKind(K)) && W.Entries[N].Dropped >> K & 1)
      return true;
  return any(Held, C, [&](LockId I) { return isAtomic(W.Locks[I].Kind); });
}

LockSet Locksets::sleeping(NodeId N, uint32_t Event) const {
  LockSet Out = before(N, Event);
  llvm::erase_if(
      Out, [&](const HeldLock &H) { return isAtomic(lock(H.Lock).Kind); });
  return Out;
}

const Lock &Locksets::lock(LockId I) const { return whole().Locks[I]; }

llvm::StringRef Locksets::text(LockId I) const { return whole().Locks.text(I); }

llvm::StringRef Locksets::className(LockId I) const {
  return P.str(lock(I).Class);
}

llvm::StringRef Locksets::kindName(LockId I) const {
  return whole().Locks.kindName(I);
}

size_t Locksets::functionsWithLocks() const { return whole().Bodies.size(); }

} // namespace decontend
