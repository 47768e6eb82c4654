//===- ExtractTest.cpp - Bodies as events ---------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractFixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace decontend;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

//===--- Events and spans -------------------------------------------------===//

TEST_F(ExtractTest, SpansShowTheStatement) {
  facts("void g(int);\n"
        "int f(int *p) {\n"
        "  int n = *p;\n"
        "  g(n) ;\n"
        "  *p = 3;\n"
        "  if (n) { g(1); }\n"
        "  for (;;) g(2);\n"
        "  return n + 1;\n"
        "}\n");
  const FunctionFacts &F = function("f");
  EXPECT_TRUE(text(F.Whole).starts_with("int f(int *p) {"));
  EXPECT_TRUE(text(F.Body).starts_with("{\n  int n"));
  EXPECT_TRUE(text(F.Body).ends_with("}"));
  std::vector<std::string> Texts;
  for (const Event &E : F.Events)
    if (!E.Text.empty())
      Texts.push_back(text(E.Text).str());
  EXPECT_THAT(Texts, ElementsAre("int n = *p;", "g(n) ;", "*p = 3;",
                                 "if (n) { g(1); }", "g(1);", "for (;;) g(2);",
                                 "g(2);", "return n + 1;"));
  EXPECT_EQ(F.Where.Line, 2u);
  EXPECT_EQ(F.EndLine, 9u);
}

TEST_F(ExtractTest, BlocksAreBrackets) {
  facts("int g(void);\n"
        "void f(int n) {\n"
        "  if (g() > n) g(); else g();\n"
        "  switch (n) { case 1: g(); break; default: break; }\n"
        "again:\n"
        "  while (n--) continue;\n"
        "  goto again;\n"
        "}\n");
  using K = EventKind;
  EXPECT_THAT(kinds("f"),
              ElementsAre(K::Call, K::Branch, K::Call, K::End, K::Else, K::Call,
                          K::End, K::Switch, K::Case, K::Call, K::Break,
                          K::Case, K::Break, K::End, K::Label, K::Loop,
                          K::Continue, K::End, K::Goto));
  const FunctionFacts &F = function("f");
  EXPECT_TRUE(F.Events[0].is(Event::InCondition | Event::ResultUsed));
  for (uint32_t I = 0; I < F.Events.size(); ++I)
    if (F.Events[I].Kind == K::End)
      EXPECT_EQ(F.Events[F.Events[I].Link].Link, I);
}

TEST_F(ExtractTest, MacrosAreNamed) {
  facts("void g(int);\n"
        "#define INNER(x) g(x)\n"
        "#define OUTER(x) INNER((x) + 1)\n"
        "#define PASS(x) x\n"
        "void f(int n) {\n"
        "  OUTER(n);\n"
        "  PASS(g(n));\n"
        "  g(n);\n"
        "}\n");
  const FunctionFacts &F = function("f");
  ASSERT_EQ(F.Events.size(), 3u);
  EXPECT_EQ(str(F.Events[0].Macro), "OUTER");
  EXPECT_TRUE(F.Events[0].is(Event::FromMacro));
  EXPECT_EQ(F.Events[0].Line, 6u);
  EXPECT_EQ(str(F.Events[1].Macro), "") << "spelled by the argument";
  EXPECT_EQ(F.Events[2].Macro, Sym::None);
}

TEST_F(ExtractTest, AMacrosBodyCannotBeEdited) {
  facts("void g(int);\n"
        "#define TWICE(x) do { g(x); g(x); } while (0)\n"
        "void f(int n) { TWICE(n); }\n");
  const FunctionFacts &F = function("f");
  ASSERT_EQ(F.Events.size(), 2u) << "no loop";
  EXPECT_TRUE(F.Events[0].Text.empty());
  EXPECT_EQ(str(F.Events[1].Macro), "TWICE");
}

TEST_F(ExtractTest, LoopsSayWhatMadeThem) {
  facts("struct n { struct n *next; };\n"
        "void g(struct n *);\n"
        "#define each(p, h) for (p = h; p; p = p->next)\n"
        "#define wait_until(c) while (!(c)) {}\n"
        "void f(struct n *h) {\n"
        "  struct n *p;\n"
        "  each(p, h) { g(p); }\n"
        "  for (;;) { g(h); break; }\n"
        "  while (1) { break; }\n"
        "  do { g(h); } while (0);\n"
        "  do { g(h); } while (h->next);\n"
        "  wait_until(h->next);\n"
        "}\n");
  std::vector<std::string> Loops;
  for (const Event &E : function("f").Events)
    if (E.Kind == EventKind::Loop)
      Loops.push_back(str(E.Callee).str() +
                      (E.is(Event::OwnBody) ? " own" : "") +
                      (E.is(Event::Endless) ? " endless" : ""));
  EXPECT_THAT(Loops, ElementsAre("each own", "for own endless",
                                 "while own endless", "do own", "wait_until"));
}

TEST_F(ExtractTest, ConstantConditionsAreDecided) {
  facts("void on(void); void off(void); void g(int);\n"
        "#define ENABLED 1\n"
        "void f(int n) {\n"
        "  if (ENABLED) on(); else off();\n"
        "  if (0) off();\n"
        "  g(ENABLED ? 1 : (off(), 2));\n"
        "  if (sizeof(n) == 4) on();\n"
        "}\n");
  EXPECT_THAT(calls("f"), ElementsAre("on", "g", "on"));
}

TEST_F(ExtractTest, TestsAreClassified) {
  facts("typedef _Bool bool;\n"
        "bool IS_ERR(const void *p);\n"
        "int g(void); int state;\n"
        "#define unlikely(x) __builtin_expect(!!(x), 0)\n"
        "void f(char *p, int n) {\n"
        "  int ret = g();\n"
        "  if (p) g();\n"
        "  if (!p) g();\n"
        "  if (p == 0) g();\n"
        "  if (ret) g();\n"
        "  if (ret < 0) g();\n"
        "  if (!ret) g();\n"
        "  if (IS_ERR(p)) g();\n"
        "  if (!IS_ERR(p)) g();\n"
        "  if (unlikely(n > 3)) g();\n"
        "  if (state) g();\n"
        "  if (n) g();\n"
        "}\n");
  std::vector<std::string> Seen;
  for (const Event &E : function("f").Events)
    if (E.Kind == EventKind::Branch)
      Seen.push_back(std::string(E.is(Event::NullTest) ? "null " : "") +
                     (E.is(Event::ErrorTest) ? "error " : "") +
                     (E.is(Event::Negated) ? "negated " : "") +
                     (E.is(Event::Unlikely) ? "unlikely " : ""));
  EXPECT_THAT(Seen, ElementsAre("null ", "null negated ", "null negated ",
                                "error ", "error ", "negated ", "error ",
                                "error negated ", "unlikely ", "", ""));
}

//===--- Comments -------------------------------------------------------===//

TEST_F(ExtractTest, CommentsAtAWaitAreKept) {
  facts("void synchronize_rcu(void); void g(void);\n"
        "void above(void) {\n"
        "  g();\n"
        "  /* Readers may\n"
        "   * still look. */\n"
        "  synchronize_rcu();\n"
        "}\n"
        "void beside(void) {\n"
        "  synchronize_rcu(); // let them go\n"
        "}\n"
        "void lines(void) {\n"
        "  // one\n"
        "  // two\n"
        "  synchronize_rcu();\n"
        "}\n"
        "void elsewhere(void) {\n"
        "  g(); /* of g */\n"
        "  synchronize_rcu();\n"
        "  /* behind */\n"
        "}\n"
        "void other(void) {\n"
        "  /* not a wait */\n"
        "  g();\n"
        "}\n");
  auto Comment = [&](llvm::StringRef Name) {
    for (const Event &E : function(Name).Events)
      if (E.Kind == EventKind::Call && str(E.Callee) == "synchronize_rcu")
        return str(E.Comment).str();
    return str(function(Name).Events[0].Comment).str();
  };
  EXPECT_THAT(Comment("above"), HasSubstr("Readers may"));
  EXPECT_THAT(Comment("above"), HasSubstr("still look."));
  EXPECT_EQ(Comment("beside"), "// let them go");
  EXPECT_EQ(Comment("lines"), "// one // two");
  EXPECT_EQ(Comment("elsewhere"), "");
  EXPECT_EQ(Comment("other"), "") << "only of waits";
}

//===--- Access paths ---------------------------------------------------===//

TEST_F(ExtractTest, AccessPaths) {
  facts("struct list { struct list *next; };\n"
        "struct foo { struct list list; struct foo *peer; int arr[4]; };\n"
        "extern struct foo global_foo;\n"
        "void g(void *);\n"
        "void f(struct foo *p, int i) {\n"
        "  struct foo here;\n"
        "  g(&p->list);\n"
        "  g(p->peer->list.next);\n"
        "  g(&global_foo);\n"
        "  g(&here.list);\n"
        "  g(&p->arr[i]);\n"
        "  g((void *)0);\n"
        "  g(f);\n"
        "  g(*&p);\n"
        "}\n");
  const FunctionFacts &F = function("f");
  std::vector<Expr> X;
  for (const Event &E : F.Events)
    if (E.Kind == EventKind::Call)
      X.push_back(F.exprs(E)[0]);
  ASSERT_EQ(X.size(), 8u);
  EXPECT_EQ(X[0].Root, RootKind::Param);
  EXPECT_EQ(X[0].Index, 0);
  EXPECT_EQ(str(X[0].Text), "&p->list");
  EXPECT_EQ(str(X[0].Field), "struct foo.list");
  EXPECT_EQ(str(X[0].Record), "struct list");
  EXPECT_TRUE(X[0].Flags & Expr::AddressOf);
  EXPECT_EQ(str(X[1].Text), "p->peer->list.next");
  EXPECT_EQ(str(X[1].Field), "struct list.next");
  EXPECT_EQ(str(X[1].Base), "p");
  EXPECT_EQ(X[2].Root, RootKind::Global);
  EXPECT_EQ(str(X[2].Base), "global_foo");
  EXPECT_EQ(X[3].Root, RootKind::Local);
  EXPECT_EQ(str(X[3].Text), "&here.list");
  EXPECT_TRUE(X[4].Flags & Expr::Indexed);
  EXPECT_EQ(X[5].Root, RootKind::Null);
  EXPECT_EQ(X[6].Root, RootKind::Function);
  EXPECT_EQ(str(X[6].Base), "f");
  EXPECT_EQ(str(X[7].Text), "p");
}

TEST_F(ExtractTest, MacrosOfAccessAreSeenThrough) {
  facts("#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))\n"
        "#define rcu_dereference(p) \\\n"
        "  ({ __typeof__(p) __v = READ_ONCE(p); __v; })\n"
        "#define container_of(ptr, type, member) \\\n"
        "  ({ void *__m = (void *)(ptr); \\\n"
        "     (type *)(__m - __builtin_offsetof(type, member)); })\n"
        "struct work { int pending; };\n"
        "struct foo { struct foo *peer; struct work work; };\n"
        "void g(void *);\n"
        "void f(struct foo *p, struct work *w) {\n"
        "  g(READ_ONCE(p->peer));\n"
        "  g(rcu_dereference(p->peer));\n"
        "  g(container_of(w, struct foo, work));\n"
        "}\n");
  const FunctionFacts &F = function("f");
  std::vector<Expr> X;
  for (const Event &E : F.Events)
    if (E.Kind == EventKind::Call)
      X.push_back(F.exprs(E)[0]);
  ASSERT_EQ(X.size(), 3u);
  for (unsigned I : {0, 1}) {
    EXPECT_EQ(str(X[I].Field), "struct foo.peer") << I;
    EXPECT_EQ(str(X[I].Base), "p") << I;
    EXPECT_EQ(str(X[I].Record), "struct foo") << I;
  }
  EXPECT_EQ(str(X[2].Base), "w");
  EXPECT_EQ(str(X[2].Record), "struct foo");
  EXPECT_EQ(str(X[2].Text), "container_of(w)");
}

} // namespace
