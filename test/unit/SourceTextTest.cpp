//===- SourceTextTest.cpp - Lines, comments and includes of a file --------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/rewrite/SourceText.h"
#include <gtest/gtest.h>

using namespace decontend;

namespace {

/// The span of the first \p Part in \p Text.
Span spanOf(llvm::StringRef Text, llvm::StringRef Part) {
  uint32_t At = Text.find(Part);
  return {At, uint32_t(At + Part.size())};
}

TEST(SourceText, TakesWholeLinesOnlyWhereNothingElseStands) {
  llvm::StringRef Text = "a;\n\twait(); /* why */\nif (x) stop();\n";
  SourceText T(Text);
  auto Lines = T.wholeLines(spanOf(Text, "wait();"));
  ASSERT_TRUE(Lines);
  EXPECT_EQ(T.slice(*Lines), "\twait(); /* why */\n");
  EXPECT_FALSE(T.wholeLines(spanOf(Text, "stop();")));
}

TEST(SourceText, FindsTheCommentDirectlyAbove) {
  llvm::StringRef Text =
      "/* far */\n\n/* near\n * by */\nf();\n// one\n// two\n"
      "g();\n\nh();\nx; /* beside */\nk();\n";
  SourceText T(Text);
  EXPECT_EQ(T.slice(T.commentAbove(Text.find("f();"))), "/* near\n * by */\n");
  EXPECT_EQ(T.slice(T.commentAbove(Text.find("g();"))), "// one\n// two\n");
  EXPECT_EQ(T.slice(T.commentAbove(Text.find("h();"))), "");
  EXPECT_EQ(T.slice(T.commentAbove(Text.find("k();"))), "");
}

TEST(SourceText, LeavesNoSpareBlankLine) {
  llvm::StringRef Text =
      "{\n\tw();\n\n\tf();\n\n\tw2();\n\n\tg();\n\n\tw3();\n}\n";
  SourceText T(Text);
  auto Deleted = [&](llvm::StringRef Part) {
    return T.slice(T.withSpareBlank(*T.wholeLines(spanOf(Text, Part)))).str();
  };
  EXPECT_EQ(Deleted("w();"), "\tw();\n\n");
  EXPECT_EQ(Deleted("w2();"), "\tw2();\n\n");
  EXPECT_EQ(Deleted("w3();"), "\n\tw3();\n");
  EXPECT_EQ(Deleted("g();"), "\tg();\n\n");
}

TEST(SourceText, PutsIncludesInSortedPlace) {
  llvm::StringRef Text = "#include <linux/list.h>\n#include <linux/slab.h>\n"
                         "#include <net/sock.h>\n#ifdef A\n"
                         "#include <linux/zlib.h>\n#endif\n";
  SourceText T(Text);
  EXPECT_EQ(T.includePlace("linux/rcupdate.h"), Text.find("#include <linux/s"));
  EXPECT_EQ(T.includePlace("linux/workqueue.h"), Text.find("#include <net"));
  EXPECT_EQ(T.includePlace("linux/a.h"), 0u);
  EXPECT_EQ(T.includePlace("asm/io.h"), Text.find("#ifdef"));
  EXPECT_EQ(T.includePlace("linux/slab.h"), std::nullopt);
  EXPECT_EQ(SourceText("int x;\n").includePlace("linux/a.h"), std::nullopt);
}

TEST(SourceText, MeasuresAndPadsLikeAnEditor) {
  EXPECT_EQ(visualWidth("\tint x"), 13u);
  EXPECT_EQ(visualWidth("ab\t"), 8u);
  EXPECT_EQ(padding(23, 32, true), "\t\t");
  EXPECT_EQ(padding(10, 14, false), "    ");
  EXPECT_EQ(padding(20, 16, true), " ");
}

TEST(SourceText, ReindentsLinesAndKeepsBlankOnesEmpty) {
  EXPECT_EQ(reindent("\t\ta;\n\n\t\t\tb;\n", "\t\t", "\t"), "\ta;\n\n\t\tb;\n");
}

} // namespace
