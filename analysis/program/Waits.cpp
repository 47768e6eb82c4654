//===- Waits.cpp - Which calls end up waiting for a grace period ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   wait primitives (models) --> backwards over calls, fewest conditions first,
//                                then shortest --> WaitSummary per function
//
// Only full waits and barriers are followed: an expedited or adaptive wait is a
// remedy already taken. Not followed: error paths, functions that the models
// call opaque, table slots with several targets. All may miss.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include <queue>
#include <tuple>

namespace decontend {

void Program::computeWaits() {
  // Ordered by (conditions, guards, distance, node): deterministic, and a path
  // that is always taken before a short one, as it is better evidence.
  using Item = std::tuple<unsigned, unsigned, unsigned, NodeId>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> Queue;
  for (NodeId N = 0; N < Nodes.size(); ++N) {
    const FunctionModel *M = Nodes[N].Model;
    if (!M || !M->Wait)
      continue;
    Nodes[N].Wait.Cost = M->Wait->Cost;
    if (M->Wait->Cost != WaitModel::Full && M->Wait->Cost != WaitModel::Barrier)
      continue;
    Nodes[N].Wait.Distance = 0;
    Nodes[N].Wait.Conditions = Nodes[N].Wait.Guards = 0;
    Queue.push({0, 0, 0, N});
  }
  std::vector<bool> Done(Nodes.size(), false);
  while (!Queue.empty()) {
    auto [Conditions, Guards, Distance, N] = Queue.top();
    Queue.pop();
    if (Done[N])
      continue;
    Done[N] = true;
    for (uint32_t I : In[N]) {
      const Edge &E = Edges[I];
      Node &Caller = Nodes[E.Caller];
      if (E.OnErrorPath || E.Kind == EdgeKind::SlotMany || Done[E.Caller] ||
          (Caller.Model && (Caller.Model->Opaque || Caller.Model->Wait)))
        continue;
      unsigned C = std::min(Conditions + E.Conditions, 0xfeu);
      unsigned G = std::min(Guards + E.Guards, 0xfeu);
      unsigned D = Distance + 1;
      if (D >= 0xffff ||
          std::tie(C, G, D) >= std::make_tuple(unsigned(Caller.Wait.Conditions),
                                               unsigned(Caller.Wait.Guards),
                                               unsigned(Caller.Wait.Distance)))
        continue;
      Caller.Wait.Conditions = C;
      Caller.Wait.Guards = G;
      Caller.Wait.Distance = D;
      Caller.Wait.Edge = I;
      Caller.Wait.Cost = Nodes[N].Wait.Cost;
      Queue.push({C, G, D, E.Caller});
    }
  }
}

std::vector<uint32_t> Program::waitPath(NodeId N) const {
  std::vector<uint32_t> Path;
  while (Nodes[N].Wait.waits() && Nodes[N].Wait.Edge != ~0u) {
    Path.push_back(Nodes[N].Wait.Edge);
    N = Edges[Nodes[N].Wait.Edge].Callee;
  }
  return Path;
}

} // namespace decontend
