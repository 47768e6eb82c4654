//===- Engine.cpp - From a compile database to a linked program -----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "Progress.h"
#include "analysis/facts/Codec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <mutex>

using namespace llvm;

namespace decontend {

std::atomic<bool> StopRequested{false};

static std::string absolutePath(StringRef Path) {
  SmallString<256> P(Path);
  sys::fs::make_absolute(P);
  sys::path::remove_dots(P, true);
  return std::string(P);
}

std::string defaultCacheDir() {
  SmallString<256> P;
  if (auto Env = sys::Process::GetEnv("DECONTEND_CACHE"); Env && !Env->empty())
    P = *Env;
  else if (sys::path::cache_directory(P))
    sys::path::append(P, "decontend");
  else
    return "";
  sys::path::append(P, "facts");
  return std::string(P);
}

/// Of the models, extraction asks only for markers and for the names of waits:
/// other changes to models leave shards right.
static std::string extractionModels(const Models &M) {
  std::string Names;
  for (const std::string &Marker : M.markers())
    Names += Marker + " ";
  for (const FunctionModel &F : M.functions())
    if (F.Wait)
      Names += F.Name + " ";
  return toHex(digestOf(Names));
}

Expected<std::unique_ptr<Engine>> prepareEngine(const EngineOptions &O) {
  auto E = std::make_unique<Engine>();
  Expected<Models> M = loadModels(O.ModelFiles);
  if (!M)
    return M.takeError();
  E->Knowledge = std::move(*M);
  E->ExtractionModels = extractionModels(E->Knowledge);
  Expected<std::vector<CompileCommand>> Commands =
      loadCompileCommands(O.BuildPath, &E->Seen.Repeated);
  if (!Commands)
    return Commands.takeError();
  E->Commands = std::move(*Commands);
  std::string Build = absolutePath(O.BuildPath);
  if (!sys::fs::is_directory(Build))
    Build = sys::path::parent_path(Build).str();
  std::string Root =
      O.Root.empty() ? guessRoot(E->Commands, Build) : absolutePath(O.Root);
  if (!sys::fs::is_directory(Root))
    return createStringError(inconvertibleErrorCode(),
                             "%s: the source root is not a folder; name one "
                             "with --root",
                             Root.c_str());
  E->Paths = std::make_unique<UnitPaths>(Root, Build);
  return E;
}

std::string unitKey(const Engine &E, const CompileCommand &C) {
  std::string Key = "facts " + std::to_string(FactsVersion) + " extractor " +
                    std::to_string(ExtractorVersion) + " models " +
                    E.ExtractionModels + "\n";
  Key += E.Paths->pure(C.File, C.Directory) + "\n";
  Key += E.Paths->pure(C.Directory, "/") + "\n";
  // Arguments may hold absolute paths, alone or behind -I and the like.
  for (const std::string &A : normalisedArguments(C)) {
    StringRef S(A);
    for (StringRef Folder : {E.Paths->root(), E.Paths->build()}) {
      if (Folder.empty())
        continue;
      if (size_t At = S.find(Folder); At != StringRef::npos) {
        Key +=
            S.take_front(At).str() + E.Paths->pure(S.substr(At), C.Directory);
        S = StringRef();
        break;
      }
    }
    Key += S.str() + "\n";
  }
  return Key;
}

namespace {

/// The load of one program, as steps.
class Loader {
public:
  Loader(Engine &E, const EngineOptions &O)
      : E(E), O(O), Keys(E.Commands.size()), Units(E.Commands.size()),
        FromCache(E.Commands.size(), 0), Pool(hardware_concurrency(O.Jobs)) {
    E.Linked = std::make_unique<Program>(E.Knowledge);
  }

  void run() {
    E.Seen.Units = E.Commands.size();
    lookUp();
    if (!O.CachedOnly)
      extractAll();
    linkAll();
    if (!O.CachedOnly && !E.Interrupted)
      heal();
  }

private:
  void lookUp() {
    Progress Bar(O.Progress, "looking up", E.Commands.size());
    for (size_t I = 0; I < E.Commands.size(); ++I)
      Pool.async([this, I, &Bar] {
        if (StopRequested)
          return;
        Keys[I] = unitKey(E, E.Commands[I]);
        if (auto Shard = E.Cache->lookup(Keys[I]))
          take(I, Shard->getBuffer(), /*Cached=*/true);
        Bar.step();
      });
    Pool.wait();
    for (const auto &U : Units)
      if (U)
        Known.addAll(*U, E.Linked->names());
  }

  /// Decodes a shard into the program's names.
  void take(size_t I, StringRef Shard, bool Cached) {
    std::lock_guard<std::mutex> Guard(Lock);
    auto U = std::make_unique<UnitFacts>();
    if (Error Bad =
            decodeInto(Shard, E.Linked->names(), *U, ShardCheck::Verified)) {
      std::string Why = toString(std::move(Bad));
      if (!Cached)
        E.Seen.Failed.push_back(
            {E.Paths->pure(E.Commands[I].File, E.Commands[I].Directory),
             "its facts are inconsistent (" + Why + "); please report this"});
      return; // from the cache: extracted again
    }
    Units[I] = std::move(U);
    FromCache[I] = Cached;
    if (Cached)
      ++E.Seen.Cached;
  }

  void extractAll() {
    std::vector<size_t> Stale;
    for (size_t I = 0; I < Units.size(); ++I)
      if (!Units[I])
        Stale.push_back(I);
    Progress Bar(O.Progress, "parsing", Stale.size());
    // Small waves first: most header bodies are known after a few units.
    size_t Wave = 1, Begin = 0;
    while (Begin < Stale.size() && !StopRequested) {
      size_t End = std::min(Stale.size(), Begin + Wave);
      for (size_t K = Begin; K < End; ++K)
        Pool.async([this, I = Stale[K], &Bar] {
          if (!StopRequested) {
            extractOne(I, &Known);
            Bar.step();
          }
        });
      Pool.wait();
      for (size_t K = Begin; K < End; ++K)
        if (Units[Stale[K]])
          Known.addAll(*Units[Stale[K]], E.Linked->names());
      Begin = End;
      Wave = std::min<size_t>(Wave * 2, 256);
    }
    E.Interrupted = StopRequested;
    std::sort(E.Seen.Failed.begin(), E.Seen.Failed.end(),
              [](const FailedUnit &A, const FailedUnit &B) {
                return A.File < B.File;
              });
  }

  void extractOne(size_t I, const KnownBodies *Skip) {
    const CompileCommand &C = E.Commands[I];
    ExtractOptions X;
    X.Knowledge = &E.Knowledge;
    X.Paths = E.Paths.get();
    X.Known = O.SkipBodies ? Skip : nullptr;
    X.DigestOf = [this](StringRef Pure) {
      return E.Cache->files().digest(Pure).value_or(Digest{});
    };
    ExtractResult R = extractUnit(C, X);
    if (!R.Ok) {
      std::lock_guard<std::mutex> Guard(Lock);
      E.Seen.Failed.push_back({E.Paths->pure(C.File, C.Directory), R.Reason});
      return;
    }
    SmallVector<char, 0> Shard;
    encode(R.Facts, Shard);
    StringRef Bytes(Shard.data(), Shard.size());
    if (Error Bad = E.Cache->put(Keys[I], R.Facts, Bytes)) {
      std::string Text = toString(std::move(Bad));
      std::lock_guard<std::mutex> Guard(Lock);
      if (O.Warn)
        O.Warn(Text);
    }
    take(I, Bytes, /*Cached=*/false);
  }

  void linkAll() {
    E.Seen.Analysed = 0;
    for (size_t I = 0; I < Units.size(); ++I)
      if (Units[I]) {
        ++E.Seen.Analysed;
        E.Linked->add(std::move(Units[I]));
        Position.push_back(I);
      }
    E.Linked->link();
  }

  /// Header bodies that a unit left to another unit, while that other unit no
  /// longer gives them: the borrower is parsed again, with all bodies.
  void heal() {
    std::vector<size_t> Again;
    for (size_t U : E.Linked->unitsWithGaps())
      Again.push_back(Position[U]);
    if (Again.empty())
      return;
    std::vector<std::unique_ptr<UnitFacts>> Old = E.Linked->takeUnits();
    for (size_t U = 0; U < Old.size(); ++U)
      Units[Position[U]] = std::move(Old[U]);
    Symbols Names = std::move(E.Linked->names());
    E.Linked = std::make_unique<Program>(E.Knowledge);
    E.Linked->names() = std::move(Names);
    Position.clear();
    Progress Bar(O.Progress, "completing", Again.size());
    for (size_t I : Again) {
      E.Seen.Cached -= FromCache[I];
      Pool.async([this, I, &Bar] {
        extractOne(I, nullptr);
        Bar.step();
      });
    }
    Pool.wait();
    linkAll();
  }

  Engine &E;
  const EngineOptions &O;
  std::vector<std::string> Keys;
  std::vector<std::unique_ptr<UnitFacts>> Units;
  std::vector<char> FromCache;  ///< Per command: taken from the cache?
  std::vector<size_t> Position; ///< Command of each linked unit.
  KnownBodies Known;
  std::mutex Lock;
  DefaultThreadPool Pool;
};

} // namespace

Expected<std::unique_ptr<Engine>> loadEngine(const EngineOptions &O) {
  Expected<std::unique_ptr<Engine>> E = prepareEngine(O);
  if (!E)
    return E.takeError();
  const UnitPaths *Paths = (*E)->Paths.get();
  (*E)->Cache = Store::open(
      O.CacheDir, [Paths](StringRef Pure) { return Paths->absolute(Pure); },
      [&O](const std::string &Text) {
        if (O.Warn)
          O.Warn(Text);
      });
  Loader(**E, O).run();
  if (Error Bad = (*E)->Cache->flush()) {
    std::string Text = toString(std::move(Bad));
    if (O.Warn)
      O.Warn(Text);
  }
  const Program &P = *(*E)->Linked;
  (*E)->Seen.Functions = P.functionCount();
  (*E)->Seen.WithContext = P.withContext();
  (*E)->Seen.EntryPoints = P.entries().size();
  return E;
}

} // namespace decontend
