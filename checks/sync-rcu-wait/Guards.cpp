//===- Guards.cpp - What must hold before a wait is moved -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "fmt/format.h"
#include "llvm/Support/Path.h"
#include <algorithm>

namespace decontend {

bool commentAgrees(const PlanSite &S, Ledger &L) {
  llvm::StringRef Comment = S.P.str(S.event().Comment);
  std::string Lower = Comment.lower();
  llvm::StringRef Words = Lower;
  bool Claims = false;
  for (llvm::StringRef W : {"ensure", "must", "before"})
    Claims |= mentions(Words, W);
  Claims |= Words.contains("make sure");
  bool Freeing = Words.contains("free") || Words.contains("releas");
  bool Objects = mentions(Words, "also") || (Claims && !Freeing);
  if (Comment.empty())
    return L.require("comment-agrees", true, "no comment at the wait");
  return L.require("comment-agrees", !Objects,
                   fmt::format("the comment at the wait {}: \"{}\"",
                               Objects ? "gives it a purpose beyond freeing"
                                       : "speaks of no other purpose",
                               Comment.take_front(160).str()));
}

/// All events before \p Before that hide \p X, as unlinkedBefore() finds them.
static bool hides(const PlanSite &S, const Expr &X, uint32_t Event) {
  for (int I = unlinkedBefore(S.P, S.Shape, S.Call, X); I >= 0;
       I = unlinkedBefore(S.P, S.Shape, I, X))
    if (uint32_t(I) == Event)
      return true;
  return false;
}

bool nothingElseUnlinked(const PlanSite &S, Ledger &L,
                         llvm::ArrayRef<const Expr *> Freed) {
  for (uint32_t I = 0; I < S.Call; ++I) {
    const Event &E = S.F.Events[I];
    const FunctionModel *M = S.P.modelOf(E);
    if (!M && E.Kind == EventKind::Assign && !empty(E.Macro))
      M = S.P.models().function(S.P.str(E.Macro));
    if (!M || M->Unlinks < 0)
      continue;
    std::string Name =
        E.Kind == EventKind::Call ? S.spelled(E) : S.P.str(E.Macro).str();
    // Plain lists are not read under RCU.
    llvm::StringRef Ref = Name;
    if (!Ref.contains("rcu") && !Ref.contains("RCU"))
      continue;
    auto Args = S.F.exprs(E);
    if (M->UnlinksIfNull && Args.size() > 1 && Args[1].Root != RootKind::Null)
      continue;
    bool Ours = std::any_of(Freed.begin(), Freed.end(),
                            [&](const Expr *X) { return hides(S, *X, I); });
    if (!Ours)
      return L.require("nothing-else-unlinked", false,
                       fmt::format("{}() at {} hides something else, for "
                                   "which the wait may be meant too",
                                   Name, S.at(I)));
  }
  return L.require("nothing-else-unlinked", true,
                   "only what is freed is hidden from readers before the wait");
}

bool callersDoNotRely(const PlanSite &S, Ledger &L) {
  std::string Seen;
  unsigned Count = 0;
  for (uint32_t I : S.P.callers(S.Id)) {
    const Edge &E = S.P.edges()[I];
    const Node &Caller = S.P.node(E.Caller);
    if (!Caller.Facts || E.Caller == S.Id)
      continue;
    Flow Around(S.P, *Caller.Facts);
    for (uint32_t J : Around.following(E.Event)) {
      const FunctionModel *M = S.P.modelOf(Caller.Facts->Events[J]);
      if (!M)
        continue;
      if (M->Wait)
        break; // waits itself
      if (M->Frees >= 0 || M->DestroysDomain)
        return L.require(
            "callers-do-not-rely", false,
            fmt::format("{}() calls {}() at {} and then {}() at {}, which may "
                        "need that readers are gone",
                        S.P.name(E.Caller).str(), S.Found.Function,
                        S.where(E.Caller, E.Event),
                        S.P.calleeName(Caller.Facts->Events[J]).str(),
                        S.where(E.Caller, J)));
    }
    if (Count++ < 2)
      Seen += (Seen.empty() ? "" : ", ") + S.where(E.Caller, E.Event);
  }
  std::string Why =
      Count
          ? fmt::format("no caller frees anything right behind the call "
                        "({}{})",
                        Seen,
                        Count > 2 ? fmt::format(" and {} more", Count - 2) : "")
          : "no direct caller is seen";
  if (S.Function.Exported)
    Why += "; it is exported, so callers outside must be looked at";
  if (S.Function.AddressTaken)
    Why += "; it is called through a pointer as well";
  Why += "; to be confirmed: readers reach through the object nothing that "
         "callers end";
  return L.require("callers-do-not-rely", true, std::move(Why));
}

std::vector<NodeId> exitFunctions(const PlanSite &S) {
  llvm::StringRef Folder = llvm::sys::path::parent_path(S.file());
  std::vector<NodeId> Own, Near;
  for (NodeId N = 0; N < S.P.nodes().size(); ++N) {
    const Node &Node = S.P.node(N);
    if (!Node.Facts || !Node.Unit)
      continue;
    llvm::StringRef File = S.P.str(Node.Facts->Where.File);
    if (llvm::sys::path::parent_path(File) != Folder)
      continue;
    bool Marked = false, AnyMarker = false;
    for (const MarkerFacts &M : Node.Unit->Markers)
      if (S.P.str(M.Macro) == "module_exit") {
        AnyMarker = true;
        Marked |= M.Argument == Node.Name;
      }
    // Without a marker, its section tells: helpers of macros make both.
    if (!Marked && (AnyMarker || S.P.str(Node.Facts->Section) != ".exit.text"))
      continue;
    (File == S.file() ? Own : Near).push_back(N);
  }
  return Own.empty() ? Near : Own;
}

/// Does \p N call \p Barrier, itself or within \p Depth calls?
static bool reaches(const Program &P, NodeId N, llvm::StringRef Barrier,
                    unsigned Depth) {
  for (uint32_t I : P.callees(N)) {
    NodeId Callee = P.edges()[I].Callee;
    if (P.name(Callee) == Barrier ||
        (Depth > 1 && reaches(P, Callee, Barrier, Depth - 1)))
      return true;
  }
  return false;
}

bool moduleOutlivesCallback(const PlanSite &S, Ledger &L) {
  const char *Name = "module-outlives-callback";
  if (S.userSpace())
    return L.require(Name, true, "the program's code stays");
  const std::string &Barrier = S.wait()->BarrierCall;
  std::vector<NodeId> Exits = exitFunctions(S);
  for (NodeId N : Exits)
    if (!reaches(S.P, N, Barrier, 3))
      return L.require(
          Name, false,
          fmt::format("{}() at {}:{} unloads this code without {}(), so a "
                      "callback could still be pending",
                      S.P.name(N).str(),
                      S.P.str(S.P.node(N).Facts->Where.File).str(),
                      S.P.node(N).Facts->Where.Line, Barrier));
  return L.require(Name, true,
                   Exits.empty()
                       ? "no exit function in this folder: it is never unloaded"
                       : fmt::format("{}() waits with {}()",
                                     S.P.name(Exits[0]).str(), Barrier));
}

/// Looks for calls that end what \p What names and have no barrier before them.
static bool endsBehindBarrier(const PlanSite &S, Ledger &L,
                              llvm::StringRef Guard, llvm::StringRef Kind,
                              const Expr &What, llvm::StringRef Barrier) {
  std::string Proof;
  bool Named = !empty(What.Field) || What.Root == RootKind::Global;
  if (!L.require(Guard, Named,
                 Named ? fmt::format("the {} is {}", Kind.str(),
                                     S.P.str(What.Text).str())
                       : fmt::format("it is not seen which {} `{}` is",
                                     Kind.str(), S.P.str(What.Text).str())))
    return false;
  for (NodeId N = 0; N < S.P.nodes().size(); ++N) {
    const FunctionFacts *F = S.P.node(N).Facts;
    if (!F)
      continue;
    for (uint32_t I = 0; I < F->Events.size(); ++I) {
      const FunctionModel *M = S.P.modelOf(F->Events[I]);
      if (!M || !M->DestroysDomain || F->Events[I].NumExprs == 0)
        continue;
      const Expr &X = F->exprs(F->Events[I])[0];
      bool Same = !empty(What.Field)
                      ? X.Field == What.Field
                      : X.Root == RootKind::Global && X.Base == What.Base;
      if (!Same)
        continue;
      bool Waited = false;
      for (uint32_t E : S.P.callees(N)) {
        const Edge &Ed = S.P.edges()[E];
        if (Ed.Event < I && (S.P.name(Ed.Callee) == Barrier ||
                             reaches(S.P, Ed.Callee, Barrier, 2)))
          Waited = true;
      }
      if (!Waited)
        return L.require(Guard, false,
                         fmt::format("{}() at {} ends the {} without {}() "
                                     "before it",
                                     S.P.calleeName(F->Events[I]).str(),
                                     S.where(N, I), Kind.str(), Barrier.str()));
      Proof = fmt::format("{}() comes before {}", Barrier.str(), S.where(N, I));
    }
  }
  return L.require(Guard, true,
                   Proof.empty()
                       ? fmt::format("the {} is never destroyed", Kind.str())
                       : Proof);
}

bool cacheOutlivesCallback(const PlanSite &S, Ledger &L, const Expr &Cache) {
  return endsBehindBarrier(S, L, "cache-outlives-callback", "cache", Cache,
                           S.wait()->BarrierCall);
}

bool domainOutlivesCallback(const PlanSite &S, Ledger &L) {
  int Arg = S.wait()->DomainArg;
  if (Arg < 0)
    return true;
  auto Args = S.F.exprs(S.event());
  if (size_t(Arg) >= Args.size())
    return L.require("domain-outlives-callback", false,
                     "the domain of the wait is not seen");
  return endsBehindBarrier(S, L, "domain-outlives-callback", "SRCU domain",
                           Args[Arg], S.wait()->BarrierCall);
}

bool mayRunInCallback(const PlanSite &S, Ledger &L, uint32_t Free) {
  // Frees that are made from soft interrupts; vfree() may sleep otherwise.
  static constexpr llvm::StringLiteral Atomic[] = {
      "kfree",        "kfree_sensitive",  "kfree_const",      "kmem_cache_free",
      "free_percpu",  "free_page",        "free_pages",       "__free_page",
      "__free_pages", "kfree_skb",        "kfree_skb_reason", "consume_skb",
      "bitmap_free",  "free_cpumask_var", "vfree_atomic"};
  const Event &E = S.F.Events[Free];
  const FunctionModel *M = S.P.modelOf(E);
  std::string Name = S.P.calleeName(E).str();
  bool Fits = M && !M->Sleeps &&
              (S.userSpace() || std::find(std::begin(Atomic), std::end(Atomic),
                                          Name) != std::end(Atomic));
  return L.require("callback-context", Fits,
                   fmt::format("{}() at {} {}", Name, S.at(Free),
                               Fits ? "never sleeps"
                                    : "may sleep, or may touch more than "
                                      "memory; a callback must not"));
}

/// Does the block around \p I leave the function, so that what it releases
/// stays held for whoever goes on?
static bool leaves(const PlanSite &S, uint32_t I) {
  int Up = S.Shape.parent(I);
  if (Up < 0)
    return false;
  for (uint32_t J = Up + 1; J < S.F.Events[Up].Link; ++J)
    if (S.Shape.parent(J) == Up && (S.F.Events[J].Kind == EventKind::Return ||
                                    S.F.Events[J].Kind == EventKind::Goto))
      return true;
  return false;
}

int lockHeldAt(const PlanSite &S, uint32_t I) {
  std::vector<uint32_t> Held;
  for (uint32_t J = 0; J < I; ++J) {
    const FunctionModel *M = S.P.modelOf(S.F.Events[J]);
    if (!M || M->Lock.empty())
      continue;
    if (M->Acquires >= 0) {
      Held.push_back(J);
    } else if (M->Releases >= 0 && !leaves(S, J)) {
      for (size_t K = Held.size(); K-- > 0;)
        if (S.P.modelOf(S.F.Events[Held[K]])->Lock == M->Lock) {
          Held.erase(Held.begin() + K);
          break;
        }
    }
  }
  return Held.empty() ? -1 : int(Held.back());
}

} // namespace decontend
