//===- LocksetsWhole.h - Tables behind Locksets -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For Locksets*.cpp only.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCKSETSWHOLE_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCKSETSWHOLE_H

#include "LockFlow.h"
#include "Locksets.h"

namespace decontend {

class Locksets::Whole {
public:
  explicit Whole(const Program &P);

  /// What has become of a lock since the function was entered.
  struct Fate {
    LockId Lock = 0;
    uint8_t Fates = Untouched;
    auto operator<=>(const Fate &) const = default;
  };
  using FateSet = std::vector<Fate>;
  static constexpr uint32_t Unreached = ~0u;

  /// The states of one function, by the first event at which each holds.
  struct Body {
    std::vector<std::pair<uint32_t, uint32_t>> Changes;  ///< Event, set.
    std::vector<std::pair<uint32_t, uint32_t>> Detached; ///< Lambdas.
  };

  struct Entry {
    std::vector<HeldLock> Held; ///< Sorted by lock; all OnEntry.
    uint32_t Dropped = 0;       ///< Kinds that may be held beyond Held.
    bool Seen = false;          ///< Somebody reaches it.
    bool SurelyAtomic = false;
  };

  LockSet before(NodeId N, uint32_t Event) const;
  /// Is some lock that forbids sleeping surely held, whichever it is?
  bool surelyAtomic(NodeId N, uint32_t Event, const LockSet &Held) const;

  const Program &P;
  mutable LockTable Locks;
  LockEffects Effects;
  std::vector<LockSummary> Summaries;
  llvm::DenseMap<NodeId, Body> Bodies;
  std::vector<FateSet> Sets;
  std::vector<Entry> Entries;

private:
  void orderCallees();
  void summarise();
  bool analyse(NodeId N);
  uint32_t setId(FateSet S);
  const FateSet *fates(NodeId N, uint32_t Event, bool &Detached) const;

  void enterAll();
  std::vector<HeldLock> translated(const Edge &E, const LockSet &Held) const;
  bool merge(Entry &To, std::vector<HeldLock> From, uint32_t Dropped,
             bool Atomic);
  LockId kindOnly(LockId I) const;

  std::vector<uint32_t> Order; ///< Of nodes: callees before callers.
  std::map<FateSet, uint32_t> SetIds;
};

} // namespace decontend

#endif
