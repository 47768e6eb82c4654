//===- LockCondition.h - What a condition says of one value -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   `!spin_trylock(&x->lock) || x->dead` --> parts: spin_trylock() is zero, ...
//
// Facts keep the text of a condition, not its tree; a small reader of C's
// operators is enough to see how the result of a call, or a variable, is
// tested.
//
// Approximation: conditions that mix && and ||, compare with anything but zero,
// or are cut off behind 100 characters say nothing (may miss).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCKCONDITION_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCKCONDITION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace decontend {

class LockCondition {
public:
  LockCondition() = default;

  /// Reads \p Text, which must outlive the object. O(length).
  explicit LockCondition(llvm::StringRef Text);

  /// A condition that only tests \p Name, a function if \p Call, else a
  /// variable; true when it is zero if \p Negated.
  LockCondition(llvm::StringRef Name, bool Call, bool Negated);

  /// Where the whole condition is \p Holds: is what call \p Function yields, or
  /// what variable \p Function holds, nonzero? None if the condition does not
  /// tell.
  std::optional<bool> nonzero(llvm::StringRef Name, bool Call,
                              bool Holds) const;

  /// The variable that is all that is tested, and whether it is zero where the
  /// condition holds.
  std::optional<std::pair<llvm::StringRef, bool>> variable() const {
    if (Parts.size() != 1 || Join != Single || Parts[0].Call)
      return std::nullopt;
    return std::make_pair(Parts[0].Name, Parts[0].Negated);
  }

  bool empty() const { return Parts.empty(); }

private:
  struct Part {
    llvm::StringRef Name;
    bool Call = false;
    bool Negated = false;
  };
  void read(llvm::StringRef Text, bool Negated);

  enum { Single, And, Or } Join = Single;
  llvm::SmallVector<Part, 4> Parts;
};

} // namespace decontend

#endif
