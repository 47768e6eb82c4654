//===- Story.h - Sentences and trace of a finding ---------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STORY_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STORY_H

#include "Verdict.h"

namespace decontend {

/// Fills in all of \p F but level and doubts. The trace has the way to the
/// hottest bump, then every other use, then the declaration.
void tellCounter(const Program &P, const Counter &C, const SortedUses &S,
                 const BumpHeat &H, const SharingVerdict &Share,
                 CounterShape Shape, const Busy &Ways, Finding &F);

} // namespace decontend

#endif
