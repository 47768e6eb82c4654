//===- Contexts.cpp - How functions are reached ---------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sections, names, markers, slots, callbacks --> entry points
//   entry points --> breadth first over calls, one search per context bit
//
// Calls on error paths do not carry a context: a teardown function that set-up
// calls when it fails is not set-up. May miss heat, never invents it.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

static constexpr uint32_t FromEntry = 1u << 31;

void Program::computeContexts() {
  // Markers name a function of their own unit.
  for (const auto &Unit : Units)
    for (const MarkerFacts &Mark : Unit->Markers) {
      const EntryModel *M =
          Knowledge.entry(EntryModel::Marker, str(Mark.Macro));
      if (!M)
        continue;
      NodeId N = find(Mark.Argument);
      if (N == NoNode || !Nodes[N].Facts) {
        Sym Static =
            Names.find((str(Mark.Argument) + "@" + str(Unit->MainFile)).str());
        N = empty(Static) ? NoNode : find(Static);
      }
      if (N == NoNode)
        continue;
      if (M->Exports)
        Nodes[N].Exported = true;
      if (M->Context)
        Entries.push_back(
            {N, M->Context,
             (str(Mark.Macro) + "(" + str(Mark.Argument) + ")").str(),
             Mark.Where, "", false});
    }
  for (NodeId N = 0; N < Nodes.size(); ++N) {
    if (!Nodes[N].Facts)
      continue;
    const FunctionFacts &F = *Nodes[N].Facts;
    if (!empty(F.Section))
      if (const EntryModel *M =
              Knowledge.entry(EntryModel::Section, str(F.Section)))
        Entries.push_back({N, M->Context, ("section " + str(F.Section)).str(),
                           F.Where, "", false});
    if (const EntryModel *M = Knowledge.entry(EntryModel::Name, str(F.Name)))
      if (M->Context)
        Entries.push_back(
            {N, M->Context,
             M->Why.empty() ? ("named " + str(F.Name)).str() : M->Why, F.Where,
             "", false});
  }
  llvm::DenseMap<Sym, const SlotModel *> SlotModels;
  for (const SlotFill &S : AllSlots) {
    auto [It, New] = SlotModels.try_emplace(S.Slot, nullptr);
    if (New)
      It->second = Knowledge.slot(str(S.Slot));
    if (!It->second || !It->second->Context)
      continue;
    std::string Why = str(S.Slot).str();
    if (!empty(S.Object))
      Why += " of " + str(S.Object).split('@').first.str();
    if (!It->second->Why.empty())
      Why += " (" + It->second->Why + ")";
    Entries.push_back({find(S.Function), It->second->Context, std::move(Why),
                       S.Where, It->second->Holds, It->second->Worker, S.Slot});
  }
  // Some folders are for administrators only, whatever tables they fill.
  llvm::DenseMap<Sym, uint16_t> OfFile;
  for (EntryPoint &E : Entries) {
    auto [It, New] = OfFile.try_emplace(E.Where.File, CtxNone);
    if (New)
      if (const EntryModel *M =
              Knowledge.entry(EntryModel::File, str(E.Where.File)))
        It->second = M->Context;
    if (E.Context & (CtxHot | CtxSetup | CtxTeardown))
      E.Context |= It->second;
  }
  auto IsModelledSlot = [&](const Edge &E) {
    if (E.Kind != EdgeKind::Slot && E.Kind != EdgeKind::SlotMany)
      return false;
    Sym Slot = Nodes[E.Caller].Facts->Events[E.Event].Callee;
    auto It = SlotModels.find(Slot);
    // What a model says of a slot, its callers need not say again.
    return It != SlotModels.end() && It->second != nullptr;
  };

  for (unsigned Bit = 0; Bit < 8; ++Bit) {
    std::vector<uint32_t> &R = Reached[Bit];
    R.assign(Nodes.size(), ~0u);
    // Entries that administrators alone reach come second: whoever is reached
    // from another one too is not rare.
    for (bool Rare : {false, true}) {
      std::vector<NodeId> Queue;
      for (uint32_t I = 0; I < Entries.size(); ++I) {
        NodeId N = Entries[I].Node;
        if ((Entries[I].Context & (1u << Bit)) && R[N] == ~0u &&
            bool(Entries[I].Context & CtxAdmin) == Rare) {
          R[N] = FromEntry | I;
          Queue.push_back(N);
        }
      }
      for (size_t Head = 0; Head < Queue.size(); ++Head) {
        NodeId N = Queue[Head];
        Nodes[N].Contexts |= 1u << Bit;
        if (!Rare)
          Nodes[N].Frequent |= 1u << Bit;
        if (Nodes[N].Model && Nodes[N].Model->Opaque)
          continue;
        for (uint32_t E : Out[N]) {
          NodeId To = Edges[E].Callee;
          if (R[To] != ~0u || Edges[E].OnErrorPath || IsModelledSlot(Edges[E]))
            continue;
          R[To] = E;
          Queue.push_back(To);
        }
      }
    }
  }
  for (const Node &N : Nodes)
    if (N.Facts && N.Contexts)
      ++Contextual;
}

Program::HeatWitness Program::heat(NodeId N, uint16_t Bit) const {
  HeatWitness W;
  unsigned B = 0;
  while (B < 16 && !(Bit & (1u << B)))
    ++B;
  if (B >= 8)
    return W;
  uint32_t R = Reached[B][N];
  while (R != ~0u) {
    if (R & FromEntry) {
      W.Entry = &Entries[R & ~FromEntry];
      break;
    }
    W.Edges.push_back(R);
    R = Reached[B][Edges[R].Caller];
  }
  std::reverse(W.Edges.begin(), W.Edges.end());
  return W;
}

} // namespace decontend
