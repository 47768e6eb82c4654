//===- FlowTest.cpp - Where an event stands in its function ---------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/Flow.h"
#include "ProgramMaker.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace decontend;
using testing::ElementsAre;

namespace {

class FlowTest : public testing::Test {
protected:
  FlowTest() : Known(llvm::cantFail(loadModels())), M(Known) { M.unit("a.c"); }
  BodyMaker body() { return M.function("f"); }
  Flow flow() {
    M.link();
    return Flow(M.P, *M.node("f").Facts);
  }
  /// First event that calls \p Name.
  uint32_t at(llvm::StringRef Name) {
    const FunctionFacts &F = *M.node("f").Facts;
    for (uint32_t I = 0; I < F.Events.size(); ++I)
      if (F.Events[I].Kind == EventKind::Call &&
          M.P.str(F.Events[I].Callee) == Name)
        return I;
    return ~0u;
  }
  std::vector<std::string> following(const Flow &F, uint32_t I) {
    std::vector<std::string> Out;
    for (uint32_t J : F.following(I))
      if (F.facts().Events[J].Kind == EventKind::Call)
        Out.push_back(M.P.str(F.facts().Events[J].Callee).str());
    return Out;
  }

  Models Known;
  ProgramMaker M;
};

//===--- following --------------------------------------------------------===//

TEST_F(FlowTest, FollowingLeavesBlocksAndSkipsTheElse) {
  body()
      .call("before")
      .open(EventKind::Branch)
      .call("here")
      .call("in_block")
      .end()
      .open(EventKind::Else)
      .call("otherwise")
      .end()
      .call("after")
      .ret()
      .call("never");
  Flow F = flow();
  EXPECT_THAT(following(F, at("here")), ElementsAre("in_block", "after"));
  EXPECT_THAT(following(F, at("before")),
              ElementsAre("here", "in_block", "otherwise", "after"));
}

TEST_F(FlowTest, FollowingStaysInTheLoop) {
  body()
      .open(EventKind::Loop, Event::OwnBody)
      .call("first")
      .open(EventKind::Branch)
      .call("here")
      .end()
      .call("last")
      .end()
      .call("after");
  Flow F = flow();
  EXPECT_THAT(following(F, at("here")), ElementsAre("last"));
}

TEST_F(FlowTest, FollowingEndsAtJumps) {
  body()
      .open(EventKind::Branch)
      .call("here")
      .jump("out")
      .end()
      .call("not_this")
      .label("out")
      .call("nor_this");
  Flow F = flow();
  EXPECT_THAT(following(F, at("here")), ElementsAre());
}

TEST_F(FlowTest, AReturnInAnInnerBlockDoesNotEnd) {
  body().call("here").open(EventKind::Branch).ret().end().call("after");
  Flow F = flow();
  EXPECT_THAT(following(F, at("here")), ElementsAre("after"));
}

//===--- Loops and conditions -------------------------------------------===//

TEST_F(FlowTest, ElementLoops) {
  body()
      .open(EventKind::Loop, Event::OwnBody)
      .call("in_loop")
      .open(EventKind::Loop)
      .call("in_macro_loop")
      .end()
      .end()
      .open(EventKind::Loop, Event::OwnBody | Event::Endless)
      .call("in_endless")
      .end()
      .open(EventKind::Loop, Event::OwnBody)
      .open(EventKind::Lambda)
      .call("in_lambda")
      .end()
      .end()
      .call("outside");
  Flow F = flow();
  EXPECT_EQ(F.elementLoop(at("in_loop")), 0);
  EXPECT_EQ(F.elementLoop(at("in_macro_loop")), 0);
  EXPECT_EQ(F.elementLoop(at("in_endless")), -1);
  EXPECT_EQ(F.elementLoop(at("in_lambda")), -1);
  EXPECT_EQ(F.elementLoop(at("outside")), -1);
  EXPECT_EQ(F.conditions(at("in_loop")), 0u);
  EXPECT_EQ(F.conditions(at("in_endless")), 1u);
}

TEST_F(FlowTest, ConditionsAreCountedButNotGuardsAgainstNull) {
  body()
      .open(EventKind::Branch, Event::NullTest)
      .call("guarded")
      .open(EventKind::Branch)
      .call("one")
      .open(EventKind::Branch, Event::ErrorTest | Event::Negated)
      .call("still_one")
      .end()
      .end()
      .open(EventKind::Else)
      .call("other")
      .end()
      .end()
      .open(EventKind::Switch)
      .call("chosen")
      .end();
  Flow F = flow();
  EXPECT_EQ(F.conditions(at("guarded")), 0u);
  EXPECT_EQ(F.conditions(at("one")), 1u);
  EXPECT_EQ(F.conditions(at("still_one")), 1u);
  EXPECT_EQ(F.conditions(at("other")), 1u);
  EXPECT_EQ(F.conditions(at("chosen")), 1u);
  EXPECT_TRUE(F.isNullGuard(0));
  EXPECT_FALSE(F.isNullGuard(2));
}

TEST_F(FlowTest, LoopsInLoopsAreNoConditions) {
  body()
      .open(EventKind::Loop, Event::OwnBody)
      .open(EventKind::Loop, Event::OwnBody)
      .call("inner")
      .end()
      .end();
  Flow F = flow();
  EXPECT_EQ(F.elementLoop(at("inner")), 1);
  EXPECT_EQ(F.conditions(at("inner")), 0u);
  EXPECT_TRUE(F.loopsOverElements(0));
  EXPECT_FALSE(F.loopsOverElements(at("inner")));
}

//===--- Loops that are left --------------------------------------------===//

TEST_F(FlowTest, AJumpOnTheStraightWayLeavesTheLoop) {
  for (EventKind Jump :
       {EventKind::Break, EventKind::Return, EventKind::Goto}) {
    ProgramMaker Made(Known);
    Made.unit("a.c");
    auto B = Made.function("f");
    B.open(EventKind::Loop, Event::OwnBody)
        .open(EventKind::Branch)
        .call("wait")
        .call("more")
        .add(Jump);
    B.end().call("others").end();
    Made.link();
    Flow F(Made.P, *Made.node("f").Facts);
    EXPECT_TRUE(F.leavesLoop(2)) << int(Jump);
    EXPECT_FALSE(F.leavesLoop(6)) << int(Jump);
  }
}

TEST_F(FlowTest, AJumpThatMayNotComeLeavesNothing) {
  auto B = body();
  B.open(EventKind::Loop, Event::OwnBody).call("wait").open(EventKind::Branch);
  B.add(EventKind::Break);
  B.end().end().call("outside");
  Flow F = flow();
  EXPECT_FALSE(F.leavesLoop(at("wait")));
  EXPECT_FALSE(F.leavesLoop(at("outside")));
}

TEST_F(FlowTest, ABreakOfASwitchStaysInTheLoop) {
  auto B = body();
  B.open(EventKind::Loop, Event::OwnBody)
      .open(EventKind::Switch)
      .call("wait")
      .add(EventKind::Break);
  B.end().end();
  Flow F = flow();
  EXPECT_FALSE(F.leavesLoop(at("wait")));
}

TEST_F(FlowTest, ALoopThatEndsWithTheFirstSuccessIsLeft) {
  // error = attempt(); if (!error) break;
  for (bool OwnResult : {true, false})
    for (uint16_t Flags : {uint16_t(Event::Negated), uint16_t(0)}) {
      ProgramMaker Made(Known);
      Made.unit("a.c");
      auto B = Made.function("f");
      B.open(EventKind::Loop, Event::OwnBody)
          .call("attempt", Event::ResultUsed)
          .add(EventKind::Assign);
      B.arg(RootKind::Local, "error")
          .arg(RootKind::Call, OwnResult ? "attempt" : "other")
          .open(EventKind::Branch, Flags)
          .arg(RootKind::Local, "error")
          .add(EventKind::Break);
      B.end().end();
      Made.link();
      Flow F(Made.P, *Made.node("f").Facts);
      EXPECT_EQ(F.leavesLoop(1), OwnResult && Flags == Event::Negated);
    }
}

//===--- Optional things ------------------------------------------------===//

TEST_F(FlowTest, GuardsAroundAndBefore) {
  auto B = body();
  B.param("p", "struct p *", "struct p")
      .open(EventKind::Branch, Event::NullTest | Event::Negated)
      .arg(RootKind::Param, "p", "p->x", "struct p.x")
      .ret()
      .end()
      .call("behind")
      .open(EventKind::Branch, Event::NullTest)
      .arg(RootKind::Local, "q")
      .call("inside")
      .open(EventKind::Branch, Event::ErrorTest | Event::Negated)
      .arg(RootKind::Local, "r")
      .call("all_three")
      .end()
      .end()
      .call("after");
  Flow F = flow();
  EXPECT_EQ(F.guards(at("behind")), 1u);
  EXPECT_EQ(F.guards(at("inside")), 2u);
  EXPECT_EQ(F.guards(at("all_three")), 3u);
  EXPECT_EQ(F.guards(at("after")), 1u);
  EXPECT_EQ(F.conditions(at("all_three")), 0u);
}

TEST_F(FlowTest, GuardsOfTheRound) {
  auto B = body();
  B.open(EventKind::Loop, Event::OwnBody)
      .open(EventKind::Branch, Event::NullTest | Event::Negated)
      .arg(RootKind::Local, "p")
      .add(EventKind::Continue);
  B.end().call("in_round").end().call("behind_the_loop");
  Flow F = flow();
  EXPECT_EQ(F.guards(at("in_round")), 1u);
  EXPECT_EQ(F.guards(at("behind_the_loop")), 0u);
}

TEST_F(FlowTest, AParameterThatIsNullIsMisuse) {
  body()
      .param("p")
      .open(EventKind::Branch, Event::NullTest | Event::Negated)
      .arg(RootKind::Param, "p")
      .ret()
      .end()
      .open(EventKind::Branch, Event::NullTest)
      .arg(RootKind::Param, "p")
      .call("here")
      .end()
      .open(EventKind::Branch, Event::ErrorTest)
      .arg(RootKind::Local, "q")
      .ret()
      .end()
      .call("after_error");
  Flow F = flow();
  EXPECT_EQ(F.guards(at("here")), 0u);
  EXPECT_EQ(F.guards(at("after_error")), 0u) << "an error is no absence";
}

//===--- The last reference ---------------------------------------------===//

TEST_F(FlowTest, TheBranchOfADropIsTheLastReference) {
  body()
      .call("refcount_dec_and_test", Event::InCondition | Event::ResultUsed)
      .arg(RootKind::Param, "p", "&p->refs", "struct p.refs")
      .open(EventKind::Branch)
      .call("here")
      .end()
      .call("after");
  Flow F = flow();
  EXPECT_EQ(F.lastReferenceDrop(at("here")), 0);
  EXPECT_EQ(F.conditions(at("here")), 0u) << "that is what a put is for";
  EXPECT_EQ(F.lastReferenceDrop(at("after")), -1);
  EXPECT_EQ(F.dropInCondition(1), 0);
}

TEST_F(FlowTest, AnEarlyReturnLeavesTheLastReference) {
  body()
      .call("atomic_dec_and_test", Event::InCondition | Event::ResultUsed)
      .open(EventKind::Branch, Event::Negated)
      .ret()
      .end()
      .call("here");
  Flow F = flow();
  EXPECT_EQ(F.lastReferenceDrop(at("here")), 0);
}

TEST_F(FlowTest, ADropOutsideTheConditionIsNone) {
  body()
      .call("refcount_dec_and_test")
      .open(EventKind::Branch)
      .call("here")
      .end()
      .open(EventKind::Branch, Event::Negated)
      .call("there")
      .end();
  Flow F = flow();
  EXPECT_EQ(F.lastReferenceDrop(at("here")), -1);
  EXPECT_EQ(F.lastReferenceDrop(at("there")), -1);
}

//===--- Error paths ----------------------------------------------------===//

TEST_F(FlowTest, BranchesThatTestForAnError) {
  body()
      .open(EventKind::Branch, Event::ErrorTest)
      .call("failed")
      .open(EventKind::Branch)
      .call("also_failed")
      .end()
      .end()
      .open(EventKind::Branch, Event::ErrorTest | Event::Negated)
      .call("went_well")
      .end()
      .open(EventKind::Branch, Event::NullTest | Event::Negated)
      .call("no_memory")
      .end()
      .call("after");
  Flow F = flow();
  EXPECT_TRUE(F.onErrorPath(at("failed")));
  EXPECT_TRUE(F.onErrorPath(at("also_failed")));
  EXPECT_FALSE(F.onErrorPath(at("went_well")));
  EXPECT_TRUE(F.onErrorPath(at("no_memory")));
  EXPECT_FALSE(F.onErrorPath(at("after")));
}

TEST_F(FlowTest, LabelsThatOnlyErrorsReach) {
  body()
      .open(EventKind::Branch, Event::ErrorTest)
      .jump("unwind")
      .end()
      .call("normal")
      .ret()
      .label("unwind")
      .call("undo")
      .ret();
  Flow F = flow();
  EXPECT_TRUE(F.onErrorPath(at("undo")));
  EXPECT_FALSE(F.onErrorPath(at("normal")));
}

TEST_F(FlowTest, ALabelOnTheStraightWayIsNoError) {
  body()
      .open(EventKind::Branch, Event::ErrorTest)
      .jump("out")
      .end()
      .call("normal")
      .label("out")
      .call("always");
  Flow F = flow();
  EXPECT_FALSE(F.onErrorPath(at("always")));
}

TEST_F(FlowTest, ALabelThatANormalWayJumpsToIsNoError) {
  body()
      .open(EventKind::Branch)
      .jump("done")
      .end()
      .open(EventKind::Branch, Event::ErrorTest)
      .jump("done")
      .end()
      .ret()
      .label("done")
      .call("shared")
      .ret()
      .label("more")
      .call("unreached");
  Flow F = flow();
  EXPECT_FALSE(F.onErrorPath(at("shared")));
}

} // namespace
