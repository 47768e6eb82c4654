//===- Fallible.h - An initialiser that can fail now ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   initialiser + steps --> [FailingCalls] --> its own text
//        |  void before?
//        +--> [declareInt]   prototypes, stubs, text that is not compiled here
//        +--> each caller --> [FailingCalls] --> its text; void itself? again
//                         --> boot code that returns nothing: stop there
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_FALLIBLE_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_FALLIBLE_H

#include "Conversion.h"

namespace decontend {

/// Every mention of a function that returns an int from now on.
struct Redeclared {
  std::vector<Edit> Edits;
  std::vector<std::string> Places; ///< Of what was changed.
  std::string Refusal;             ///< With the place; empty if all is well.
};

/// Changes what declares \p N, or stands in for it in another configuration,
/// from `void` to `int`. Its definition and its calls in compiled code are left
/// to others. Reads the files that the units which see a declaration of it are
/// made of; O(their length).
///
/// May miss: a mention in text that is left out of a file which sees no
/// declaration of the function. Test: FallibleTest.StubsUnderElse.
Redeclared declareInt(const Program &P, Sources &Files, NodeId N);

/// \p Code with the identifier \p Name replaced by the argument \p Argument:
/// `f(&ns->hits)` with `&init_ns` for `ns` is `f(&init_ns.hits)`.
std::string withArgument(llvm::StringRef Code, llvm::StringRef Name,
                         llvm::StringRef Argument);

} // namespace decontend

#endif
