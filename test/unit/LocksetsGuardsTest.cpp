//===- LocksetsGuardsTest.cpp - Guards, and locks of C++ ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocksetsFixture.h"

using namespace decontend;

namespace {

// ---- Guards
// ------------------------------------------------------------------

TEST_F(LocksetsTest, GuardsEndWithTheirScope) {
  auto B = M.function("f");
  B.open(EventKind::Scope);
  take(B, "class_mutex_constructor", "&x->m", "struct x.m");
  guard(B, "scope", "class_mutex_destructor");
  B.call("here").end();
  B.call("late");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GuardsEndAtJumpsOutOfTheirScope) {
  auto B = M.function("f");
  branch(B, "a");
  take(B, "class_mutex_constructor", "&x->m", "struct x.m");
  guard(B, "scope", "class_mutex_destructor");
  branch(B, "b");
  B.jump("out").end();
  branch(B, "c");
  B.ret().end();
  B.call("here").end();
  B.label("out").call("late");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
  EXPECT_EQ(held("f", "late"), "");
  EXPECT_TRUE(Locks->netEffect(M.id("f")).empty());
}

TEST_F(LocksetsTest, GuardInTheHeadOfALoop) {
  auto B = M.function("f");
  // scoped_guard(mutex, &x->m) { here(); } as it expands.
  take(B, "class_mutex_constructor", "&x->m", "struct x.m");
  macro("scoped_guard", 1);
  guard(B, "scope", "class_mutex_destructor");
  macro("scoped_guard", 1);
  B.open(EventKind::Loop);
  macro("scoped_guard", 1);
  B.call("here").end();
  B.call("late");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GuardInTheBodyOfALoop) {
  auto B = M.function("f");
  B.open(EventKind::Loop).call("early");
  take(B, "class_mutex_constructor", "&x->m", "struct x.m");
  guard(B, "scope", "class_mutex_destructor");
  B.call("here");
  branch(B, "a");
  B.add(EventKind::Continue);
  B.end().end();
  B.call("late");
  EXPECT_EQ(held("f", "early"), "");
  EXPECT_EQ(held("f"), "mutex x->m (struct x.m)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GuardsOfTheProgramItself) {
  auto C = M.function("class_foo_constructor");
  C.param("p", "struct foo *");
  take(C, "spin_lock", "&p->lock", "struct foo.lock");
  auto B = M.function("f");
  B.param("x", "struct foo *");
  B.open(EventKind::Scope).call("class_foo_constructor");
  pointer(B, "x");
  guard(B, "scope", "class_foo_destructor");
  B.call("here").end();
  B.call("late");
  EXPECT_EQ(held("f"), "spinlock x->lock (struct foo.lock)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, fp_CleanUpOfAnotherLock) {
  auto B = M.function("f");
  B.open(EventKind::Scope).call("make");
  guard(B, "unlocker", "unlock_rtnl");
  B.call("rtnl_lock").call("here").end();
  B.call("late");
  M.function("unlock_rtnl").call("rtnl_unlock");
  EXPECT_EQ(held("f", "late"), "rtnl rtnl_mutex");
}

// ---- C++
// ---------------------------------------------------------------------

constexpr const char *LockGuard =
    "c:@N@std@ST>1#T@lock_guard@F@lock_guard#&t0.0#";
constexpr const char *UniqueLock =
    "c:@N@std@ST>1#T@unique_lock@F@unique_lock#&t0.0#";

TEST_F(LocksetsTest, GuardsOfCxx) {
  auto B = M.function("f");
  B.open(EventKind::Scope);
  take(B, LockGuard, "this->M", "Foo.M", RootKind::Param, "this");
  guard(B, "G", "c:@N@std@ST>1#T@lock_guard@F@~lock_guard#");
  B.call("here").end();
  B.call("late");
  EXPECT_EQ(held("f"), "mutex this->M (Foo.M)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, GuardsCanBeOpened) {
  auto B = M.function("f");
  take(B, UniqueLock, "this->M", "Foo.M", RootKind::Param, "this");
  guard(B, "L", "c:@N@std@ST>1#T@unique_lock@F@~unique_lock#");
  B.call("here").call("c:@N@std@ST>1#T@unique_lock@F@unlock#");
  B.arg(RootKind::Local, "L").call("open");
  B.call("c:@N@std@ST>1#T@unique_lock@F@lock#").arg(RootKind::Local, "L");
  B.call("again");
  EXPECT_EQ(held("f"), "mutex this->M (Foo.M)");
  EXPECT_EQ(held("f", "open"), "");
  EXPECT_EQ(held("f", "again"), "mutex this->M (Foo.M)");
  EXPECT_TRUE(Locks->netEffect(M.id("f")).empty());
}

TEST_F(LocksetsTest, GuardsMayWait) {
  auto B = M.function("f");
  take(B, UniqueLock, "this->M", "Foo.M", RootKind::Param, "this");
  B.arg(RootKind::Unknown, "");
  body().Exprs.back().Record = M.P.names().intern("std::defer_lock_t");
  guard(B, "L", "c:@N@std@ST>1#T@unique_lock@F@~unique_lock#");
  B.call("early").call("c:@N@std@ST>1#T@unique_lock@F@lock#");
  B.arg(RootKind::Local, "L").call("here");
  EXPECT_EQ(held("f", "early"), "?mutex this->M (Foo.M)");
  EXPECT_EQ(held("f"), "mutex this->M (Foo.M)");
}

TEST_F(LocksetsTest, SeveralLocksAtOnce) {
  auto B = M.function("f");
  B.call("c:@N@std@ST>1#pT@scoped_lock@F@scoped_lock#P&t0.0#")
      .arg(RootKind::Param, "this", "this->A", "Foo.A")
      .arg(RootKind::Param, "this", "this->B", "Foo.B");
  guard(B, "G", "c:@N@std@ST>1#pT@scoped_lock@F@~scoped_lock#");
  B.call("here");
  EXPECT_EQ(held("f"), "mutex this->A (Foo.A), mutex this->B (Foo.B)");
}

TEST_F(LocksetsTest, MethodsAreSeenThroughTheirObject) {
  auto W = M.function("c:@S@Foo@F@enter#");
  body().Flags |= FunctionFacts::Method;
  take(W, "c:@N@std@S@mutex@F@lock#", "this->M", "Foo.M", RootKind::Param,
       "this");
  body().Exprs.back().Index = 0xffff;
  W.call("inner");
  auto B = M.function("f");
  B.call("c:@S@Foo@F@enter#").arg(RootKind::Local, "foo");
  B.call("here").call("c:@N@std@S@mutex@F@unlock#");
  B.arg(RootKind::Local, "foo", "foo.M", "Foo.M").call("late");
  EXPECT_EQ(held("f"), "mutex foo.M (Foo.M)");
  EXPECT_EQ(held("f", "late"), "");
}

TEST_F(LocksetsTest, AMethodCalledLikeAFunctionOfTheKernelIsNone) {
  M.function("f").call("c:@S@Lift@F@down#").call("here");
  EXPECT_EQ(held("f"), "");
}

TEST(LockNames, ReadsUsrs) {
  EXPECT_EQ(qualifiedName("c:@N@std@S@mutex@F@lock#"), "std::mutex::lock");
  EXPECT_EQ(qualifiedName("c:@N@std@N@__1@S@mutex@F@lock#"),
            "std::mutex::lock");
  EXPECT_EQ(qualifiedName("c:@N@absl@N@lts_20240116@S@Mutex@F@Lock#"),
            "absl::Mutex::Lock");
  EXPECT_EQ(
      qualifiedName("c:@N@std@SP>1#T@scoped_lock>#p1t0.0@F@scoped_lock#&S0_#"),
      "std::scoped_lock::scoped_lock");
  EXPECT_EQ(qualifiedName("c:@N@std@FT@>3#T#T#pTlock#&t0.0#&t0.1#P&t0.2#v#"),
            "std::lock");
  EXPECT_EQ(qualifiedName("c:a.cpp@aN@F@hidden#"), "hidden");
  EXPECT_EQ(qualifiedName("c:@F@use#&$@S@Foo#"), "use");
  EXPECT_EQ(qualifiedName("mutex_lock"), "");
}

// ---- Models
// ------------------------------------------------------------------

std::string errorIn(const std::string &Model) {
  auto M = loadModelsFromText({{"m.yaml", "functions:\n- " + Model + "\n"}});
  return M ? "none" : llvm::toString(M.takeError());
}

TEST(LockModels, AreReadWithAllTheirKeys) {
  auto M = llvm::cantFail(loadModelsFromText(
      {{"m.yaml",
        "functions:\n"
        "- {name: a, lock: rwsem, acquires: 1, lock-mode: read,\n"
        "   lock-on: zero, lock-object: struct s.m, lock-rest: true,\n"
        "   lock-with: [irq, bh], lock-unless: tag_t}\n"
        "- {name: b, asserts: lock, asserts-arg: 2}\n"
        "- {name: c, returns-arg: 0}\n"
        "- {name: d, no-return: true}\n"}}));
  const FunctionModel *A = M.function("a");
  EXPECT_EQ(A->LockMode, FunctionModel::Read);
  EXPECT_EQ(A->LockOn, FunctionModel::Zero);
  EXPECT_EQ(A->LockObject, "struct s.m");
  EXPECT_TRUE(A->LockRest);
  EXPECT_EQ(A->LockWith, (std::vector<std::string>{"irq", "bh"}));
  EXPECT_EQ(A->LockUnless, (std::vector<std::string>{"tag_t"}));
  EXPECT_EQ(M.function("b")->AssertsArg, 2);
  EXPECT_EQ(M.function("c")->ReturnsArg, 0);
  EXPECT_TRUE(M.function("d")->NoReturn);
}

TEST(LockModels, SayWhatIsWrong) {
  EXPECT_EQ(errorIn("{name: a, lock: mutex, acquires: 0, lock-mode: writ}"),
            "m.yaml:2:50: expected a mode (exclusive, read, write), found "
            "'writ'");
  EXPECT_EQ(errorIn("{name: a, lock: mutex, acquires: 0, lock-on: never}"),
            "m.yaml:2:48: expected an outcome (always, nonzero, zero), found "
            "'never'");
  EXPECT_EQ(errorIn("{name: a, lock: mutex, releases: 0, lock-on: zero}"),
            "m.yaml:2:3: expected the key 'acquires' beside 'lock-mode', "
            "'lock-on', 'lock-rest' or 'lock-unless', found none");
  EXPECT_EQ(errorIn("{name: a, asserts-arg: 0}"),
            "m.yaml:2:3: expected the key 'asserts' beside 'asserts-arg', "
            "found none");
}

TEST(LockModels, OfTheKernelTellVariantsApart) {
  auto M = llvm::cantFail(loadModels());
  EXPECT_EQ(M.function("spin_trylock")->LockOn, FunctionModel::Nonzero);
  EXPECT_EQ(M.function("down_write_killable")->LockOn, FunctionModel::Zero);
  EXPECT_EQ(M.function("down_read")->LockMode, FunctionModel::Read);
  EXPECT_EQ(M.function("pthread_mutex_trylock")->LockOn, FunctionModel::Zero);
  EXPECT_EQ(M.function("std::mutex::lock")->Lock, "mutex");
  // The guard and the reference that it drops are one call.
  EXPECT_EQ(M.function("refcount_dec_and_lock")->Acquires, 1);
  EXPECT_EQ(M.function("refcount_dec_and_lock")->DropsRef, 0);
}

} // namespace
