//===- ShardLayout.h - Constants shared by both ways ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What encoder and decoder must agree on. Most members of an event or an
// expression are absent most of the time, so a byte of bits says which follow.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_FACTS_SHARDLAYOUT_H
#define DECONTEND_ANALYSIS_FACTS_SHARDLAYOUT_H

#include "Facts.h"

namespace decontend::shard {

inline constexpr char Magic[4] = {'D', 'C', 'T', 'F'};
inline constexpr size_t VersionAt = 4, SizeAt = 8, ChecksumAt = 12,
                        HeaderSize = 28;

/// Members that follow the kind of an event.
enum EventBit : uint8_t {
  EventVia = 1,
  EventFlags = 2,
  EventText = 4,
  EventCallee = 8,
  EventMacro = 16,
  EventComment = 32,
  EventLink = 64,
  EventExprs = 128,
};

/// The first byte of an expression: its root below, then what follows.
inline constexpr uint8_t ExprRootMask = 7;
enum ExprBit : uint8_t {
  ExprBase = 8,
  ExprText = 16,
  ExprRecord = 32,
  ExprField = 64,
  ExprExtras = 128, ///< Flags and index.
};
static_assert(static_cast<uint8_t>(RootKind::Null) <= ExprRootMask);

/// The fewest bytes that one element takes; bounds what a count may claim.
inline constexpr size_t MinString = 1, MinExpr = 1, MinEvent = 4, MinParam = 3,
                        MinFunction = 16, MinField = 8, MinRecord = 8,
                        MinGlobal = 14, MinSlot = 7, MinMarker = 5,
                        MinDependency = 17, MinAccess = 6, MinDecl = 8,
                        MinInit = 8, MinInactive = 5;

/// Members that follow the kind of an access.
enum AccessBit : uint8_t {
  AccessKindMask = 7,
  AccessFlags = 8,
  AccessArgument = 16,
  AccessText = 32,
};
static_assert(static_cast<uint8_t>(AccessKind::Escape) <= AccessKindMask);

/// Whether an event of this kind opens a block that ends at its Link.
inline bool opensBlock(EventKind K) {
  return K == EventKind::Loop || K == EventKind::Branch ||
         K == EventKind::Else || K == EventKind::Switch ||
         K == EventKind::Lambda || K == EventKind::Scope;
}

} // namespace decontend::shard

#endif
