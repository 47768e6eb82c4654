//===- LocksetsEntry.cpp - Locks that callers hold ------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocksetsWhole.h"
#include <set>

namespace decontend {

LockId Locksets::Whole::kindOnly(LockId I) const {
  Lock L = Locks[I];
  Lock Out;
  Out.Kind = L.Kind;
  Out.KindName = L.KindName;
  Out.Mode = L.Mode;
  return Locks.intern(Out);
}

/// The locks that a caller holds, as the callee sees them.
std::vector<HeldLock> Locksets::Whole::translated(const Edge &E,
                                                  const LockSet &Held) const {
  std::vector<HeldLock> Out;
  const FunctionFacts &Caller = *P.node(E.Caller).Facts;
  const FunctionFacts *Callee = P.node(E.Callee).Facts;
  const Event &Call = Caller.Events[E.Event];
  for (const HeldLock &H : Held) {
    Lock L = Locks[H.Lock];
    LockId Id = H.Lock;
    if (L.Root != RootKind::Global) {
      Id = Locks.classOnly(H.Lock);
      bool Passes = Callee && E.Kind != EdgeKind::InPlace && !empty(L.Text);
      for (uint16_t I = 0; Passes && I <= Callee->Params.size(); ++I) {
        // Last of all, the object of a method.
        bool This = I == Callee->Params.size();
        const Expr *X =
            Effects.argument(Caller, Call, *Callee, This ? 0xffff : I);
        if (!X || X->Root != L.Root || X->Base != L.Base)
          continue;
        llvm::StringRef Arg = P.str(X->Text);
        llvm::StringRef Param = This ? "this" : P.str(Callee->Params[I].Name);
        std::string Text =
            seenFromParam(Locks.text(H.Lock), Arg, Param,
                          !(X->Flags & Expr::Pointer) && !Arg.starts_with("&"));
        if (Text.empty())
          continue;
        L.Root = RootKind::Param;
        L.Base = This ? P.find("this") : Callee->Params[I].Name;
        L.Index = This ? 0xffff : I;
        L.Text = Locks.names().intern(Text);
        Id = Locks.intern(L);
        break;
      }
    }
    Out.push_back({Id, H.Surely, true});
  }
  return Out;
}

/// Lets one more caller in. True if what is known has changed.
bool Locksets::Whole::merge(Entry &To, std::vector<HeldLock> From,
                            uint32_t Dropped, bool Atomic) {
  std::vector<HeldLock> Out;
  auto Add = [&](LockId Id, bool Surely) {
    for (HeldLock &H : Out)
      if (H.Lock == Id) {
        H.Surely |= Surely;
        return;
      }
    Out.push_back({Id, Surely, true});
  };
  if (!To.Seen) {
    for (const HeldLock &H : From)
      Add(H.Lock, H.Surely);
    To.SurelyAtomic = Atomic;
  } else {
    // What both have: the path, the class, or at least the kind.
    auto Common = [&](const HeldLock &Old) -> std::optional<LockId> {
      const HeldLock *Best = nullptr;
      int Rank = 0;
      for (const HeldLock &New : From) {
        const Lock &A = Locks[Old.Lock], &B = Locks[New.Lock];
        int R = !New.Surely                             ? 0
                : Locks.same(Old.Lock, New.Lock)        ? 3
                : !empty(A.Class) && A.Class == B.Class ? 2
                : A.KindName == B.KindName              ? 1
                                                        : 0;
        if (R > Rank) {
          Rank = R;
          Best = &New;
        }
      }
      if (!Best)
        return std::nullopt;
      LockId Id = Rank == 3   ? Old.Lock
                  : Rank == 2 ? Locks.classOnly(Old.Lock)
                              : kindOnly(Old.Lock);
      return Locks.weaker(Id, Locks[Best->Lock].Mode);
    };
    for (const HeldLock &Old : To.Held) {
      auto Id = Old.Surely ? Common(Old) : std::nullopt;
      if (Id)
        Add(*Id, true);
      if (!Id || !Locks.same(*Id, Old.Lock))
        Add(Locks.classOnly(Old.Lock), false);
    }
    for (const HeldLock &New : From) {
      bool Kept = false;
      for (const HeldLock &H : Out)
        Kept |= Locks.same(H.Lock, New.Lock);
      if (!Kept)
        Add(Locks.classOnly(New.Lock), false);
    }
    Atomic &= To.SurelyAtomic;
  }
  Dropped |= To.Dropped;
  unsigned Possible = 0;
  llvm::erase_if(Out, [&](const HeldLock &H) {
    if (H.Surely || ++Possible <= MaxPossible)
      return false;
    Dropped |= 1u << unsigned(Locks[H.Lock].Kind);
    return true;
  });
  llvm::sort(Out, [](const HeldLock &A, const HeldLock &B) {
    return A.Lock < B.Lock;
  });
  bool Changed = !To.Seen || Out != To.Held || Dropped != To.Dropped ||
                 Atomic != To.SurelyAtomic;
  To.Seen = true;
  To.Held = std::move(Out);
  To.Dropped = Dropped;
  To.SurelyAtomic = Atomic;
  return Changed;
}

void Locksets::Whole::enterAll() {
  // Callers first, so that most functions are visited once.
  std::set<std::pair<uint32_t, NodeId>> Queue;
  auto Push = [&](NodeId N) { Queue.insert({~Order[N], N}); };
  std::vector<bool> Listed(P.nodes().size(), false);
  for (const EntryPoint &E : P.entries()) {
    Listed[E.Node] = true;
    std::vector<HeldLock> Held;
    if (!E.Holds.empty())
      Held.push_back({Effects.globalLock(E.Holds), true, true});
    if (merge(Entries[E.Node], std::move(Held), 0, false))
      Push(E.Node);
  }
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const Node &Each = P.node(N);
    bool Indirect = false;
    for (uint32_t I : P.callers(N))
      Indirect |= P.edges()[I].Kind != EdgeKind::Direct;
    bool Open = Each.Exported || P.callers(N).empty() ||
                (Each.AddressTaken && !Indirect);
    if (Open && !Listed[N] && merge(Entries[N], {}, 0, false))
      Push(N);
    else if (Each.Exported && merge(Entries[N], {}, 0, false))
      Push(N);
  }
  while (!Queue.empty()) {
    NodeId N = Queue.begin()->second;
    Queue.erase(Queue.begin());
    for (uint32_t I : P.callees(N)) {
      const Edge &E = P.edges()[I];
      bool Detached = false;
      if (!fates(N, E.Event, Detached))
        continue;
      LockSet Held = before(N, E.Event);
      if (merge(Entries[E.Callee], translated(E, Held),
                Detached ? 0 : Entries[N].Dropped,
                surelyAtomic(N, E.Event, Held)))
        Push(E.Callee);
    }
  }
}

} // namespace decontend
