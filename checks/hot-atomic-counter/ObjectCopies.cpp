//===- ObjectCopies.cpp - What treats an object as bytes ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spread counter owns memory: a copy of it, or one that is cleared, would
// lose or share that memory.
//
// Approximations: a function without a body that takes objects of several
// records, or is told a size, may copy or clear (may over-report); one that is
// seen with this record only, and without a size, does not (may miss). Test:
// fix-record-refused.test.
//
//===----------------------------------------------------------------------===//
#include "RecordPlan.h"
#include "fmt/format.h"
#include <map>
#include <set>

namespace decontend {

namespace {

/// Finds what copies or clears an object with its counters.
class CopySearch {
public:
  explicit CopySearch(Conversion &C)
      : C(C), P(C.P), Record(C.Counters[0]->Record) {}

  bool run() {
    collectGeneric();
    for (NodeId N = 0; N < P.nodes().size(); ++N) {
      const FunctionFacts *F = P.node(N).Facts;
      for (uint32_t I = 0; F && I < F->Events.size(); ++I) {
        const Event &E = F->Events[I];
        std::string Why = E.Kind == EventKind::Assign ? assign(*F, E)
                          : E.Kind == EventKind::Call ? call(*F, I)
                                                      : "";
        if (!Why.empty())
          return C.L.require("whole-object-copies", false,
                             fmt::format("{} at {}", Why, C.at(N, E.Line)));
      }
    }
    return C.L.require(
        "whole-object-copies", true,
        fmt::format("no {} stands on a stack, is assigned as a whole, or is "
                    "passed with its size or as bytes once it is set up",
                    P.str(Record).str()));
  }

private:
  std::string assign(const FunctionFacts &F, const Event &E) const {
    for (const Expr &Side : F.exprs(E))
      if (Side.Record == Record && !(Side.Flags & Expr::Pointer) &&
          Side.Root != RootKind::Unknown && Side.Root != RootKind::Constant &&
          Side.Root != RootKind::Null)
        return fmt::format("{} is assigned as a whole", P.str(Side.Text).str());
    return "";
  }

  void collectGeneric() {
    std::map<NodeId, std::set<Sym>> Takes;
    for (const Node &N : P.nodes()) {
      if (!N.Facts)
        continue;
      for (const Event &E : N.Facts->Events) {
        NodeId Callee = bodiless(E);
        if (Callee == NoNode)
          continue;
        for (const Expr &X : N.Facts->exprs(E))
          if (X.Flags & Expr::Pointer)
            Takes[Callee].insert(X.Record);
      }
    }
    for (auto &[Callee, Records] : Takes)
      if (Records.size() > 2)
        Generic.insert(Callee);
  }

  NodeId bodiless(const Event &E) const {
    if (E.Kind != EventKind::Call || E.Via != CallVia::Direct || P.modelOf(E))
      return NoNode;
    NodeId Callee = P.find(E.Callee);
    return Callee == NoNode || P.node(Callee).Facts ? NoNode : Callee;
  }

  std::string call(const FunctionFacts &F, uint32_t I) const {
    const Event &E = F.Events[I];
    const Expr *Object = nullptr;
    for (const Expr &X : F.exprs(E)) {
      if (X.Record != Record || !empty(X.Field))
        continue;
      bool Address = X.Flags & Expr::AddressOf;
      if (X.Root == RootKind::Local && (Address || !(X.Flags & Expr::Pointer)))
        return fmt::format("{} stands on the stack", P.str(X.Base).str());
      if (X.Flags & Expr::Pointer)
        Object = &X;
    }
    if (!Object)
      return "";
    std::string Name = P.calleeName(E).str();
    const FunctionModel *M = P.modelOf(E);
    if (M && M->Allocates && passesSize(F, E))
      return fmt::format("{}() may copy {}", Name, P.str(Object->Text).str());
    if (bodiless(E) == NoNode || fresh(F, I, *Object))
      return "";
    if (Generic.count(P.find(E.Callee)) || passesSize(F, E))
      return fmt::format("{}() may copy or clear {}", Name,
                         P.str(Object->Text).str());
    return "";
  }

  bool passesSize(const FunctionFacts &F, const Event &E) const {
    const std::string *Contents = C.Files.get(P.str(F.Where.File));
    return Contents && !E.Text.empty() && E.Text.End <= Contents->size() &&
           llvm::StringRef(*Contents)
               .slice(E.Text.Begin, E.Text.End)
               .contains("sizeof");
  }

  /// Nothing is set up yet: the function has allocated the object itself, or
  /// sets the counters later.
  bool fresh(const FunctionFacts &F, uint32_t I, const Expr &Object) const {
    for (uint32_t J = 0; J < I; ++J) {
      const Event &E = F.Events[J];
      if (E.Kind != EventKind::Assign || E.NumExprs != 2)
        continue;
      auto X = F.exprs(E);
      NodeId From = X[1].Root == RootKind::Call ? P.find(X[1].Base) : NoNode;
      if (X[0].Base == Object.Base && empty(X[0].Field) && From != NoNode &&
          P.node(From).Model && P.node(From).Model->Allocates)
        return true;
    }
    for (const SortedUses &S : C.Uses)
      for (const CounterUse *U : S.Sets)
        if (P.node(U->Node).Facts == &F && U->Event > I)
          return true;
    return false;
  }

  Conversion &C;
  const Program &P;
  const Sym Record;
  std::set<NodeId> Generic;
};

} // namespace

bool requireNoCopies(Conversion &C) { return CopySearch(C).run(); }

} // namespace decontend
