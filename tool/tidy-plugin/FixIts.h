//===- FixIts.h - Edits of a plan as fix-it hints ---------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_TIDY_PLUGIN_FIXITS_H
#define DECONTEND_TOOL_TIDY_PLUGIN_FIXITS_H

#include "analysis/rewrite/Plan.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"

namespace decontend {

/// Do all edits of \p P lie in \p File?
bool liesIn(const Plan &P, llvm::StringRef File);

/// The edits of \p P, all of which are of \p FID, as hints no two of which
/// touch: clang-tidy refuses two insertions at one place, where a plan makes
/// them in order. Empty if an edit lies outside the file or two overlap.
std::vector<clang::FixItHint> fixIts(const Plan &P, clang::FileID FID,
                                     const clang::SourceManager &SM);

} // namespace decontend

#endif
