//===- HeldLocksTest.cpp - Global locks that are held on entry ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/HeldLocks.h"
#include "ProgramMaker.h"
#include "gtest/gtest.h"

using namespace decontend;

namespace {

class HeldLocksTest : public testing::Test {
protected:
  HeldLocksTest() : Known(llvm::cantFail(loadModels())), M(Known) {
    M.unit("a.c");
  }
  /// Is RTNL held where \p Function calls \p Callee for the first time?
  bool held(llvm::StringRef Function, llvm::StringRef Callee = "here") {
    if (!Locks) {
      M.link();
      Locks.emplace(M.P, "rtnl");
    }
    NodeId N = M.id(Function);
    const FunctionFacts &F = *M.P.node(N).Facts;
    for (uint32_t I = 0; I < F.Events.size(); ++I)
      if (F.Events[I].Kind == EventKind::Call &&
          M.P.str(F.Events[I].Callee) == Callee)
        return Locks->heldAt(N, I);
    ADD_FAILURE() << Function.str() << " does not call " << Callee.str();
    return false;
  }

  Models Known;
  ProgramMaker M;
  std::optional<HeldLocks> Locks;
};

TEST_F(HeldLocksTest, WhereTheFunctionTakesIt) {
  M.function("f")
      .call("early")
      .call("rtnl_lock")
      .call("here")
      .call("rtnl_unlock")
      .call("late");
  EXPECT_FALSE(held("f", "early"));
  EXPECT_TRUE(held("f"));
  EXPECT_FALSE(held("f", "late"));
}

TEST_F(HeldLocksTest, WhereTheFunctionAssertsIt) {
  auto B = M.function("f");
  B.add(EventKind::Call, "rtnl_is_locked").Macro =
      M.P.names().intern("ASSERT_RTNL");
  B.call("here");
  EXPECT_TRUE(held("f"));
}

TEST_F(HeldLocksTest, WhereAllCallersHoldIt) {
  M.function("below").call("here");
  M.function("between").call("below");
  M.function("first").call("rtnl_lock").call("between").call("rtnl_unlock");
  M.function("second").call("rtnl_lock").call("below").call("rtnl_unlock");
  EXPECT_TRUE(held("below"));
}

TEST_F(HeldLocksTest, NotWhereOneCallerDoesNot) {
  M.function("below").call("here");
  M.function("first").call("rtnl_lock").call("below").call("rtnl_unlock");
  M.function("second").call("below");
  EXPECT_FALSE(held("below"));
}

TEST_F(HeldLocksTest, NotWhereACallerHasGivenItBack) {
  M.function("below").call("here");
  M.function("between").call("rtnl_unlock").call("below").call("rtnl_lock");
  M.function("top").call("rtnl_lock").call("between").call("rtnl_unlock");
  EXPECT_FALSE(held("below"));
}

TEST_F(HeldLocksTest, WhereTheSlotSaysSo) {
  M.function("below").call("here");
  M.function("dellink").call("below");
  M.slot("struct rtnl_link_ops.dellink", "dellink");
  EXPECT_TRUE(held("below"));
  EXPECT_TRUE(held("dellink", "below"));
}

TEST_F(HeldLocksTest, NotWhereAnotherSlotDoesNot) {
  M.function("both").call("here");
  M.slot("struct rtnl_link_ops.dellink", "both");
  M.slot("struct file_operations.release", "both");
  EXPECT_FALSE(held("both"));
}

TEST_F(HeldLocksTest, NotWhereNobodyIsSeenToCall) {
  M.function("alone").call("here");
  EXPECT_FALSE(held("alone"));
}

// A cycle gives no evidence of its own, for or against.
TEST_F(HeldLocksTest, CyclesDependOnWhoEntersThem) {
  M.function("a").call("b").call("here");
  M.function("b").call("a");
  M.function("top").call("rtnl_lock").call("a").call("rtnl_unlock");
  M.function("c").call("d").call("here");
  M.function("d").call("c");
  M.function("loose").call("c");
  EXPECT_TRUE(held("a"));
  EXPECT_FALSE(held("c"));
}

} // namespace
