//===- StoreIndex.h - The index of a store, in SQLite -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   files(id, path, size, mtime_ns, inode, digest)
//   units(key, shard, deps)        deps: LEB128 numbers of files, in order
//
// The index only says where to look. The name of a shard is computed from the
// content of all its files, so a wrong index costs time and never a wrong
// answer; that is why it is not synced to disk and is thrown away when damaged.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_STOREINDEX_H
#define DECONTEND_ANALYSIS_PROGRAM_STOREINDEX_H

#include "FileDigests.h"
#include "llvm/ADT/STLFunctionalExtras.h"

struct sqlite3;
struct sqlite3_stmt;

namespace decontend {

class StoreIndex {
public:
  enum class Status : uint8_t {
    Ok,
    Busy,     ///< Another process holds it for longer than we wait.
    Damaged,  ///< Not a database, or not one of ours.
    Outdated, ///< Written by another version.
    Failed,   ///< No space, no right, input or output error.
  };
  struct File {
    int64_t Row;
    std::string Path;
    FileState State;
  };
  struct Unit {
    Digest Key, Shard;
    std::vector<int64_t> Files;
  };

  StoreIndex() = default;
  StoreIndex(const StoreIndex &) = delete;
  StoreIndex &operator=(const StoreIndex &) = delete;
  ~StoreIndex() { close(); }

  /// Opens \p Path, with \p Write making it if it is not there.
  Status open(const std::string &Path, bool Write, unsigned BusyMs);
  void close();

  /// Reads everything.
  Status load(std::vector<File> &Files, std::vector<Unit> &Units);

  /// Writes between begin() and commit(). After any status but Ok the
  /// transaction is gone.
  Status begin();
  Status putFile(llvm::StringRef Path, const FileState &State, int64_t &Row);
  Status putUnit(const Unit &U);
  Status dropUnit(const Digest &Key);
  Status commit();
  void rollback();

  /// Whether the file system refuses writes although they were asked for.
  bool readOnly() const;
  /// The reason of the last status other than Ok.
  const std::string &message() const { return Message; }

private:
  Status make();
  Status run(const char *Sql);
  Status prepare(const char *Sql, sqlite3_stmt *&Out);
  Status step(sqlite3_stmt *S, bool &Row);
  Status refuse(int Code);

  sqlite3 *Db = nullptr;
  sqlite3_stmt *PutFile = nullptr, *PutUnit = nullptr, *DropUnit = nullptr;
  std::string Message;
};

} // namespace decontend

#endif
