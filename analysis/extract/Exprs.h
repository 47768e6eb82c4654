//===- Exprs.h - Expressions as access paths --------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_EXPRS_H
#define DECONTEND_ANALYSIS_EXTRACT_EXPRS_H

#include "Naming.h"
#include "clang/AST/Expr.h"

namespace decontend {

/// Describes \p E as an access path. Looks through parentheses, casts, `*&`,
/// statement expressions (READ_ONCE, rcu_dereference) and container_of. What it
/// cannot name has RootKind::Unknown. Bounded: nesting deeper than 16 is cut.
Expr describe(Naming &N, const clang::Expr *E);

/// The callee of a call: a function, a slot, or the text of an expression.
struct CalleeName {
  CallVia Via = CallVia::Variable;
  Sym Name = Sym::None;
  const clang::FunctionDecl *Function = nullptr;
};
CalleeName calleeOf(Naming &N, const clang::CallExpr *Call);

/// `__atomic_fetch_add`, `__c11_atomic_load`: Clang has no calls for these.
llvm::StringRef atomicBuiltinName(const clang::AtomicExpr *E);

/// The function whose address \p E is, through casts and `&`; or null.
const clang::FunctionDecl *functionValue(const clang::Expr *E);

} // namespace decontend

#endif
