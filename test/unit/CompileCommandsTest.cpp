//===- CompileCommandsTest.cpp - Commands and paths -----------------------===//
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
using testing::Not;

namespace {

class CompileCommandsTest : public ExtractTest {};

//===--- Compile commands -----------------------------------------------===//

std::vector<std::string> normalised(std::vector<std::string> Arguments,
                                    std::string Directory = "/") {
  return normalisedArguments(
      {std::move(Directory), "/src/a.c", std::move(Arguments)});
}

TEST_F(CompileCommandsTest, OutputsWarningsAndGccsOwnAreDropped) {
  std::vector<std::string> A = normalised({"gcc",
                                           "-Iinc",
                                           "-D",
                                           "X=1",
                                           "-O2",
                                           "-g",
                                           "-Wall",
                                           "-Werror",
                                           "-c",
                                           "-o",
                                           "a.o",
                                           "-MD",
                                           "-MF",
                                           "a.d",
                                           "-Wp,-MMD,a.d,-DFROM_WP",
                                           "-fconserve-stack",
                                           "-fno-var-tracking-assignments",
                                           "-mrecord-mcount",
                                           "-pg",
                                           "-fplugin=x.so",
                                           "-std=gnu11",
                                           "a.c"});
  EXPECT_EQ(A[0], "clang");
  EXPECT_EQ(A.back(), "/src/a.c");
  EXPECT_THAT(A, Contains("inc"));
  EXPECT_THAT(A, Contains("-std=gnu11"));
  EXPECT_THAT(A, Contains("-DFROM_WP"));
  EXPECT_THAT(A, Contains("-fsyntax-only"));
  for (const char *Gone :
       {"-c", "-o", "a.o", "-MD", "-MF", "a.d", "-Wall", "-Werror", "-g",
        "-fconserve-stack", "-fno-var-tracking-assignments", "-mrecord-mcount",
        "-pg", "-fplugin=x.so", "a.c"})
    EXPECT_THAT(A, Not(Contains(Gone))) << Gone;
}

TEST_F(CompileCommandsTest, LaunchersAndCompilersByName) {
  EXPECT_EQ(normalised({"ccache", "g++-12", "-c", "a.cpp"})[0], "clang++");
  EXPECT_EQ(normalised({"distcc", "ccache", "cc", "-c", "a.c"})[0], "clang");
  EXPECT_EQ(normalised({"/usr/bin/aarch64-linux-gnu-gcc", "-c", "a.c"})[0],
            "clang");
}

TEST_F(CompileCommandsTest, TheRootIsTheCommonFolder) {
  auto Root = [](std::vector<std::string> Files) {
    std::vector<CompileCommand> C;
    for (std::string &F : Files)
      C.push_back({"/", F, {"cc"}});
    return guessRoot(C, "/p/build");
  };
  EXPECT_EQ(Root({"/p/src/a.c", "/p/src/b.c"}), "/p/src");
  EXPECT_EQ(Root({"/p/src/a/x.c", "/p/src/ab/y.c"}), "/p/src");
  EXPECT_EQ(Root({"/p/src/a.c", "/p/build/made.c"}), "/p/src")
      << "what the build makes does not count";
  EXPECT_EQ(Root({"/p/build/made.c"}), "/p/build");
  EXPECT_EQ(Root({"/p/a.c", "/q/b.c"}), "/");
}

TEST_F(CompileCommandsTest, TheRootIsTheGitFolderAbove) {
  llvm::sys::fs::create_directories(Root + "/.git");
  llvm::sys::fs::create_directories(Root + "/deep/er");
  std::vector<CompileCommand> C = {{"/", Root + "/deep/er/a.c", {"cc"}}};
  EXPECT_EQ(guessRoot(C, Root + "/build"), Root);
}

TEST_F(CompileCommandsTest, ResponseFilesAreRelativeToTheirFolder) {
  write("sub/flags", "-DFROM_FILE \"-I has space\"");
  std::vector<std::string> A =
      normalised({"cc", "@flags", "-c", "a.c"}, Root + "/sub");
  EXPECT_THAT(A, Contains("FROM_FILE"));
  EXPECT_THAT(A, Contains(" has space"));
}

TEST(UnitPaths, PureAndBack) {
  UnitPaths P("/p", "/p/out/x");
  EXPECT_EQ(P.pure("a.c", "/p/src"), "src/a.c");
  EXPECT_EQ(P.pure("../inc/./b.h", "/p/src"), "inc/b.h");
  EXPECT_EQ(P.pure("/usr/include/c.h", "/p"), "/usr/include/c.h");
  EXPECT_EQ(P.pure("/pq/d.c", "/"), "/pq/d.c");
  EXPECT_EQ(P.absolute("src/a.c"), "/p/src/a.c");
  EXPECT_EQ(P.absolute("/usr/include/c.h"), "/usr/include/c.h");
  UnitPaths Beside("/p", "/b");
  EXPECT_EQ(Beside.pure("/b/gen.h", "/"), "$build/gen.h");
  EXPECT_EQ(Beside.absolute("$build/gen.h"), "/b/gen.h");
}

} // namespace
