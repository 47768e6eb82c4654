//===- Models.cpp - Lookups in the models ---------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace decontend {

StringRef contextName(uint16_t Bit) {
  switch (Bit) {
  case CtxInit:
    return "init";
  case CtxExit:
    return "exit";
  case CtxSetup:
    return "setup";
  case CtxTeardown:
    return "teardown";
  case CtxHot:
    return "hot";
  case CtxAsync:
    return "async";
  case CtxAdmin:
    return "admin";
  case CtxReport:
    return "report";
  default:
    return "";
  }
}

uint16_t contextFromName(StringRef Name) {
  return StringSwitch<uint16_t>(Name)
      .Case("init", CtxInit)
      .Case("exit", CtxExit)
      .Case("setup", CtxSetup)
      .Case("teardown", CtxTeardown)
      .Case("hot", CtxHot)
      .Case("async", CtxAsync)
      .Case("admin", CtxAdmin)
      .Case("report", CtxReport)
      .Default(CtxNone);
}

/// The last glob that matches wins: globs are kept in the order of the files.
template <typename T>
static const T *
lookUp(StringRef Text, const std::vector<T> &All,
       const StringMap<size_t> &Exact,
       const std::vector<std::pair<GlobPattern, size_t>> &Globs) {
  if (auto It = Exact.find(Text); It != Exact.end())
    return &All[It->second];
  for (const auto &[Glob, Index] : reverse(Globs))
    if (Glob.match(Text))
      return &All[Index];
  return nullptr;
}

const FunctionModel *Models::function(StringRef Name) const {
  return lookUp(Name, Functions, FunctionByName, FunctionGlobs);
}

const SlotModel *Models::slot(StringRef Slot) const {
  return lookUp(Slot, Slots, SlotByName, SlotGlobs);
}

const EntryModel *Models::entry(EntryModel::KindT Kind, StringRef Text) const {
  const StringMap<size_t> &Exact = EntryByText[Kind];
  if (auto It = Exact.find(Text); It != Exact.end())
    return &Entries[It->second];
  for (const auto &[Glob, Index] : reverse(EntryGlobs))
    if (Entries[Index].Kind == Kind && Glob.match(Text))
      return &Entries[Index];
  return nullptr;
}

const CounterTypeModel *Models::counterType(StringRef Type) const {
  return lookUp(Type, CounterTypes, CounterByType, CounterGlobs);
}

const RecordModel *Models::record(StringRef Record) const {
  return lookUp(Record, Records, RecordByName, RecordGlobs);
}

Pace Models::pace(StringRef Name) const {
  const PaceModel *M = lookUp(Name, Paces, PaceByName, PaceGlobs);
  return M ? M->At : Pace::Work;
}

std::vector<const CounterRemedy *> Models::remediesFor(StringRef Type) const {
  std::vector<const CounterRemedy *> Out;
  for (const auto &[Glob, Index] : RemedyTypes) {
    const CounterRemedy *R = &Remedies[Index];
    if ((Out.empty() || Out.back() != R) && Glob.match(Type))
      Out.push_back(R);
  }
  return Out;
}

std::vector<std::string> Models::markers() const {
  std::vector<std::string> Out;
  for (const EntryModel &E : Entries)
    if (E.Kind == EntryModel::Marker)
      Out.push_back(E.Pattern);
  sort(Out);
  return Out;
}

} // namespace decontend
