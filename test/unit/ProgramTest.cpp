//===- ProgramTest.cpp - Linking, contexts, summaries ---------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMaker.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace decontend;
using testing::ElementsAre;

namespace {

const Models &builtIn() {
  static const Models M = llvm::cantFail(loadModels());
  return M;
}

class ProgramTest : public testing::Test {
protected:
  ProgramTest() : M(builtIn()) {}
  uint16_t contexts(llvm::StringRef Key) { return M.node(Key).Contexts; }
  std::vector<std::string> callees(llvm::StringRef Key) {
    std::vector<std::string> Out;
    for (uint32_t E : M.P.callees(M.id(Key)))
      Out.push_back(M.P.str(M.P.node(M.P.edges()[E].Callee).Key).str());
    return Out;
  }
  ProgramMaker M;
};

//===--- Calls ------------------------------------------------------------===//

TEST_F(ProgramTest, CallsGoToOtherUnits) {
  M.unit("a.c");
  M.function("f").call("g");
  M.unit("b.c");
  M.function("g");
  M.link();
  EXPECT_THAT(callees("f"), ElementsAre("g"));
  EXPECT_EQ(M.P.functionCount(), 2u);
  ASSERT_EQ(M.P.callers(M.id("g")).size(), 1u);
  EXPECT_EQ(M.P.edges()[M.P.callers(M.id("g"))[0]].Caller, M.id("f"));
}

TEST_F(ProgramTest, StaticFunctionsOfOneNameStayApart) {
  M.unit("a.c");
  M.function("stop@a.c").call("synchronize_rcu");
  M.function("a").call("stop@a.c");
  M.unit("b.c");
  M.function("stop@b.c");
  M.function("b").call("stop@b.c");
  M.link();
  EXPECT_TRUE(M.node("a").Wait.waits());
  EXPECT_FALSE(M.node("b").Wait.waits());
  EXPECT_EQ(M.P.name(M.id("stop@a.c")), "stop");
  EXPECT_NE(M.id("stop@a.c"), M.id("stop@b.c"));
}

TEST_F(ProgramTest, OfTwoBodiesTheFirstInPathOrderCounts) {
  M.unit("a.c");
  M.function("f").call("synchronize_rcu");
  M.unit("b.c");
  M.function("f");
  M.link();
  EXPECT_EQ(M.P.str(M.node("f").Facts->Where.File), "a.c");
  EXPECT_TRUE(M.node("f").Wait.waits());
}

//===--- Slots ------------------------------------------------------------===//

TEST_F(ProgramTest, ASlotWithOneTargetIsACall) {
  M.unit("a.c");
  M.function("detach@a.c").call("synchronize_rcu");
  M.slot("struct ops.detach", "detach@a.c");
  M.slot("struct ops.detach", "detach@a.c", "others");
  M.function("f").slotCall("struct ops.detach");
  M.function("g").slotCall("struct ops.attach");
  M.link();
  EXPECT_THAT(callees("f"), ElementsAre("detach@a.c"));
  EXPECT_EQ(M.P.edges()[M.P.callees(M.id("f"))[0]].Kind, EdgeKind::Slot);
  EXPECT_TRUE(M.node("f").Wait.waits());
  EXPECT_TRUE(M.node("detach@a.c").AddressTaken);
  EXPECT_THAT(callees("g"), ElementsAre());
  EXPECT_EQ(M.P.targets(M.P.find("struct ops.detach")).size(), 1u);
}

TEST_F(ProgramTest, WaitsDoNotPassASlotWithManyTargets) {
  M.unit("a.c");
  M.function("slow@a.c").call("synchronize_rcu");
  M.function("fast@a.c");
  M.slot("struct ops.detach", "slow@a.c");
  M.slot("struct ops.detach", "fast@a.c");
  M.function("f").slotCall("struct ops.detach");
  M.slot("struct file_operations.release", "f");
  M.link();
  EXPECT_THAT(callees("f"), ElementsAre("slow@a.c", "fast@a.c"));
  EXPECT_FALSE(M.node("f").Wait.waits());
  EXPECT_EQ(contexts("slow@a.c"), CtxTeardown) << "heat passes";
}

//===--- Contexts ---------------------------------------------------------===//

TEST_F(ProgramTest, ContextsGoDownCalls) {
  M.unit("a.c");
  M.function("release@a.c").call("middle");
  M.slot("struct file_operations.release", "release@a.c", "fops@a.c");
  M.unit("b.c");
  M.function("middle").call("leaf");
  M.function("leaf");
  M.function("other").call("leaf");
  M.link();
  EXPECT_EQ(contexts("leaf"), CtxTeardown);
  EXPECT_EQ(M.node("leaf").Frequent, CtxTeardown);
  EXPECT_EQ(contexts("other"), CtxNone);
  EXPECT_EQ(M.P.withContext(), 3u);
  Program::HeatWitness W = M.P.heat(M.id("leaf"), CtxTeardown);
  ASSERT_TRUE(W.Entry);
  EXPECT_EQ(W.Entry->Why,
            "struct file_operations.release of fops (close of a file)");
  ASSERT_EQ(W.Edges.size(), 2u);
  EXPECT_EQ(M.P.edges()[W.Edges[0]].Caller, M.id("release@a.c"));
  EXPECT_EQ(M.P.edges()[W.Edges[1]].Callee, M.id("leaf"));
  EXPECT_FALSE(M.P.heat(M.id("leaf"), CtxHot).Entry);
}

TEST_F(ProgramTest, TheShortestWayIsTheWitness) {
  M.unit("a.c");
  M.function("far").call("near");
  M.function("near").call("leaf");
  M.function("leaf");
  M.slot("struct file_operations.release", "far");
  M.slot("struct file_operations.release", "near");
  M.link();
  Program::HeatWitness W = M.P.heat(M.id("leaf"), CtxTeardown);
  ASSERT_TRUE(W.Entry);
  EXPECT_EQ(W.Entry->Node, M.id("near"));
  EXPECT_EQ(W.Edges.size(), 1u);
}

TEST_F(ProgramTest, ErrorPathsCarryNoContext) {
  M.unit("a.c");
  M.function("open")
      .open(EventKind::Branch, Event::ErrorTest)
      .call("undo")
      .end()
      .call("go_on");
  M.slot("struct file_operations.open", "open");
  M.function("undo");
  M.function("go_on");
  M.link();
  EXPECT_EQ(contexts("undo"), CtxNone);
  EXPECT_EQ(contexts("go_on"), CtxSetup);
}

TEST_F(ProgramTest, AdministratorsAreNotFrequent) {
  M.unit("a.c");
  M.function("dellink").call("leaf");
  M.slot("struct rtnl_link_ops.dellink", "dellink");
  M.function("leaf");
  M.function("probe").call("both");
  M.slot("struct pci_driver.remove", "probe");
  M.function("release").call("both");
  M.slot("struct file_operations.release", "release");
  M.function("both");
  M.link();
  EXPECT_EQ(contexts("leaf"), CtxTeardown | CtxAdmin);
  EXPECT_EQ(M.node("leaf").Frequent, CtxNone);
  EXPECT_EQ(contexts("both"), CtxTeardown | CtxAdmin);
  EXPECT_EQ(M.node("both").Frequent, CtxTeardown);
}

TEST_F(ProgramTest, SectionsNamesAndMarkersAreEntries) {
  M.unit("a.c");
  M.function("start@a.c").section(".init.text");
  M.function("leave@a.c");
  M.marker("module_exit", "leave");
  M.function("__do_sys_close");
  M.function("api");
  M.marker("EXPORT_SYMBOL_GPL", "api");
  M.unit("b.c");
  M.function("leave@b.c");
  M.link();
  EXPECT_EQ(contexts("start@a.c"), CtxInit);
  EXPECT_EQ(contexts("leave@a.c"), CtxExit);
  EXPECT_EQ(contexts("leave@b.c"), CtxNone) << "a marker is for its own unit";
  EXPECT_EQ(contexts("__do_sys_close"), CtxHot);
  EXPECT_TRUE(M.node("api").Exported);
  EXPECT_EQ(contexts("api"), CtxNone);
}

TEST_F(ProgramTest, ContextsStopAtHubs) {
  M.unit("a.c");
  M.function("release").call("fput");
  M.slot("struct file_operations.release", "release");
  M.function("fput").call("behind").call("synchronize_rcu");
  M.function("behind");
  M.link();
  EXPECT_EQ(contexts("fput"), CtxTeardown);
  EXPECT_EQ(contexts("behind"), CtxNone);
  EXPECT_FALSE(M.node("release").Wait.waits());
}

TEST_F(ProgramTest, WorkersAreThoseOfAPool) {
  M.unit("a.c");
  M.function("work");
  M.slot("struct work_struct.func", "work");
  M.function("thread");
  M.function("start")
      .call("kthread_create_on_node")
      .arg(RootKind::Function, "thread");
  M.function("timer");
  M.slot("struct timer_list.function", "timer");
  M.link();
  std::vector<std::string> Workers, Others;
  for (const EntryPoint &E : M.P.entries())
    (E.Worker ? Workers : Others).push_back(M.P.name(E.Node).str());
  EXPECT_THAT(Workers, ElementsAre("work"));
  EXPECT_THAT(Others, testing::Contains("thread"));
  EXPECT_EQ(contexts("work"), CtxAsync);
  EXPECT_EQ(contexts("thread"), CtxAsync);
}

//===--- Callbacks --------------------------------------------------------===//

TEST_F(ProgramTest, ModelsSayHowCallbacksAreCalled) {
  M.unit("a.c");
  M.function("f")
      .call("call_rcu")
      .arg(RootKind::Param, "head")
      .arg(RootKind::Function, "later@a.c");
  M.function("g")
      .call("kref_put")
      .arg(RootKind::Param, "ref")
      .arg(RootKind::Function, "now@a.c");
  M.function("later@a.c");
  M.function("now@a.c").call("synchronize_rcu");
  M.link();
  EXPECT_EQ(contexts("later@a.c"), CtxAsync);
  EXPECT_THAT(callees("f"), ElementsAre("call_rcu"));
  EXPECT_EQ(contexts("now@a.c"), CtxTeardown);
  EXPECT_THAT(callees("g"), ElementsAre("kref_put", "now@a.c"));
  EXPECT_TRUE(M.node("g").Wait.waits());
  EXPECT_EQ(M.P.edges()[M.P.callees(M.id("g"))[1]].Kind, EdgeKind::InPlace);
}

TEST_F(ProgramTest, WrappersPassTheirParametersOn) {
  M.unit("a.c");
  M.function("defer")
      .param("head")
      .param("fn", "void (*)(struct rcu_head *)")
      .call("call_rcu")
      .arg(RootKind::Param, "head", "head", "", 0)
      .arg(RootKind::Param, "fn", "fn", "", 1);
  M.function("wrapper")
      .param("fn", "void (*)(struct rcu_head *)")
      .call("defer")
      .arg(RootKind::Null, "", "NULL")
      .arg(RootKind::Param, "fn", "fn", "", 0);
  M.function("each").param("fn", "void (*)(void *)").callParam("fn");
  M.function("set")
      .param("w")
      .param("fn", "void (*)(struct work_struct *)")
      .add(EventKind::Assign);
  {
    FunctionFacts &F = M.current().Functions.back();
    BodyMaker(M.P.names(), F)
        .arg(RootKind::Param, "w", "w->func", "struct work_struct.func", 0)
        .arg(RootKind::Param, "fn", "fn", "", 1);
  }
  M.function("later@a.c");
  M.function("now@a.c").call("synchronize_rcu");
  M.function("work@a.c");
  M.function("f")
      .call("wrapper")
      .arg(RootKind::Function, "later@a.c")
      .call("each")
      .arg(RootKind::Function, "now@a.c")
      .call("set")
      .arg(RootKind::Local, "w")
      .arg(RootKind::Function, "work@a.c")
      .call("unknown")
      .arg(RootKind::Function, "nobody@a.c");
  M.function("nobody@a.c");
  M.link();
  EXPECT_EQ(contexts("later@a.c"), CtxAsync);
  EXPECT_EQ(contexts("work@a.c"), CtxAsync);
  EXPECT_TRUE(M.node("f").Wait.waits());
  EXPECT_THAT(callees("f"),
              ElementsAre("wrapper", "each", "now@a.c", "set", "unknown"));
  EXPECT_TRUE(M.node("nobody@a.c").AddressTaken);
  EXPECT_EQ(contexts("nobody@a.c"), CtxNone);
  EXPECT_THAT(callees("each"), ElementsAre());
}

//===--- Other questions --------------------------------------------------===//

TEST_F(ProgramTest, GapsBelongToTheFirstUnitThatBorrows) {
  Symbols &N = M.P.names();
  auto Borrow = [&](std::initializer_list<const char *> Keys) {
    for (const char *K : Keys)
      M.current().Borrowed.push_back(N.intern(K));
  };
  M.unit("a.c");
  M.function("f").call("given@b.h");
  Borrow({"given@b.h"});
  M.unit("b.c");
  M.function("given@b.h");
  M.unit("c.c");
  Borrow({"gone@b.h"});
  M.unit("d.c");
  Borrow({"gone@b.h"});
  M.unit("e.c");
  Borrow({"gone@b.h", "lost@b.h"});
  M.link();
  EXPECT_THAT(M.P.unitsWithGaps(), ElementsAre(2u, 4u));
}

TEST_F(ProgramTest, ARecordOfTheUnitItselfComesFirst) {
  Symbols &N = M.P.names();
  auto Record = [&](llvm::StringRef File, llvm::StringRef Field) {
    RecordFacts R;
    R.Key = N.intern("struct foo");
    R.Where = {N.intern(File), 1, 1};
    R.Fields.push_back({});
    R.Fields.back().Name = N.intern(Field);
    M.current().Records.push_back(R);
  };
  M.unit("a.c");
  Record("foo.h", "shared");
  M.unit("b.c");
  Record("b.c", "own");
  const Program &P = M.link();
  auto FieldFor = [&](unsigned Unit) {
    const RecordFacts *R =
        P.record(P.find("struct foo"), P.units()[Unit].get());
    return R ? P.str(R->Fields[0].Name).str() : "none";
  };
  EXPECT_EQ(FieldFor(0), "shared");
  EXPECT_EQ(FieldFor(1), "own");
  EXPECT_EQ(P.record(P.find("struct bar"), P.units()[0].get()), nullptr);
}

TEST_F(ProgramTest, AModelIsFoundByTheMacroToo) {
  M.unit("a.c");
  auto B = M.function("f");
  Event &E = B.add(EventKind::Call, "__some_primitive");
  E.Macro = M.P.names().intern("kfree_rcu");
  M.link();
  const FunctionFacts &F = *M.node("f").Facts;
  const FunctionModel *Model = M.P.modelOf(F.Events[0]);
  ASSERT_TRUE(Model);
  EXPECT_EQ(Model->Defers, "rcu");
  EXPECT_EQ(M.P.calleeName(F.Events[0]), "__some_primitive");
}

} // namespace
