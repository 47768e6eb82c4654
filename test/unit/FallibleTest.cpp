//===- FallibleTest.cpp - Initialisers that can fail --------------------===//
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

TEST_F(FallibleTest, VoidInitialiserUnwindsAndReturns) {
  unit("a.c", all({Init,
                   "struct foo *foo_new(void)\n"
                   "{\n"
                   "\tstruct foo *f = kzalloc(sizeof(*f), 0);\n"
                   "\n"
                   "\tif (!f)\n"
                   "\t\treturn NULL;\n"
                   "\tfoo_init(f);\n"
                   "\treturn f;\n"
                   "}\n",
                   Free}));
  plan();
  EXPECT_EQ(after("a.c"), all({"int foo_init(struct foo *f)\n"
                               "{\n"
                               "\tint ret;\n"
                               "\n"
                               "\tf->limit = 5;\n"
                               "\tret = count_init(&f->in, 0);\n"
                               "\tif (ret)\n"
                               "\t\treturn ret;\n"
                               "\tret = count_init(&f->out, 0);\n"
                               "\tif (ret)\n"
                               "\t\tgoto fail_out;\n"
                               "\treturn 0;\n"
                               "\n"
                               "fail_out:\n"
                               "\tcount_destroy(&f->in);\n"
                               "\treturn ret;\n"
                               "}\n"
                               "struct foo *foo_new(void)\n"
                               "{\n"
                               "\tstruct foo *f = kzalloc(sizeof(*f), 0);\n"
                               "\n"
                               "\tif (!f)\n"
                               "\t\treturn NULL;\n"
                               "\tif (foo_init(f)) {\n"
                               "\t\tkfree(f);\n"
                               "\t\treturn NULL;\n"
                               "\t}\n"
                               "\treturn f;\n"
                               "}\n",
                               Free}));
  parses();
  for (const char *Name :
       {"initialiser-can-fail", "prototypes-and-stubs-changed",
        "callers-unwind", "nothing-half-done", "not-called-through-pointer"}) {
    ASSERT_TRUE(guard(Name)) << Name;
    EXPECT_TRUE(guard(Name)->Holds) << Name;
  }
  EXPECT_THAT(guard("callers-unwind")->Why,
              HasSubstr("kfree(f) (as at a.c:20"));
}

TEST_F(FallibleTest, UndoesTheStepBefore) {
  write("foo.h", Header);
  unit("a.c", all({"#include \"foo.h\"\n", Init}), {"-DCONFIG_FOO"});
  unit("b.c", all({"#include \"foo.h\"\n", Ladder}), {"-DCONFIG_FOO"});
  plan();
  EXPECT_THAT(after("b.c"), HasSubstr("\t\tgoto fail_more;\n"
                                      "\n"
                                      "\terr = foo_init(f);\n"
                                      "\tif (err)\n"
                                      "\t\tgoto fail_bar_close;\n"
                                      "\n"
                                      "\tbar_start(&f->more[1]);\n"
                                      "\n"
                                      "\treturn 0;\n"
                                      "\n"
                                      "fail_bar_close:\n"
                                      "\tbar_close(&f->bar);\n"
                                      "fail_more:\n"
                                      "\tbar_close(&f->more[0]);\n"
                                      "fail:\n"));
  ASSERT_TRUE(guard("order-free"));
  EXPECT_THAT(guard("order-free")->Why,
              HasSubstr("in front of bar_start() at b.c:15"));
  EXPECT_THAT(
      guard("callers-unwind")->Why,
      HasSubstr("bar_close(&f->bar) (as foo_teardown() does at b.c:28), "
                "then bar_close(&f->more[0])"));
}

TEST_F(FallibleTest, StubsUnderElse) {
  write("foo.h", Header);
  unit("a.c",
       all({"#include \"foo.h\"\n#ifdef CONFIG_FOO\n", Init, "#endif\n"}),
       {"-DCONFIG_FOO"});
  unit("b.c", all({"#include \"foo.h\"\n", Ladder}), {"-DCONFIG_FOO"});
  plan();
  EXPECT_THAT(after("foo.h"), HasSubstr("int foo_init(struct foo *f);\n"));
  EXPECT_THAT(after("foo.h"),
              HasSubstr("static inline int foo_init(struct foo *f) { return 0; "
                        "}\nstatic inline void foo_exit"));
  EXPECT_THAT(guard("prototypes-and-stubs-changed")->Why,
              HasSubstr("prototype at foo.h:2; stub at foo.h:5"));
  parses();
  parses({"-UCONFIG_FOO"});
}

TEST_F(FallibleTest, EmptyMacroKeepsItsArgument) {
  write("foo.h", "#ifdef CONFIG_FOO\n"
                 "void foo_init(struct foo *f);\n"
                 "#else\n"
                 "#define foo_init(f) do { } while (0)\n"
                 "#endif\n");
  unit("a.c", all({"#include \"foo.h\"\n", Init}), {"-DCONFIG_FOO"});
  unit("b.c", all({"#include \"foo.h\"\n", Ladder}), {"-DCONFIG_FOO"});
  plan();
  EXPECT_THAT(after("foo.h"),
              HasSubstr("#define foo_init(f) ((void)(f), 0)\n"));
}

TEST_F(FallibleTest, VoidCallersPassItOn) {
  unit("a.c", all({Init, "static void foo_prepare(struct foo *f, int limit)\n"
                         "{\n"
                         "\tif (limit < 0)\n"
                         "\t\treturn;\n"
                         "\tf->limit = limit;\n"
                         "\tfoo_init(f);\n"
                         "}\n"
                         "int foo_a(struct foo *f)\n"
                         "{\n"
                         "\tfoo_prepare(f, 1);\n"
                         "\treturn 0;\n"
                         "}\n"
                         "int foo_b(struct foo *f)\n"
                         "{\n"
                         "\tfoo_prepare(f, 2);\n"
                         "\tf->limit++;\n"
                         "\treturn 0;\n"
                         "}\n"}));
  plan();
  EXPECT_THAT(after("a.c"),
              HasSubstr("static int foo_prepare(struct foo *f, int limit)\n"
                        "{\n"
                        "\tif (limit < 0)\n"
                        "\t\treturn 0;\n"
                        "\tf->limit = limit;\n"
                        "\treturn foo_init(f);\n"
                        "}\n"
                        "int foo_a(struct foo *f)\n"
                        "{\n"
                        "\tint ret;\n"
                        "\n"
                        "\tret = foo_prepare(f, 1);\n"
                        "\tif (ret)\n"
                        "\t\treturn ret;\n"
                        "\treturn 0;\n"
                        "}\n"
                        "int foo_b(struct foo *f)\n"
                        "{\n"
                        "\tint ret;\n"
                        "\n"
                        "\tret = foo_prepare(f, 2);\n"
                        "\tif (ret)\n"
                        "\t\treturn ret;\n"
                        "\tf->limit++;\n"));
  parses();
}

TEST_F(FallibleTest, BootCodeStopsThere) {
  unit("a.c", all({Init, "static struct foo first;\n"
                         "static void __init foo_boot(void)\n"
                         "{\n"
                         "\tfoo_init(&first);\n"
                         "}\n"
                         "static int __init boot(void)\n"
                         "{\n"
                         "\tfoo_boot();\n"
                         "\treturn 0;\n"
                         "}\n"
                         "int (*start)(void) = boot;\n"}));
  plan();
  EXPECT_THAT(after("a.c"), HasSubstr("static void __init foo_boot(void)\n"
                                      "{\n"
                                      "\tif (foo_init(&first))\n"
                                      "\t\tpanic(\"no memory\\n\");\n"
                                      "}\n"));
  EXPECT_THAT(after("a.c"), HasSubstr("\tfoo_boot();\n"));
  parses();
}

TEST_F(FallibleTest, IntInitialiserUnwindsAllThatItDid) {
  unit("a.c", all({"int foo_init(struct foo *f)\n"
                   "{\n"
                   "\tint err;\n"
                   "\n"
                   "\terr = bar_open(&f->bar);\n"
                   "\tif (err)\n"
                   "\t\treturn err;\n"
                   "\tset(&f->in, 0);\n"
                   "\tset(&f->out, 0);\n"
                   "\terr = bar_open(&f->more[0]);\n"
                   "\tif (err)\n"
                   "\t\tgoto err_bar;\n"
                   "\treturn 0;\n"
                   "\n"
                   "err_bar:\n"
                   "\tbar_close(&f->bar);\n"
                   "\treturn err;\n"
                   "}\n"
                   "int foo_open(struct foo *f)\n"
                   "{\n"
                   "\treturn foo_init(f);\n"
                   "}\n"}));
  plan();
  EXPECT_THAT(after("a.c"), HasSubstr("\tint err;\n"
                                      "\n"
                                      "\terr = bar_open(&f->bar);\n"
                                      "\tif (err)\n"
                                      "\t\treturn err;\n"
                                      "\terr = count_init(&f->in, 0);\n"
                                      "\tif (err)\n"
                                      "\t\tgoto err_bar;\n"
                                      "\terr = count_init(&f->out, 0);\n"
                                      "\tif (err)\n"
                                      "\t\tgoto err_in;\n"
                                      "\terr = bar_open(&f->more[0]);\n"
                                      "\tif (err)\n"
                                      "\t\tgoto err_out;\n"
                                      "\treturn 0;\n"
                                      "\n"
                                      "err_out:\n"
                                      "\tcount_destroy(&f->out);\n"
                                      "err_in:\n"
                                      "\tcount_destroy(&f->in);\n"
                                      "err_bar:\n"
                                      "\tbar_close(&f->bar);\n"
                                      "\treturn err;\n"));
  EXPECT_THAT(guard("callers-unwind")->Why,
              HasSubstr("foo_open() at a.c:22 looks at the result already"));
}

TEST_F(FallibleTest, LaterFailuresUndoItToo) {
  unit("a.c", all({Init, "int foo_setup(struct foo *f)\n"
                         "{\n"
                         "\tint err;\n"
                         "\n"
                         "\tfoo_init(f);\n"
                         "\terr = bar_open(&f->bar);\n"
                         "\tif (err)\n"
                         "\t\treturn err;\n"
                         "\terr = bar_open(&f->more[0]);\n"
                         "\tif (err) {\n"
                         "\t\tbar_close(&f->bar);\n"
                         "\t\treturn err;\n"
                         "\t}\n"
                         "\treturn 0;\n"
                         "}\n"}));
  plan();
  EXPECT_THAT(after("a.c"), HasSubstr("\terr = foo_init(f);\n"
                                      "\tif (err)\n"
                                      "\t\treturn err;\n"
                                      "\terr = bar_open(&f->bar);\n"
                                      "\tif (err) {\n"
                                      "\t\tcount_destroy(&f->out);\n"
                                      "\t\tcount_destroy(&f->in);\n"
                                      "\t\treturn err;\n"
                                      "\t}\n"
                                      "\terr = bar_open(&f->more[0]);\n"
                                      "\tif (err) {\n"
                                      "\t\tbar_close(&f->bar);\n"
                                      "\t\tcount_destroy(&f->out);\n"
                                      "\t\tcount_destroy(&f->in);\n"
                                      "\t\treturn err;\n"
                                      "\t}\n"));
  parses();
}

TEST_F(FallibleTest, KeepsACodeThatWaitsInTheVariable) {
  unit("a.c", all({Init,
                   "struct foo *foo_new(void)\n"
                   "{\n"
                   "\tstruct foo *f;\n"
                   "\tint err = -12;\n"
                   "\n"
                   "\tf = kzalloc(sizeof(*f), 0);\n"
                   "\tif (!f)\n"
                   "\t\tgoto fail;\n"
                   "\tfoo_init(f);\n"
                   "\tif (!bar_open(&f->bar))\n"
                   "\t\tgoto fail_free;\n"
                   "\treturn f;\n"
                   "\n"
                   "fail_free:\n"
                   "\tkfree(f);\n"
                   "fail:\n"
                   "\treturn ERR_PTR(err);\n"
                   "}\n",
                   Free}));
  plan();
  EXPECT_THAT(after("a.c"), HasSubstr("\tif (foo_init(f))\n"
                                      "\t\tgoto fail_free;\n"
                                      "\tif (!bar_open(&f->bar))\n"
                                      "\t\tgoto fail_foo;\n"
                                      "\treturn f;\n"
                                      "\n"
                                      "fail_foo:\n"
                                      "\tcount_destroy(&f->out);\n"
                                      "\tcount_destroy(&f->in);\n"
                                      "fail_free:\n"
                                      "\tkfree(f);\n"));
}

/// What stands between touches what the initialiser sets: no move, but undone.
TEST_F(FallibleTest, UndoesWhatItCannotCross) {
  unit("a.c", all({"void foo_start(struct foo *f)\n"
                   "{\n"
                   "\tf->limit++;\n"
                   "\tbar_start(&f->more[1]);\n"
                   "}\n"
                   "void foo_stop(struct foo *f)\n"
                   "{\n"
                   "\tbar_stop(&f->more[1]);\n"
                   "}\n",
                   Init,
                   "int foo_setup(struct foo *f)\n"
                   "{\n"
                   "\tint err;\n"
                   "\n"
                   "\terr = bar_open(&f->bar);\n"
                   "\tif (err)\n"
                   "\t\tgoto fail;\n"
                   "\tfoo_start(f);\n"
                   "\tfoo_init(f);\n"
                   "\treturn 0;\n"
                   "fail:\n"
                   "\tbar_close(&f->more[0]);\n"
                   "\treturn err;\n"
                   "}\n"
                   "void foo_teardown(struct foo *f)\n"
                   "{\n"
                   "\tfoo_stop(f);\n"
                   "\tbar_close(&f->bar);\n"
                   "\tbar_close(&f->more[0]);\n"
                   "}\n"}));
  plan();
  EXPECT_THAT(after("a.c"), HasSubstr("\tfoo_start(f);\n"
                                      "\terr = foo_init(f);\n"
                                      "\tif (err)\n"
                                      "\t\tgoto fail_foo_stop;\n"
                                      "\treturn 0;\n"
                                      "fail_foo_stop:\n"
                                      "\tfoo_stop(f);\n"
                                      "\tbar_close(&f->bar);\n"
                                      "fail:\n"
                                      "\tbar_close(&f->more[0]);\n"));
  EXPECT_EQ(guard("order-free"), nullptr);
}

/// A code in a pointer; and a later failure that tears all of it down already.
TEST_F(FallibleTest, LaterTeardownCoversIt) {
  unit("a.c", all({Init, Free,
                   "struct foo *foo_new(void)\n"
                   "{\n"
                   "\tstruct foo *f = kzalloc(sizeof(*f), 0);\n"
                   "\n"
                   "\tif (!f)\n"
                   "\t\treturn ERR_PTR(-12);\n"
                   "\tfoo_init(f);\n"
                   "\tif (bar_open(&f->bar)) {\n"
                   "\t\tfoo_free(f);\n"
                   "\t\treturn ERR_PTR(-5);\n"
                   "\t}\n"
                   "\treturn f;\n"
                   "}\n"}));
  plan();
  EXPECT_THAT(after("a.c"),
              HasSubstr("\tstruct foo *f = kzalloc(sizeof(*f), 0);\n"
                        "\tint ret;\n"
                        "\n"
                        "\tif (!f)\n"
                        "\t\treturn ERR_PTR(-12);\n"
                        "\tret = foo_init(f);\n"
                        "\tif (ret) {\n"
                        "\t\tkfree(f);\n"
                        "\t\treturn ERR_PTR(ret);\n"
                        "\t}\n"
                        "\tif (bar_open(&f->bar)) {\n"
                        "\t\tfoo_free(f);\n"));
  parses();
}

} // namespace
