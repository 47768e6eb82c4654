//===- RewriteTest.cpp - Edits, sources and diffs -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "gtest/gtest.h"
#include <optional>
#include <random>

using namespace decontend;

namespace {

std::string apply(llvm::StringRef Contents, std::vector<Edit> Edits) {
  llvm::Expected<std::string> Result =
      applyEdits("f.c", Contents, std::move(Edits));
  return Result ? *Result : "error: " + llvm::toString(Result.takeError());
}

Edit edit(uint32_t Begin, uint32_t End, std::string Text) {
  return {"f.c", Begin, End, std::move(Text)};
}

TEST(ApplyEdits, AnyOrderGivesTheSame) {
  const Edit A = edit(0, 1, "A"), B = edit(2, 3, ""), C = edit(6, 6, "!");
  EXPECT_EQ(apply("abcdef", {A, B, C}), "Abdef!");
  EXPECT_EQ(apply("abcdef", {C, B, A}), "Abdef!");
  EXPECT_EQ(apply("abcdef", {}), "abcdef");
}

TEST(ApplyEdits, InsertionsKeepTheirOrder) {
  EXPECT_EQ(apply("ab", {edit(1, 1, "x"), edit(1, 1, "y")}), "axyb");
  EXPECT_EQ(apply("ab", {edit(1, 1, "y"), edit(1, 1, "x")}), "ayxb");
  // They stand before a replacement that starts there, after one that ends.
  EXPECT_EQ(apply("abc", {edit(1, 2, "B"), edit(1, 1, "x"), edit(2, 2, "y")}),
            "axByc");
}

TEST(ApplyEdits, EqualEditsAreMadeOnce) {
  EXPECT_EQ(apply("ab", {edit(0, 1, "A"), edit(0, 1, "A")}), "Ab");
  EXPECT_EQ(apply("ab", {edit(1, 1, "x"), edit(1, 1, "y"), edit(1, 1, "x")}),
            "axyb");
}

TEST(ApplyEdits, LeavesOutOtherFiles) {
  EXPECT_EQ(apply("ab", {edit(0, 1, "A"), {"g.c", 0, 9, "no"}}), "Ab");
}

TEST(ApplyEdits, OverlapNamesFileAndOffset) {
  EXPECT_EQ(apply("abcdef", {edit(0, 3, "x"), edit(2, 4, "y")}),
            "error: f.c: edit of bytes 2 to 4 overlaps one that ends at byte "
            "3");
  EXPECT_EQ(apply("abcdef", {edit(2, 2, "y"), edit(0, 3, "x")}),
            "error: f.c: edit of bytes 2 to 2 overlaps one that ends at byte "
            "3");
  // The same range with another text is no repetition.
  EXPECT_EQ(apply("abc", {edit(0, 2, "x"), edit(0, 2, "y")}),
            "error: f.c: edit of bytes 0 to 2 overlaps one that ends at byte "
            "2");
}

TEST(ApplyEdits, RangeOutsideTheFile) {
  EXPECT_EQ(apply("abc", {edit(3, 4, "")}),
            "error: f.c: edit of bytes 3 to 4 is outside the file of 3 bytes");
  EXPECT_EQ(apply("abc", {edit(2, 1, "")}),
            "error: f.c: edit of bytes 2 to 1 is outside the file of 3 bytes");
  EXPECT_EQ(apply("", {edit(0, 0, "x")}), "x");
}

TEST(Plan, FilesAndTiers) {
  Plan P;
  EXPECT_FALSE(P.available());
  P.Edits = {{"b.c", 0, 0, "x"}, {"a.h", 0, 0, "x"}, {"b.c", 1, 1, "x"}};
  EXPECT_TRUE(P.available());
  EXPECT_EQ(P.files(), (std::vector<std::string>{"a.h", "b.c"}));
  EXPECT_EQ(tierName(Tier::None), "none");
  EXPECT_EQ(tierName(Tier::Safe), "safe");
  EXPECT_EQ(tierName(Tier::Review), "review");
}

TEST(Sources, LinesOfAllKinds) {
  Sources S("/nowhere");
  S.set("f.c", "one\r\n\nthree");
  EXPECT_EQ(S.line("f.c", 0), "");
  EXPECT_EQ(S.line("f.c", 1), "one");
  EXPECT_EQ(S.line("f.c", 2), "");
  EXPECT_EQ(S.line("f.c", 3), "three");
  EXPECT_EQ(S.line("f.c", 4), "");
  S.set("f.c", "old\rmac\n\rend\r");
  EXPECT_EQ(S.line("f.c", 2), "mac");
  EXPECT_EQ(S.line("f.c", 3), "");
  EXPECT_EQ(S.line("f.c", 4), "end");
  S.set("f.c", "other\n");
  EXPECT_EQ(S.line("f.c", 1), "other");
  EXPECT_EQ(S.line("f.c", 2), "");
  EXPECT_EQ(S.line("missing.c", 1), "");
  EXPECT_EQ(S.get("missing.c"), nullptr);
}

TEST(Sources, PathsAndStablePointers) {
  Sources S("/src", "/out");
  EXPECT_EQ(S.absolute("a/b.c"), "/src/a/b.c");
  EXPECT_EQ(S.absolute("$build/gen.h"), "/out/gen.h");
  EXPECT_EQ(S.absolute("$builder/gen.h"), "/src/$builder/gen.h");
  EXPECT_EQ(S.absolute("/usr/include/x.h"), "/usr/include/x.h");
  S.set("f0.c", "text");
  const std::string *First = S.get("f0.c");
  for (int I = 1; I != 200; ++I)
    S.set("f" + std::to_string(I) + ".c", "text");
  EXPECT_EQ(S.get("f0.c"), First);
  S.set("f0.c", "new");
  EXPECT_EQ(S.get("f0.c"), First);
  EXPECT_EQ(*First, "new");
}

TEST(UnifiedDiff, Golden) {
  EXPECT_EQ(unifiedDiff("d/f.c", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/d/f.c\n+++ b/d/f.c\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n"
            " 6\n 7\n 8\n");
  EXPECT_EQ(unifiedDiff("f", "a\n", "a\n"), "");
  EXPECT_EQ(unifiedDiff("f", "", "a\n"),
            "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(unifiedDiff("f", "a\nb\n", ""),
            "--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n-b\n");
  EXPECT_EQ(unifiedDiff("f", "a", "a\n"),
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n"
            "+a\n");
  EXPECT_EQ(unifiedDiff("f", "a\nb", "c\nb"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at "
            "end of file\n");
}

TEST(UnifiedDiff, HunksMergeOnlyWhenContextsTouch) {
  std::string Before, Near, Far;
  for (int I = 0; I != 20; ++I) {
    std::string Line = std::to_string(I) + "\n";
    Before += Line;
    Near += I == 3 || I == 10 ? "x\n" : Line;
    Far += I == 3 || I == 11 ? "x\n" : Line;
  }
  EXPECT_EQ(llvm::StringRef(unifiedDiff("f", Before, Near)).count("@@ -"), 1u);
  EXPECT_EQ(llvm::StringRef(unifiedDiff("f", Before, Far)).count("@@ -"), 2u);
}

TEST(UnifiedDiff, AnAddedFunctionStartsWithItsFirstLine) {
  EXPECT_EQ(unifiedDiff("f", "a()\n{\n}\n\nc()\n{\n}\n",
                        "a()\n{\n}\n\nb()\n{\n}\n\nc()\n{\n}\n"),
            "--- a/f\n+++ b/f\n@@ -2,6 +2,10 @@\n {\n }\n \n+b()\n+{\n+}\n+\n"
            " c()\n {\n }\n");
}

TEST(UnifiedDiff, OddNames) {
  EXPECT_TRUE(llvm::StringRef(unifiedDiff("a b.c", "", "x\n"))
                  .starts_with("--- a/a b.c\t\n+++ b/a b.c\t\n"));
  EXPECT_TRUE(llvm::StringRef(unifiedDiff("q\"\t.c", "", "x\n"))
                  .starts_with("--- \"a/q\\\"\\011.c\"\n"));
}

/// Applies a diff by its letter: every context and every count must fit.
std::optional<std::string> applyDiff(llvm::StringRef Before,
                                     llvm::StringRef Diff) {
  auto Take = [](llvm::StringRef &Text) {
    size_t End = std::min(Text.find('\n'), Text.size() - 1) + 1;
    llvm::StringRef Line = Text.take_front(End);
    Text = Text.drop_front(End);
    return Line;
  };
  std::string After;
  if (Diff.empty())
    return Before.str();
  Take(Diff);
  Take(Diff);
  llvm::StringRef Rest = Before;
  size_t OldLine = 0, NewLine = 0;
  while (!Diff.empty()) {
    size_t Range[4] = {0, 1, 0, 1};
    llvm::StringRef Header = Take(Diff);
    if (!Header.consume_front("@@ "))
      return std::nullopt;
    for (int I : {0, 2}) {
      if (!Header.consume_front(I ? "+" : "-") ||
          Header.consumeInteger(10, Range[I]))
        return std::nullopt;
      if (Header.consume_front(",") && Header.consumeInteger(10, Range[I + 1]))
        return std::nullopt;
      Header.consume_front(" ");
      if (Range[I + 1] != 0)
        --Range[I];
    }
    for (; OldLine < Range[0]; ++OldLine, ++NewLine)
      After += Take(Rest);
    if (OldLine != Range[0] || NewLine != Range[2] || Header != "@@\n")
      return std::nullopt;
    while (Range[1] != 0 || Range[3] != 0) {
      llvm::StringRef Line = Take(Diff);
      const char Mark = Line.front();
      Line = Line.drop_front();
      if (Diff.starts_with("\\")) {
        Take(Diff);
        Line.consume_back("\n");
      }
      if (Mark != '+') {
        if (Rest.empty() || Take(Rest) != Line || Range[1]-- == 0)
          return std::nullopt;
        ++OldLine;
      }
      if (Mark != '-') {
        if (Range[3]-- == 0)
          return std::nullopt;
        After += Line;
        ++NewLine;
      }
    }
  }
  After += Rest;
  return After;
}

/// Few different lines make many matches, which is what strains a diff.
std::vector<std::string> randomLines(std::mt19937 &Random, size_t Most) {
  std::vector<std::string> Lines(Random() % (Most + 1));
  const unsigned Kinds = 2 + Random() % 6;
  for (std::string &L : Lines)
    L = std::string(1, 'a' + Random() % Kinds) + (Random() % 9 ? "\n" : "\r\n");
  if (!Lines.empty() && Random() % 3 == 0)
    Lines.back() = "end";
  return Lines;
}

size_t longestCommon(const std::vector<std::string> &A,
                     const std::vector<std::string> &B) {
  std::vector<size_t> Row(B.size() + 1, 0);
  for (const std::string &L : A) {
    size_t Diagonal = 0;
    for (size_t I = 0; I != B.size(); ++I) {
      size_t Above = Row[I + 1];
      Row[I + 1] = L == B[I] ? Diagonal + 1 : std::max(Above, Row[I]);
      Diagonal = Above;
    }
  }
  return Row.back();
}

TEST(UnifiedDiff, RandomRoundTripIsMinimal) {
  std::mt19937 Random(20240607);
  for (int Round = 0; Round != 3000; ++Round) {
    std::vector<std::string> A = randomLines(Random, 30), B;
    if (Round % 2 != 0) {
      B = randomLines(Random, 30);
    } else {
      B = A;
      for (int I = Random() % 4; I-- > 0;)
        B.insert(B.begin() + Random() % (B.size() + 1), "new\n");
      if (!B.empty())
        B.erase(B.begin() + Random() % B.size());
    }
    const std::string Before = llvm::join(A, ""), After = llvm::join(B, "");
    const std::string Diff = unifiedDiff("f", Before, After);
    std::optional<std::string> Got = applyDiff(Before, Diff);
    ASSERT_TRUE(Got && *Got == After) << Before << "----\n" << After << Diff;

    // An inner line "end" runs into the next one: not the lines we counted.
    auto Whole = [](std::vector<std::string> &L) {
      return L.empty() ||
             std::find(L.begin(), L.end() - 1, "end") == L.end() - 1;
    };
    if (!Whole(A) || !Whole(B) || Diff.empty())
      continue;
    size_t Changed = 0;
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(Diff).split(Lines, '\n');
    for (llvm::StringRef L : llvm::ArrayRef(Lines).drop_front(2))
      Changed += L.starts_with("+") || L.starts_with("-");
    EXPECT_EQ(Changed, A.size() + B.size() - 2 * longestCommon(A, B)) << Diff;
  }
}

TEST(UnifiedDiff, LargeFilesWithNothingInCommon) {
  std::string Before, After;
  for (int I = 0; I != 20000; ++I) {
    Before += "a" + std::to_string(I) + "\n";
    After += "b" + std::to_string(I) + "\n";
  }
  std::optional<std::string> Got =
      applyDiff(Before, unifiedDiff("f", Before, After));
  EXPECT_TRUE(Got && *Got == After);
}

TEST(PlanDiff, FilesInOrderAndErrors) {
  Sources S("/nowhere");
  S.set("b.c", "b\n");
  S.set("a.h", "a\n");
  Plan P;
  P.Edits = {{"b.c", 0, 1, "B"}, {"a.h", 0, 1, "A"}};
  llvm::Expected<std::string> Diff = planDiff(P, S);
  ASSERT_TRUE(bool(Diff));
  EXPECT_EQ(*Diff, "--- a/a.h\n+++ b/a.h\n@@ -1 +1 @@\n-a\n+A\n"
                   "--- a/b.c\n+++ b/b.c\n@@ -1 +1 @@\n-b\n+B\n");
  P.Edits.push_back({"gone.c", 0, 0, "x"});
  Diff = planDiff(P, S);
  ASSERT_FALSE(bool(Diff));
  EXPECT_EQ(llvm::toString(Diff.takeError()), "gone.c: cannot be read");
}

TEST(PlanDiff, PatchTakesIt) {
  llvm::ErrorOr<std::string> Patch = llvm::sys::findProgramByName("patch");
  if (!Patch)
    GTEST_SKIP() << "patch(1) is not installed";
  llvm::SmallString<128> Folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("decontend", Folder));
  auto Remove =
      llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(Folder); });
  ASSERT_FALSE(llvm::sys::fs::create_directory(Folder + "/sub"));
  auto Write = [&](llvm::StringRef Name, llvm::StringRef Text) {
    std::error_code Error;
    llvm::raw_fd_ostream OS((Folder + "/" + Name).str(), Error);
    OS << Text;
    return !Error;
  };

  struct {
    const char *Name, *Before;
    std::vector<Edit> Edits;
    const char *After;
  } const Cases[] = {
      {"sub/unix.c", "a\nb\nc\nd\ne\n", {{"", 4, 5, "C"}}, "a\nb\nC\nd\ne\n"},
      {"dos.c", "a\r\nb\r\nc\r\n", {{"", 3, 4, "B"}}, "a\r\nB\r\nc\r\n"},
      {"noeol.c", "a\nb", {{"", 0, 1, "A"}}, "A\nb"},
      {"gaineol.c", "a\nb", {{"", 3, 3, "\n"}}, "a\nb\n"},
      {"loseeol.c", "a\nb\n", {{"", 3, 4, ""}}, "a\nb"},
      {"empty.c", "", {{"", 0, 0, "int x;\n"}}, "int x;\n"},
      {"with blank.c", "a\n", {{"", 0, 1, "b"}}, "b\n"},
      {"tab\there.c", "a\n", {{"", 0, 1, "b"}}, "b\n"},
      {"quote\".c", "a\n", {{"", 0, 1, "b"}}, "b\n"},
  };
  Sources S(Folder.str().str());
  Plan P;
  for (const auto &C : Cases) {
    ASSERT_TRUE(Write(C.Name, C.Before));
    for (Edit E : C.Edits) {
      E.File = C.Name;
      P.Edits.push_back(E);
    }
  }
  llvm::Expected<std::string> Diff = planDiff(P, S);
  ASSERT_TRUE(bool(Diff)) << llvm::toString(Diff.takeError());
  ASSERT_TRUE(Write("all.diff", *Diff));

  const std::string Input = (Folder + "/all.diff").str();
  const std::string Output = (Folder + "/output").str();
  const std::optional<llvm::StringRef> Redirects[] = {
      llvm::StringRef(Input), llvm::StringRef(Output), llvm::StringRef(Output)};
  std::string Message;
  int Code = llvm::sys::ExecuteAndWait(
      *Patch, {*Patch, "-p1", "-F0", "-d", Folder}, std::nullopt, Redirects,
      /*SecondsToWait=*/60, /*MemoryLimit=*/0, &Message);
  auto Said = llvm::MemoryBuffer::getFile(Output);
  ASSERT_EQ(Code, 0) << Message << (Said ? (*Said)->getBuffer().str() : "")
                     << *Diff;
  for (const auto &C : Cases) {
    auto Now = llvm::MemoryBuffer::getFile(Folder + "/" + C.Name);
    ASSERT_TRUE(bool(Now)) << C.Name;
    EXPECT_EQ((*Now)->getBuffer(), C.After) << C.Name;
  }
}

} // namespace
