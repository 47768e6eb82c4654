//===- KnownBodies.h - Header functions already extracted -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing the bodies of inline functions in headers is about half of the cost
// of a unit. A body that another unit of the program has already given need not
// be parsed again. Sets grow only between waves of units, never while units are
// being parsed, so that what a unit extracts does not depend on timing.
//
// Direction of the approximation: a header function whose body depends on
// macros of the including unit is taken from the first unit in path order. May
// miss calls that only another unit's macros bring in (test: skip-bodies).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_KNOWNBODIES_H
#define DECONTEND_ANALYSIS_EXTRACT_KNOWNBODIES_H

#include "analysis/facts/Facts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

namespace decontend {

/// Header functions, records, declarations and inactive text, by file. Reading
/// is thread-safe as long as nobody adds.
class KnownBodies {
public:
  using Set = llvm::DenseSet<uint64_t>;

  /// Identity of an entity within its file: name and line, since several can
  /// come from one macro or overload one name.
  static uint64_t id(llvm::StringRef Name, uint32_t Line) {
    // DenseSet keeps the two highest values for itself.
    return (llvm::xxh3_64bits(Name) * 31 + Line) >> 1;
  }

  /// Stands for inactive text, which has no name.
  static constexpr llvm::StringLiteral InactiveName = "#";

  void add(llvm::StringRef File, uint64_t Id) { ByFile[File].insert(Id); }

  /// Adds all of these that \p Facts holds.
  /// \p Names resolves the facts' Syms.
  void addAll(const UnitFacts &Facts, const Symbols &Names);

  /// What is known of \p File (a pure path), or null.
  const Set *of(llvm::StringRef File) const {
    auto It = ByFile.find(File);
    return It == ByFile.end() ? nullptr : &It->second;
  }

private:
  llvm::StringMap<Set> ByFile;
};

inline void KnownBodies::addAll(const UnitFacts &Facts, const Symbols &Names) {
  for (const FunctionFacts &F : Facts.Functions)
    if (F.is(FunctionFacts::InHeader))
      add(Names.str(F.Where.File), id(Names.str(F.Name), F.Where.Line));
  for (const RecordFacts &R : Facts.Records)
    if (R.Where.File != Facts.MainFile)
      add(Names.str(R.Where.File), id(Names.str(R.Key), R.Where.Line));
  for (const DeclFacts &D : Facts.Decls)
    if (D.Where.File != Facts.MainFile)
      add(Names.str(D.Where.File), id(Names.str(D.Name), D.Where.Line));
  for (const InactiveText &I : Facts.Inactive)
    if (I.File != Facts.MainFile)
      add(Names.str(I.File), id(InactiveName, I.Line));
}

} // namespace decontend

#endif
