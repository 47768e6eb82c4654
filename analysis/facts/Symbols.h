//===- Symbols.h - Interned strings -----------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts name functions, files, types and fields millions of times. A Sym is the
// index of such a name in a Symbols table: four bytes, compared as an integer.
// Each unit has its own table (so that a shard is self-contained); linking maps
// it onto the table of the program.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_FACTS_SYMBOLS_H
#define DECONTEND_ANALYSIS_FACTS_SYMBOLS_H

#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"
#include <cstdint>
#include <vector>

namespace decontend {

/// An interned string. The value 0 is always the empty string.
enum class Sym : uint32_t { None = 0 };

inline bool empty(Sym S) { return S == Sym::None; }

/// A table of interned strings. Not thread-safe: one per unit, one per program.
/// Owns the characters; they stay where they are for the life of the table.
class Symbols {
public:
  Symbols() { intern(""); }
  Symbols(Symbols &&) = default;
  Symbols &operator=(Symbols &&) = default;

  /// Returns the one Sym for \p Text, copying the text when it is new.
  /// Amortised O(length).
  Sym intern(llvm::StringRef Text) {
    llvm::CachedHashStringRef Key(Text);
    auto It = Index.find(Key);
    if (It != Index.end())
      return static_cast<Sym>(It->second);
    llvm::StringRef Saved = llvm::StringSaver(*Arena).save(Text);
    uint32_t Id = static_cast<uint32_t>(Strings.size());
    Strings.push_back(Saved);
    Index.insert({llvm::CachedHashStringRef(Saved, Key.hash()), Id});
    return static_cast<Sym>(Id);
  }

  /// Returns the Sym for \p Text, or Sym::None if it was never interned.
  Sym find(llvm::StringRef Text) const {
    auto It = Index.find(llvm::CachedHashStringRef(Text));
    return It == Index.end() ? Sym::None : static_cast<Sym>(It->second);
  }

  /// The text of \p S, which must come from this table. O(1).
  llvm::StringRef str(Sym S) const { return Strings[static_cast<uint32_t>(S)]; }

  /// How many strings there are, the empty one included; valid Syms are below.
  size_t size() const { return Strings.size(); }

private:
  std::unique_ptr<llvm::BumpPtrAllocator> Arena =
      std::make_unique<llvm::BumpPtrAllocator>();
  std::vector<llvm::StringRef> Strings;
  llvm::DenseMap<llvm::CachedHashStringRef, uint32_t> Index;
};

} // namespace decontend

#endif
