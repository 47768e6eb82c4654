//===- Codec.h - Facts as bytes ---------------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shard is the facts of one unit as bytes:
//
//   "DCTF"  version  payload size  checksum   payload
//   4       4        4             16         strings, then the facts
//
// Numbers in the header are little endian and keep their place in every
// version; numbers in the payload are LEB128. Strings stand in the order of
// their first use, so that equal facts give equal bytes in whatever order they
// were interned.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_FACTS_CODEC_H
#define DECONTEND_ANALYSIS_FACTS_CODEC_H

#include "Facts.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace decontend {

/// Version of the payload. Raise it with every change of Facts.h or of the
/// codec; shards of other versions are refused, never converted.
inline constexpr uint32_t FactsVersion = 4;

/// The first 16 bytes of BLAKE3 of \p Bytes.
Digest digestOf(llvm::StringRef Bytes);

/// Replaces \p Out with the shard of \p Unit, whose Syms are from Unit.Names.
void encode(const UnitFacts &Unit, llvm::SmallVectorImpl<char> &Out);

/// Whether \p Shard is whole: right magic, version, size and checksum.
llvm::Error verifyShard(llvm::StringRef Shard);

/// What is known about the bytes of a shard. Decoding is memory-safe either
/// way; Verified only saves hashing them a second time.
enum class ShardCheck : uint8_t { Needed, Verified };

/// Replaces \p Out with the facts in \p Shard; empty after an error.
llvm::Error decode(llvm::StringRef Shard, UnitFacts &Out,
                   ShardCheck Check = ShardCheck::Needed);

/// The same with the strings interned in \p Program: the Syms of \p Out belong
/// to it, and Out.Names stays empty.
llvm::Error decodeInto(llvm::StringRef Shard, Symbols &Program, UnitFacts &Out,
                       ShardCheck Check = ShardCheck::Needed);

} // namespace decontend

#endif
