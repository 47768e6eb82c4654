//===- ModelsCountersTest.cpp - Models of counters, records, remedies -----===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace decontend;

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

Models load(const Texts &Files) {
  llvm::Expected<Models> M = loadModelsFromText(Files);
  if (M)
    return std::move(*M);
  ADD_FAILURE() << llvm::toString(M.takeError());
  return {};
}

Models load(const std::string &Text) { return load(Texts{{"m.yaml", Text}}); }

/// What the file \p Name says first, with every file before it.
std::string errorOf(const Texts &Files) {
  llvm::Expected<Models> M = loadModelsFromText(Files);
  return M ? "no error" : llvm::toString(M.takeError());
}

std::vector<std::string> remedies(const Models &M, llvm::StringRef Type) {
  std::vector<std::string> Out;
  for (const CounterRemedy *R : M.remediesFor(Type))
    Out.push_back(R->Id);
  return Out;
}

TEST(CounterModels, ReadAtomicOperations) {
  Models M = load(R"yaml(
functions:
- {name: read, atomic: {op: read, on: 0}}
- {name: add, atomic: {op: add, on: 1, by: 0, returns: true}, aliases: plus}
- {name: set, atomic: {op: set, on: 0, by: 1}}
- {name: end, atomic: {op: set, on: 2}}
- {name: put, drops-ref: 0, atomic: {op: dec, on: 0, returns: true,
    tests: true}}
- {name: show, reports: true}
)yaml");
  const AtomicModel &Read = *M.function("read")->Atomic;
  EXPECT_EQ(Read.Op, AtomicModel::Read);
  EXPECT_TRUE(Read.Returns);
  for (const char *Name : {"add", "plus"}) {
    const AtomicModel &Add = *M.function(Name)->Atomic;
    EXPECT_EQ(Add.Op, AtomicModel::Add);
    EXPECT_EQ(Add.On, 1);
    EXPECT_EQ(Add.By, 0);
    EXPECT_TRUE(Add.Returns);
    EXPECT_FALSE(Add.Tests);
  }
  EXPECT_EQ(M.function("set")->Atomic->By, 1);
  EXPECT_EQ(M.function("end")->Atomic->By, -1);
  EXPECT_EQ(M.function("end")->Atomic->On, 2);
  EXPECT_TRUE(M.function("put")->Atomic->Tests);
  EXPECT_EQ(M.function("put")->DropsRef, 0);
  EXPECT_FALSE(M.function("put")->Reports);
  EXPECT_TRUE(M.function("show")->Reports);
  EXPECT_FALSE(M.function("show")->Atomic);
}

TEST(CounterModels, KnowEveryOperation) {
  const std::pair<const char *, AtomicModel::OpKind> Ops[] = {
      {"read", AtomicModel::Read},         {"set", AtomicModel::Set},
      {"add, by: 1", AtomicModel::Add},    {"sub, by: 1", AtomicModel::Sub},
      {"inc", AtomicModel::Inc},           {"dec", AtomicModel::Dec},
      {"exchange", AtomicModel::Exchange}, {"bits", AtomicModel::Bits}};
  for (auto [Text, Op] : Ops) {
    Models M = load(std::string("functions: [{name: f, atomic: {on: 0, op: ") +
                    Text + "}}]");
    ASSERT_TRUE(M.function("f")) << Text;
    EXPECT_EQ(M.function("f")->Atomic->Op, Op) << Text;
  }
}

TEST(CounterModels, FindTypesAndRecords) {
  Models M = load(R"yaml(
counters:
- {type: [atomic_t, my_atomic], kind: plain, width: -32}
- {type: kref, kind: reference}
- {type: "std::atomic<*>", kind: spread, width: 64}
records:
- {record: [struct net, struct super_block], sharing: wide, why: few}
- {record: "struct *_inode_info", sharing: many, why: one per file}
- {record: struct odd_inode_info, sharing: owner, why: of one task}
)yaml");
  EXPECT_EQ(M.counterType("atomic_t")->Width, -32);
  EXPECT_EQ(M.counterType("my_atomic")->Kind, CounterTypeModel::Plain);
  EXPECT_EQ(M.counterType("kref")->Kind, CounterTypeModel::Reference);
  EXPECT_EQ(M.counterType("kref")->Width, 0);
  EXPECT_EQ(M.counterType("std::atomic<long>")->Kind, CounterTypeModel::Spread);
  EXPECT_FALSE(M.counterType("long"));
  EXPECT_EQ(M.record("struct super_block")->Sharing, RecordModel::Wide);
  EXPECT_EQ(M.record("struct super_block")->Why, "few");
  EXPECT_EQ(M.record("struct ext4_inode_info")->Sharing, RecordModel::Many);
  EXPECT_EQ(M.record("struct odd_inode_info")->Sharing, RecordModel::Owner);
  EXPECT_FALSE(M.record("struct other"));
}

const char *Spread = R"yaml(
remedies:
- id: spread
  for: [atomic_t, "local*_t"]
  language: c
  type: struct spread
  header: spread.h
  needs: spread_add
  init: "spread_init({c}, {v})"
  init-fails: true
  init-header: gfp.h
  boot-failure: panic("no memory")
  destroy: "spread_destroy({c})"
  inc: "spread_inc({c})"
  dec: "spread_dec({c})"
  add: "spread_add({c}, {n})"
  sub: "spread_sub({c}, {n})"
  add-batch: "spread_add_batch({c}, {n}, {b})"
  add-local: "spread_add_local({c}, {n})"
  sub-local: "spread_sub_local({c}, {n})"
  local-needs: spread_add_local
  set: "spread_set({c}, {v})"
  read: "spread_read({c})"
  read-positive: "spread_read_positive({c})"
  sum: "spread_sum({c})"
  sum-positive: "spread_sum_positive({c})"
  sum-locks: takes a lock
)yaml";

TEST(CounterModels, ReadEveryKeyOfARemedy) {
  Models M = load(Spread);
  std::vector<const CounterRemedy *> All = M.remediesFor("local64_t");
  ASSERT_EQ(All.size(), 1u);
  const CounterRemedy &R = *All[0];
  EXPECT_EQ(R.Id, "spread");
  EXPECT_EQ(R.Language, "c");
  EXPECT_EQ(R.Type, "struct spread");
  EXPECT_EQ(R.Header, "spread.h");
  EXPECT_EQ(R.Needs, "spread_add");
  EXPECT_EQ(R.Init, "spread_init({c}, {v})");
  EXPECT_TRUE(R.InitFails);
  EXPECT_EQ(R.InitHeader, "gfp.h");
  EXPECT_EQ(R.BootFailure, "panic(\"no memory\")");
  EXPECT_EQ(R.Destroy, "spread_destroy({c})");
  EXPECT_EQ(R.Inc, "spread_inc({c})");
  EXPECT_EQ(R.Dec, "spread_dec({c})");
  EXPECT_EQ(R.Add, "spread_add({c}, {n})");
  EXPECT_EQ(R.Sub, "spread_sub({c}, {n})");
  EXPECT_EQ(R.AddBatch, "spread_add_batch({c}, {n}, {b})");
  EXPECT_EQ(R.AddLocal, "spread_add_local({c}, {n})");
  EXPECT_EQ(R.SubLocal, "spread_sub_local({c}, {n})");
  EXPECT_EQ(R.LocalNeeds, "spread_add_local");
  EXPECT_EQ(R.Set, "spread_set({c}, {v})");
  EXPECT_EQ(R.Read, "spread_read({c})");
  EXPECT_EQ(R.ReadPositive, "spread_read_positive({c})");
  EXPECT_EQ(R.Sum, "spread_sum({c})");
  EXPECT_EQ(R.SumPositive, "spread_sum_positive({c})");
  EXPECT_EQ(R.SumLocks, "takes a lock");
  EXPECT_FALSE(R.Variable);
  EXPECT_TRUE(M.remediesFor("long").empty());
}

TEST(CounterModels, ReadRemediesOfVariables) {
  Models M = load(R"yaml(
remedies:
- {id: v, for: atomic_t, header: h, variable: true, add: "add({name}, {n})",
   define: "D({t}, {name})", define-static: "static D({t}, {name})",
   declare: "X({t}, {name})", each-cpu: "each({v})", of-cpu: "of({name}, {v})"}
)yaml");
  const CounterRemedy &R = *M.remediesFor("atomic_t")[0];
  EXPECT_TRUE(R.Variable);
  EXPECT_EQ(R.Define, "D({t}, {name})");
  EXPECT_EQ(R.DefineStatic, "static D({t}, {name})");
  EXPECT_EQ(R.Declare, "X({t}, {name})");
  EXPECT_EQ(R.EachCpu, "each({v})");
  EXPECT_EQ(R.OfCpu, "of({name}, {v})");
  EXPECT_EQ(R.Language, "");
}

std::string remedy(const std::string &Id, const std::string &For) {
  return "- {id: " + Id + ", for: " + For +
         ", type: t, header: h, add: 'a({c}, {n})'}\n";
}

TEST(CounterModels, KnowPacesAndClocks) {
  Models M = load(R"yaml(
functions:
- {name: ktime_get, clock: true}
- {name: other, clock: false}
paces:
- {of: "struct *.ioctl", pace: control}
- {of: ["passed to request_irq()", poll], pace: serial}
- {of: struct odd.ioctl, pace: work}
)yaml");
  EXPECT_EQ(M.pace("struct file_operations.ioctl"), Pace::Control);
  EXPECT_EQ(M.pace("passed to request_irq()"), Pace::Serial);
  EXPECT_EQ(M.pace("poll"), Pace::Serial);
  EXPECT_EQ(M.pace("struct odd.ioctl"), Pace::Work);
  EXPECT_EQ(M.pace("struct file_operations.read"), Pace::Work);
  EXPECT_TRUE(M.isClock("ktime_get"));
  EXPECT_FALSE(M.isClock("other"));
  EXPECT_FALSE(M.isClock("unheard_of"));
}

TEST(CounterModels, RemediesOfLaterFilesComeFirst) {
  Texts Files = {{"a.yaml", "remedies:\n" + remedy("z", "atomic_t") +
                                remedy("b", "['atomic*', atomic_t]")},
                 {"b.yaml", "remedies:\n" + remedy("y", "atomic_t") +
                                remedy("c", "atomic_t") + remedy("d", "long")}};
  EXPECT_THAT(remedies(load(Files), "atomic_t"),
              testing::ElementsAre("y", "c", "z", "b"));
  // One of the same name replaces the earlier one, and comes with its file.
  Files.push_back({"c.yaml", "remedies:\n" + remedy("b", "atomic_t")});
  EXPECT_THAT(remedies(load(Files), "atomic_t"),
              testing::ElementsAre("b", "y", "c", "z"));
}

TEST(CounterModels, LaterFilesReplaceAndRemove) {
  Texts Files = {
      {"a.yaml", std::string(Spread) +
                     "counters: [{type: atomic_t}, {type: kref}]\n"
                     "records: [{record: struct a, sharing: wide, why: w},"
                     " {record: struct b, sharing: wide, why: w}]\n"},
      {"b.yaml", "counters: [{type: atomic_t, kind: reference}]\n"
                 "records: [{record: struct a, sharing: many, why: m}]\n"
                 "remove: {counters: [kref], records: ['struct b*'],"
                 " remedies: [spread]}\n"}};
  Models M = load(Files);
  EXPECT_EQ(M.counterType("atomic_t")->Kind, CounterTypeModel::Reference);
  EXPECT_FALSE(M.counterType("kref"));
  EXPECT_EQ(M.record("struct a")->Sharing, RecordModel::Many);
  EXPECT_FALSE(M.record("struct b"));
  EXPECT_TRUE(M.remediesFor("atomic_t").empty());
  // Copies share the texts of globs.
  Models Copy = load(Spread);
  Models Moved = Models(Copy);
  Copy = Models();
  EXPECT_EQ(Moved.remediesFor("local_t").size(), 1u);
}

TEST(CounterModels, DigestFollowsTheirMeaning) {
  const char *Different[] = {
      "functions: [{name: f, atomic: {op: inc, on: 0}}]",
      "functions: [{name: f, atomic: {op: dec, on: 0}}]",
      "functions: [{name: f, atomic: {op: inc, on: 1}}]",
      "functions: [{name: f, atomic: {op: inc, on: 0, returns: true}}]",
      "functions: [{name: f, atomic: {op: inc, on: 0, tests: true}}]",
      "functions: [{name: f, atomic: {op: add, on: 0, by: 1}}]",
      "functions: [{name: f, atomic: {op: add, on: 0, by: 2}}]",
      "functions: [{name: f, reports: true}]",
      "functions: [{name: f, reports: false}]",
      "functions: [{name: f, clock: true}]",
      "paces: [{of: f, pace: work}]",
      "paces: [{of: f, pace: serial}]",
      "counters: [{type: a}]",
      "counters: [{type: b}]",
      "counters: [{type: a, kind: spread}]",
      "counters: [{type: a, width: 32}]",
      "records: [{record: a, sharing: wide, why: w}]",
      "records: [{record: a, sharing: many, why: w}]",
      "records: [{record: a, sharing: wide, why: v}]",
      "remedies: [{id: i, for: a, type: t, header: h, add: '{n}'}]",
      "remedies: [{id: i, for: a, type: t, header: h, add: '{n}', inc: i}]",
      "remedies: [{id: i, for: a, type: t, header: h, add: '{n}', dec: i}]",
      "remedies: [{id: i, for: [a, b], type: t, header: h, add: '{n}'}]",
  };
  std::vector<std::string> Digests;
  for (const char *Text : Different)
    Digests.push_back(load(Text).digest().str());
  std::sort(Digests.begin(), Digests.end());
  EXPECT_EQ(std::unique(Digests.begin(), Digests.end()), Digests.end());
}

TEST(CounterModels, ErrorsNameThePlaceAndWhatWasExpected) {
  const std::pair<const char *, const char *> Bad[] = {
      {"functions:\n- {name: a, atomic: inc}\n",
       "m.yaml:2:21: expected a mapping (an atomic operation), found 'inc'"},
      {"functions:\n- {name: a, atomic: {on: 0}}\n",
       "m.yaml:2:21: expected the key 'op' in an atomic operation, found none"},
      {"functions:\n- {name: a, atomic: {op: inc}}\n",
       "m.yaml:2:21: expected the key 'on' in an atomic operation, found none"},
      {"functions:\n- {name: a, atomic: {op: plus, on: 0}}\n",
       "m.yaml:2:26: expected an operation (read, set, add, sub, inc, dec, "
       "exchange, bits), found 'plus'"},
      {"functions:\n- {name: a, atomic: {op: add, on: 0}}\n",
       "m.yaml:2:21: expected the key 'by' beside 'op: add', found none"},
      {"functions:\n- {name: a, atomic: {op: inc, on: 0, by: 1}}\n",
       "m.yaml:2:21: expected 'by' only beside 'op: add', 'sub' or 'set', "
       "found 'op: inc'"},
      {"functions:\n- {name: a, atomic: {op: add, on: 1, by: 1}}\n",
       "m.yaml:2:21: expected different arguments 'on' and 'by', found twice "
       "1"},
      {"functions:\n- {name: a, reports: often}\n",
       "m.yaml:2:22: expected true or false, found 'often'"},
      {"counters:\n- {kind: plain}\n",
       "m.yaml:2:3: expected the key 'type' in a counter type, found none"},
      {"counters:\n- {type: a, kind: big}\n",
       "m.yaml:2:19: expected a kind (plain, reference, spread), found 'big'"},
      {"counters:\n- {type: a, width: 33}\n",
       "m.yaml:2:20: expected a width (8, 16, 32, 64; negative for a signed "
       "type), found '33'"},
      {"counters:\n- {type: a}\n- {type: a}\n",
       "m.yaml:3:3: expected one model of the counter type 'a', found another "
       "(first in line 2)"},
      {"records:\n- {sharing: wide, why: w}\n",
       "m.yaml:2:3: expected the key 'record' in a record, found none"},
      {"records:\n- {record: a, why: w}\n",
       "m.yaml:2:3: expected the key 'sharing' in a record, found none"},
      {"records:\n- {record: a, sharing: wide}\n",
       "m.yaml:2:3: expected the key 'why' in a record, found none"},
      {"records:\n- {record: a, sharing: some, why: w}\n",
       "m.yaml:2:24: expected a sharing (wide, many, owner), found 'some'"},
      {"paces:\n- {pace: work}\n",
       "m.yaml:2:3: expected the key 'of' in a pace, found none"},
      {"paces:\n- {of: a}\n",
       "m.yaml:2:3: expected the key 'pace' in a pace, found none"},
      {"paces:\n- {of: a, pace: fast}\n",
       "m.yaml:2:17: expected a pace (work, remote, serial, control), found "
       "'fast'"},
      {"remove: {paces: [a]}\n",
       "m.yaml:1:18: expected the name of a pace that an earlier file "
       "declares, found 'a'"},
      {"remedies:\n- {id: a}\n",
       "m.yaml:2:3: expected the key 'header' in a remedy, found none"},
      {"remedies:\n- {id: a, header: h, add: '{n}'}\n",
       "m.yaml:2:3: expected the key 'type' in a remedy, found none"},
      {"remedies:\n- {id: a, header: h, add: '{n}', variable: true}\n",
       "m.yaml:2:3: expected the key 'define' in a remedy, found none"},
      {"remedies:\n- {id: a, header: h, add: '{n}', type: t}\n",
       "m.yaml:2:3: expected the key 'for' in a remedy, found none"},
      {"remedies:\n- {id: a, header: h, add: f, type: t, for: b}\n",
       "m.yaml:2:3: expected the place {n} in 'add', found 'f'"},
      {"remedies:\n- {id: a, inc: 'f({x})'}\n",
       "m.yaml:2:16: expected a form with the places {c}, {o}, {name}, found "
       "'{x}'"},
      {"remedies:\n- {id: a, header: h, add: '{n}', variable: true, define: d, "
       "for: b, each-cpu: '{v}'}\n",
       "m.yaml:2:3: expected 'each-cpu' and 'of-cpu' together, found one of "
       "them"},
      {"remedies:\n- {id: a, language: d}\n",
       "m.yaml:2:21: expected a language (c, c++), found 'd'"},
      {"remedies:\n- {id: a, header: h, add: '{n}', type: t, for: b, "
       "init-fails: true}\n",
       "m.yaml:2:3: expected the key 'init' beside 'init-fails', found none"},
      {"remedies:\n- {id: a, header: h, add: '{n}', type: t, for: b, "
       "boot-failure: 'p()'}\n",
       "m.yaml:2:3: expected 'init-fails: true' beside 'boot-failure', found "
       "none"},
      {"remedies:\n- {id: a, header: h, add: '{n}', type: t, for: b, "
       "define: d}\n",
       "m.yaml:2:3: expected 'variable: true' beside 'define', found none"},
      {"remove: {remedies: [a]}\n",
       "m.yaml:1:21: expected the name of a remedy that an earlier file "
       "declares, found 'a'"},
      {"remove: {counters: [a]}\n",
       "m.yaml:1:21: expected the name of a counter type that an earlier file "
       "declares, found 'a'"},
      {"remove: {records: [a]}\n",
       "m.yaml:1:20: expected the name of a record that an earlier file "
       "declares, found 'a'"},
  };
  for (auto [Text, Error] : Bad)
    EXPECT_EQ(errorOf({{"m.yaml", Text}}), Error) << Text;
}

TEST(CounterModels, OtherBracesBelongToTheLanguage) {
  Models M = load("remedies:\n- {id: i, for: a, type: t, header: h, "
                  "init: '= {0}', set: 'f((s){.v = {v}}, {})', "
                  "add: 'f({c}, {n})'}\n");
  EXPECT_EQ(M.remediesFor("a")[0]->Init, "= {0}");
  EXPECT_EQ(M.remediesFor("a")[0]->Set, "f((s){.v = {v}}, {})");
}

} // namespace
