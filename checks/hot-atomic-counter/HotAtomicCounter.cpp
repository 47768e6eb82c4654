//===- HotAtomicCounter.cpp - The rule hot-atomic-counter -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HotAtomicCounter.h"
#include "Conversion.h"
#include "Origins.h"
#include "analysis/program/Locksets.h"

using namespace decontend;

struct HotAtomicCounter::Learnt {
  Learnt(const Program &P, bool Racy)
      : All(P, Racy), Judge(P), Locks(P), Made(P) {}
  Counters All;
  CounterJudge Judge;
  Locksets Locks;   ///< Computed when the first plan asks.
  MakingSites Made; ///< The same.
};

JudgeResult HotAtomicCounter::judge(const Program &P, const Scope &S) const {
  JudgeResult Out;
  // The whole program is looked at whatever the scope, so that a place is
  // judged alike in every front end.
  Known = std::make_shared<Learnt>(P, S.RacyCounters);
  for (const Counter &C : Known->All.all())
    if (std::optional<Finding> F = Known->Judge.judge(C))
      if (S.covers(F->File))
        Out.Findings.push_back(std::move(*F));
  bool AnyHot = false, AnyBump = false;
  for (const EntryPoint &E : P.entries())
    AnyHot |= (E.Context & CtxHot) != 0;
  for (const Counter &C : Known->All.all())
    AnyBump |= llvm::any_of(
        C.Uses, [](const CounterUse &U) { return U.Kind == UseKind::Bump; });
  if (AnyBump && !AnyHot)
    Out.CouldNotJudge.push_back("no entry of the program is known to run often "
                                "(see docs/models.md to name some)");
  return Out;
}

/// A plan that only says which guard cannot be proved.
static Plan refuse(llvm::StringRef Guard, std::string Why) {
  Ledger L;
  L.require(Guard, false, std::move(Why));
  return L.finish();
}

/// The counter that the finding is about; findings carry strings only.
static const Counter *counterOf(const Program &P, const Counters &All,
                                const CounterJudge &J, const Finding &F) {
  for (const Counter &C : All.all()) {
    Sym Name = C.Variable ? C.Variable->Name : C.Key;
    if (P.str(Name) != F.Subject)
      continue;
    std::optional<Finding> Again = J.judge(C);
    if (Again && Again->File == F.File && Again->Line == F.Line &&
        Again->Column == F.Column)
      return &C;
  }
  return nullptr;
}

/// Why the shapes that are left have no rewrite.
static std::string reasonAgainst(const Finding &F) {
  if (F.Shape == counterShapeId(CounterShape::Decided))
    return "something decides by its value, and only a person can tell whether "
           "an approximate value will do there";
  if (F.Shape == counterShapeId(CounterShape::HotRead))
    return "a hot path reads it, and would have to sum over all CPUs";
  if (F.Shape == counterShapeId(CounterShape::Reference))
    return "a reference count has to see zero at once, which a spread counter "
           "cannot";
  return "no rewrite is known for the shape " + F.Shape;
}

Plan HotAtomicCounter::plan(const Program &P, const Finding &F,
                            Sources &Files) const {
  const Counter *C =
      Known ? counterOf(P, Known->All, Known->Judge, F) : nullptr;
  if (!C)
    return refuse("counter-known", F.Subject + " is not found again");
  const CounterJudge &J = Known->Judge;
  if (F.Shape == counterShapeId(CounterShape::Dead))
    return planDelete(P, J, *C, Files);
  if (F.Shape != counterShapeId(CounterShape::ReportOnly))
    return refuse("only-shown", reasonAgainst(F));
  // C11, C++ and builtins of compilers: the kernel has types of its own.
  bool UserSpace = !C->Type;
  bool Cxx = C->InRecord && (C->InRecord->Flags & RecordFacts::Cxx);
  llvm::StringRef Type = P.str(C->Field ? C->Field->Type : C->Variable->Type);
  const CounterRemedy *Other = nullptr;
  for (const CounterRemedy *R : P.models().remediesFor(Type)) {
    if (Cxx && R->Language == "c")
      continue;
    if (!R->Needs.empty() && !isDeclared(P, R->Needs)) {
      Other = R;
      continue;
    }
    if (UserSpace)
      return planUserSpace(P, J, *C, *R, Files);
    if (R->Variable != bool(C->Variable))
      continue;
    return C->Variable ? planVariable(P, J, *C, *R, Files)
                       : planRecord(P, Known->All, J, Known->Locks, Known->Made,
                                    *C, *R, Files);
  }
  return refuse("remedy-known",
                Other ? Other->Needs + "() is not declared in this program"
                      : "no model replaces a counter of type " + Type.str());
}
