//===- Presence.h - Is the object there, and does it run? -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_PRESENCE_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_PRESENCE_H

#include "analysis/program/Flow.h"

namespace decontend {

/// Does event \p I run whenever event \p Until, behind it, does? Order in the
/// text stands for order of execution, and behind a label nothing is sure. \p
/// Until may be one past the last. O(events).
bool surelyBefore(const Flow &Shape, uint32_t I, uint32_t Until);

/// Is the object that variable \p Object of \p N points to surely there at
/// event \p Until: looked into before, also by callees (three deep), tested, or
/// worked out from one of its members? O(events). Test:
/// fix-record-refused.test, `maybe_null`.
bool isThere(const Program &P, NodeId N, Sym Object, uint32_t Until);

} // namespace decontend

#endif
