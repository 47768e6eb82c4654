//===- JsonDump.h - Facts for people to read --------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_FACTS_JSONDUMP_H
#define DECONTEND_ANALYSIS_FACTS_JSONDUMP_H

#include "Facts.h"
#include "llvm/Support/raw_ostream.h"

namespace decontend {

/// Writes \p Unit as JSON, for `decontend facts FILE` and for tests. Places are
/// `file:line:column`, flags are names, expressions are their path texts, and
/// members that say nothing are left out. Not meant to be read back.
void dumpJson(const UnitFacts &Unit, llvm::raw_ostream &OS);

} // namespace decontend

#endif
