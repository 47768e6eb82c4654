//===- SuppressionTest.cpp - NOLINT comments ------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is expected here is what clang-tidy 19 does with the same text.
//
//===----------------------------------------------------------------------===//
#include "analysis/report/Report.h"
#include "gtest/gtest.h"

using namespace decontend;

namespace {

bool suppressed(llvm::StringRef Text, uint32_t Line, uint32_t Column = 0) {
  Sources Files("/nowhere");
  Files.set("f.c", Text.str());
  return isSuppressed(Files, "f.c", Line, "sync-rcu-wait", Column);
}

TEST(Suppression, OnTheLine) {
  EXPECT_FALSE(suppressed("wait();\n", 1));
  EXPECT_TRUE(suppressed("wait(); // NOLINT\n", 1));
  EXPECT_TRUE(suppressed("wait(); // NOLINT: why\r\n", 1));
  EXPECT_TRUE(suppressed("wait(); /* NOLINT */ after();", 1));
  EXPECT_TRUE(suppressed("/* one\n NOLINT */ wait();\n", 2));
  EXPECT_FALSE(suppressed("/* NOLINT\n */ wait();\n", 2));
  EXPECT_FALSE(suppressed("wait(); // NOLINTED\n", 1));
  EXPECT_FALSE(suppressed("wait(); // nolint\n", 1));
  EXPECT_FALSE(suppressed("wait(); // NOLINT\n", 2));
  EXPECT_FALSE(suppressed("wait(); // NOLINT\n", 9));
  EXPECT_FALSE(suppressed("wait(); // NOLINT\n", 0));
}

TEST(Suppression, Lists) {
  auto On = [](const char *List) {
    return suppressed("wait(); // NOLINT" + std::string(List) + "\n", 1);
  };
  EXPECT_TRUE(On("(contention-sync-rcu-wait)"));
  EXPECT_TRUE(On("( bugprone-x ,\tcontention-sync-rcu-wait ) why"));
  EXPECT_TRUE(On("(contention-*)"));
  EXPECT_TRUE(On("(*-rcu-*)"));
  EXPECT_TRUE(On("(*)"));
  EXPECT_TRUE(On("(c*t*-*wait)"));
  EXPECT_FALSE(On("(c*wait*wait)"));
  EXPECT_FALSE(On("(sync-rcu-wait)"));
  EXPECT_FALSE(On("(contention-sync-rcu-wai)"));
  EXPECT_FALSE(On("(contention.sync-rcu-wait)"));
  EXPECT_FALSE(On("(bugprone-*)"));
  EXPECT_FALSE(On("()"));
  EXPECT_FALSE(On("(-bugprone-*)"));
  EXPECT_FALSE(On("(-contention-sync-rcu-wait)"));
  // An item with a minus is dropped, it takes nothing back.
  EXPECT_TRUE(On("(contention-*, -contention-sync-rcu-wait)"));
  // A blank before the bracket, or no closing one: no list.
  EXPECT_TRUE(On(" (bugprone-x)"));
  EXPECT_TRUE(On("(bugprone-x"));
  EXPECT_TRUE(On("(bugprone-x) NOLINT"));
}

TEST(Suppression, NextLine) {
  EXPECT_TRUE(suppressed("// NOLINTNEXTLINE\nwait();\n", 2));
  EXPECT_TRUE(suppressed("/* NOLINTNEXTLINE(contention-*) */\nwait();\n", 2));
  EXPECT_FALSE(suppressed("// NOLINTNEXTLINE(bugprone-*)\nwait();\n", 2));
  EXPECT_FALSE(suppressed("// NOLINTNEXTLINE\n\nwait();\n", 3));
  EXPECT_FALSE(suppressed("wait(); // NOLINTNEXTLINE\n", 1));
  EXPECT_FALSE(suppressed("// NOLINT\nwait();\n", 2));
}

TEST(Suppression, Blocks) {
  EXPECT_TRUE(suppressed("// NOLINTBEGIN\nwait();\n// NOLINTEND\n", 2));
  EXPECT_FALSE(suppressed("// NOLINTBEGIN\n// NOLINTEND\nwait();\n", 3));
  EXPECT_FALSE(suppressed("wait();\n// NOLINTBEGIN\n// NOLINTEND\n", 1));
  // Never closed, never opened.
  EXPECT_FALSE(suppressed("// NOLINTBEGIN\nwait();\n", 2));
  EXPECT_FALSE(suppressed("wait();\n// NOLINTEND\n", 1));
  // The lists must be the same text, blanks aside.
  EXPECT_TRUE(suppressed("// NOLINTBEGIN(contention-*)\nwait();\n"
                         "// NOLINTEND( contention-* )\n",
                         2));
  EXPECT_FALSE(suppressed("// NOLINTBEGIN(contention-*)\nwait();\n"
                          "// NOLINTEND\n",
                          2));
  EXPECT_FALSE(suppressed("// NOLINTBEGIN\nwait();\n// NOLINTEND(*)\n", 2));
  EXPECT_FALSE(suppressed("// NOLINTBEGIN(bugprone-*)\nwait();\n"
                          "// NOLINTEND(bugprone-*)\n",
                          2));
}

TEST(Suppression, NestedBlocks) {
  const char *Nested = "/* NOLINTBEGIN(contention-*)\n"
                       "   NOLINTBEGIN(bugprone-*) */\n"
                       "wait();\n"
                       "/* NOLINTEND(bugprone-*) */\n"
                       "wait();\n"
                       "/* NOLINTEND(contention-*) */\n"
                       "wait();\n";
  EXPECT_TRUE(suppressed(Nested, 3));
  EXPECT_TRUE(suppressed(Nested, 5));
  EXPECT_FALSE(suppressed(Nested, 7));
  // Crossed: the inner block stays open, so the outer END closes nothing.
  const char *Crossed = "// NOLINTBEGIN(contention-*)\n"
                        "// NOLINTBEGIN(bugprone-*)\n"
                        "wait();\n"
                        "// NOLINTEND(contention-*)\n"
                        "wait();\n"
                        "// NOLINTEND(bugprone-*)\n";
  EXPECT_FALSE(suppressed(Crossed, 3));
  EXPECT_FALSE(suppressed(Crossed, 5));
}

TEST(Suppression, BlockWithinTheLine) {
  const char *Line = "a(); /* NOLINTBEGIN */ b(); /* NOLINTEND */ c();\n";
  EXPECT_FALSE(suppressed(Line, 1, 1));
  EXPECT_TRUE(suppressed(Line, 1, 24));
  EXPECT_FALSE(suppressed(Line, 1, 45));
}

TEST(Suppression, DropCounts) {
  Sources Files("/nowhere");
  Files.set("net/port.c", "wait();\nwait(); // NOLINT\nwait();\n");
  std::vector<Finding> All(3);
  for (uint32_t I = 0; I != 3; ++I) {
    All[I].Rule = "sync-rcu-wait";
    All[I].File = "net/port.c";
    All[I].Line = I + 1;
  }
  EXPECT_EQ(dropSuppressed(All, Files), 1u);
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[1].Line, 3u);
  Sources None("/nowhere");
  EXPECT_EQ(dropSuppressed(All, None), 0u);
}

} // namespace
