//===- StoreUpkeep.cpp - Opening and pruning a store ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that looks at the folder as a whole.
//
//===----------------------------------------------------------------------===//

#include "analysis/program/Store.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>

using namespace decontend;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using Status = StoreIndex::Status;

/// A shard is written within moments; what is older has lost its writer, even
/// if the process number is in use again or belongs to another machine.
static constexpr std::chrono::minutes TemporaryLife(10);

/// Units unused for so long are of a configuration that was given up.
static constexpr std::chrono::hours UnitLife(24 * 30);

//===--- Open -------------------------------------------------------------===//

/// Why nothing can be written into \p Dir, making its folders if need be.
static std::error_code whyNotWritable(const std::string &Dir) {
  for (const char *Folder : {"/shards", "/tmp"})
    if (std::error_code EC = fs::create_directories(Dir + Folder))
      return EC;
  for (const char *Folder : {"", "/shards", "/tmp"})
    if (std::error_code EC = fs::access(Dir + Folder, fs::AccessMode::Write))
      return EC;
  return {};
}

void Store::openIn(unsigned BusyMs) {
  std::error_code Refused = whyNotWritable(Dir);
  bool Write = !Refused;
  std::string Why = Refused.message();
  if (Write || fs::exists(Dir + "/index.sqlite")) {
    Status S = openIndex(Write, BusyMs);
    if (S == Status::Ok && Write && !Index.readOnly()) {
      Mode = Access::ReadWrite;
      removeStaleTemporaries();
      return;
    }
    if (S == Status::Ok) {
      Mode = Access::ReadOnly;
      warn(fmt::format("cannot write to the cache folder '{}' ({}); earlier "
                       "results are used, new ones are not kept (choose "
                       "another folder with --cache-dir)",
                       Dir, Write ? "its index is read-only" : Why));
      return;
    }
    Index.close();
    if (S == Status::Busy)
      Why = "its index is in use by another process";
    else if (Write || S != Status::Failed)
      Why = "index.sqlite: " + Index.message();
  }
  warn(fmt::format("cannot use the cache folder '{}' ({}); every unit is "
                   "parsed anew (choose another folder with --cache-dir)",
                   Dir, Why));
}

/// Opens and reads the index. One that is damaged or of another version is made
/// again, for which only damage deserves a warning.
Status Store::openIndex(bool Write, unsigned BusyMs) {
  std::string Path = Dir + "/index.sqlite";
  Status S = Index.open(Path, Write, BusyMs);
  if (S == Status::Ok)
    S = loadIndex();
  if (!Write || (S != Status::Damaged && S != Status::Outdated))
    return S;
  if (S == Status::Damaged)
    warn(fmt::format("the cache index '{}' is damaged ({}); it is made again",
                     Path, Index.message()));
  removeIndex();
  return Index.open(Path, Write, BusyMs);
}

Status Store::loadIndex() {
  std::vector<StoreIndex::File> Known;
  std::vector<StoreIndex::Unit> Saved;
  Status S = Index.load(Known, Saved);
  if (S != Status::Ok)
    return S;
  llvm::DenseMap<int64_t, uint32_t> ByRow(Known.size());
  for (const StoreIndex::File &F : Known)
    ByRow[F.Row] = Files.restore(F.Path, F.State, F.Row);
  for (const StoreIndex::Unit &U : Saved) {
    auto Needed = std::make_shared<Numbers>();
    Needed->reserve(U.Files.size());
    for (int64_t Row : U.Files)
      if (auto It = ByRow.find(Row); It != ByRow.end())
        Needed->push_back(It->second);
    // A unit with a file that is not there was written over another process's
    // index. It is made again, and so is one that depends on nothing.
    if (!Needed->empty() && Needed->size() == U.Files.size())
      Units[U.Key] = {U.Key, U.Shard, std::move(Needed)};
  }
  return Status::Ok;
}

void Store::removeIndex() {
  Index.close();
  for (const char *Suffix : {"", "-journal", "-wal", "-shm"})
    fs::remove(Dir + "/index.sqlite" + Suffix);
}

void Store::removeStaleTemporaries() {
  std::error_code EC;
  auto Now = std::chrono::system_clock::now();
  for (fs::directory_iterator It(Dir + "/tmp", EC), End; !EC && It != End;
       It.increment(EC)) {
    pid_t Writer = 0;
    bool Alive =
        !path::filename(It->path()).split('-').first.getAsInteger(10, Writer) &&
        Writer > 0 && (::kill(Writer, 0) == 0 || errno == EPERM);
    fs::file_status Status;
    if (Alive && !fs::status(It->path(), Status) &&
        Status.getLastModificationTime() + TemporaryLife > Now)
      continue;
    fs::remove(It->path());
  }
}

//===--- Prune ------------------------------------------------------------===//

namespace {
struct StoredShard {
  std::string Path;
  Digest Name{};
  uint64_t Size = 0;
  llvm::sys::TimePoint<> Time;
};
} // namespace

static std::vector<StoredShard> listShards(const std::string &Folder) {
  std::vector<StoredShard> Found;
  std::error_code EC;
  for (fs::recursive_directory_iterator It(Folder, EC), End; !EC && It != End;
       It.increment(EC)) {
    llvm::StringRef Name = path::filename(It->path());
    std::string Bytes;
    fs::file_status Status;
    if (!Name.consume_back(".shard") || Name.size() != 2 * sizeof(Digest) ||
        !llvm::tryGetFromHex(Name, Bytes) || fs::status(It->path(), Status))
      continue;
    StoredShard &S = Found.emplace_back();
    S.Path = It->path();
    std::copy(Bytes.begin(), Bytes.end(), S.Name.begin());
    S.Size = Status.getSize();
    S.Time = Status.getLastModificationTime();
  }
  std::sort(Found.begin(), Found.end(),
            [](const StoredShard &A, const StoredShard &B) {
              return std::tie(A.Time, A.Path) < std::tie(B.Time, B.Path);
            });
  return Found;
}

llvm::Error Store::prune(uint64_t Bytes) {
  std::unique_lock Guard(Lock);
  if (llvm::Error E = flushLocked())
    return E;
  if (!writes())
    return llvm::Error::success();
  std::vector<StoredShard> Shards = listShards(Dir + "/shards");
  uint64_t Total = 0;
  for (const StoredShard &S : Shards)
    Total += S.Size;
  if (Total <= Bytes)
    return llvm::Error::success();

  std::set<Digest> Recent(Used);
  auto Now = std::chrono::system_clock::now();
  for (const StoredShard &S : Shards)
    if (S.Time + UnitLife > Now)
      Recent.insert(S.Name);
  if (Status S = Index.begin(); S != Status::Ok)
    return stopWriting(S);
  std::set<Digest> Referenced(Used);
  for (auto It = Units.begin(); It != Units.end();) {
    if (Recent.count(It->second.Shard)) {
      Referenced.insert(It->second.Shard);
      ++It;
      continue;
    }
    if (Status S = Index.dropUnit(It->first); S != Status::Ok)
      return stopWriting(S);
    It = Units.erase(It);
  }
  if (Status S = Index.commit(); S != Status::Ok)
    return stopWriting(S);

  for (const StoredShard &S : Shards) {
    if (Total <= Bytes)
      break;
    if (Referenced.count(S.Name))
      continue;
    if (std::error_code EC = fs::remove(S.Path))
      return llvm::createStringError(
          EC, fmt::format("cannot remove '{}' ({})", S.Path, EC.message()));
    Total -= S.Size;
  }
  return llvm::Error::success();
}
