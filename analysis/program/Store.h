//===- Store.h - Shards kept between runs -----------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   <dir>/index.sqlite              units, their files, what those held
//   <dir>/shards/ab/<32 hex>.shard  named by content, see below
//   <dir>/tmp/                      shards on their way to their name
//
//   unit key  = BLAKE3(text of the caller: main file, flags, versions, models)
//   shard key = BLAKE3(unit key, then path and content of each dependency)
//
// A lookup takes the dependencies that the unit had last time, computes the
// shard key from their present content, and opens the shard of that name. So a
// file that changes and changes back finds its old shard again, and whatever is
// wrong with the index leads to a miss, never to wrong facts. May miss: a new
// header that now shadows a dependency from an earlier include folder.
//
// No problem with the store ends an analysis: it warns, and units are extracted
// again.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_STORE_H
#define DECONTEND_ANALYSIS_PROGRAM_STORE_H

#include "StoreIndex.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <set>

namespace decontend {

/// Opened by one thread; lookup and put may then be called by many.
class Store {
public:
  using WarningHandler = std::function<void(const std::string &)>;

  /// How long to wait for another process that writes the index.
  static constexpr unsigned DefaultBusyMs = 5000;

  /// Opens the store in \p Dir, making it if need be. Never null: where \p Dir
  /// cannot be written, it only reads; where nothing can be read either, or
  /// \p Dir is empty, every lookup misses. \p Warn hears of it, once; it is
  /// never called by two threads at a time.
  static std::unique_ptr<Store> open(llvm::StringRef Dir,
                                     FileDigests::Resolver ToAbsolute,
                                     WarningHandler Warn,
                                     unsigned BusyMs = DefaultBusyMs);

  /// Flushes; a failure becomes a warning.
  ~Store();

  /// The digests of this run, for use by others too. Works without a cache.
  FileDigests &files() { return Files; }

  bool reads() const { return Mode.load() != Access::None; }
  bool writes() const { return Mode.load() == Access::ReadWrite; }

  /// The shard of the unit whose key is made from \p Unit, or null. The
  /// checksum is right, so it may be decoded with ShardCheck::Verified. A
  /// damaged shard is reported, removed and missed.
  std::unique_ptr<llvm::MemoryBuffer> lookup(llvm::StringRef Unit);

  /// Keeps \p Shard, which is encode(\p Facts). Facts without files are not
  /// kept, as nothing would tell when they are out of date. After the first
  /// failure, which names the path, nothing more is written.
  llvm::Error put(llvm::StringRef Unit, const UnitFacts &Facts,
                  llvm::StringRef Shard);

  /// Writes what the index does not know yet. Units with a file that changed
  /// after it was hashed are forgotten: their facts may be of either content.
  llvm::Error flush();

  /// Removes shards until all take at most \p Bytes, oldest first, sparing
  /// those that the index names and those used by this run. Units that nobody
  /// asked for in 30 days lose their place in the index first.
  llvm::Error prune(uint64_t Bytes);

private:
  enum class Access : uint8_t { None, ReadOnly, ReadWrite };
  using Numbers = std::vector<uint32_t>;
  struct UnitRow {
    Digest Key{}, Shard{};
    std::shared_ptr<const Numbers> Files;
    bool Unsaved = false; ///< Its key is in UnsavedUnits.
    bool Fresh = false;   ///< Put by this run, files not verified since.
  };

  Store(llvm::StringRef Dir, FileDigests::Resolver ToAbsolute,
        WarningHandler Warn);
  void openIn(unsigned BusyMs);
  StoreIndex::Status openIndex(bool Write, unsigned BusyMs);
  StoreIndex::Status loadIndex();
  void removeIndex();
  void removeStaleTemporaries();

  std::string shardPath(const Digest &Shard) const;
  std::error_code writeShard(const std::string &Path, llvm::StringRef Bytes);
  std::unique_ptr<llvm::MemoryBuffer> readShard(const std::string &Path);
  void note(const Digest &Key, const Digest &Shard);
  void markUnsaved(UnitRow &Row);

  llvm::Error flushLocked();
  bool filesUnchanged(const UnitRow &Row, std::vector<char> &Checked);
  StoreIndex::Status saveRows();
  llvm::Error stopWriting(StoreIndex::Status Why);
  void warn(const std::string &Text);

  const std::string Dir;
  FileDigests Files;
  WarningHandler Warn;
  std::mutex WarnLock;
  std::atomic<Access> Mode{Access::None};

  std::shared_mutex Lock; ///< Guards all below.
  StoreIndex Index;
  std::map<Digest, UnitRow> Units; ///< By key.
  std::vector<Digest> UnsavedUnits;
  std::set<Digest> Used; ///< Shards that this run read or wrote.
};

} // namespace decontend

#endif
