//===- LocksetsTest.cpp - Locks that are held at each event ---------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocksetsFixture.h"

using namespace decontend;

namespace {

// ---- Identity
// ----------------------------------------------------------------

TEST_F(LocksetsTest, KnowsALockByItsPath) {
  auto B = M.function("f");
  B.param("ns", "struct ns *");
  take(B, "down_write", "&ns->rwsem", "struct ns.rwsem");
  B.call("here");
  take(B, "up_write", "&ns->rwsem", "struct ns.rwsem");
  B.call("late");
  EXPECT_EQ(held("f"), "rwsem:w ns->rwsem (struct ns.rwsem)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, KnowsAGlobalByItsKey) {
  auto B = M.function("f");
  B.call("mutex_lock").arg(RootKind::Global, "m@a.c", "&m").call("here");
  EXPECT_EQ(held("f"), "mutex m (m@a.c)");
  EXPECT_TRUE(Locks->heldClass(M.id("f"), at("f"), M.P.find("m@a.c"),
                               Certainty::Surely));
}

TEST_F(LocksetsTest, TellsModesAndKinds) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  take(B, "read_lock_bh", "&x->l", "struct x.l");
  B.call("here");
  take(B, "read_unlock_bh", "&x->l", "struct x.l");
  B.call("rcu_read_lock").call("reader").call("rcu_read_unlock");
  take(B, "write_seqlock", "&x->s", "struct x.s");
  B.call("writer");
  EXPECT_EQ(held("f"), "bh bh, rwlock:r x->l (struct x.l)");
  EXPECT_EQ(held("f", "reader"), "rcu:r rcu");
  EXPECT_EQ(held("f", "writer"), "seqlock:w x->s (struct x.s)");
}

TEST_F(LocksetsTest, FollowsAMemberThatTheModelNames) {
  auto B = M.function("f");
  B.param("inode", "struct inode *");
  B.call("inode_lock");
  pointer(B, "inode");
  B.call("here");
  take(B, "up_write", "&inode->i_rwsem", "struct inode.i_rwsem");
  B.call("late");
  EXPECT_EQ(held("f"), "rwsem:w inode->i_rwsem (struct inode.i_rwsem)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, FollowsALocalPointerThatIsSetOnce) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  B.add(EventKind::Assign);
  B.arg(RootKind::Local, "lock")
      .arg(RootKind::Param, "x", "&x->l", "struct x.l");
  B.call("spin_lock");
  pointer(B, "lock", RootKind::Local);
  B.call("here");
  take(B, "spin_unlock", "&x->l", "struct x.l");
  B.call("late");
  EXPECT_EQ(held("f"), "spinlock x->l (struct x.l)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, fn_LocalPointerSetTwice) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  for (auto Text : {"&x->a", "&x->b"}) {
    B.add(EventKind::Assign);
    B.arg(RootKind::Local, "lock")
        .arg(RootKind::Param, "x", Text, "struct x.a");
  }
  B.call("spin_lock");
  pointer(B, "lock", RootKind::Local);
  B.call("here");
  EXPECT_EQ(held("f"), "spinlock *lock");
}

TEST_F(LocksetsTest, ForgetsThePathWhenItsVariableIsSet) {
  auto B = M.function("f");
  take(B, "spin_lock", "&p->l", "struct p.l", RootKind::Local);
  B.add(EventKind::Assign);
  B.arg(RootKind::Local, "p").arg(RootKind::Local, "q");
  B.call("here");
  take(B, "spin_unlock", "&q->l", "struct p.l", RootKind::Local, "q");
  B.call("late");
  EXPECT_EQ(held("f"), "spinlock (struct p.l)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GivesBackByClass) {
  auto B = M.function("f");
  take(B, "spin_lock", "&p->l", "struct p.l", RootKind::Local, "p");
  take(B, "spin_unlock", "&r->l", "struct p.l", RootKind::Local, "r");
  B.call("here");
  EXPECT_EQ(held("f"), "");
}

TEST_F(LocksetsTest, fn_TwoOfOneClass) {
  auto B = M.function("f");
  take(B, "spin_lock", "&p->l", "struct p.l", RootKind::Local, "p");
  take(B, "spin_lock", "&q->l", "struct p.l", RootKind::Local, "q");
  take(B, "spin_unlock", "&r->l", "struct p.l", RootKind::Local, "r");
  B.call("here");
  EXPECT_EQ(held("f"),
            "?spinlock p->l (struct p.l), ?spinlock q->l (struct p.l)");
}

TEST_F(LocksetsTest, MacrosActOnce) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  // spin_lock_irqsave(&x->l, flags) as it expands.
  B.call("spinlock_check").arg(RootKind::Param, "x", "&x->l", "struct x.l");
  macro("spin_lock_irqsave", 1);
  B.call("_raw_spin_lock_irqsave")
      .arg(RootKind::Call, "spinlock_check", "spinlock_check()");
  macro("spin_lock_irqsave", 1);
  B.call("here");
  take(B, "spin_unlock_irqrestore", "&x->l", "struct x.l");
  B.call("late");
  // Both halves belong to one expansion of preempt_disable().
  B.call("__preempt_count_add").arg(RootKind::Constant, "", "1");
  macro("preempt_disable", 7);
  B.call("more");
  macro("preempt_disable", 7);
  B.call("inside").call("__preempt_count_sub");
  macro("preempt_enable", 8);
  B.call("last");
  EXPECT_EQ(held("f"), "irq irq, spinlock x->l (struct x.l)");
  EXPECT_EQ(held("f", "late"), "");
  EXPECT_EQ(held("f", "inside"), "preempt preempt");
  EXPECT_EQ(held("f", "last"), "");
}

TEST_F(LocksetsTest, CountsNestedReaders) {
  M.function("f")
      .call("rcu_read_lock")
      .call("rcu_read_lock")
      .call("rcu_read_unlock")
      .call("here")
      .call("rcu_read_unlock")
      .call("late");
  EXPECT_EQ(held("f"), "rcu:r rcu");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, DowngradesAWriter) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  take(B, "down_write", "&x->s", "struct x.s");
  take(B, "downgrade_write", "&x->s", "struct x.s");
  B.call("here");
  take(B, "up_read", "&x->s", "struct x.s");
  B.call("late");
  EXPECT_EQ(held("f"), "rwsem:r x->s (struct x.s)");
  EXPECT_EQ(held("f", "late"), "");
}

// ---- Ways through a function
// -------------------------------------------------

TEST_F(LocksetsTest, JoinsBranches) {
  auto B = M.function("f");
  branch(B, "a");
  B.call("rtnl_lock");
  B.end().call("here");
  B.call("rtnl_unlock").call("late");
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, JoinsBothSides) {
  auto B = M.function("f");
  branch(B, "a");
  B.call("rtnl_lock").end();
  B.open(EventKind::Else).call("rtnl_lock").end().call("here");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, LeavesAtReturn) {
  auto B = M.function("f");
  B.call("rtnl_lock");
  branch(B, "bad");
  B.call("rtnl_unlock").ret().end();
  B.call("here");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, FollowsGotos) {
  auto B = M.function("f");
  branch(B, "early");
  B.jump("out").end();
  B.call("rtnl_lock");
  branch(B, "bad");
  B.jump("unlock").end();
  B.call("here").label("unlock").call("inside").call("rtnl_unlock");
  B.label("out").call("late");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "inside"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GoesAroundLoops) {
  auto B = M.function("f");
  B.call("rtnl_lock").open(EventKind::Loop).call("here").call("rtnl_unlock");
  B.call("between").call("rtnl_lock").end().call("behind");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "between"), "");
  EXPECT_EQ(held("f", "behind"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, LeavesLoopsByBreak) {
  auto B = M.function("f");
  B.open(EventKind::Loop, Event::Endless).call("rtnl_lock");
  branch(B, "done");
  B.add(EventKind::Break);
  B.end().call("rtnl_unlock").end().call("here");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, ContinuesWithWhatIsHeldThere) {
  auto B = M.function("f");
  B.open(EventKind::Loop).call("here").call("rtnl_lock");
  branch(B, "skip");
  B.add(EventKind::Continue);
  B.end().call("rtnl_unlock").end();
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, FallsThroughCases) {
  auto B = M.function("f");
  B.open(EventKind::Switch);
  B.add(EventKind::Case);
  B.call("rtnl_lock");
  B.add(EventKind::Case);
  B.call("here");
  B.add(EventKind::Break);
  B.add(EventKind::Case);
  B.call("other").end();
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "other"), "");
}

TEST_F(LocksetsTest, fn_SwitchWithDefault) {
  auto B = M.function("f");
  B.open(EventKind::Switch);
  B.add(EventKind::Case); // default
  B.call("rtnl_lock").end().call("here");
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, StopsWhereNothingReturns) {
  auto B = M.function("f");
  branch(B, "bad");
  B.call("panic").end();
  B.call("rtnl_lock");
  branch(B, "worse");
  B.call("rtnl_unlock").call("stop").end();
  B.call("here");
  M.function("stop");
  M.current().Functions.back().Flags |= FunctionFacts::NoReturn;
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, SameConditionTwice) {
  auto B = M.function("f");
  branch(B, "locked");
  B.call("rtnl_lock").end();
  branch(B, "!locked");
  B.call("without").end();
  branch(B, "locked");
  B.call("here").call("rtnl_unlock").end();
  B.call("late");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "without"), "");
  EXPECT_EQ(held("f", "late"), "");
  EXPECT_TRUE(Locks->netEffect(M.id("f")).empty());
}

TEST_F(LocksetsTest, NotAfterTheConditionHasChanged) {
  auto B = M.function("f");
  branch(B, "locked");
  B.call("rtnl_lock").end();
  B.add(EventKind::Assign);
  B.arg(RootKind::Local, "locked").arg(RootKind::Constant, "", "1");
  branch(B, "locked");
  B.call("here").end();
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, fn_Lambda) {
  auto B = M.function("f");
  B.call("rtnl_lock").open(EventKind::Lambda).call("inside").ret().end();
  B.call("here");
  EXPECT_EQ(held("f", "inside"), "");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

// ---- Locks that are taken under a condition
// ----------------------------------

TEST_F(LocksetsTest, TryLockThatFails) {
  auto B = M.function("f");
  B.call("rtnl_trylock", Event::ResultUsed | Event::InCondition);
  branch(B, "!rtnl_trylock()");
  B.call("failed").ret().end();
  B.call("here");
  EXPECT_EQ(held("f", "failed"), "");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, TryLockThatWorks) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  take(B, "mutex_trylock", "&x->m", "struct x.m", RootKind::Param, "x",
       Event::ResultUsed | Event::InCondition);
  branch(B, "likely(mutex_trylock(&x->m)) && x->live");
  B.call("here");
  take(B, "mutex_unlock", "&x->m", "struct x.m");
  B.end().call("late");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
  EXPECT_EQ(held("f", "late"), "?mutex x->m (struct x.m)");
}

TEST_F(LocksetsTest, TryLockOrElse) {
  auto B = M.function("f");
  B.call("rtnl_trylock", Event::ResultUsed | Event::InCondition);
  branch(B, "dead || !rtnl_trylock()");
  B.call("either").ret().end();
  B.call("here");
  EXPECT_EQ(held("f", "either"), "?rtnl rtnl_mutex");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, ResultInAVariable) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  take(B, "mutex_lock_interruptible", "&x->m", "struct x.m", RootKind::Param,
       "x", Event::ResultUsed);
  B.add(EventKind::Assign);
  B.arg(RootKind::Local, "err")
      .arg(RootKind::Call, "mutex_lock_interruptible",
           "mutex_lock_interruptible()");
  branch(B, "err < 0");
  B.call("failed").ret().end();
  B.call("here");
  EXPECT_EQ(held("f", "failed"), "");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
}

TEST_F(LocksetsTest, ResultThatNobodyLooksAt) {
  M.function("f").call("rtnl_lock_killable").call("here");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, SpinsUntilItWorks) {
  auto B = M.function("f");
  B.open(EventKind::Loop).arg(RootKind::Unknown, "", "!rtnl_trylock()");
  B.call("rtnl_trylock", Event::ResultUsed | Event::InCondition);
  B.call("relax").end().call("here");
  EXPECT_EQ(held("f", "relax"), "");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, fn_ConditionThatMixes) {
  auto B = M.function("f");
  B.call("rtnl_trylock", Event::ResultUsed | Event::InCondition);
  branch(B, "(a && b) || c && !rtnl_trylock()");
  B.ret().end();
  B.call("here");
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, fp_RightSideOfAnd) {
  auto B = M.function("f");
  // if (a && lock_it()) ...
  B.call("lock_it", Event::ResultUsed | Event::InCondition);
  branch(B, "a && lock_it()");
  B.end().call("here");
  M.function("lock_it").call("rtnl_lock");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

} // namespace
