//===- Store.cpp - Shards kept between runs ---------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/Store.h"
#include "analysis/facts/Codec.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace decontend;
namespace fs = llvm::sys::fs;
using Status = StoreIndex::Status;

/// Units per transaction: few enough to lose little in a crash.
static constexpr size_t BatchSize = 256;

/// A shard that is used gets a new time at most this often, so that prune()
/// can tell what is old without a write for every read.
static constexpr std::chrono::hours TouchAfter(24);

static std::string hexOf(const Digest &D) {
  return llvm::toHex(D, /*LowerCase=*/true);
}

Store::Store(llvm::StringRef Dir, FileDigests::Resolver ToAbsolute,
             WarningHandler Warn)
    : Dir(Dir), Files(std::move(ToAbsolute)), Warn(std::move(Warn)) {}

std::unique_ptr<Store> Store::open(llvm::StringRef Dir,
                                   FileDigests::Resolver ToAbsolute,
                                   WarningHandler Warn, unsigned BusyMs) {
  std::unique_ptr<Store> S(
      new Store(Dir, std::move(ToAbsolute), std::move(Warn)));
  if (!Dir.empty())
    S->openIn(BusyMs);
  return S;
}

Store::~Store() {
  if (llvm::Error E = flush())
    warn(llvm::toString(std::move(E)));
}

void Store::warn(const std::string &Text) {
  std::lock_guard Guard(WarnLock);
  if (Warn)
    Warn(Text);
}

//===--- Lookup and put ---------------------------------------------------===//

std::string Store::shardPath(const Digest &Shard) const {
  std::string Hex = hexOf(Shard);
  return fmt::format("{}/shards/{}/{}.shard", Dir, Hex.substr(0, 2), Hex);
}

/// Names a shard by its unit and the stamps of its files.
static Digest shardKey(const Digest &Unit,
                       llvm::SmallVectorImpl<char> &Stamps) {
  Stamps.append(Unit.begin(), Unit.end());
  return digestOf({Stamps.data(), Stamps.size()});
}

std::unique_ptr<llvm::MemoryBuffer> Store::lookup(llvm::StringRef Unit) {
  if (!reads())
    return nullptr;
  Digest Key = digestOf(Unit);
  std::shared_ptr<const Numbers> Needed;
  {
    std::shared_lock Guard(Lock);
    auto It = Units.find(Key);
    if (It == Units.end())
      return nullptr;
    Needed = It->second.Files;
  }
  llvm::SmallVector<char, 0> Stamps;
  if (!Files.stamps(*Needed, Stamps))
    return nullptr;
  Digest Shard = shardKey(Key, Stamps);
  auto Buffer = readShard(shardPath(Shard));
  if (Buffer)
    note(Key, Shard);
  return Buffer;
}

std::unique_ptr<llvm::MemoryBuffer> Store::readShard(const std::string &Path) {
  auto File = fs::openNativeFileForRead(Path);
  if (!File) { // Removed, or never made from this content: nothing to report.
    llvm::consumeError(File.takeError());
    return nullptr;
  }
  auto Close = llvm::make_scope_exit([&] { fs::closeFile(*File); });
  fs::file_status Status;
  if (fs::status(*File, Status))
    return nullptr;
  // These two arguments together make LLVM read instead of map, which is
  // quicker for small files.
  auto Buffer = llvm::MemoryBuffer::getOpenFile(*File, Path, Status.getSize(),
                                                /*RequiresNullTerminator=*/true,
                                                /*IsVolatile=*/true);
  std::string Problem;
  if (!Buffer)
    Problem = Buffer.getError().message();
  else if (llvm::Error E = verifyShard((*Buffer)->getBuffer()))
    Problem = llvm::toString(std::move(E));
  if (!Problem.empty()) {
    warn(fmt::format("damaged shard '{}' ({}); it is made again", Path,
                     Problem));
    if (writes())
      fs::remove(Path);
    return nullptr;
  }
  auto Now = std::chrono::system_clock::now();
  if (writes() && Status.getLastModificationTime() + TouchAfter < Now)
    fs::setLastAccessAndModificationTime(*File, Now);
  return std::move(*Buffer);
}

void Store::note(const Digest &Key, const Digest &Shard) {
  std::unique_lock Guard(Lock);
  Used.insert(Shard);
  auto It = Units.find(Key);
  if (It == Units.end() || It->second.Shard == Shard)
    return;
  It->second.Shard = Shard;
  if (writes())
    markUnsaved(It->second);
}

void Store::markUnsaved(UnitRow &Row) {
  if (!Row.Unsaved)
    UnsavedUnits.push_back(Row.Key);
  Row.Unsaved = true;
}

llvm::Error Store::put(llvm::StringRef Unit, const UnitFacts &Facts,
                       llvm::StringRef Shard) {
  if (!writes() || Facts.Files.empty())
    return llvm::Error::success();
  Digest Key = digestOf(Unit);
  auto Needed = std::make_shared<Numbers>();
  Needed->reserve(Facts.Files.size());
  llvm::SmallVector<char, 0> Stamps;
  for (const Dependency &D : Facts.Files) {
    llvm::StringRef Path = Facts.str(D.Path);
    Needed->push_back(Files.number(Path));
    Files.observe(Needed->back());
    Digest Stamp = FileDigests::stamp(Path, D.Content);
    Stamps.append(Stamp.begin(), Stamp.end());
  }
  Digest Name = shardKey(Key, Stamps);
  std::string Path = shardPath(Name);
  if (std::error_code EC = writeShard(Path, Shard)) {
    if (Mode.exchange(Access::ReadOnly) != Access::ReadWrite)
      return llvm::Error::success(); // Another thread has told.
    return llvm::createStringError(
        EC, fmt::format("cannot write '{}' ({}); results of this run are no "
                        "longer kept (choose another folder with --cache-dir)",
                        Path, EC.message()));
  }

  std::unique_lock Guard(Lock);
  Used.insert(Name);
  UnitRow &Row = Units[Key];
  Row.Key = Key;
  Row.Shard = Name;
  Row.Files = std::move(Needed);
  Row.Fresh = true;
  markUnsaved(Row);
  return UnsavedUnits.size() < BatchSize ? llvm::Error::success()
                                         : flushLocked();
}

/// Writes below another name first: a shard under its own name is whole.
std::error_code Store::writeShard(const std::string &Path,
                                  llvm::StringRef Bytes) {
  std::error_code EC;
  // Twice, because another process may tidy up the folders under our feet.
  for (int Try = 0; Try != 2; ++Try) {
    if ((EC = fs::create_directories(llvm::sys::path::parent_path(Path))) ||
        (EC = fs::create_directories(Dir + "/tmp")))
      return EC;
    int FD = -1;
    llvm::SmallString<128> Temporary;
    EC = fs::createUniqueFile(fmt::format("{}/tmp/{}-%%%%%%%%%%%%", Dir,
                                          llvm::sys::Process::getProcessId()),
                              FD, Temporary);
    if (EC)
      return EC;
    {
      llvm::raw_fd_ostream OS(FD, /*shouldClose=*/true);
      OS << Bytes;
      OS.close();
      EC = OS.error();
      OS.clear_error();
    }
    if (!EC)
      EC = fs::rename(Temporary, Path);
    if (!EC)
      return EC;
    fs::remove(Temporary);
    if (EC != std::errc::no_such_file_or_directory)
      return EC;
  }
  return EC;
}

//===--- Flush ------------------------------------------------------------===//

llvm::Error Store::flush() {
  std::unique_lock Guard(Lock);
  return flushLocked();
}

llvm::Error Store::flushLocked() {
  if (!writes() || (UnsavedUnits.empty() && !Files.needsSaving()))
    return llvm::Error::success();

  std::vector<char> Checked;
  for (const Digest &Key : UnsavedUnits) {
    auto It = Units.find(Key);
    if (It == Units.end() || !It->second.Fresh)
      continue;
    It->second.Fresh = false;
    if (filesUnchanged(It->second, Checked))
      continue;
    fs::remove(shardPath(It->second.Shard));
    Units.erase(It);
  }
  Status S = saveRows();
  return S == Status::Ok ? llvm::Error::success() : stopWriting(S);
}

/// \p Checked remembers answers within one flush: 0 unasked, 1 yes, 2 no.
bool Store::filesUnchanged(const UnitRow &Row, std::vector<char> &Checked) {
  for (uint32_t N : *Row.Files) {
    if (N >= Checked.size())
      Checked.resize(N + 1, 0);
    if (!Checked[N])
      Checked[N] = Files.unchanged(N) ? 1 : 2;
    if (Checked[N] == 2)
      return false;
  }
  return true;
}

Status Store::saveRows() {
  Status S = Index.begin();
  if (S != Status::Ok)
    return S;
  Files.save([&](llvm::StringRef Path, const FileState &State, int64_t &Row) {
    return (S = Index.putFile(Path, State, Row)) == Status::Ok;
  });
  for (const Digest &Key : UnsavedUnits) {
    if (S != Status::Ok)
      return S;
    auto It = Units.find(Key);
    if (It == Units.end())
      continue;
    UnitRow &Row = It->second;
    StoreIndex::Unit U{Row.Key, Row.Shard, {}};
    for (uint32_t N : *Row.Files)
      U.Files.push_back(Files.rowOf(N));
    Row.Unsaved = false;
    S = Index.putUnit(U);
  }
  UnsavedUnits.clear();
  return S == Status::Ok ? Index.commit() : S;
}

llvm::Error Store::stopWriting(Status Why) {
  Mode = Access::ReadOnly;
  std::string Path = Dir + "/index.sqlite";
  switch (Why) {
  case Status::Busy:
    warn(fmt::format("the cache index '{}' is in use by another process; "
                     "results of this run are no longer kept",
                     Path));
    return llvm::Error::success();
  case Status::Damaged:
  case Status::Outdated:
    removeIndex();
    warn(fmt::format("the cache index '{}' is damaged ({}); the next run makes "
                     "it again",
                     Path, Index.message()));
    return llvm::Error::success();
  default:
    return llvm::createStringError(
        std::make_error_code(std::errc::io_error),
        fmt::format("cannot write '{}' ({}); results of this run are no "
                    "longer kept (choose another folder with --cache-dir)",
                    Path, Index.message()));
  }
}
