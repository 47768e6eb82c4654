//===- Instances.h - Where objects of a record lie --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In static storage, or in memory that somebody allocates?
//
// Approximation: a call whose result is a pointer to the record, and that has
// no body in the program or returns a `void *`, allocates one (may refuse too
// often; test: fix-user-refused.test, `struct borrowed`).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_INSTANCES_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_INSTANCES_H

#include "analysis/program/Program.h"
#include <string>

namespace decontend {

struct Instances {
  std::string Static; ///< "a.c:12", a variable that is one, or holds one.
  std::string Heap;   ///< "a.c:40 allocates struct s", the first of them.
  std::string Many;   ///< Why there are many, or empty.
};

/// Records that hold one by value are followed, eight deep. O(events).
Instances instancesOf(const Program &P, Sym Record);

} // namespace decontend

#endif
