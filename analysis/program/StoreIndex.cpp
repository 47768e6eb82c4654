//===- StoreIndex.cpp - The index of a store, in SQLite ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/StoreIndex.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <limits>
#include <sqlite3.h>

using namespace decontend;
using Status = StoreIndex::Status;

/// Kept in the database's user_version; raise it with every change of tables.
static constexpr int IndexVersion = 1;

static const char *const Tables = R"(
  CREATE TABLE IF NOT EXISTS files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, digest BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS units(
    key BLOB PRIMARY KEY, shard BLOB NOT NULL, deps BLOB NOT NULL);
)";

Status StoreIndex::refuse(int Code) {
  Message = Db ? sqlite3_errmsg(Db) : sqlite3_errstr(Code);
  switch (Code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return Status::Busy;
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
  case SQLITE_ERROR: // Our statements are right: the tables are not ours.
    return Status::Damaged;
  default:
    return Status::Failed;
  }
}

Status StoreIndex::run(const char *Sql) {
  int Code = sqlite3_exec(Db, Sql, nullptr, nullptr, nullptr);
  return Code == SQLITE_OK ? Status::Ok : refuse(Code);
}

Status StoreIndex::prepare(const char *Sql, sqlite3_stmt *&Out) {
  if (Out)
    return Status::Ok;
  int Code = sqlite3_prepare_v2(Db, Sql, -1, &Out, nullptr);
  return Code == SQLITE_OK ? Status::Ok : refuse(Code);
}

Status StoreIndex::step(sqlite3_stmt *S, bool &Row) {
  int Code = sqlite3_step(S);
  Row = Code == SQLITE_ROW;
  return Row || Code == SQLITE_DONE ? Status::Ok : refuse(Code);
}

void StoreIndex::close() {
  for (sqlite3_stmt **S : {&PutFile, &PutUnit, &DropUnit}) {
    sqlite3_finalize(*S);
    *S = nullptr;
  }
  sqlite3_close(Db);
  Db = nullptr;
}

Status StoreIndex::open(const std::string &Path, bool Write, unsigned BusyMs) {
  close();
  int Flags =
      Write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  int Code = sqlite3_open_v2(Path.c_str(), &Db, Flags, nullptr);
  if (Code != SQLITE_OK)
    return refuse(Code);
  sqlite3_extended_result_codes(Db, 1);
  sqlite3_busy_timeout(Db, static_cast<int>(BusyMs));
  if (Status S = run("PRAGMA synchronous=OFF"); S != Status::Ok)
    return S;

  sqlite3_stmt *Query = nullptr;
  auto Done = llvm::make_scope_exit([&] { sqlite3_finalize(Query); });
  bool Row = false;
  if (Status S = prepare("PRAGMA user_version", Query); S != Status::Ok)
    return S;
  if (Status S = step(Query, Row); S != Status::Ok)
    return S;
  int Version = Row ? sqlite3_column_int(Query, 0) : 0;
  if (Version == IndexVersion)
    return Status::Ok;
  if (Version != 0) {
    Message = "written by another version";
    return Status::Outdated;
  }
  sqlite3_reset(Query);
  return Write ? make() : Status::Ok;
}

Status StoreIndex::make() {
  if (Status S = run("BEGIN IMMEDIATE"); S != Status::Ok)
    return S;
  Status S = run(Tables);
  if (S == Status::Ok)
    S = run(("PRAGMA user_version=" + std::to_string(IndexVersion)).c_str());
  if (S == Status::Ok)
    return commit();
  rollback();
  return S;
}

bool StoreIndex::readOnly() const {
  return Db && sqlite3_db_readonly(Db, "main") == 1;
}

/// Copies a blob that must be a digest.
static bool readDigest(sqlite3_stmt *S, int Column, Digest &To) {
  if (sqlite3_column_type(S, Column) != SQLITE_BLOB ||
      sqlite3_column_bytes(S, Column) != static_cast<int>(To.size()))
    return false;
  std::memcpy(To.data(), sqlite3_column_blob(S, Column), To.size());
  return true;
}

/// Rows are positive; the greatest number is kept free for maps to use.
static bool isRow(int64_t Row) {
  return Row > 0 && Row < std::numeric_limits<int64_t>::max();
}

static bool readRows(sqlite3_stmt *S, int Column, std::vector<int64_t> &To) {
  auto *P = static_cast<const uint8_t *>(sqlite3_column_blob(S, Column));
  const uint8_t *End = P + sqlite3_column_bytes(S, Column);
  To.reserve(static_cast<size_t>(End - P) / 2);
  while (P != End) {
    unsigned Length = 0;
    const char *Problem = nullptr;
    To.push_back(
        static_cast<int64_t>(llvm::decodeULEB128(P, &Length, End, &Problem)));
    if (Problem || !isRow(To.back()))
      return false;
    P += Length;
  }
  return true;
}

Status StoreIndex::load(std::vector<File> &Files, std::vector<Unit> &Units) {
  sqlite3_stmt *Query = nullptr;
  auto Done = llvm::make_scope_exit([&] { sqlite3_finalize(Query); });
  auto Damaged = [&] {
    Message = "a row is malformed";
    return Status::Damaged;
  };
  // One transaction, so that units do not name files added in between.
  if (Status S = run("BEGIN"); S != Status::Ok)
    return S;
  auto End = llvm::make_scope_exit([&] {
    sqlite3_reset(Query);
    rollback();
  });

  bool Row = true;
  if (Status S = prepare("SELECT id,path,size,mtime_ns,inode,digest FROM files",
                         Query);
      S != Status::Ok)
    return S;
  while (true) {
    if (Status S = step(Query, Row); S != Status::Ok)
      return S;
    if (!Row)
      break;
    File F;
    F.Row = sqlite3_column_int64(Query, 0);
    auto *Path = reinterpret_cast<const char *>(sqlite3_column_text(Query, 1));
    if (!Path || !isRow(F.Row))
      return Damaged();
    F.Path.assign(Path, static_cast<size_t>(sqlite3_column_bytes(Query, 1)));
    F.State.Size = static_cast<uint64_t>(sqlite3_column_int64(Query, 2));
    F.State.MtimeNs = sqlite3_column_int64(Query, 3);
    F.State.Inode = static_cast<uint64_t>(sqlite3_column_int64(Query, 4));
    if (!readDigest(Query, 5, F.State.Content))
      return Damaged();
    Files.push_back(std::move(F));
  }
  sqlite3_finalize(Query);
  Query = nullptr;

  if (Status S = prepare("SELECT key,shard,deps FROM units", Query);
      S != Status::Ok)
    return S;
  while (true) {
    if (Status S = step(Query, Row); S != Status::Ok)
      return S;
    if (!Row)
      return Status::Ok;
    Unit U;
    if (!readDigest(Query, 0, U.Key) || !readDigest(Query, 1, U.Shard) ||
        !readRows(Query, 2, U.Files))
      return Damaged();
    Units.push_back(std::move(U));
  }
}

Status StoreIndex::begin() {
  if (Status S = run("BEGIN IMMEDIATE"); S != Status::Ok)
    return S;
  Status S = prepare(
      "INSERT INTO files(path,size,mtime_ns,inode,digest) VALUES(?,?,?,?,?) "
      "ON CONFLICT(path) DO UPDATE SET size=excluded.size,"
      "mtime_ns=excluded.mtime_ns,inode=excluded.inode,digest=excluded.digest "
      "RETURNING id",
      PutFile);
  if (S == Status::Ok)
    S = prepare("INSERT OR REPLACE INTO units(key,shard,deps) VALUES(?,?,?)",
                PutUnit);
  if (S == Status::Ok)
    S = prepare("DELETE FROM units WHERE key=?", DropUnit);
  if (S != Status::Ok)
    rollback();
  return S;
}

/// The bound memory outlives the step, so SQLite need not copy it.
static void bindBytes(sqlite3_stmt *S, int At, llvm::ArrayRef<uint8_t> Bytes) {
  sqlite3_bind_blob64(S, At, Bytes.data(), Bytes.size(), SQLITE_STATIC);
}

Status StoreIndex::putFile(llvm::StringRef Path, const FileState &State,
                           int64_t &Row) {
  sqlite3_bind_text64(PutFile, 1, Path.data(), Path.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  sqlite3_bind_int64(PutFile, 2, static_cast<int64_t>(State.Size));
  sqlite3_bind_int64(PutFile, 3, State.MtimeNs);
  sqlite3_bind_int64(PutFile, 4, static_cast<int64_t>(State.Inode));
  bindBytes(PutFile, 5, State.Content);
  bool More = false;
  Status S = step(PutFile, More);
  if (S == Status::Ok && More) {
    Row = sqlite3_column_int64(PutFile, 0);
    S = step(PutFile, More);
  }
  sqlite3_reset(PutFile);
  if (S != Status::Ok)
    rollback();
  return S;
}

Status StoreIndex::putUnit(const Unit &U) {
  llvm::SmallString<4096> Deps;
  llvm::raw_svector_ostream OS(Deps);
  for (int64_t Row : U.Files)
    llvm::encodeULEB128(static_cast<uint64_t>(Row), OS);
  bindBytes(PutUnit, 1, U.Key);
  bindBytes(PutUnit, 2, U.Shard);
  sqlite3_bind_blob64(PutUnit, 3, Deps.data(), Deps.size(), SQLITE_STATIC);
  bool More = false;
  Status S = step(PutUnit, More);
  sqlite3_reset(PutUnit);
  if (S != Status::Ok)
    rollback();
  return S;
}

Status StoreIndex::dropUnit(const Digest &Key) {
  bindBytes(DropUnit, 1, Key);
  bool More = false;
  Status S = step(DropUnit, More);
  sqlite3_reset(DropUnit);
  if (S != Status::Ok)
    rollback();
  return S;
}

Status StoreIndex::commit() {
  Status S = run("COMMIT");
  if (S != Status::Ok)
    rollback();
  return S;
}

void StoreIndex::rollback() {
  // Keeps Message, which says what went wrong before. Fails harmlessly when
  // SQLite has already rolled back.
  sqlite3_exec(Db, "ROLLBACK", nullptr, nullptr, nullptr);
}
