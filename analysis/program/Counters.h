//===- Counters.h - Atomic integers and all their uses ----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   records, globals --> which fields and variables are counters
//   accesses         --> uses of each: bump, read, set, test, escape
//                        (through functions that take its address, too)
//
// A counter is a field of a record class (`struct foo.hits`, all its objects
// together) or a global variable. It is one if its type is an atomic integer by
// the models or by C11/C++, or if an atomic builtin is ever applied to it.
//
// Approximations: fields are told apart by record and name, not by object (may
// miss: one object's counter decides, another's does not). `x->hits.counter`,
// the inside of an atomic type, counts as a kept address of every counter that
// is called `hits` (may miss findings).
// Elements behind a pointer member are not counters (may miss; test:
// fn_pointer_elements).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_COUNTERS_H
#define DECONTEND_ANALYSIS_PROGRAM_COUNTERS_H

#include "Program.h"
#include "ValueFlow.h"
#include "llvm/ADT/StringSet.h"

namespace decontend {

enum class UseKind : uint8_t {
  Bump,   ///< Added to or subtracted from; the result is not used, or shown.
  Value,  ///< Added to, and the result decides or is kept.
  Read,   ///< Only read.
  Set,    ///< Overwritten with a value; also initialised.
  Test,   ///< Conditional or tested: inc_not_zero, dec_and_test, cmpxchg.
  Bits,   ///< Used as a set of flags.
  Racy,   ///< ++, += and the like without atomicity.
  Escape, ///< Its address goes where nobody looks.
};

struct CounterUse {
  UseKind Kind = UseKind::Read;
  NodeId Node = NoNode; ///< Function that mentions it.
  uint32_t Access = 0;  ///< In that function's accesses.
  /// The atomic operation, and where it stands: Event of OpNode, which is Node
  /// unless a function in between takes the address. No model for a plain read,
  /// write or escape.
  const AtomicModel *Op = nullptr;
  NodeId OpNode = NoNode;
  uint32_t Event = 0;
  Sinks To;             ///< Read and Value: what becomes of the value.
  bool Wrapped = false; ///< Through a function that takes the address.
  bool Initial = false; ///< A constructor's or a declaration's initialiser.
};

struct Counter {
  Sym Key = Sym::None;    ///< `struct foo.hits`, or a variable's key.
  Sym Record = Sym::None; ///< None for a variable.
  const RecordFacts *InRecord = nullptr;
  const FieldFacts *Field = nullptr;
  const GlobalFacts *Variable = nullptr;
  const UnitFacts *Unit = nullptr;        ///< That gave the declaration.
  const CounterTypeModel *Type = nullptr; ///< Null for C11, C++, builtins.
  std::vector<CounterUse> Uses; ///< In order of nodes, then of source.
  /// By a static initialiser; or somebody looks inside the atomic type.
  bool AddressKept = false;
  Place where(const Program &P) const;
};

class Counters {
public:
  /// O(accesses + events of functions that counters pass through).
  /// With \p Racy, plain integers that are bumped without atomicity count too.
  explicit Counters(const Program &P, bool Racy = false);

  /// Sorted by place of declaration.
  llvm::ArrayRef<Counter> all() const { return All; }
  const Counter *find(Sym Key) const;

private:
  void findTyped();
  void findByOperation(bool Racy);
  void findInside(const Expr &X);
  void collect();
  void classify(Counter &C, NodeId N, uint32_t Index);
  void through(Counter &C, CounterUse Use, NodeId Callee, unsigned Param,
               unsigned Depth);
  void operation(CounterUse &Use, const AtomicModel &M, NodeId N,
                 uint32_t Event);
  uint32_t add(Counter C);

  const Program &P;
  ValueFlow Flow;
  std::vector<Counter> All;
  llvm::DenseMap<Sym, uint32_t> ByKey;
  llvm::DenseMap<Sym, bool> Inner; ///< Is the field one of a counter type?
  llvm::StringSet<> Inside; ///< Names of members whose inside is mentioned.
};

} // namespace decontend

#endif
