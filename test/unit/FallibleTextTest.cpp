//===- FallibleTextTest.cpp - Stubs as text, and what calls touch -------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FallibleFixture.h"
#include "checks/hot-atomic-counter/StubText.h"
#include "checks/hot-atomic-counter/Touches.h"
#include "gmock/gmock.h"

using namespace decontend;
using testing::HasSubstr;

namespace {

TEST(FallibleText, PutsArgumentsIn) {
  EXPECT_EQ(withArgument("f(&ns->hits)", "ns", "&init"), "f(&init.hits)");
  EXPECT_EQ(withArgument("f(&ns->hits)", "ns", "x->ns"), "f(&x->ns->hits)");
  EXPECT_EQ(withArgument("f(ns, a->ns)", "ns", "to(b)"), "f((to(b)), a->ns)");
}

/// The text with the first mention of f changed, or the trouble.
std::string changed(llvm::StringRef Text) {
  std::string Code = codeOnly(Text);
  std::vector<uint32_t> At = mentionsOf(Code, "f");
  if (At.empty())
    return "no mention";
  Mention M = readMention("x.h", Text, Code, At[0], "f");
  if (!M.Trouble.empty())
    return M.Trouble;
  auto New = applyEdits("x.h", Text, M.ToInt);
  return New ? *New : llvm::toString(New.takeError());
}

TEST(FallibleText, StubsReturnZero) {
  EXPECT_EQ(changed("static inline void f(int x) {}\n"),
            "static inline int f(int x) { return 0; }\n");
  EXPECT_EQ(changed("static inline void f(int x)\n{\n}\n"),
            "static inline int f(int x)\n{\n\treturn 0;\n}\n");
  EXPECT_EQ(
      changed("static void f(int x)\n{\n  if (x)\n    return;\n  g();\n}"),
      "static int f(int x)\n{\n  if (x)\n    return 0;\n  g();\n"
      "  return 0;\n}");
  EXPECT_EQ(changed("static void f(void)\n{\n\tg();\n\treturn;\n}\n"),
            "static int f(void)\n{\n\tg();\n\treturn 0;\n}\n");
  EXPECT_EQ(changed("void f(void) { g(); }"), "int f(void) { g(); return 0; }");
}

TEST(FallibleText, PrototypesAndMacros) {
  EXPECT_EQ(changed("/* f */ extern void f(void *p) __cold;\n"),
            "/* f */ extern int f(void *p) __cold;\n");
  EXPECT_EQ(changed("#define f(a, b)\n"),
            "#define f(a, b) ((void)(a), (void)(b), 0)\n");
  EXPECT_EQ(changed("#define f() do { } \\\n\twhile (0)\n"),
            "#define f() (0)\n");
  EXPECT_EQ(changed("#define f g\n"),
            "a macro gives the name to something else");
  EXPECT_EQ(changed("#define g(x) \\\n\tf(x)\n"),
            "the body of a macro uses it");
  EXPECT_EQ(changed("void g(void)\n{\n\tf(1);\n}\n"),
            "text that is not compiled here uses it");
  EXPECT_EQ(changed("void g(void)\n{\n\treturn f(1);\n}\n"),
            "text that is not compiled here uses it");
  EXPECT_EQ(changed("void f(void)\n{\n#if X\n#endif\n}\n"),
            "its body depends on the configuration");
  EXPECT_EQ(changed("EXPORT_SYMBOL(f);\n"), "EXPORT_SYMBOL(f);\n");
  EXPECT_EQ(changed("char *s = \"f\"; // f\n"), "no mention");
}

TEST(FallibleTouches, PathsOfOnePart) {
  EXPECT_EQ(canonicalPath("&ns->ids[1]"), "ns->ids[1]");
  EXPECT_EQ(canonicalPath("(*p).x"), "p->x");
  EXPECT_TRUE(samePart("ns->ids[1].in_use", "ns->ids[1]"));
  EXPECT_TRUE(samePart("ns->ids[i]", "ns->ids[1].seq"));
  EXPECT_FALSE(samePart("ns->ids[0]", "ns->ids[1]"));
  EXPECT_FALSE(samePart("ns->id", "ns->ids"));
  EXPECT_TRUE(sameRoot("ns->a", "ns->b"));
  EXPECT_FALSE(sameRoot("ns->a", "ms->a"));
}

/// Through a local variable, a callee's parameter and an element of an array.
TEST_F(FallibleTest, TouchesThroughCalls) {
  unit("a.c", all({"static void reset(struct bar *b)\n"
                   "{\n"
                   "\tb->open = 0;\n"
                   "}\n"
                   "void one(struct foo *f)\n"
                   "{\n"
                   "\tstruct bar *b = &f->more[0];\n"
                   "\treset(b);\n"
                   "}\n"
                   "void two(struct foo *f)\n"
                   "{\n"
                   "\treset(&f->more[1]);\n"
                   "\tf->limit = 1;\n"
                   "}\n"
                   "void both(struct foo *x)\n"
                   "{\n"
                   "\tone(x);\n"
                   "\ttwo(x);\n"
                   "\treset(&x->more[0]);\n"
                   "}\n"}));
  P.link();
  NodeId Both = P.find(P.find("both"));
  TouchFinder Finder(P);
  Touches One = Finder.ofCall(Both, 0), Two = Finder.ofCall(Both, 1),
          Three = Finder.ofCall(Both, 2);
  ASSERT_EQ(One.All.size(), 1u);
  EXPECT_EQ(One.All[0].Path, "x->more[0].open");
  EXPECT_TRUE(One.All[0].Writes);
  EXPECT_EQ(Two.All.size(), 2u);
  EXPECT_FALSE(clash(One, Two));
  EXPECT_TRUE(clash(One, Three));
  EXPECT_TRUE(One.Complete && !One.Allocates && !One.Bodiless);
}

} // namespace
