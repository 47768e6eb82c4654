//===- FallibleRefusalTest.cpp - Initialisers that must not fail --------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FallibleFixture.h"
#include "gmock/gmock.h"

using namespace decontend;
using testing::HasSubstr;

namespace {

TEST_F(FallibleTest, RefusesAMacroThatDoesSomething) {
  write("foo.h", "#ifdef CONFIG_FOO\n"
                 "void foo_init(struct foo *f);\n"
                 "#else\n"
                 "#define foo_init(f) ((f)->limit = 1)\n"
                 "#endif\n");
  unit("a.c", all({"#include \"foo.h\"\n", Init}), {"-DCONFIG_FOO"});
  unit("b.c", all({"#include \"foo.h\"\n", Ladder}), {"-DCONFIG_FOO"});
  EXPECT_EQ(plan().Refusal, "guard `prototypes-and-stubs-changed`: foo_init() "
                            "at foo.h:4: a macro that does something");
}

TEST_F(FallibleTest, RefusesACallInTextThatIsLeftOut) {
  unit("a.c", all({Init,
                   "void foo_old(struct foo *f)\n"
                   "{\n"
                   "#ifdef OLD\n"
                   "\tfoo_init(f);\n"
                   "#endif\n"
                   "}\n",
                   Ladder}));
  EXPECT_EQ(plan().Refusal,
            "guard `prototypes-and-stubs-changed`: foo_init() at a.c:11: text "
            "that is not compiled here uses it");
}

TEST_F(FallibleTest, RefusesAnUnwindingThatMeetsTheRest) {
  unit("a.c", all({"void foo_reset(struct foo *f)\n"
                   "{\n"
                   "\tf->limit = 0;\n"
                   "}\n",
                   Init,
                   "int foo_setup(struct foo *f)\n"
                   "{\n"
                   "\tint err = bar_open(&f->bar);\n"
                   "\tif (err)\n"
                   "\t\tgoto out;\n"
                   "\tfoo_init(f);\n"
                   "\treturn 0;\n"
                   "out:\n"
                   "\tfoo_reset(f);\n"
                   "\treturn err;\n"
                   "}\n"
                   "void foo_end(struct foo *f)\n"
                   "{\n"
                   "\tfoo_reset(f);\n"
                   "\tbar_close(&f->bar);\n"
                   "}\n"}));
  EXPECT_EQ(plan().Refusal,
            "guard `nothing-half-done`: foo_reset() at a.c:20 runs after a "
            "failure of foo_init() at a.c:17 and tears down what that sets up");
}

TEST_F(FallibleTest, RefusesFunctionPointers) {
  unit("a.c", all({Init, "struct ops { void (*init)(struct foo *); };\n"
                         "struct ops foo_ops = { .init = foo_init };\n"}));
  EXPECT_EQ(plan().Refusal,
            "guard `not-called-through-pointer`: foo_init() at a.c:2: a.c:9 "
            "puts it into struct ops.init, whose callers expect no result");
}

TEST_F(FallibleTest, RefusesConditionalCalls) {
  unit("a.c", all({Init, "int foo_setup(struct foo *f, int wanted)\n"
                         "{\n"
                         "\tif (wanted)\n"
                         "\t\tfoo_init(f);\n"
                         "\treturn 0;\n"
                         "}\n"}));
  EXPECT_EQ(plan().Refusal, "guard `callers-unwind`: a.c:11 runs only under "
                            "the condition at a.c:10");
}

TEST_F(FallibleTest, RefusesWhatIsIgnoredOnPurpose) {
  unit("a.c", all({"int foo_init(struct foo *f)\n"
                   "{\n"
                   "\tset(&f->in, 0);\n"
                   "\treturn 0;\n"
                   "}\n"
                   "int foo_setup(struct foo *f)\n"
                   "{\n"
                   "\t(void)foo_init(f);\n"
                   "\treturn 0;\n"
                   "}\n"}));
  EXPECT_THAT(plan().Refusal, HasSubstr("ignores its result on purpose"));
}

TEST_F(FallibleTest, RefusesAWayOutBeforeTheCounters) {
  unit("a.c", all({"void foo_init(struct foo *f)\n"
                   "{\n"
                   "\tif (f->limit)\n"
                   "\t\treturn;\n"
                   "\tset(&f->in, 0);\n"
                   "}\n",
                   Ladder}));
  EXPECT_EQ(plan().Refusal,
            "guard `nothing-half-done`: the way out at a.c:5 leaves in unset");
}

TEST_F(FallibleTest, RefusesCallsOfSomeConfigurations) {
  unit("a.c", all({Init, "int foo_setup(struct foo *f)\n"
                         "{\n"
                         "#ifndef SMALL\n"
                         "\tfoo_init(f);\n"
                         "#endif\n"
                         "\treturn 0;\n"
                         "}\n"}));
  EXPECT_EQ(plan().Refusal, "guard `callers-unwind`: a.c:11 is compiled only "
                            "in some configurations");
}

TEST_F(FallibleTest, RefusesUnderALock) {
  unit("a.c", all({Init, "int foo_setup(struct foo *f)\n"
                         "{\n"
                         "\tmutex_lock(&f->lock);\n"
                         "\tfoo_init(f);\n"
                         "\tmutex_unlock(&f->lock);\n"
                         "\treturn 0;\n"
                         "}\n"}));
  EXPECT_THAT(plan().Refusal, HasSubstr("takes a lock"));
}

TEST_F(FallibleTest, RefusesWhereNothingSleeps) {
  unit("a.c", all({Init, "static void foo_more(struct foo *f)\n"
                         "{\n"
                         "\tfoo_init(f);\n"
                         "}\n"
                         "int foo_setup(struct foo *f)\n"
                         "{\n"
                         "\tspin_lock(&f->spin);\n"
                         "\tfoo_more(f);\n"
                         "\tspin_unlock(&f->spin);\n"
                         "\treturn 0;\n"
                         "}\n"}));
  EXPECT_EQ(plan().Refusal,
            "guard `initialiser-may-sleep`: foo_init() at a.c:5 may run where "
            "nothing sleeps, and would allocate there");
}

TEST_F(FallibleTest, RefusesWhoNeverFails) {
  unit("a.c", all({Init, "static struct foo first;\n"
                         "struct foo *foo_get(void)\n"
                         "{\n"
                         "\tfoo_init(&first);\n"
                         "\treturn &first;\n"
                         "}\n"}));
  EXPECT_THAT(plan().Refusal, HasSubstr("nobody expects that"));
}

TEST_F(FallibleTest, RefusesWhenNobodyCalls) {
  unit("a.c", all({Init}));
  EXPECT_EQ(plan().Refusal,
            "guard `callers-unwind`: no caller of foo_init() at a.c:2 is seen");
}

} // namespace
