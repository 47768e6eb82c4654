//===- RecordPlanTest.cpp - Parts of the plan for a member ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ProgramMaker.h"
#include "checks/hot-atomic-counter/Conversion.h"
#include "checks/hot-atomic-counter/Presence.h"
#include "checks/hot-atomic-counter/Stability.h"
#include "gtest/gtest.h"

using namespace decontend;

namespace {

TEST(FillIn, PutsTextIntoPlacesAndLeavesOtherBraces) {
  EXPECT_EQ(fillIn("add({c}, {n})", {{"c", "&p->hits"}, {"n", "1"}}),
            "add(&p->hits, 1)");
  EXPECT_EQ(fillIn("{o} += {n}", {{"o", "p->hits"}, {"n", "{n}"}}),
            "p->hits += {n}");
  EXPECT_EQ(fillIn("do { f({c}); } while (0)", {{"c", "x"}}),
            "do { f(x); } while (0)");
  EXPECT_EQ(fillIn("f({b})", {{"c", "x"}}), "f({b})");
  EXPECT_EQ(fillIn("", {}), "");
}

TEST(Stability, SeesWritesAndAddressesOnly) {
  EXPECT_TRUE(changesIn("n = 1;", "n"));
  EXPECT_TRUE(changesIn("n += 1;", "n"));
  EXPECT_TRUE(changesIn("n <<= 1;", "n"));
  EXPECT_TRUE(changesIn("++n;", "n"));
  EXPECT_TRUE(changesIn("n--;", "n"));
  EXPECT_TRUE(changesIn("f(&n);", "n"));
  EXPECT_FALSE(changesIn("if (n == 1 || n <= 2) f(n);", "n"));
  EXPECT_FALSE(changesIn("if (a && n) f(n);", "n"));
  EXPECT_FALSE(changesIn("p->n = 1; n->m = 2; n[0] = 3; f(&n->m);", "n"));
  EXPECT_FALSE(changesIn("nn = 1;", "n"));
}

TEST(Stability, ConditionsOfVariablesAndConstants) {
  llvm::Expected<Models> M = loadModelsFromText({});
  ASSERT_TRUE(bool(M));
  ProgramMaker Maker(*M);
  Maker.unit("a.c");
  GlobalFacts &G = Maker.current().Globals.emplace_back();
  G.Key = G.Name = Maker.P.names().intern("level");
  const Program &P = Maker.link();
  EXPECT_EQ(mayChange(P, "cmd == MSG_INFO", "x = 1;"), "");
  EXPECT_EQ(mayChange(P, "!all && n > 3", "f(n);"), "");
  EXPECT_NE(mayChange(P, "cmd == MSG_INFO", "cmd = 1;"), "");
  EXPECT_NE(mayChange(P, "p->flag", ""), "");
  EXPECT_NE(mayChange(P, "test(n)", ""), "");
  EXPECT_NE(mayChange(P, "n = m", ""), "");
  EXPECT_NE(mayChange(P, "n++", ""), "");
  EXPECT_NE(mayChange(P, "level > 1", ""), "");
}

class PresenceTest : public testing::Test {
protected:
  PresenceTest() : M(loadModelsFromText({})), Maker(*M) { Maker.unit("a.c"); }
  bool there(uint32_t Until) {
    const Program &P = Maker.link();
    return isThere(P, Maker.id("f"), P.find("p"), Until);
  }
  llvm::Expected<Models> M;
  ProgramMaker Maker;
};

TEST_F(PresenceTest, NothingIsKnownOfAParameter) {
  BodyMaker F = Maker.function("f");
  F.param("p").call("free").arg(RootKind::Param, "p");
  EXPECT_FALSE(there(F.last()));
}

TEST_F(PresenceTest, LookedInto) {
  BodyMaker F = Maker.function("f");
  F.param("p").call("g").arg(RootKind::Param, "p", "p->n", "struct s.n");
  F.call("free").arg(RootKind::Param, "p");
  EXPECT_TRUE(there(F.last()));
}

TEST_F(PresenceTest, LookedIntoUnderAConditionOnly) {
  BodyMaker F = Maker.function("f");
  F.param("p").open(EventKind::Branch);
  F.call("g").arg(RootKind::Param, "p", "p->n", "struct s.n");
  F.end().call("free").arg(RootKind::Param, "p");
  EXPECT_FALSE(there(F.last()));
}

TEST_F(PresenceTest, JumpedOver) {
  BodyMaker F = Maker.function("f");
  F.param("p").call("g").arg(RootKind::Param, "p", "p->n", "struct s.n");
  F.label("out").call("free").arg(RootKind::Param, "p");
  EXPECT_FALSE(there(F.last()));
}

TEST_F(PresenceTest, LeftBeforeIfAbsent) {
  BodyMaker F = Maker.function("f");
  F.param("p").open(EventKind::Branch, Event::NullTest | Event::Negated);
  F.arg(RootKind::Param, "p").ret().end();
  F.call("free").arg(RootKind::Param, "p");
  EXPECT_TRUE(there(F.last()));
}

TEST_F(PresenceTest, LookedIntoByACallee) {
  Maker.function("g").param("q").call("h").arg(RootKind::Param, "q", "q->n",
                                               "struct s.n");
  BodyMaker F = Maker.function("f");
  F.param("p").call("g").arg(RootKind::Param, "p");
  F.call("free").arg(RootKind::Param, "p");
  EXPECT_TRUE(there(F.last()));
}

} // namespace
