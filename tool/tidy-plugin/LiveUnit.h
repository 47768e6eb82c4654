//===- LiveUnit.h - The unit that clang-tidy has parsed ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Preprocessor --> [of] --> markers ---+
//   ASTContext ---> [collect] -----------+--> facts --> [use] --> Program
//
// One per unit, shared by all checks that judge the same program: facts are
// collected and linked once, however many rules there are.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_TIDY_PLUGIN_LIVEUNIT_H
#define DECONTEND_TOOL_TIDY_PLUGIN_LIVEUNIT_H

#include "StoredProgram.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace clang {
class Preprocessor;
}

namespace decontend {

class LiveUnit {
public:
  /// The live unit of \p PP; starts to record markers at the first call.
  static std::shared_ptr<LiveUnit> of(clang::Preprocessor &PP,
                                      const ProgramOptions &O);

  /// Runs \p Use on the program with this unit laid over it; does nothing if
  /// the unit did not compile. One thread at a time for all units of a program.
  void
  use(clang::ASTContext &Ctx,
      llvm::function_ref<void(const Engine &, llvm::StringRef MainFile)> Use);

  const StoredProgram &program() const { return *Around; }

private:
  LiveUnit(clang::Preprocessor &PP, const ProgramOptions &O);
  void collect(clang::ASTContext &Ctx, const Engine &E);

  const clang::Preprocessor *Of; ///< Only compared.
  const ProgramOptions Options;
  std::shared_ptr<StoredProgram> Around;
  ExtractOptions Extraction;
  UnitFacts Facts;
  bool Collected = false;
  uint64_t Ticket = 0;
};

} // namespace decontend

#endif
