//===- Engine.h - From a compile database to a linked program ---*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   compile_commands.json
//     --> [look up]  shards that are still right            (threads)
//     --> [extract]  the others, in waves of fixed size     (threads)
//     --> [heal]     header bodies whose giver is gone
//     --> [link]     Program
//     --> [lay over] a unit that somebody else has parsed (clang-tidy)
//
// Bodies of header functions are skipped when an *earlier wave* gave them, so
// that what a unit extracts depends on the order of paths, not on timing: the
// result is the same for every number of jobs.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_ENGINE_ENGINE_H
#define DECONTEND_TOOL_ENGINE_ENGINE_H

#include "analysis/extract/Extract.h"
#include "analysis/program/Program.h"
#include "analysis/program/Store.h"
#include "analysis/report/Report.h"
#include <atomic>
#include <functional>
#include <memory>

namespace decontend {

struct EngineOptions {
  std::string BuildPath; ///< Folder of the compile database, or the file.
  std::string Root;      ///< Source root; empty: guess.
  std::string CacheDir;  ///< Empty: no cache.
  std::vector<std::string> ModelFiles;
  unsigned Jobs = 0;       ///< 0: one per core.
  bool SkipBodies = true;  ///< Skip header bodies that are already known.
  bool CachedOnly = false; ///< Extract nothing (plugin with a stored program).
  bool Progress = false;   ///< Show progress on standard error.
  std::function<void(const std::string &)> Warn; ///< May be called by a worker.
};

/// Everything a command needs; immutable once loaded.
struct Engine {
  Models Knowledge;
  std::string ExtractionModels; ///< Digest of what extraction asks them.
  std::unique_ptr<UnitPaths> Paths;
  std::vector<CompileCommand> Commands;
  std::unique_ptr<Store> Cache;
  std::unique_ptr<Program> Linked;
  Coverage Seen;
  bool Interrupted = false;
  /// The unit that layOver() put into Linked, and the facts that it masks.
  const UnitFacts *Live = nullptr;
  std::unique_ptr<UnitFacts> Masked;
};

/// Set by a signal handler: units under way are finished, no new one starts.
extern std::atomic<bool> StopRequested;

/// Loads models and compile database, extracts what the cache does not have,
/// links. Blocks. Units that fail are listed in Seen.Failed; an Error means
/// that nothing could be analysed at all (exit code 3).
llvm::Expected<std::unique_ptr<Engine>> loadEngine(const EngineOptions &O);

/// Puts \p Live in the place of the stored unit of the same main file and links
/// again; the unit that was laid over before gives its place back. Stored facts
/// are not decoded again. O(program): pointers into the old Linked dangle.
void layOver(Engine &E, const UnitFacts &Live);

/// The header bodies that stored units other than that of \p MainFile (a pure
/// path) give, and that a live unit therefore need not give.
KnownBodies knownWithout(const Engine &E, llvm::StringRef MainFile);

/// `$DECONTEND_CACHE/facts`, or `decontend/facts` in the user's cache folder;
/// empty if there is neither.
std::string defaultCacheDir();

/// Models, paths and commands only; nothing is parsed.
llvm::Expected<std::unique_ptr<Engine>> prepareEngine(const EngineOptions &O);

/// The key under which a unit's shard is looked up: its pure path, its
/// arguments with pure paths, versions and models.
std::string unitKey(const Engine &E, const CompileCommand &C);

} // namespace decontend

#endif
