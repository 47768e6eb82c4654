//===- ModelsTest.cpp - Reading, combining and looking up models ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include <gtest/gtest.h>
#include <memory>

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

std::string errorOf(const Texts &Files) {
  llvm::Expected<Models> M = loadModelsFromText(Files);
  return M ? "no error" : llvm::toString(M.takeError());
}

std::string errorOf(const std::string &Text) {
  return errorOf(Texts{{"m.yaml", Text}});
}

TEST(Models, NamesContexts) {
  for (const char *Name :
       {"init", "exit", "setup", "teardown", "hot", "async", "admin", "report"})
    EXPECT_EQ(contextName(contextFromName(Name)), Name);
  EXPECT_EQ(contextFromName("warm"), CtxNone);
  EXPECT_EQ(contextName(CtxHot | CtxInit), "");
}

TEST(Models, ReadsEveryKeyOfAFunction) {
  Models M = load(R"(
functions:
- name: all
  wait: {flavour: rcu, cost: barrier, domain-arg: 1, deferred: d, barrier: b,
         head-type: struct h, free-macro: f, expedite: e}
  defers: srcu
  frees: 2
  free-by-rcu: kfree_rcu
  cache-arg: 3
  unlinks: 4
  unlinks-if-null: true
  drops-ref: 5
  takes-ref: 6
  acquires: 7
  releases: 8
  lock: mutex
  lock-is-global: true
  allocates: true
  sleeps: true
  inert: true
  stops-device: true
  destroys-domain: true
  waits-for-work: true
  opaque: true
  callbacks: [{arg: 1, context: [async, teardown]}, {arg: 9, inline: true}]
)");
  const FunctionModel *F = M.function("all");
  ASSERT_TRUE(F && F->Wait);
  EXPECT_EQ(F->Wait->Flavour, "rcu");
  EXPECT_EQ(F->Wait->Cost, WaitModel::Barrier);
  EXPECT_EQ(F->Wait->DomainArg, 1);
  EXPECT_EQ(F->Wait->Deferred, "d");
  EXPECT_EQ(F->Wait->BarrierCall, "b");
  EXPECT_EQ(F->Wait->HeadType, "struct h");
  EXPECT_EQ(F->Wait->FreeMacro, "f");
  EXPECT_EQ(F->Wait->Expedite, "e");
  EXPECT_EQ(F->Defers, "srcu");
  EXPECT_EQ(F->FreeByRcu, "kfree_rcu");
  EXPECT_EQ(F->Lock, "mutex");
  EXPECT_EQ((std::vector<int>{F->Frees, F->CacheArg, F->Unlinks, F->DropsRef,
                              F->TakesRef, F->Acquires, F->Releases}),
            (std::vector<int>{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(F->UnlinksIfNull && F->LockIsGlobal && F->Allocates &&
              F->Sleeps && F->Inert && F->StopsDevice && F->DestroysDomain &&
              F->WaitsForWork && F->Opaque);
  ASSERT_EQ(F->Callbacks.size(), 2u);
  EXPECT_EQ(F->Callbacks[0].Context, CtxAsync | CtxTeardown);
  EXPECT_FALSE(F->Callbacks[0].Inline);
  EXPECT_EQ(F->Callbacks[1].Arg, 9);
  EXPECT_EQ(F->Callbacks[1].Context, CtxNone);
  EXPECT_TRUE(F->Callbacks[1].Inline);
  EXPECT_EQ(M.function("al"), nullptr);
}

TEST(Models, AliasesCopyTheWait) {
  Models M = load("functions:\n"
                  "- {name: a, aliases: [b, 'c*'], wait: {flavour: x}}\n");
  for (const char *Name : {"a", "b", "cc"}) {
    const FunctionModel *F = M.function(Name);
    ASSERT_TRUE(F && F->Wait) << Name;
    EXPECT_EQ(F->Wait->Flavour, "x");
  }
  EXPECT_EQ(M.function("b")->Name, "b");
}

TEST(Models, ExactBeatsGlobAndTheLastGlobWins) {
  Models M = load({{"one.yaml", "functions:\n"
                                "- {name: 'lock_*', inert: true}\n"
                                "- {name: lock_it, sleeps: true}\n"
                                "- {name: 'lock_a*', opaque: true}\n"},
                   {"two.yaml", "functions:\n"
                                "- {name: '*_z', frees: 1}\n"}});
  EXPECT_TRUE(M.function("lock_it")->Sleeps);
  EXPECT_TRUE(M.function("lock_b")->Inert);
  EXPECT_TRUE(M.function("lock_ab")->Opaque);
  EXPECT_EQ(M.function("lock_az")->Frees, -1);
  EXPECT_EQ(M.function("lock_a_z")->Frees, 1);
  EXPECT_EQ(M.function("xlock_"), nullptr);
}

TEST(Models, OnlyTheStarIsSpecial) {
  Models M = load("functions:\n"
                  "- {name: 'operator[]*', inert: true}\n"
                  "- {name: 'a?b{c}\\*', inert: true}\n");
  EXPECT_TRUE(M.function("operator[](int)"));
  EXPECT_FALSE(M.function("operatorx"));
  EXPECT_TRUE(M.function("a?b{c}\\d"));
  EXPECT_FALSE(M.function("axb{c}\\d"));
}

TEST(Models, FindsSlots) {
  Models M = load(R"(
slots:
- {slot: 'struct *_operations.open', context: setup, why: open}
- {record: [struct foo, struct bar], members: [x, y], context: [hot, admin]}
- {slot: 'struct foo.*', context: async}
)");
  EXPECT_EQ(M.slot("struct file_operations.open")->Why, "open");
  EXPECT_EQ(M.slot("struct file_operations.close"), nullptr);
  EXPECT_EQ(M.slot("struct bar.y")->Context, CtxHot | CtxAdmin);
  EXPECT_EQ(M.slot("struct foo.x")->Context, CtxHot | CtxAdmin);
  EXPECT_EQ(M.slot("struct foo.z")->Context, CtxAsync);
}

TEST(Models, FindsEntriesByKind) {
  Models M = load(R"(
entries:
- {name: '__do_sys_*', context: hot, why: system call}
- {section: .init.text, context: init}
- {marker: [z_init, a_init], context: init}
- {marker: EXPORT, exports: true}
)");
  EXPECT_EQ(M.entry(EntryModel::Name, "__do_sys_read")->Context, CtxHot);
  EXPECT_EQ(M.entry(EntryModel::Section, "__do_sys_read"), nullptr);
  EXPECT_EQ(M.entry(EntryModel::Section, ".init.text")->Context, CtxInit);
  EXPECT_EQ(M.entry(EntryModel::Name, ".init.text"), nullptr);
  EXPECT_TRUE(M.entry(EntryModel::Marker, "EXPORT")->Exports);
  EXPECT_EQ(M.markers(),
            (std::vector<std::string>{"EXPORT", "a_init", "z_init"}));
}

TEST(Models, LaterFilesReplaceWholeEntries) {
  Models M =
      load({{"a.yaml", "functions:\n- {name: f, frees: 0, sleeps: true}\n"},
            {"b.yaml", "functions:\n- {name: f, frees: 1}\n"}});
  EXPECT_EQ(M.function("f")->Frees, 1);
  EXPECT_FALSE(M.function("f")->Sleeps);
  EXPECT_EQ(M.functions().size(), 1u);
}

TEST(Models, FilesRemove) {
  const std::string Base = "functions:\n"
                           "- {name: f, frees: 0}\n"
                           "- {name: 'f*', inert: true}\n"
                           "- {name: sync_a, sleeps: true}\n"
                           "- {name: sync_b, sleeps: true}\n"
                           "slots:\n"
                           "- {slot: struct s.m, context: hot}\n"
                           "entries:\n"
                           "- {section: .x, context: init}\n"
                           "- {marker: X, context: init}\n";
  Models M = load({{"base", Base},
                   {"mine", "remove:\n"
                            "  functions: [f, 'sync_*']\n"
                            "  slots: [struct s.m]\n"
                            "  entries: [.x]\n"}});
  // What is left of `f` is the glob that covers it.
  EXPECT_TRUE(M.function("f")->Inert);
  EXPECT_EQ(M.function("sync_a"), nullptr);
  EXPECT_EQ(M.function("sync_b"), nullptr);
  EXPECT_EQ(M.slot("struct s.m"), nullptr);
  EXPECT_EQ(M.entry(EntryModel::Section, ".x"), nullptr);
  EXPECT_TRUE(M.entry(EntryModel::Marker, "X"));
}

TEST(Models, RemovesBeforeItAdds) {
  Models M = load({{"base", "functions: [{name: f, frees: 0}]\n"},
                   {"mine", "functions: [{name: f, sleeps: true}]\n"
                            "remove: {functions: [f]}\n"}});
  EXPECT_TRUE(M.function("f")->Sleeps);
  EXPECT_EQ(M.function("f")->Frees, -1);
}

TEST(Models, TakesFilesThatSayNothing) {
  EXPECT_EQ(load("").functions().size(), 0u);
  EXPECT_EQ(load("# only a comment\n").functions().size(), 0u);
  EXPECT_EQ(load("functions: []\n").functions().size(), 0u);
}

TEST(Models, CopiesAndMovesKeepTheirGlobs) {
  auto First = std::make_unique<Models>(
      load("functions: [{name: 'a_long_enough_prefix_to_be_kept_*', "
           "inert: true}]\n"));
  Models Copy = *First;
  Models Moved = std::move(*First);
  First.reset();
  EXPECT_TRUE(Copy.function("a_long_enough_prefix_to_be_kept_x"));
  EXPECT_TRUE(Moved.function("a_long_enough_prefix_to_be_kept_x"));
}

TEST(Models, DigestFollowsTheMeaning) {
  const std::string A = "functions: [{name: f, frees: 0}, {name: g, frees: 0}]";
  std::string Digest = load(A).digest().str();
  EXPECT_EQ(Digest.size(), 64u);
  EXPECT_EQ(Digest, load("# a comment\n" + A + "\n").digest());
  EXPECT_EQ(Digest,
            load("functions: [{name: g, aliases: f, frees: 0}]").digest());
  EXPECT_NE(
      Digest,
      load("functions: [{name: f, frees: 1}, {name: g, frees: 0}]").digest());
  EXPECT_NE(Digest, load("functions: [{name: f, frees: 0}]").digest());
  EXPECT_NE(load("slots: [{slot: a.b, context: hot}]").digest(),
            load("slots: [{slot: a.b, context: init}]").digest());
  EXPECT_NE(load("entries: [{name: a, context: hot}]").digest(),
            load("entries: [{section: a, context: hot}]").digest());
  // The order of globs decides lookups.
  EXPECT_NE(load("slots: [{slot: a.*, context: hot}, {slot: '*.b', context: "
                 "hot}]")
                .digest(),
            load("slots: [{slot: '*.b', context: hot}, {slot: a.*, context: "
                 "hot}]")
                .digest());
}

struct BadText {
  const char *Text;
  const char *Error;
};

class ModelsError : public testing::TestWithParam<BadText> {};

TEST_P(ModelsError, NamesThePlaceAndWhatWasExpected) {
  std::string Error = errorOf(GetParam().Text);
  EXPECT_EQ(Error.substr(0, strlen(GetParam().Error)), GetParam().Error)
      << Error;
}

const BadText BadTexts[] = {
    // Shapes.
    {"- a\n", "m.yaml:1:1: expected a mapping (a file of models), found a "
              "list"},
    {"functions: 3\n", "m.yaml:1:12: expected a list of functions, found '3'"},
    {"functions:\n", "m.yaml:1:1: expected a list of functions, found nothing"},
    {"functions:\n- kfree\n",
     "m.yaml:2:3: expected a mapping (a function), found 'kfree'"},
    {"functions:\n- {name: [a], frees: 0}\n",
     "m.yaml:2:10: expected the name of a function, found a list"},
    // Keys.
    {"function: []\n", "m.yaml:1:1: expected a key of a file of models "
                       "(functions, slots, entries, counters, records, "
                       "remedies, paces, remove), found 'function'"},
    {"functions:\n- name: a\n  fres: 0\n",
     "m.yaml:3:3: expected a key of a function (name, aliases, "},
    {"functions:\n- {name: a, wait: {flavor: rcu}}\n",
     "m.yaml:2:20: expected a key of a wait (flavour, cost, "},
    {"functions:\n- name: a\n  frees: 0\n  frees: 1\n",
     "m.yaml:4:3: expected each key once, found 'frees' again (first in line "
     "3)"},
    {"functions:\n- {frees: 0}\n",
     "m.yaml:2:3: expected the key 'name' in a function, found none"},
    {"functions:\n- {name: a}\n",
     "m.yaml:2:3: expected a key besides 'name' that says what 'a' does, "
     "found none"},
    {"functions:\n- {name: a, wait: {cost: full}}\n",
     "m.yaml:2:19: expected the key 'flavour' in a wait, found none"},
    {"functions:\n- {name: a, free-by-rcu: b}\n",
     "m.yaml:2:3: expected the key 'frees' beside 'free-by-rcu', found none"},
    {"functions:\n- {name: a, acquires: 0}\n",
     "m.yaml:2:3: expected the key 'lock' beside 'acquires' or 'releases', "
     "found none"},
    {"functions:\n- {name: a, callbacks: [{context: hot}]}\n",
     "m.yaml:2:25: expected the key 'arg' in a callback, found none"},
    {"functions:\n- {name: a, callbacks: [{arg: 1}]}\n",
     "m.yaml:2:25: expected the key 'context' in a callback that is not "
     "inline, found none"},
    {"slots:\n- {context: hot}\n",
     "m.yaml:2:3: expected the key 'slot', or 'record' and 'members', found "
     "none"},
    {"slots:\n- {record: struct a, context: hot}\n",
     "m.yaml:2:3: expected 'record' and 'members' together, found one of "
     "them"},
    {"slots:\n- {slot: struct a.b}\n",
     "m.yaml:2:3: expected the key 'context' in a slot, found none"},
    {"entries:\n- {context: hot}\n",
     "m.yaml:2:3: expected one of the keys 'name', 'section', 'marker', "
     "'file', found "
     "none"},
    {"entries:\n- {name: a}\n",
     "m.yaml:2:3: expected the key 'context' or 'exports' in an entry, found "
     "none"},
    // Values.
    {"functions:\n- {name: a, frees: first}\n",
     "m.yaml:2:20: expected the number of an argument (0 to 31), found "
     "'first'"},
    {"functions:\n- {name: a, frees: -1}\n",
     "m.yaml:2:20: expected the number of an argument (0 to 31), found '-1'"},
    {"functions:\n- {name: a, sleeps: yes}\n",
     "m.yaml:2:21: expected true or false, found 'yes'"},
    {"functions:\n- {name: a, wait: {flavour: rcu, cost: cheap}}\n",
     "m.yaml:2:40: expected a cost (full, expedited, adaptive, barrier), found "
     "'cheap'"},
    {"functions:\n- {name: '', frees: 0}\n",
     "m.yaml:2:10: expected the name of a function, found ''"},
    {"slots:\n- {slot: struct a.b, context: [hot, warm]}\n",
     "m.yaml:2:37: expected a context (init, exit, setup, teardown, hot, "
     "async, admin, report), found 'warm'"},
    {"slots:\n- {slot: struct a.b, context: [hot, hot]}\n",
     "m.yaml:2:37: expected each context once, found 'hot'"},
    {"slots:\n- {slot: nodot, context: hot}\n",
     "m.yaml:2:3: expected RECORD.MEMBER, found 'nodot'"},
    {"entries:\n- {marker: 'module_*', context: hot}\n",
     "m.yaml:2:3: expected the name of a macro without '*', found "
     "'module_*'"},
    // Names.
    {"functions:\n- {name: a, frees: 0}\n- {name: b, frees: 0, aliases: a}\n",
     "m.yaml:3:3: expected one model of the function 'a', found another "
     "(first in line 2)"},
    {"slots:\n- {slot: a.b, context: hot}\n- {slot: a.b, context: init}\n",
     "m.yaml:3:3: expected one model of the slot 'a.b', found another (first "
     "in line 2)"},
    {"remove: {functions: [a]}\n",
     "m.yaml:1:22: expected the name of a function that an earlier file "
     "declares, found 'a'"},
    {"remove:\n  slots:\n  - 'struct *.x'\n",
     "m.yaml:3:5: expected the name of a slot that an earlier file declares, "
     "found 'struct *.x'"},
    {"remove: {entries: [a]}\n",
     "m.yaml:1:20: expected the name of an entry that an earlier file "
     "declares, found 'a'"},
    {"remove: {function: [a]}\n",
     "m.yaml:1:10: expected a key of the key 'remove'"},
    // Syntax.
    {"functions: [\n", "m.yaml:1:13: expected YAML, found a syntax error ("},
    {"functions:\n- {name: a, frees: 0\n", "m.yaml:"},
    {"functions:\n  - name: a\n frees: 0\n", "m.yaml:3:7: expected YAML"},
    {"functions:\n- {name: *glob, frees: 0}\n",
     "m.yaml:2:10: expected a name in quotes, if it starts with '*', found a "
     "YAML alias"},
    {"functions: []\n---\nslots: []\n",
     "m.yaml:3:1: expected the end of the file, found a second document"},
    {"[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]\n",
     "m.yaml:1:18: expected fewer than 16 levels, found one more"},
};

INSTANTIATE_TEST_SUITE_P(Models, ModelsError, testing::ValuesIn(BadTexts));

TEST(Models, ErrorsNameTheRightFile) {
  EXPECT_EQ(errorOf({{"good.yaml", "functions: []\n"},
                     {"bad.yaml", "\n\nslots: 1\n"}}),
            "bad.yaml:3:8: expected a list of slots, found '1'");
}

TEST(Models, ReportsAFileThatIsNotThere) {
  llvm::Expected<Models> M = loadModels({"/nonexistent/mine.yaml"});
  ASSERT_FALSE(M);
  EXPECT_EQ(llvm::toString(M.takeError()),
            "/nonexistent/mine.yaml: expected a readable file of models, "
            "found: No such file or directory");
}

} // namespace
