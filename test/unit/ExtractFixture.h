//===- ExtractFixture.h - Parse small texts ---------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   text --> file in a folder of its own --> [extractUnit] --> Facts
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TEST_UNIT_EXTRACTFIXTURE_H
#define DECONTEND_TEST_UNIT_EXTRACTFIXTURE_H

#include "analysis/extract/Extract.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace decontend {

class ExtractTest : public testing::Test {
protected:
  ExtractTest() : Known(llvm::cantFail(loadModels())) {
    llvm::SmallString<128> Dir;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("extract-test", Dir));
    llvm::SmallString<128> Real;
    EXPECT_FALSE(llvm::sys::fs::real_path(Dir, Real));
    Root = std::string(Real);
  }
  ~ExtractTest() override { llvm::sys::fs::remove_directories(Root); }

  void write(llvm::StringRef Name, llvm::StringRef Text) {
    std::string Path = Root + "/" + Name.str();
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path));
    std::error_code EC;
    llvm::raw_fd_ostream OS(Path, EC);
    ASSERT_FALSE(EC) << Path;
    OS << Text;
  }

  ExtractResult extract(llvm::StringRef Name, llvm::StringRef Text,
                        std::vector<std::string> Flags = {},
                        const KnownBodies *Skip = nullptr) {
    write(Name, Text);
    Source = Text.str();
    UnitPaths Paths(Root, Root + "/build");
    ExtractOptions O;
    O.Knowledge = &Known;
    O.Paths = &Paths;
    O.Known = Skip;
    CompileCommand C{Root, Root + "/" + Name.str(), {"cc"}};
    C.Arguments.insert(C.Arguments.end(), Flags.begin(), Flags.end());
    C.Arguments.push_back("-c");
    C.Arguments.push_back(Name.str());
    return extractUnit(C, O);
  }

  /// Facts of `a.c`; fails the test if it does not parse.
  void facts(llvm::StringRef Text, llvm::StringRef Name = "a.c") {
    ExtractResult R = extract(Name, Text);
    ASSERT_TRUE(R.Ok) << R.Reason;
    Facts = std::move(R.Facts);
  }

  llvm::StringRef str(Sym S) const { return Facts.str(S); }
  llvm::StringRef text(Span S) const {
    return llvm::StringRef(Source).slice(S.Begin, S.End);
  }
  const FunctionFacts &function(llvm::StringRef Name) const {
    for (const FunctionFacts &F : Facts.Functions)
      if (str(F.Name) == Name)
        return F;
    static const FunctionFacts None;
    ADD_FAILURE() << "no function " << Name.str();
    return None;
  }
  /// The first call of \p Callee in the first function.
  const Event &call(llvm::StringRef Callee) const {
    for (const FunctionFacts &F : Facts.Functions)
      for (const Event &E : F.Events)
        if (E.Kind == EventKind::Call && str(E.Callee) == Callee)
          return E;
    static const Event None;
    ADD_FAILURE() << "no call of " << Callee.str();
    return None;
  }
  std::vector<std::string> calls(llvm::StringRef Function) const {
    std::vector<std::string> Out;
    for (const Event &E : function(Function).Events)
      if (E.Kind == EventKind::Call)
        Out.push_back(str(E.Callee).str());
    return Out;
  }
  std::vector<EventKind> kinds(llvm::StringRef Function) const {
    std::vector<EventKind> Out;
    for (const Event &E : function(Function).Events)
      Out.push_back(E.Kind);
    return Out;
  }

  Models Known;
  std::string Root, Source;
  UnitFacts Facts;
};

} // namespace decontend

#endif
