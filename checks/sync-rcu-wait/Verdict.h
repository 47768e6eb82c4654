//===- Verdict.h - From a site to a finding ---------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   site --> confidence, capped by each doubt --> sentences and trace
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_VERDICT_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_VERDICT_H

#include "Shapes.h"
#include "analysis/program/Finding.h"
#include <optional>

namespace decontend {

/// How often a function is reached, as far as the program tells.
enum class HeatKind : uint8_t {
  Frequent, ///< Per object, per call or per packet, by anyone.
  Rare,     ///< By administrators, hot-plug, start-up.
  Async,    ///< Only from work queues, threads, callbacks.
  Unknown,  ///< Nobody is seen who calls it.
};

struct Heat {
  HeatKind Kind = HeatKind::Unknown;
  uint16_t Bit = CtxNone; ///< The context that decides.
  Program::HeatWitness Witness;
};

Heat heatOf(const Program &P, NodeId N);

/// The confidence of a site with every doubt that lowered it.
Confidence confidenceOf(const Program &P, const WaitSite &S, const Heat &H,
                        std::vector<std::string> &Doubts);

/// Evidence, message and trace of a site.
void tell(const Program &P, const WaitSite &S, const Heat &H, Finding &F);

/// The finding for a site; none if it is not worth a reader's time.
std::optional<Finding> verdict(const Program &P, const WaitSite &S);

} // namespace decontend

#endif
