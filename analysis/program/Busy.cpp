//===- Busy.cpp - What runs for each unit of work -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Busy.h"
#include "Flow.h"
#include <algorithm>
#include <queue>

namespace decontend {

/// Best first.
static constexpr Pace AllPaces[] = {Pace::Work, Pace::Remote, Pace::Serial,
                                    Pace::Control};

Busy::Busy(const Program &P) : P(P) {
  for (Pace At : AllPaces)
    search(At);
}

const std::vector<uint8_t> &Busy::skips(NodeId N) {
  auto [It, New] = Skips.try_emplace(N);
  if (!New || P.callees(N).empty())
    return It->second;
  Flow Shape(P, *P.node(N).Facts);
  for (uint32_t I : P.callees(N))
    It->second.push_back(std::min(Shape.earlyLeaves(P.edges()[I].Event), 200u));
  return It->second;
}

void Busy::search(Pace At) {
  std::vector<Step> &Steps = Best[static_cast<unsigned>(At)];
  Steps.assign(P.nodes().size(), {});
  // Smallest cost first, then smallest node: deterministic.
  using Item = std::pair<uint32_t, NodeId>;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> Queue;
  llvm::DenseMap<Sym, Pace> OfSlot, OfFile;
  for (uint32_t I = 0; I < P.entries().size(); ++I) {
    const EntryPoint &E = P.entries()[I];
    if (!(E.Context & CtxHot) || (E.Context & (CtxAdmin | CtxReport)))
      continue;
    Pace Of = Pace::Work;
    if (!empty(E.Slot)) {
      auto [It, New] = OfSlot.try_emplace(E.Slot, Pace::Work);
      if (New)
        It->second = P.models().pace(P.str(E.Slot));
      Of = It->second;
    } else {
      Of = std::max(P.models().pace(P.name(E.Node)), P.models().pace(E.Why));
    }
    // Some folders wait for others, whatever tables they fill.
    auto [File, Fresh] = OfFile.try_emplace(E.Where.File, Pace::Work);
    if (Fresh)
      File->second = P.models().pace(P.str(E.Where.File));
    Of = std::max(Of, File->second);
    if (Of != At || Steps[E.Node].Cost == 0)
      continue;
    Steps[E.Node] = {0, ~0u, I, 0, 0};
    Queue.push({0, E.Node});
  }
  while (!Queue.empty()) {
    auto [Cost, N] = Queue.top();
    Queue.pop();
    if (Cost != Steps[N].Cost ||
        (P.node(N).Model && P.node(N).Model->Opaque && Steps[N].Edge != ~0u))
      continue;
    const std::vector<uint8_t> &Left = skips(N);
    for (size_t K = 0; K < P.callees(N).size(); ++K) {
      uint32_t I = P.callees(N)[K];
      const Edge &E = P.edges()[I];
      // What fills a modelled slot is an entry of its own.
      if (E.OnErrorPath || E.Kind == EdgeKind::SlotMany)
        continue;
      unsigned Conditions = E.Conditions + E.Guards + Left[K];
      uint32_t New = Cost + 10u * Conditions + 1;
      Step &To = Steps[E.Callee];
      if (New >= To.Cost)
        continue;
      To.Cost = New;
      To.Edge = I;
      To.Entry = Steps[N].Entry;
      To.Calls = Steps[N].Calls + 1;
      To.Conditions = Steps[N].Conditions + Conditions;
      Queue.push({New, E.Callee});
    }
  }
}

Busy::Reach Busy::of(NodeId N) const {
  for (Pace At : AllPaces) {
    const Step &S = Best[static_cast<unsigned>(At)][N];
    if (S.Cost == ~0u)
      continue;
    Reach R;
    R.Any = true;
    R.Conditions = S.Conditions;
    R.Calls = S.Calls;
    R.At = At;
    R.Entry = &P.entries()[S.Entry];
    return R;
  }
  return {};
}

std::vector<uint32_t> Busy::way(NodeId N) const {
  std::vector<uint32_t> Out;
  for (Pace At : AllPaces) {
    const std::vector<Step> &Steps = Best[static_cast<unsigned>(At)];
    if (Steps[N].Cost == ~0u)
      continue;
    while (Steps[N].Edge != ~0u) {
      Out.push_back(Steps[N].Edge);
      N = P.edges()[Steps[N].Edge].Caller;
    }
    break;
  }
  std::reverse(Out.begin(), Out.end());
  return Out;
}

} // namespace decontend
