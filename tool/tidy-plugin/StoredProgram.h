//===- StoredProgram.h - What is known around a live unit -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   options --> [get] --> StoredProgram, one for each in a process
//                            |  the shards of a program, decoded once; or
//                            |  nothing, and each unit is judged alone
//
// Loading costs seconds for thousands of units, so it is done for the first
// unit of a process and kept for all others.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_TIDY_PLUGIN_STOREDPROGRAM_H
#define DECONTEND_TOOL_TIDY_PLUGIN_STOREDPROGRAM_H

#include "tool/engine/Engine.h"
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace decontend {

/// The options of a check that decide which program it judges.
struct ProgramOptions {
  std::string Folder; ///< Of the compile database; empty: each unit alone.
  std::string Root;   ///< Empty: guess, as the command line does.
  std::string CacheDir;
  std::vector<std::string> Models;
  bool operator==(const ProgramOptions &) const = default;
};

class StoredProgram {
public:
  /// The program for \p O; loads it at the first call and says on standard
  /// error what is missing, once. Blocks; may be called from any thread.
  static std::shared_ptr<StoredProgram> get(const ProgramOptions &O);

  /// Is each unit judged alone, because no program is named or none is there?
  bool isAlone() const { return Alone; }
  /// The folder to name in commands for the user; a placeholder if there is
  /// none.
  std::string folder() const;
  const Models &knowledge() const { return State->Knowledge; }

  /// The engine, to be used while the lock is held. Its Linked is empty when
  /// the unit is alone.
  class Access {
  public:
    Engine &engine() const { return *Owner.State; }
    /// Lays \p Live over, unless it still is. \p Ticket is 0 at first and then
    /// what the last call for these facts left in it.
    void layOver(const UnitFacts &Live, uint64_t &Ticket);

  private:
    friend class StoredProgram;
    explicit Access(StoredProgram &Owner) : Owner(Owner), Guard(Owner.Lock) {}
    StoredProgram &Owner;
    std::unique_lock<std::mutex> Guard;
  };
  /// \p MainFile (absolute) decides where a unit that is alone has its root.
  Access use(llvm::StringRef MainFile);

private:
  explicit StoredProgram(const ProgramOptions &O) : Options(O) { load(); }
  void load();
  void warnOfGaps();
  std::string mend() const;

  const ProgramOptions Options;
  bool Alone = true;
  std::unique_ptr<Engine> State;
  uint64_t LastTicket = 0;
  bool GapsSaid = false;
  std::mutex Lock; ///< Guards State, but for its Knowledge.
};

} // namespace decontend

#endif
