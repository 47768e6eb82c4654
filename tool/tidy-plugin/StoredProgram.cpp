//===- StoredProgram.cpp - What is known around a live unit ---------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredProgram.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

using namespace llvm;

namespace decontend {

static void warn(const Twine &Text) {
  WithColor::warning(errs(), "decontend") << Text << "\n";
}

std::shared_ptr<StoredProgram> StoredProgram::get(const ProgramOptions &O) {
  static std::mutex Lock;
  // Never destroyed: freeing a program takes time that an ending process saves,
  // and what it needs of the host may be gone by then.
  static auto &All = *new std::vector<std::shared_ptr<StoredProgram>>;
  std::lock_guard<std::mutex> Guard(Lock);
  for (const auto &P : All)
    if (P->Options == O)
      return P;
  All.push_back(std::shared_ptr<StoredProgram>(new StoredProgram(O)));
  return All.back();
}

std::string StoredProgram::folder() const {
  return Options.Folder.empty() ? "FOLDER" : Options.Folder;
}

std::string StoredProgram::mend() const {
  return "; run 'decontend check -p " + Options.Folder + "'";
}

void StoredProgram::load() {
  if (!Options.Folder.empty()) {
    EngineOptions O;
    O.BuildPath = Options.Folder;
    O.Root = Options.Root;
    O.CacheDir =
        Options.CacheDir.empty() ? defaultCacheDir() : Options.CacheDir;
    O.ModelFiles = Options.Models;
    O.CachedOnly = true;
    O.Warn = [](const std::string &Text) { warn(Text); };
    Expected<std::unique_ptr<Engine>> E = loadEngine(O);
    if (!E) {
      warn("option Program: " + toString(E.takeError()) +
           "; each unit is judged alone");
    } else if ((*E)->Seen.Analysed == 0) {
      warn(Options.Folder + ": no unit of this program is in the cache '" +
           O.CacheDir + "', each unit is judged alone" + mend());
    } else {
      State = std::move(*E);
      Alone = false;
      return;
    }
  }
  State = std::make_unique<Engine>();
  Expected<Models> M = loadModels(Options.Models);
  if (!M) {
    // With a folder, the error has been shown already.
    std::string Why = toString(M.takeError());
    if (Options.Folder.empty())
      warn(Why + "; only the built-in models are used");
    M = loadModels();
  }
  State->Knowledge = cantFail(std::move(M));
}

StoredProgram::Access StoredProgram::use(StringRef MainFile) {
  Access A(*this);
  if (Alone) {
    SmallString<256> Root(Options.Root);
    if (Root.empty()) {
      CompileCommand Only;
      Only.File = MainFile.str();
      Root = guessRoot({Only}, "");
    } else {
      sys::fs::make_absolute(Root);
      sys::path::remove_dots(Root, true);
    }
    if (!State->Paths || State->Paths->root() != Root.str())
      State->Paths = std::make_unique<UnitPaths>(std::string(Root), "");
    if (!State->Linked)
      State->Linked = std::make_unique<Program>(State->Knowledge);
  }
  return A;
}

void StoredProgram::Access::layOver(const UnitFacts &Live, uint64_t &Ticket) {
  if (Ticket != 0 && Ticket == Owner.LastTicket)
    return;
  Engine &E = engine();
  if (Owner.Alone) {
    // Nothing is stored, so not even names need to be kept.
    E.Live = nullptr;
    E.Linked = std::make_unique<Program>(E.Knowledge);
  }
  decontend::layOver(E, Live);
  Ticket = ++Owner.LastTicket;
  Owner.warnOfGaps();
}

void StoredProgram::warnOfGaps() {
  if (Alone || std::exchange(GapsSaid, true))
    return;
  // The live unit is as new as can be, whether or not the cache has it.
  size_t Missing = State->Seen.Units - State->Seen.Analysed;
  if (!State->Masked && Missing != 0)
    --Missing;
  if (Missing != 0)
    warn(Options.Folder + ": " + Twine(Missing) + " of " +
         Twine(State->Seen.Units) +
         " units are not in the cache, or older than their files; they are "
         "left out" +
         mend());
}

} // namespace decontend
