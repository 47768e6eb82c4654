//===- ExtractNamesTest.cpp - Names, records, failures --------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractFixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace decontend;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class ExtractNamesTest : public ExtractTest {};

//===--- Names ----------------------------------------------------------===//

TEST_F(ExtractNamesTest, StaticFunctionsAreKeyedByFile) {
  write("h.h", "static inline void in_header(void) {}\n");
  facts("#include \"h.h\"\n"
        "static void mine(void) {}\n"
        "void shared(void) { mine(); in_header(); }\n");
  EXPECT_EQ(str(function("mine").Key), "mine@a.c");
  EXPECT_EQ(str(function("shared").Key), "shared");
  EXPECT_EQ(str(function("in_header").Key), "in_header@h.h");
  EXPECT_TRUE(function("in_header").is(FunctionFacts::InHeader));
  EXPECT_TRUE(function("mine").is(FunctionFacts::Static));
  EXPECT_THAT(calls("shared"), ElementsAre("mine@a.c", "in_header@h.h"));
}

TEST_F(ExtractNamesTest, CxxFunctionsAreKeyedByUsr) {
  ExtractResult R =
      extract("a.cpp", "namespace n { struct S { void m() const; };\n"
                       "void S::m() const {}\n"
                       "void over(int) {} void over(char) {} }\n"
                       "extern \"C\" void plain() {}\n");
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Keys;
  for (const FunctionFacts &F : R.Facts.Functions)
    Keys.push_back(R.Facts.str(F.Key).str());
  ASSERT_EQ(Keys.size(), 4u);
  EXPECT_THAT(Keys, Contains("plain"));
  EXPECT_THAT(Keys, Contains(HasSubstr("@S@S@F@m#1")));
  EXPECT_NE(Keys[1], Keys[2]) << "overloads stay apart";
}

TEST_F(ExtractNamesTest, SlotsAreFilledByInitialisersAndAssignments) {
  facts("struct inode; struct file;\n"
        "struct ops { int (*a)(void); int (*b)(void); };\n"
        "struct both { struct ops ops; int (*c)(void); };\n"
        "static int one(void) { return 1; }\n"
        "static int two(void) { return 2; }\n"
        "const struct ops table = {.b = one};\n"
        "static const struct both nested = {{one, &two}, two};\n"
        "int (*hook)(void);\n"
        "void set(struct ops *o) {\n"
        "  o->a = two;\n"
        "  hook = one;\n"
        "  o->b();\n"
        "  hook();\n"
        "}\n");
  std::vector<std::string> Fills;
  for (const SlotFill &S : Facts.Slots)
    Fills.push_back((str(S.Slot) + "=" + str(S.Function) + " of " +
                     str(S.Object) + " in " + str(S.Within))
                        .str());
  EXPECT_THAT(Fills, ElementsAre("struct ops.b=one@a.c of table in ",
                                 "struct ops.a=one@a.c of nested@a.c in ",
                                 "struct ops.b=two@a.c of nested@a.c in ",
                                 "struct both.c=two@a.c of nested@a.c in ",
                                 "struct ops.a=two@a.c of  in set",
                                 "hook=one@a.c of  in set"));
  EXPECT_EQ(call("struct ops.b").Via, CallVia::Slot);
  EXPECT_EQ(call("hook").Via, CallVia::Slot);
}

TEST_F(ExtractNamesTest, MarkersStandInTheMainFile) {
  write("h.h", "#define module_exit(f) extern int __e_##f\n"
               "#define EXPORT_SYMBOL(f) extern int __x_##f\n"
               "#define OTHER(f) extern int __o_##f\n"
               "EXPORT_SYMBOL(in_header);\n");
  facts("#include \"h.h\"\n"
        "void leave(void) {}\n"
        "module_exit( leave );\n"
        "OTHER(leave);\n"
        "  EXPORT_SYMBOL(leave);\n");
  ASSERT_EQ(Facts.Markers.size(), 2u);
  EXPECT_EQ(str(Facts.Markers[0].Macro), "module_exit");
  EXPECT_EQ(str(Facts.Markers[0].Argument), "leave");
  EXPECT_EQ(Facts.Markers[0].Where.Line, 3u);
  EXPECT_EQ(Facts.Markers[1].Where.Column, 3u);
  EXPECT_EQ(str(Facts.Markers[1].Where.File), "a.c");
}

//===--- Records --------------------------------------------------------===//

TEST_F(ExtractNamesTest, RecordsAndTheirMembers) {
  facts("struct rcu_head { void *p; };\n"
        "struct foo {\n"
        "  int a, *b;\n"
        "  union { int c; struct rcu_head rcu; };\n"
        "  unsigned bits : 3;\n"
        "  char name[4];\n"
        "  long tail[];\n"
        "} __attribute__((packed));\n"
        "union u { int i; };\n"
        "struct outer { struct inner { int x; } in; };\n"
        "struct declared;\n"
        "#define MAKE(n) struct n { int x; }\n"
        "MAKE(made);\n");
  auto Record = [&](llvm::StringRef Key) -> const RecordFacts * {
    for (const RecordFacts &R : Facts.Records)
      if (str(R.Key) == Key)
        return &R;
    return nullptr;
  };
  const RecordFacts *Foo = Record("struct foo");
  ASSERT_TRUE(Foo);
  std::vector<std::string> Names;
  for (const FieldFacts &F : Foo->Fields)
    Names.push_back(str(F.Name).str());
  EXPECT_THAT(Names, ElementsAre("a", "b", "c", "rcu", "bits", "name", "tail"));
  EXPECT_TRUE(Foo->Flags & RecordFacts::Packed);
  EXPECT_TRUE(text(Foo->Braces).starts_with("{\n  int a"));
  EXPECT_EQ(Foo->Fields[1].Flags, FieldFacts::Pointer);
  EXPECT_EQ(str(Foo->Fields[3].Record), "struct rcu_head");
  EXPECT_EQ(Foo->Fields[4].Flags, FieldFacts::BitField);
  EXPECT_EQ(text(Foo->Fields[4].Text), "unsigned bits : 3;");
  EXPECT_EQ(Foo->Fields[5].Flags, FieldFacts::Array);
  EXPECT_EQ(Foo->Fields[6].Flags, FieldFacts::Array | FieldFacts::Flexible);
  ASSERT_TRUE(Record("union u"));
  EXPECT_TRUE(Record("union u")->Flags & RecordFacts::Union);
  EXPECT_TRUE(Record("struct inner"));
  EXPECT_FALSE(Record("struct declared"));
  ASSERT_TRUE(Record("struct made"));
  EXPECT_TRUE(Record("struct made")->Braces.empty());
}

//===--- Skipped bodies -------------------------------------------------===//

TEST_F(ExtractNamesTest, KnownBodiesAreSkipped) {
  write("h.h", "static inline int given(int x) { return x; }\n"
               "static inline int fresh(int x) { return given(x); }\n"
               "struct old { int x; };\n");
  KnownBodies Skip;
  Skip.add("h.h", KnownBodies::id("given", 1));
  Skip.add("h.h", KnownBodies::id("struct old", 3));
  ExtractResult R =
      extract("a.c", "#include \"h.h\"\nint f(int x) { return fresh(x); }\n",
              {}, &Skip);
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Names;
  for (const FunctionFacts &F : R.Facts.Functions)
    Names.push_back(R.Facts.str(F.Name).str());
  EXPECT_THAT(Names, ElementsAre("fresh", "f"));
  EXPECT_THAT(R.Facts.Records, IsEmpty());
}

//===--- Failures -------------------------------------------------------===//

TEST_F(ExtractNamesTest, TheFirstErrorIsTheReason) {
  ExtractResult R =
      extract("a.c", "int f(void) {\n  return x;\n}\nint g(void) { y; }\n");
  EXPECT_FALSE(R.Ok);
  EXPECT_EQ(R.Reason, "a.c:2: use of undeclared identifier 'x'");
  EXPECT_THAT(R.Facts.Functions, IsEmpty());
}

TEST_F(ExtractNamesTest, WarningsAreNoErrors) {
  // Nor are those that Clang, unlike GCC 12, takes for errors.
  ExtractResult R = extract("a.c",
                            "int f(void) { int unused; return \"x\"; }\n"
                            "int g(void) { return undeclared(); }\n"
                            "int *h(long *p) { return p; }\n"
                            "k(void) { return 0; }\n",
                            {"-Wall", "-Werror", "-pedantic-errors"});
  EXPECT_TRUE(R.Ok) << R.Reason;
}

TEST_F(ExtractNamesTest, AMissingHeaderIsNamed) {
  ExtractResult R = extract("a.c", "\n#include \"gen/made.h\"\n");
  EXPECT_EQ(R.Reason, "a.c:2: 'gen/made.h' file not found");
}

TEST_F(ExtractNamesTest, FilesAreListedOnceInOrder) {
  write("one.h", "#pragma once\n");
  write("two.h", "#include \"one.h\"\n");
  write("build/gen.h", "\n");
  ExtractResult R =
      extract("a.c", "#include \"two.h\"\n#include \"one.h\"\n"
                     "#include \"build/gen.h\"\n#include \"two.h\"\n");
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Files;
  for (const Dependency &D : R.Facts.Files)
    Files.push_back(R.Facts.str(D.Path).str());
  EXPECT_THAT(Files, ElementsAre("a.c", "two.h", "one.h", "build/gen.h"));
}

} // namespace
