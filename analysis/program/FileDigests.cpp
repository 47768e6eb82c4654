//===- FileDigests.cpp - What is in a file, asked once ----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/FileDigests.h"
#include "analysis/facts/Codec.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

using namespace decontend;
namespace fs = llvm::sys::fs;

static constexpr std::chrono::seconds RacyTime(2);

static FileState stateOf(const fs::file_status &S) {
  FileState F;
  F.Size = S.getSize();
  F.MtimeNs = S.getLastModificationTime().time_since_epoch().count();
  F.Inode = S.getUniqueID().getFile();
  return F;
}

FileDigests::FileDigests(Resolver ToAbsolute)
    : ToAbsolute(std::move(ToAbsolute)) {}

uint32_t FileDigests::add(llvm::StringRef Pure) {
  auto [It, New] =
      Numbers.try_emplace(Pure, static_cast<uint32_t>(Entries.size()));
  if (New) {
    Entry &E = Entries.emplace_back();
    E.Pure = It->getKey();
    E.Number = It->second;
  }
  return It->second;
}

uint32_t FileDigests::restore(llvm::StringRef Pure, const FileState &Known,
                              int64_t Row) {
  uint32_t N = add(Pure);
  Entries[N].Known = Known;
  Entries[N].Row = Row;
  return N;
}

uint32_t FileDigests::number(llvm::StringRef Pure) {
  {
    std::shared_lock Guard(TableLock);
    auto It = Numbers.find(Pure);
    if (It != Numbers.end())
      return It->second;
  }
  std::unique_lock Guard(TableLock);
  return add(Pure);
}

FileDigests::Entry &FileDigests::at(uint32_t Number) {
  std::shared_lock Guard(TableLock);
  return Entries[Number];
}

std::optional<Digest> FileDigests::digest(llvm::StringRef Pure) {
  Entry &E = at(number(Pure));
  if (!present(E))
    return std::nullopt;
  return E.Now.Content;
}

void FileDigests::observe(uint32_t Number) { present(at(Number)); }

Digest FileDigests::stamp(llvm::StringRef Pure, const Digest &Content) {
  llvm::BLAKE3 Hash;
  Hash.update(Content);
  Hash.update(Pure);
  return Hash.final<sizeof(Digest)>();
}

bool FileDigests::stamps(llvm::ArrayRef<uint32_t> Numbers,
                         llvm::SmallVectorImpl<char> &Out) {
  llvm::SmallVector<Entry *, 0> Found;
  Found.reserve(Numbers.size());
  {
    std::shared_lock Guard(TableLock);
    for (uint32_t N : Numbers)
      Found.push_back(&Entries[N]);
  }
  Out.reserve(Out.size() + Numbers.size() * sizeof(Digest));
  for (Entry *E : Found) {
    if (!present(*E))
      return false;
    Out.append(E->Stamp.begin(), E->Stamp.end());
  }
  return true;
}

bool FileDigests::present(Entry &E) {
  Seen S = E.Status.load(std::memory_order_acquire);
  if (S == Seen::No) {
    std::lock_guard Guard(LookLocks[E.Number % LookLocks.size()]);
    S = E.Status.load(std::memory_order_relaxed);
    if (S == Seen::No) {
      S = look(E);
      E.Status.store(S, std::memory_order_release);
    }
  }
  return S == Seen::Present;
}

FileDigests::Seen FileDigests::look(Entry &E) {
  // A file without a row gets one even when it is missing, because units that
  // name it are saved with the numbers of their files.
  auto Save = llvm::make_scope_exit([&] {
    if (E.Row && E.ToSave == E.Known)
      return;
    std::lock_guard Guard(UnsavedLock);
    Unsaved.push_back(&E);
  });
  E.ToSave = E.Known;

  std::string Path = ToAbsolute(E.Pure);
  fs::file_status Status;
  if (Path.empty() || fs::status(Path, Status) || !fs::is_regular_file(Status))
    return Seen::Missing;
  E.Now = stateOf(Status);
  if (E.Known.MtimeNs != FileState::Untrusted && E.Now.sameStat(E.Known)) {
    E.Now = E.Known;
    E.Stamp = stamp(E.Pure, E.Now.Content);
    return Seen::Present;
  }

  // The stat that is kept is that of the opened file, taken before reading: a
  // later write then shows as a later time.
  auto Started = std::chrono::system_clock::now();
  auto File = fs::openNativeFileForRead(Path);
  if (!File) {
    llvm::consumeError(File.takeError());
    return Seen::Missing;
  }
  auto Close = llvm::make_scope_exit([&] { fs::closeFile(*File); });
  if (fs::status(*File, Status))
    return Seen::Missing;
  // These two arguments together make LLVM read instead of map: an editor may
  // truncate the file meanwhile.
  auto Buffer = llvm::MemoryBuffer::getOpenFile(*File, Path, Status.getSize(),
                                                /*RequiresNullTerminator=*/true,
                                                /*IsVolatile=*/true);
  if (!Buffer)
    return Seen::Missing;
  E.Now = stateOf(Status);
  E.Now.Content = digestOf((*Buffer)->getBuffer());
  E.Stamp = stamp(E.Pure, E.Now.Content);
  E.ToSave = E.Now;
  if (Status.getLastModificationTime() + RacyTime > Started)
    E.ToSave.MtimeNs = FileState::Untrusted;
  return Seen::Present;
}

bool FileDigests::unchanged(uint32_t Number) {
  Entry &E = at(Number);
  fs::file_status Status;
  return present(E) && !fs::status(ToAbsolute(E.Pure), Status) &&
         stateOf(Status).sameStat(E.Now);
}

bool FileDigests::needsSaving() {
  std::lock_guard Guard(UnsavedLock);
  return !Unsaved.empty();
}

bool FileDigests::save(
    llvm::function_ref<bool(llvm::StringRef, const FileState &, int64_t &)>
        Write) {
  std::vector<Entry *> Taken;
  {
    std::lock_guard Guard(UnsavedLock);
    Taken.swap(Unsaved);
  }
  for (Entry *E : Taken)
    if (!Write(E->Pure, E->ToSave, E->Row))
      return false;
  return true;
}

int64_t FileDigests::rowOf(uint32_t Number) { return at(Number).Row; }
