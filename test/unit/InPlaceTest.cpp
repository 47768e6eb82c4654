//===- InPlaceTest.cpp - Counters that change where they stand ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "checks/hot-atomic-counter/InPlace.h"
#include "checks/hot-atomic-counter/Removal.h"
#include "checks/hot-atomic-counter/StubText.h"
#include "gtest/gtest.h"

using namespace decontend;

TEST(InPlace, FindsTheNumberInAnInitialiser) {
  EXPECT_EQ(initialNumber("0"), "0");
  EXPECT_EQ(initialNumber("ATOMIC_INIT(3)"), "3");
  EXPECT_EQ(initialNumber("{ 7UL }"), "7UL");
  EXPECT_EQ(initialNumber("ATOMIC_INIT({-1})"), "-1");
  EXPECT_EQ(initialNumber("0x10"), "0x10");
  EXPECT_EQ(initialNumber("{}"), "0");
  EXPECT_EQ(initialNumber(""), "0");
  EXPECT_EQ(initialNumber("LIMIT"), "");
  EXPECT_EQ(initialNumber("f(1) + g(2)"), "");
  EXPECT_EQ(initialNumber(")("), "");
}

TEST(InPlace, SpellsTheIntegerOfAnAtomicType) {
  EXPECT_EQ(valueTypeOf("std::atomic<uint64_t>", 64, true, false), "uint64_t");
  EXPECT_EQ(valueTypeOf("_Atomic(long)", -64, false, false), "long");
  EXPECT_EQ(valueTypeOf("atomic_long_t", -64, false, false), "long");
  EXPECT_EQ(valueTypeOf("std::atomic_int", -32, true, false), "int");
  EXPECT_EQ(valueTypeOf("atomic_t", -32, false, false), "int");
  EXPECT_EQ(valueTypeOf("stat_t", 64, true, false), "unsigned long long");
  EXPECT_EQ(valueTypeOf("stat_t", 16, true, false), "std::uint16_t");
  EXPECT_EQ(valueTypeOf("stat_t", -8, false, false), "int8_t");
  EXPECT_EQ(valueTypeOf("unsigned long", 64, false, true), "unsigned long");
  EXPECT_EQ(valueTypeOf("counter_t", 64, false, true), "counter_t");
}

static std::string piece(llvm::StringRef Text, Span S) {
  return Text.slice(S.Begin, S.End).str();
}

TEST(UsePlaces, SplitsArgumentsAtTheTop) {
  llvm::StringRef Text = "f( &a[1, 2], g(x, y) ,{1, 2})";
  std::vector<Span> All = splitArguments(Text, 2, Text.size() - 1);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(piece(Text, All[0]), "&a[1, 2]");
  EXPECT_EQ(piece(Text, All[1]), "g(x, y)");
  EXPECT_EQ(piece(Text, All[2]), "{1, 2}");
  EXPECT_TRUE(splitArguments("f()", 2, 2).empty());
}

TEST(UsePlaces, ListsFiles) {
  EXPECT_EQ(listFiles({"a.c"}), "a.c");
  EXPECT_EQ(listFiles({"a.c", "b.c"}), "a.c and b.c");
  EXPECT_EQ(listFiles({"a.c", "b.c", "c.c"}), "a.c, b.c and c.c");
  EXPECT_EQ(listFiles({"a.c", "b.c", "c.c", "d.c", "e.c"}),
            "a.c, b.c and 3 more");
}

namespace {

/// Takes `Gone` out of the function that Text is, by text only.
class RemovalTest : public testing::Test {
protected:
  std::string without(const std::string &Text,
                      std::vector<llvm::StringRef> Gone) {
    Models None;
    Program P(None);
    FunctionFacts F;
    F.Body = {uint32_t(Text.find('{')), uint32_t(Text.size())};
    std::string Code = codeOnly(Text);
    Removal R(P, "a.c", Text, Code);
    for (llvm::StringRef S : Gone) {
      uint32_t At = Text.find(S);
      R.statement(F, {At, uint32_t(At + S.size())});
    }
    std::vector<Edit> Edits = R.finish();
    if (!R.trouble().empty())
      return R.troubleGuard().str() + ": " + R.trouble();
    return llvm::cantFail(applyEdits("a.c", Text, Edits));
  }
};

} // namespace

TEST_F(RemovalTest, TakesLinesAndSpareBlankOnes) {
  EXPECT_EQ(without("f() {\n  a();\n\n  b;\n\n  c();\n}\n", {"b;"}),
            "f() {\n  a();\n\n  c();\n}\n");
  EXPECT_EQ(without("f() {\n  b; c();\n}\n", {"b;"}), "f() {\n  c();\n}\n");
  EXPECT_EQ(without("f() { b; }\n", {"b;"}), "f() { }\n");
}

TEST_F(RemovalTest, TakesWhatHasNoBodyLeft) {
  EXPECT_EQ(without("f() {\n  if (x)\n    b;\n  c();\n}\n", {"b;"}),
            "f() {\n  c();\n}\n");
  EXPECT_EQ(
      without("f() {\n  if (x) {\n    b;\n    d;\n  }\n}\n", {"b;", "d;"}),
      "f() {\n}\n");
  EXPECT_EQ(without("f() {\n  if (x)\n    c();\n  else\n    b;\n}\n", {"b;"}),
            "f() {\n  if (x)\n    c();\n}\n");
  EXPECT_EQ(without("f() {\n  if (x) {\n    c();\n  } else {\n    b;\n  }\n}\n",
                    {"b;"}),
            "f() {\n  if (x) {\n    c();\n  }\n}\n");
  EXPECT_EQ(
      without("f() {\n  if (x) {\n    if (y)\n      b;\n  }\n}\n", {"b;"}),
      "f() {\n}\n");
}

TEST_F(RemovalTest, RefusesWhatWouldChangeMore) {
  EXPECT_EQ(without("f() {\n  while (x)\n    b;\n}\n", {"b;"}),
            "no-empty-body: a.c:3 is all that a loop, or something like one, "
            "does");
  EXPECT_EQ(without("f() {\n  do\n    b;\n  while (x);\n}\n", {"b;"}),
            "no-empty-body: a.c:3 is all that a loop does");
  EXPECT_EQ(without("f() {\n  if (x++)\n    b;\n}\n", {"b;"}),
            "no-empty-body: a.c:3 is all that stands behind a condition that "
            "does something itself");
  EXPECT_EQ(without("f() {\n  if (x)\n    b;\n  else\n    c();\n}\n", {"b;"}),
            "no-empty-body: a.c:3 is all that an `if` with an `else` does");
  EXPECT_EQ(without("f() {\nout:\n  b;\n}\n", {"b;"}),
            "no-empty-body: a.c:3 is all that a label has behind it");
  EXPECT_EQ(without("f() {\n  add(n++);\n}\n", {"add(n++);"}),
            "nothing-else-lost: a.c:2 computes something that may be needed "
            "for itself");
}
