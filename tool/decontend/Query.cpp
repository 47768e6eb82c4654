//===- Query.cpp - decontend query ----------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Program --> tables of an SQLite database in memory --> [SQL] --> rows
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <sqlite3.h>

using namespace llvm;

namespace decontend {

static const char Schema[] = R"sql(
CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT, key TEXT, file TEXT,
  line INTEGER, contexts TEXT, exported INTEGER, waits INTEGER, wait_conditions INTEGER);
CREATE TABLE calls(caller INTEGER, callee INTEGER, line INTEGER, kind TEXT,
  error_path INTEGER, conditions INTEGER);
CREATE TABLE slots(slot TEXT, function INTEGER, object TEXT, file TEXT, line INTEGER);
CREATE TABLE entries(function INTEGER, context TEXT, why TEXT, file TEXT, line INTEGER);
CREATE TABLE wait_paths(function INTEGER, step INTEGER, callee INTEGER, file TEXT, line INTEGER);
)sql";

static const char Help[] =
    R"(functions(id, name, key, file, line, contexts, exported, waits, wait_conditions)
    waits: calls to the nearest grace-period wait, null if none is reached
calls(caller, callee, line, kind, error_path, conditions)
slots(slot, function, object, file, line)
entries(function, context, why, file, line)
wait_paths(function, step, callee, file, line)

who calls f:        SELECT c.name, c.file, line FROM calls JOIN functions c ON c.id = caller
                    WHERE callee IN (SELECT id FROM functions WHERE name = 'f')
where f waits:      SELECT w.step, c.name, w.file, w.line FROM wait_paths w JOIN functions c ON
                    c.id = w.callee WHERE w.function IN (SELECT id FROM functions WHERE name = 'f')
which slots it fills: SELECT slot, object FROM slots JOIN functions f ON f.id = function
                    WHERE f.name = 'f'
)";

namespace {

std::string contexts(uint16_t Bits) {
  std::string Out;
  for (unsigned B = 0; B < 16; ++B)
    if (Bits & (1u << B)) {
      if (!Out.empty())
        Out += "+";
      Out += contextName(1u << B);
    }
  return Out;
}

/// Prepared insertion of one table.
class Inserter {
public:
  Inserter(sqlite3 *Db, const char *Sql) {
    sqlite3_prepare_v2(Db, Sql, -1, &Stmt, nullptr);
  }
  ~Inserter() { sqlite3_finalize(Stmt); }
  Inserter &text(StringRef S) {
    sqlite3_bind_text(Stmt, ++Column, S.data(), S.size(), SQLITE_TRANSIENT);
    return *this;
  }
  Inserter &number(int64_t N) {
    sqlite3_bind_int64(Stmt, ++Column, N);
    return *this;
  }
  Inserter &null() {
    sqlite3_bind_null(Stmt, ++Column);
    return *this;
  }
  void row() {
    sqlite3_step(Stmt);
    sqlite3_reset(Stmt);
    Column = 0;
  }

private:
  sqlite3_stmt *Stmt = nullptr;
  int Column = 0;
};

void fill(sqlite3 *Db, const Program &P) {
  sqlite3_exec(Db, "BEGIN", nullptr, nullptr, nullptr);
  Inserter Functions(Db, "INSERT INTO functions VALUES(?,?,?,?,?,?,?,?,?)");
  Inserter Paths(Db, "INSERT INTO wait_paths VALUES(?,?,?,?,?)");
  auto Nodes = P.nodes();
  for (NodeId N = 0; N < Nodes.size(); ++N) {
    const Node &F = Nodes[N];
    Functions.number(N).text(P.str(F.Name)).text(P.str(F.Key));
    if (F.Facts)
      Functions.text(P.str(F.Facts->Where.File)).number(F.Facts->Where.Line);
    else
      Functions.null().null();
    Functions.text(contexts(F.Contexts)).number(F.Exported);
    if (F.Wait.waits())
      Functions.number(F.Wait.Distance).number(F.Wait.Conditions);
    else
      Functions.null().null();
    Functions.row();
    int Step = 0;
    for (uint32_t E : P.waitPath(N)) {
      const Edge &Ed = P.edges()[E];
      const FunctionFacts &C = *Nodes[Ed.Caller].Facts;
      Paths.number(N)
          .number(++Step)
          .number(Ed.Callee)
          .text(P.str(C.Where.File))
          .number(C.Events[Ed.Event].Line)
          .row();
    }
  }
  Inserter Calls(Db, "INSERT INTO calls VALUES(?,?,?,?,?,?)");
  for (const Edge &E : P.edges()) {
    static const char *const Kinds[] = {"direct", "in-place", "slot",
                                        "slot-many"};
    Calls.number(E.Caller)
        .number(E.Callee)
        .number(Nodes[E.Caller].Facts->Events[E.Event].Line)
        .text(Kinds[static_cast<int>(E.Kind)])
        .number(E.OnErrorPath)
        .number(E.Conditions)
        .row();
  }
  Inserter Slots(Db, "INSERT INTO slots VALUES(?,?,?,?,?)");
  for (const SlotFill &S : P.slotFills())
    Slots.text(P.str(S.Slot))
        .number(P.find(S.Function))
        .text(P.str(S.Object))
        .text(P.str(S.Where.File))
        .number(S.Where.Line)
        .row();
  Inserter Entries(Db, "INSERT INTO entries VALUES(?,?,?,?,?)");
  for (const EntryPoint &E : P.entries())
    Entries.number(E.Node)
        .text(contexts(E.Context))
        .text(E.Why)
        .text(P.str(E.Where.File))
        .number(E.Where.Line)
        .row();
  sqlite3_exec(Db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_exec(Db,
               "CREATE INDEX f_name ON functions(name);"
               "CREATE INDEX c_callee ON calls(callee);"
               "CREATE INDEX c_caller ON calls(caller)",
               nullptr, nullptr, nullptr);
}

} // namespace

/// Both print all rows and leave SQLite's last status in \p Status.
static void printRows(sqlite3_stmt *Stmt, int &Status) {
  while ((Status = sqlite3_step(Stmt)) == SQLITE_ROW) {
    for (int C = 0; C < sqlite3_column_count(Stmt); ++C) {
      const unsigned char *Text = sqlite3_column_text(Stmt, C);
      outs() << (C ? "\t" : "")
             << (Text ? reinterpret_cast<const char *>(Text) : "");
    }
    outs() << "\n";
  }
}

static json::Value cell(sqlite3_stmt *Stmt, int C) {
  switch (sqlite3_column_type(Stmt, C)) {
  case SQLITE_NULL:
    return nullptr;
  case SQLITE_INTEGER:
    return int64_t(sqlite3_column_int64(Stmt, C));
  case SQLITE_FLOAT:
    return sqlite3_column_double(Stmt, C);
  default:
    return json::fixUTF8(
        reinterpret_cast<const char *>(sqlite3_column_text(Stmt, C)));
  }
}

static void printJson(sqlite3_stmt *Stmt, int &Status) {
  json::OStream J(outs(), 2);
  J.array([&] {
    while ((Status = sqlite3_step(Stmt)) == SQLITE_ROW)
      J.object([&] {
        for (int C = 0; C < sqlite3_column_count(Stmt); ++C)
          J.attribute(sqlite3_column_name(Stmt, C), cell(Stmt, C));
      });
  });
  J.flush();
  outs() << "\n";
}

int runQuery(const EngineOptions &O, StringRef Sql, bool Json) {
  if (Sql.empty()) {
    outs() << Help;
    return ExitClean;
  }
  Expected<std::unique_ptr<Engine>> E = loadEngine(O);
  if (!E) {
    printError(toString(E.takeError()));
    return ExitUsage;
  }
  for (const FailedUnit &F : (*E)->Seen.Failed)
    printError(F.File + ": " + F.Reason);
  sqlite3 *Db = nullptr;
  sqlite3_open(":memory:", &Db);
  sqlite3_exec(Db, Schema, nullptr, nullptr, nullptr);
  fill(Db, *(*E)->Linked);
  sqlite3_stmt *Stmt = nullptr;
  int Status = sqlite3_prepare_v2(Db, Sql.data(), Sql.size(), &Stmt, nullptr);
  if (Status == SQLITE_OK) {
    if (Json)
      printJson(Stmt, Status);
    else
      printRows(Stmt, Status);
  }
  bool Bad = Status != SQLITE_DONE && Status != SQLITE_OK;
  if (Bad)
    printError("query: " + Twine(sqlite3_errmsg(Db)));
  sqlite3_finalize(Stmt);
  sqlite3_close(Db);
  if (Bad)
    return ExitUsage;
  return (*E)->Seen.Failed.empty() && !(*E)->Interrupted ? ExitClean
                                                         : ExitIncomplete;
}

} // namespace decontend
