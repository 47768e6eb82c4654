//===- CompileCommands.h - compile_commands.json ----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   compile_commands.json --> [loadCompileCommands] --> CompileCommand
//                                     --> [normalisedArguments] --> Clang
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_COMPILECOMMANDS_H
#define DECONTEND_ANALYSIS_EXTRACT_COMPILECOMMANDS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace decontend {

struct CompileCommand {
  std::string Directory;              ///< Absolute, without dots.
  std::string File;                   ///< Absolute, without dots.
  std::vector<std::string> Arguments; ///< As in the database, split.
};

/// Reads `compile_commands.json` in \p Folder (or \p Folder itself, if it is a
/// file). Sorted by file, one command per file (the first one stays). Assembler
/// files are left out. \p Repeated gets the number of further commands for
/// files that have one. The error names the file and how to make one.
llvm::Expected<std::vector<CompileCommand>>
loadCompileCommands(llvm::StringRef Folder, size_t *Repeated = nullptr);

/// What Clang is given for \p C: response files expanded (relative to the
/// directory), output and dependency options dropped, options that Clang does
/// not know (GCC's) dropped, warnings off, resource folder added.
std::vector<std::string> normalisedArguments(const CompileCommand &C);

/// The source root when none is given: git's top level above the units, else
/// the deepest folder that holds all units outside the build folder.
std::string guessRoot(const std::vector<CompileCommand> &Commands,
                      llvm::StringRef Build);

} // namespace decontend

#endif
