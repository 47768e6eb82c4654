//===- ModelsReader.h - One file of models ----------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   text --> [parseYaml] --> YamlNode --> [readModels] --> ModelFile
//
// What one file says, checked on its own; how files combine is the builder's
// matter (ModelsLoader.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_MODELS_MODELSREADER_H
#define DECONTEND_ANALYSIS_MODELS_MODELSREADER_H

#include "analysis/models/Models.h"

namespace decontend {

/// A name under `remove:`, with its place for the case that nothing has it.
struct ModelRemoval {
  std::string Text;
  unsigned Line = 1, Column = 1;
};

struct ModelFile {
  std::vector<FunctionModel> Functions; ///< Aliases already copied.
  std::vector<SlotModel> Slots;
  std::vector<EntryModel> Entries;
  std::vector<CounterTypeModel> CounterTypes;
  std::vector<RecordModel> Records;
  std::vector<CounterRemedy> Remedies;
  std::vector<PaceModel> Paces;
  std::vector<ModelRemoval> RemoveFunctions, RemoveSlots, RemoveEntries,
      RemoveCounters, RemoveRecords, RemoveRemedies, RemovePaces;
};

/// Reads and checks one file. Errors: `Name:line:column: expected ...`.
llvm::Expected<ModelFile> readModels(llvm::StringRef Name,
                                     llvm::StringRef Text);

} // namespace decontend

#endif
