//===- QualifiedModelsTest.cpp - Models of C++ functions ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMaker.h"
#include <gtest/gtest.h>

using namespace decontend;

namespace {

class QualifiedModelsTest : public testing::Test {
protected:
  QualifiedModelsTest() {
    llvm::Expected<Models> Loaded = loadModels();
    if (Loaded)
      M = std::move(*Loaded);
    else
      ADD_FAILURE() << llvm::toString(Loaded.takeError());
  }

  /// Operation of a call of \p Key, as seen from its caller.
  std::optional<AtomicModel::OpKind> operation(llvm::StringRef Key) {
    ProgramMaker Maker(M);
    Maker.unit("a.cpp");
    Maker.function("f").call(Key);
    const Program &P = Maker.link();
    const FunctionModel *Model =
        P.modelOf(Maker.node("f").Facts->Events.front());
    if (!Model || !Model->Atomic)
      return std::nullopt;
    return Model->Atomic->Op;
  }

  Models M;
};

// Keys are those that the extractor gives for libstdc++ and libc++.
TEST_F(QualifiedModelsTest, KnowStdAtomic) {
  EXPECT_EQ(operation("c:@N@std@ST>1#T@__atomic_base@F@operator++#I#"),
            AtomicModel::Inc);
  EXPECT_EQ(operation("c:@N@std@ST>1#T@__atomic_base@F@fetch_sub#t0.0#"
                      "$@N@std@E@memory_order#"),
            AtomicModel::Sub);
  EXPECT_EQ(operation("c:@N@std@ST>1#T@__atomic_base@F@"
                      "operator type-parameter-0-0#1"),
            AtomicModel::Read);
  EXPECT_EQ(operation("c:@N@std@S@atomic>#b@F@operator=#b#"), AtomicModel::Set);
  EXPECT_EQ(operation("c:@N@std@SP>1#T@atomic>#*t0.0@F@operator++#I#"),
            AtomicModel::Inc);
  EXPECT_EQ(operation("c:@N@std@N@__1@S@__atomic_base>#l#Vb1@F@operator+=#l#"),
            AtomicModel::Add);
  EXPECT_EQ(operation("c:@N@std@FT@>1#Tatomic_fetch_add#*>@N@std@ST>1#T@atomic"
                      "1t0.0#"),
            AtomicModel::Add);
}

TEST_F(QualifiedModelsTest, AreNotThoseOfOtherClasses) {
  EXPECT_EQ(operation("c:@S@Plugin@F@load#"), std::nullopt);
  EXPECT_EQ(operation("c:@N@mine@ST>1#T@atomic@F@fetch_add#t0.0#"),
            std::nullopt);
  EXPECT_EQ(operation("c:@N@std@ST>1#T@vector@F@operator=#&1>@N@std#"),
            std::nullopt);
}

/// A function without a qualified model keeps that of its plain name.
TEST_F(QualifiedModelsTest, PlainNamesStillCount) {
  ProgramMaker Maker(M);
  Maker.unit("a.cpp");
  Maker.function("f").call("free");
  const Program &P = Maker.link();
  const FunctionModel *Model = P.modelOf(Maker.node("f").Facts->Events.front());
  ASSERT_TRUE(Model);
  EXPECT_EQ(Model->Frees, 0);
}

} // namespace
