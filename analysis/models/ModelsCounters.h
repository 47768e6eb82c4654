//===- ModelsCounters.h - Sections about counters ---------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   atomic: of a function        --> AtomicModel
//   counters: records: remedies: --> CounterTypeModel, RecordModel,
//   paces:                           CounterRemedy, PaceModel
//
// All return false, with a failure left in \p In, once something is wrong.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_MODELS_MODELSCOUNTERS_H
#define DECONTEND_ANALYSIS_MODELS_MODELSCOUNTERS_H

#include "analysis/models/ModelFields.h"
#include "analysis/models/ModelsReader.h"

namespace decontend {

bool readAtomic(FieldReader &In, const YamlNode &N, AtomicModel &M);

/// One item of `counters:`, which may name several types.
bool readCounterTypes(FieldReader &In, const YamlNode &N, ModelFile &Out);

/// One item of `records:`, which may name several records.
bool readRecords(FieldReader &In, const YamlNode &N, ModelFile &Out);

bool readRemedy(FieldReader &In, const YamlNode &N, ModelFile &Out);

/// One item of `paces:`, which may name several entries.
bool readPaces(FieldReader &In, const YamlNode &N, ModelFile &Out);

} // namespace decontend

#endif
