//===- Stability.h - What stays the same over some text ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Textual, because facts do not show what happens to local variables. May
// over-report: a variable of an inner block with the same name counts as the
// same one.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STABILITY_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_STABILITY_H

#include "analysis/program/Program.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace decontend {

/// Is the variable \p Name written in \p Code, or its address taken? \p Code is
/// without comments. O(length).
bool changesIn(llvm::StringRef Code, llvm::StringRef Name);

/// Why condition \p Cond may tell something else behind \p Code than before
/// it; empty if it cannot: it has no calls, members or pointers, and none of
/// its variables changes or is global.
std::string mayChange(const Program &P, llvm::StringRef Cond,
                      llvm::StringRef Code);

} // namespace decontend

#endif
