//===- LocksetsCallsTest.cpp - Locks across calls -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocksetsFixture.h"
#include "analysis/program/LockCondition.h"

using namespace decontend;

namespace {

// ---- Wrappers
// ----------------------------------------------------------------

TEST_F(LocksetsTest, WrappersActOnTheirArgument) {
  auto W = M.function("foo_lock");
  W.param("p", "struct foo *");
  take(W, "spin_lock", "&p->lock", "struct foo.lock");
  auto U = M.function("foo_unlock");
  U.param("p", "struct foo *");
  take(U, "spin_unlock", "&p->lock", "struct foo.lock");
  auto B = M.function("f");
  B.param("x", "struct bar *");
  B.call("foo_lock").arg(RootKind::Param, "x", "&x->foo", "struct bar.foo");
  B.call("here");
  B.call("foo_unlock").arg(RootKind::Param, "x", "&x->foo", "struct bar.foo");
  B.call("late");
  EXPECT_EQ(held("f"), "spinlock x->foo.lock (struct foo.lock)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, WrappersOfWrappers) {
  auto L = M.function("f");
  L.call("outer_lock").call("here").call("outer_unlock").call("late");
  M.function("outer_lock").call("inner_lock");
  M.function("outer_unlock").call("inner_unlock");
  M.function("inner_lock").call("rtnl_lock");
  M.function("inner_unlock").call("rtnl_unlock");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, WrapperOfThePointerItself) {
  auto W = M.function("lock_it");
  W.param("l", "spinlock_t *");
  W.call("spin_lock");
  pointer(W, "l");
  auto B = M.function("f");
  B.param("x", "struct x *");
  B.call("lock_it").arg(RootKind::Param, "x", "&x->l", "struct x.l");
  B.call("here");
  EXPECT_EQ(held("f"), "spinlock x->l (struct x.l)");
}

TEST_F(LocksetsTest, WrapperThatTries) {
  auto W = M.function("try_it");
  W.call("rtnl_trylock", Event::ResultUsed);
  W.add(EventKind::Return);
  W.arg(RootKind::Call, "rtnl_trylock", "rtnl_trylock()");
  auto V = M.function("try_or_fail");
  V.call("rtnl_trylock", Event::ResultUsed | Event::InCondition);
  branch(V, "!rtnl_trylock()");
  V.add(EventKind::Return);
  V.arg(RootKind::Constant, "", "11").end();
  V.add(EventKind::Return);
  V.arg(RootKind::Constant, "", "0");
  auto B = M.function("f");
  B.call("try_it", Event::ResultUsed | Event::InCondition);
  branch(B, "try_it()");
  B.call("here").call("rtnl_unlock").end();
  B.call("between");
  B.call("try_or_fail", Event::ResultUsed | Event::InCondition);
  branch(B, "try_or_fail()");
  B.call("failed").ret().end();
  B.call("works");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "between"), "");
  EXPECT_EQ(held("f", "failed"), "");
  EXPECT_EQ(held("f", "works"), "rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, CalleeThatDropsTheLockOfItsCaller) {
  auto D = M.function("drop");
  D.param("p", "struct foo *");
  take(D, "spin_unlock", "&p->lock", "struct foo.lock");
  D.call("without");
  auto B = M.function("f");
  B.param("x", "struct foo *");
  take(B, "spin_lock", "&x->lock", "struct foo.lock");
  B.call("drop");
  pointer(B, "x");
  B.call("here");
  EXPECT_EQ(held("drop", "without"), "");
  EXPECT_EQ(held("drop", "spin_unlock"), "spinlock p->lock (struct foo.lock)");
  EXPECT_EQ(held("f"), "");
}

TEST_F(LocksetsTest, RecursionEnds) {
  auto B = M.function("f");
  B.param("p", "struct foo *");
  take(B, "spin_lock", "&p->lock", "struct foo.lock");
  B.call("f").arg(RootKind::Param, "p", "p->next", "struct foo.next");
  body().Exprs.back().Flags |= Expr::Pointer;
  B.call("here");
  EXPECT_EQ(held("f").find("spinlock p->lock"), 0u);
}

// ---- On entry
// ----------------------------------------------------------------

TEST_F(LocksetsTest, EntryIsSeenThroughArguments) {
  auto C = M.function("callee");
  C.param("p", "struct foo *").call("here");
  auto B = M.function("f");
  B.param("x", "struct bar *");
  take(B, "spin_lock", "&x->foo.lock", "struct foo.lock", RootKind::Param, "x");
  B.call("callee").arg(RootKind::Param, "x", "&x->foo", "struct bar.foo");
  EXPECT_EQ(held("callee"), "spinlock p->lock (struct foo.lock)");
}

TEST_F(LocksetsTest, EntryIsSeenByClassElse) {
  M.function("callee").call("here");
  auto B = M.function("f");
  B.param("x", "struct bar *");
  take(B, "spin_lock", "&x->lock", "struct bar.lock");
  B.call("callee");
  EXPECT_EQ(held("callee"), "spinlock (struct bar.lock)");
}

TEST_F(LocksetsTest, EntryIsWhatCallersHaveInCommon) {
  M.function("callee").call("here");
  M.function("first").call("rtnl_lock").call("rcu_read_lock").call("callee");
  M.function("second").call("rtnl_lock").call("callee");
  EXPECT_EQ(held("callee"), "?rcu:r rcu, rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, CallersHaveAtLeastTheKindInCommon) {
  M.function("callee").call("here");
  for (auto Field : {"struct a.l", "struct b.l"}) {
    auto B = M.function(Field);
    take(B, "spin_lock", "&x->l", Field);
    B.call("callee");
  }
  EXPECT_EQ(held("callee"),
            "?spinlock (struct a.l), ?spinlock (struct b.l), spinlock");
  EXPECT_TRUE(Locks->atomic(M.id("callee"), at("callee"), Certainty::Surely));
}

TEST_F(LocksetsTest, AtomicWhateverTheReason) {
  M.function("callee").call("here");
  auto B = M.function("first");
  take(B, "spin_lock", "&x->l", "struct a.l");
  B.call("callee");
  M.function("second").call("rcu_read_lock").call("callee");
  uint32_t I = at("callee");
  EXPECT_TRUE(Locks->atomic(M.id("callee"), I, Certainty::Surely));
  EXPECT_FALSE(
      Locks->held(M.id("callee"), I, LockKind::Rcu, Certainty::Surely));
  EXPECT_TRUE(
      Locks->held(M.id("callee"), I, LockKind::Rcu, Certainty::Possibly));
}

TEST_F(LocksetsTest, NotAtomicUnderAMutex) {
  auto B = M.function("f");
  take(B, "mutex_lock", "&x->l", "struct a.l");
  B.call("here");
  uint32_t I = at("f");
  EXPECT_FALSE(Locks->atomic(M.id("f"), I, Certainty::Possibly));
  EXPECT_EQ(spell(Locks->sleeping(M.id("f"), I)), "mutex x->l (struct a.l)");
}

TEST_F(LocksetsTest, fn_ExportedFunction) {
  M.function("callee").call("here");
  M.function("f").call("rtnl_lock").call("callee");
  M.marker("EXPORT_SYMBOL", "callee");
  EXPECT_EQ(held("callee"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, SlotsHoldWhatModelsSay) {
  M.function("dellink").call("here");
  M.slot("struct rtnl_link_ops.dellink", "dellink");
  M.function("both").call("here");
  M.slot("struct rtnl_link_ops.dellink", "both");
  M.slot("struct file_operations.release", "both");
  EXPECT_EQ(held("dellink"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("both"), "?rtnl rtnl_mutex");
}

TEST_F(LocksetsTest, CallsThroughSlotsHoldWhatIsHeldThere) {
  auto A = M.function("one");
  A.param("p", "struct foo *").call("here");
  M.slot("struct foo_ops.run", "one");
  auto B = M.function("f");
  B.param("x", "struct foo *");
  take(B, "mutex_lock", "&x->m", "struct foo.m");
  B.slotCall("struct foo_ops.run");
  pointer(B, "x");
  EXPECT_EQ(held("one"), "mutex p->m (struct foo.m)");
}

TEST_F(LocksetsTest, fn_LockOfTheWalker) {
  auto W = M.function("walk");
  W.param("fn").call("rtnl_lock").callParam("fn").call("rtnl_unlock");
  M.function("each").call("here");
  M.function("f").call("walk").arg(RootKind::Function, "each");
  EXPECT_EQ(held("each"), "");
}

TEST_F(LocksetsTest, CyclesDependOnWhoEntersThem) {
  M.function("a").call("b").call("here");
  M.function("b").call("a");
  M.function("top").call("rtnl_lock").call("a").call("rtnl_unlock");
  M.function("c").call("d").call("here");
  M.function("d").call("c");
  EXPECT_EQ(held("a"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("c"), "");
}

TEST_F(LocksetsTest, ManyCallersKeepTheKind) {
  M.function("callee").call("here");
  for (int I = 0; I < 20; ++I) {
    std::string Name = "struct s" + std::to_string(I) + ".l";
    auto B = M.function(Name);
    take(B, "spin_lock", "&x->l", Name);
    B.call("callee");
  }
  M.function("free").call("callee");
  uint32_t I = at("callee");
  EXPECT_LE(Locks->before(M.id("callee"), I).size(), Locksets::MaxPossible);
  EXPECT_TRUE(
      Locks->held(M.id("callee"), I, LockKind::Spin, Certainty::Possibly));
  EXPECT_FALSE(Locks->atomic(M.id("callee"), I, Certainty::Surely));
}

TEST_F(LocksetsTest, AssertionsAreEvidence) {
  auto B = M.function("f");
  B.call("rtnl_is_locked");
  macro("ASSERT_RTNL", 1);
  B.call("here").call("rtnl_unlock").call("late");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "late"), "");
  auto Net = Locks->netEffect(M.id("f"));
  ASSERT_EQ(Net.size(), 1u);
  EXPECT_EQ(Net[0].IfZero, Given);
}

TEST_F(LocksetsTest, AssertionsAboutAnArgument) {
  auto B = M.function("f");
  B.param("x", "struct x *");
  B.call("lock_is_held")
      .arg(RootKind::Param, "x", "&x->m.dep_map", "struct mutex.dep_map");
  macro("lockdep_assert_held", 1);
  B.call("here");
  EXPECT_EQ(held("f"), "lock x->m");
  EXPECT_TRUE(Locks->netEffect(M.id("f")).empty());
}

TEST_F(LocksetsTest, GivenBackAndTakenAgain) {
  auto D = M.function("wait_a_bit");
  D.param("p", "struct foo *");
  take(D, "spin_unlock", "&p->lock", "struct foo.lock");
  D.call("sleep");
  take(D, "spin_lock", "&p->lock", "struct foo.lock");
  D.call("again");
  M.marker("EXPORT_SYMBOL", "wait_a_bit");
  auto B = M.function("f");
  take(B, "spin_lock", "&x->lock", "struct foo.lock");
  B.call("wait_a_bit");
  pointer(B, "x");
  B.call("here");
  EXPECT_EQ(held("wait_a_bit", "sleep"), "");
  EXPECT_EQ(held("wait_a_bit", "again"), "spinlock p->lock (struct foo.lock)");
  EXPECT_EQ(held("f"), "spinlock x->lock (struct foo.lock)");
  EXPECT_TRUE(Locks->netEffect(M.id("wait_a_bit")).empty());
}

TEST_F(LocksetsTest, WrapperThatKeepsItsResultInAVariable) {
  auto W = M.function("lock_it");
  W.call("rtnl_lock_killable", Event::ResultUsed);
  W.add(EventKind::Assign);
  W.arg(RootKind::Local, "ret")
      .arg(RootKind::Call, "rtnl_lock_killable", "rtnl_lock_killable()");
  branch(W, "!ret");
  W.call("count").end();
  W.add(EventKind::Return);
  W.arg(RootKind::Local, "ret");
  auto B = M.function("f");
  B.call("lock_it", Event::ResultUsed | Event::InCondition);
  branch(B, "lock_it()");
  B.call("failed").ret().end();
  B.call("here");
  EXPECT_EQ(held("f", "failed"), "");
  EXPECT_EQ(held("f"), "rtnl rtnl_mutex");
}

// A member of an anonymous struct is spelt with a dot, whatever stands before.
TEST_F(LocksetsTest, DotsAndArrowsAreTheSame) {
  auto B = M.function("f");
  B.call("mmap_read_lock");
  pointer(B, "mm");
  B.call("here");
  take(B, "up_read", "&mm.mmap_lock", "struct mm_struct.mmap_lock");
  B.call("late");
  EXPECT_EQ(held("f"), "rwsem:r mm->mmap_lock (struct mm_struct.mmap_lock)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, WhatACalleeMayDoIsPassedOnOnce) {
  auto W = M.function("perhaps");
  branch(W, "a");
  W.call("rtnl_lock").end();
  M.function("first").call("perhaps").call("here");
  M.function("second").call("first").call("here");
  EXPECT_EQ(held("first"), "?rtnl rtnl_mutex");
  EXPECT_EQ(held("second"), "");
}

TEST_F(LocksetsTest, WhatMayBeHeldIsWhatMayBeGivenBack) {
  auto L = M.function("lock_two");
  branch(L, "parent");
  L.call("rtnl_lock").end();
  auto U = M.function("unlock_two");
  branch(U, "parent");
  U.call("rtnl_unlock").end();
  M.function("f").call("lock_two").call("here").call("unlock_two").call("late");
  EXPECT_EQ(held("f"), "?rtnl rtnl_mutex");
  EXPECT_EQ(held("f", "late"), "");
}

TEST(LockConditions, TellZeroFromNonzero) {
  auto Tells = [](llvm::StringRef Text, llvm::StringRef Name, bool Holds,
                  bool Call = true) -> int {
    auto R = LockCondition(Text).nonzero(Name, Call, Holds);
    return R ? *R : -1;
  };
  EXPECT_EQ(Tells("try(x)", "try", true), 1);
  EXPECT_EQ(Tells("try(x)", "try", false), 0);
  EXPECT_EQ(Tells("!(unlikely(!try(x)))", "try", true), 1);
  EXPECT_EQ(Tells("try(x, f(y)) == 0", "try", true), 0);
  EXPECT_EQ(Tells("try(x) != NULL", "try", true), 1);
  EXPECT_EQ(Tells("try(x) == -EINTR", "try", true), -1);
  EXPECT_EQ(Tells("a || !try(x)", "try", false), 1);
  EXPECT_EQ(Tells("a || !try(x)", "try", true), -1);
  EXPECT_EQ(Tells("!(a || try(x))", "try", true), 0);
  EXPECT_EQ(Tells("a && b || try(x)", "try", false), -1);
  EXPECT_EQ(Tells("(err = try(x)) < 0", "try", false), 0);
  EXPECT_EQ(Tells("(err = try(x)) < 0", "err", false, false), 0);
  EXPECT_EQ(Tells("this->Mu.try_lock()", "try_lock", true), 1);
  EXPECT_EQ(Tells("IS_ERR(p)", "p", true, false), -1);
  EXPECT_EQ(Tells("try(x", "try", true), -1);
}

TEST(LockPaths, MoveThroughArguments) {
  EXPECT_EQ(placeArgument("p->lock", "p", "x", false), "x->lock");
  EXPECT_EQ(placeArgument("p->lock", "p", "&x->foo", false), "x->foo.lock");
  EXPECT_EQ(placeArgument("*p", "p", "&x->l", false), "x->l");
  EXPECT_EQ(placeArgument("*p", "p", "x->l", false), "*x->l");
  EXPECT_EQ(placeArgument("this->M", "this", "foo", true), "foo.M");
  EXPECT_EQ(placeArgument("r.M", "r", "foo", true), "foo.M");
  EXPECT_EQ(placeArgument("pp->lock", "p", "x", false), "");
  EXPECT_EQ(seenFromParam("x->lock", "x", "p", false), "p->lock");
  EXPECT_EQ(seenFromParam("x->foo.lock", "&x->foo", "p", false), "p->lock");
  EXPECT_EQ(seenFromParam("x->l", "&x->l", "p", false), "*p");
  EXPECT_EQ(seenFromParam("foo.M", "foo", "this", true), "this->M");
  EXPECT_EQ(seenFromParam("x->foolock", "x->foo", "p", false), "");
}

} // namespace
