//===- WaitsTest.cpp - Which calls end up waiting -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMaker.h"
#include "gtest/gtest.h"

using namespace decontend;

namespace {

class WaitsTest : public testing::Test {
protected:
  WaitsTest() : Known(llvm::cantFail(loadModels())), M(Known) {}

  Models Known;
  ProgramMaker M;
};

TEST_F(WaitsTest, FewestConditionsThenShortest) {
  M.unit("a.c");
  M.function("direct")
      .open(EventKind::Branch)
      .call("synchronize_rcu")
      .end()
      .call("long_way");
  M.function("long_way").call("longer_way");
  M.function("longer_way").call("synchronize_rcu");
  M.function("two").call("long_way").call("longer_way");
  M.link();
  const WaitSummary &W = M.node("direct").Wait;
  EXPECT_EQ(W.Distance, 3u) << "the way that is always taken";
  EXPECT_EQ(W.Conditions, 0u);
  EXPECT_EQ(M.node("two").Wait.Distance, 2u);
  std::vector<uint32_t> Path = M.P.waitPath(M.id("direct"));
  ASSERT_EQ(Path.size(), 3u);
  EXPECT_EQ(M.P.edges()[Path[0]].Callee, M.id("long_way"));
  EXPECT_EQ(M.P.edges()[Path[2]].Callee, M.id("synchronize_rcu"));
  EXPECT_EQ(M.node("synchronize_rcu").Wait.Distance, 0u);
}

TEST_F(WaitsTest, ConditionsAddUp) {
  M.unit("a.c");
  M.function("f").open(EventKind::Branch).call("g").end();
  M.function("g").open(EventKind::Switch).call("synchronize_rcu").end();
  M.function("guarded")
      .open(EventKind::Branch, Event::NullTest)
      .call("synchronize_rcu")
      .end();
  M.link();
  EXPECT_EQ(M.node("f").Wait.Conditions, 2u);
  EXPECT_EQ(M.node("guarded").Wait.Conditions, 0u);
}

TEST_F(WaitsTest, GuardsAddUpAndComeSecond) {
  M.unit("a.c");
  M.function("optional")
      .open(EventKind::Branch, Event::NullTest)
      .arg(RootKind::Local, "p")
      .call("synchronize_rcu")
      .end();
  M.function("twice")
      .open(EventKind::Branch, Event::NullTest)
      .arg(RootKind::Local, "p")
      .call("optional")
      .end();
  M.function("long_way").call("longer_way");
  M.function("longer_way").call("synchronize_rcu");
  M.function("both").call("optional").call("long_way");
  M.link();
  EXPECT_EQ(M.node("twice").Wait.Guards, 2u);
  EXPECT_EQ(M.node("twice").Wait.Conditions, 0u);
  EXPECT_EQ(M.node("both").Wait.Guards, 0u) << "the way that is always taken";
  EXPECT_EQ(M.node("both").Wait.Distance, 3u);
}

TEST_F(WaitsTest, OnlyFullWaitsAndBarriersAreFollowed) {
  M.unit("a.c");
  M.function("full").call("synchronize_srcu");
  M.function("barrier").call("rcu_barrier");
  M.function("expedited").call("synchronize_rcu_expedited");
  M.function("adaptive").call("synchronize_net");
  M.function("failing")
      .open(EventKind::Branch, Event::ErrorTest)
      .call("synchronize_rcu")
      .end();
  M.link();
  EXPECT_TRUE(M.node("full").Wait.waits());
  EXPECT_EQ(M.node("barrier").Wait.Cost, WaitModel::Barrier);
  EXPECT_FALSE(M.node("expedited").Wait.waits());
  EXPECT_FALSE(M.node("adaptive").Wait.waits());
  EXPECT_FALSE(M.node("failing").Wait.waits());
}

TEST_F(WaitsTest, CyclesEnd) {
  M.unit("a.c");
  M.function("a").call("b");
  M.function("b").call("a").call("c");
  M.function("c").call("c").call("synchronize_rcu");
  M.slot("struct file_operations.release", "a");
  M.link();
  EXPECT_EQ(M.node("a").Wait.Distance, 3u);
  EXPECT_EQ(M.node("c").Contexts, CtxTeardown);
  EXPECT_EQ(M.P.waitPath(M.id("a")).size(), 3u);
}

} // namespace
