//===- Verdict.h - What a counter's uses amount to --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Counter --> [sort uses, class readers] --> shape --> sharing, heat
//           --> confidence, doubts --> Finding
//
// Shapes, by who reads:
//   dead-counter         nobody
//   report-only-counter  only what shows figures to people
//   decided-counter      something that decides, but not where it is bumped
//   hot-read-counter     the hot path itself
//   hot-reference        a reference count that every user takes and drops
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_VERDICT_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_VERDICT_H

#include "analysis/program/Busy.h"
#include "analysis/program/Counters.h"
#include "analysis/program/Finding.h"
#include "analysis/program/Sharing.h"
#include <optional>

namespace decontend {

enum class CounterShape : uint8_t {
  Dead,
  ReportOnly,
  Decided,
  HotRead,
  Reference,
};

llvm::StringRef counterShapeId(CounterShape S);

/// The uses of a counter, sorted; pointers into Counter::Uses.
struct SortedUses {
  std::vector<const CounterUse *> Bumps, Reports, Decisions, HotReads, Vague,
      Sets, Tests, Values, Escapes, Racy;
};

/// How hot a place is.
struct BumpHeat {
  const CounterUse *Use = nullptr;
  Busy::Reach Reach;
  unsigned Conditions = 0; ///< On the way from the entry, and in place.
  unsigned Here = 0;       ///< Of these, in place.
  bool Rare = false;       ///< Unlikely, or only after an error.
};

class CounterJudge {
public:
  explicit CounterJudge(const Program &P);

  SortedUses sort(const Counter &C) const;
  /// The finding, if the counter is one.
  std::optional<Finding> judge(const Counter &C) const;
  /// The hottest of some uses; its Reach is none if none is hot.
  BumpHeat hottest(llvm::ArrayRef<const CounterUse *> Uses) const;

private:
  BumpHeat heatOf(const CounterUse &U) const;
  bool isReport(NodeId N) const;
  bool isHot(NodeId N) const;
  bool testsItsAmount(const CounterUse &U) const;
  bool batched(const CounterUse &U) const;
  bool switched(const Counter &C, const CounterUse &U) const;
  bool rateLimited(const CounterUse &U) const;
  void doubt(const Counter &C, const SortedUses &S, const BumpHeat &H,
             const SharingVerdict &Share, CounterShape Shape, Finding &F) const;
  std::optional<Finding> judgeReference(const Counter &C,
                                        const SortedUses &S) const;
  SharingVerdict sharing(const Counter &C) const;

  const Program &P;
  Sharing Shared;
  Busy Heat;
  llvm::DenseSet<Sym> LeftOut; ///< Words of text that is not compiled.
  llvm::DenseSet<Sym> Copied;  ///< Records that are copied as a whole.
};

} // namespace decontend

#endif
