//===- AccessesTest.cpp - Every mention of a field or variable ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractFixture.h"

using namespace decontend;

namespace {

class AccessesTest : public ExtractTest {
protected:
  /// "kind text" of each access of the function, in order.
  std::vector<std::string> accesses(llvm::StringRef Function) {
    std::vector<std::string> Out;
    const FunctionFacts &F = function(Function);
    constexpr const char *Kinds[] = {"read", "write", "update", "argument",
                                     "escape"};
    for (const Access &A : F.Accesses)
      Out.push_back(std::string(Kinds[static_cast<int>(A.Kind)]) + " " +
                    str(F.Exprs[A.Path].Text).str());
    return Out;
  }
  using Texts = std::vector<std::string>;
};

} // namespace

TEST_F(AccessesTest, TheOutermostMemberIsUsed) {
  facts("struct b { int c; }; struct a { struct b b; struct a *next; };\n"
        "void f(struct a *a) { a->b.c = 1; a->next->b.c++; }\n");
  EXPECT_EQ(accesses("f"),
            (Texts{"write a->b.c", "update a->next->b.c", "read a->next"}));
}

TEST_F(AccessesTest, ArgumentsByAddressKnowTheirCall) {
  facts("typedef struct { int counter; } atomic_t; struct a { atomic_t n; };\n"
        "void inc(atomic_t *v); int get(const atomic_t *v);\n"
        "int f(struct a *a) { inc(&a->n); if (get(&a->n) > 3) return 1;\n"
        "  return 0; }\n");
  const FunctionFacts &F = function("f");
  ASSERT_EQ(F.Accesses.size(), 2u);
  for (const Access &A : F.Accesses) {
    EXPECT_EQ(A.Kind, AccessKind::Argument);
    EXPECT_EQ(A.Argument, 0);
    EXPECT_EQ(F.Events[A.At].Kind, EventKind::Call);
  }
  // The condition takes the value of the second call.
  const Event &Get = F.Events[F.Accesses[1].At];
  EXPECT_EQ(F.Events[Get.Link].Kind, EventKind::Branch);
}

TEST_F(AccessesTest, WhatGoesElsewhereEscapes) {
  facts("struct a { int n; int m[2]; }; int *kept;\n"
        "int *f(struct a *a) { kept = &a->n; return a->m; }\n");
  EXPECT_EQ(accesses("f"), (Texts{"escape a->n", "write kept", "escape a->m"}));
}

TEST_F(AccessesTest, ReadOnceIsARead) {
  facts("#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))\n"
        "struct a { int n; };\n"
        "int f(struct a *a) { return READ_ONCE(a->n); }\n");
  EXPECT_EQ(accesses("f"), (Texts{"read a->n"}));
}

TEST_F(AccessesTest, TheStackIsNobodyElses) {
  facts("struct a { int n; };\n"
        "int f(void) { struct a a; a.n = 1; return a.n; }\n");
  EXPECT_EQ(accesses("f"), Texts{});
}

TEST_F(AccessesTest, BuiltinsAreCalls) {
  facts("unsigned long hits;\n"
        "void f(void) { __atomic_fetch_add(&hits, 2, 0); }\n");
  const FunctionFacts &F = function("f");
  ASSERT_EQ(F.Accesses.size(), 1u);
  const Event &E = F.Events[F.Accesses[0].At];
  EXPECT_EQ(str(E.Callee), "__atomic_fetch_add");
  EXPECT_FALSE(E.is(Event::ResultUsed));
}

TEST_F(AccessesTest, LeftOutTextHasItsWords) {
  facts("int n;\n#ifdef MISSING\nint g(void) { return n; }\n#endif\n");
  ASSERT_EQ(Facts.Inactive.size(), 1u);
  bool Seen = false;
  for (Sym S : Facts.Inactive[0].Words)
    Seen |= str(S) == "n";
  EXPECT_TRUE(Seen);
}

TEST_F(AccessesTest, InitialisersKeepAddressesAndOffsets) {
  facts("struct a { int n; }; int hits;\n"
        "struct row { void *data; unsigned long at; };\n"
        "struct row rows[] = {{&hits, __builtin_offsetof(struct a, n)}};\n");
  ASSERT_EQ(Facts.Inits.size(), 2u);
  EXPECT_EQ(str(Facts.Inits[0].Value), "hits");
  EXPECT_EQ(str(Facts.Inits[1].Value), "struct a.n");
}

TEST_F(AccessesTest, DefaultInitialisersOfMembersCount) {
  ExtractResult R =
      extract("a.cpp", "struct s { long hits = 0; long *list = &hits; };\n"
                       "s one;\n");
  ASSERT_TRUE(R.Ok) << R.Reason;
  ASSERT_EQ(R.Facts.Inits.size(), 1u);
  EXPECT_EQ(R.Facts.str(R.Facts.Inits[0].Value), "s.hits");
}

TEST_F(AccessesTest, PrototypesAreDeclarations) {
  facts("void f(int x);\nextern int total;\n");
  ASSERT_EQ(Facts.Decls.size(), 2u);
  EXPECT_EQ(text(Facts.Decls[0].Text), "void f(int x);");
  EXPECT_TRUE(Facts.Decls[0].Function);
  EXPECT_EQ(str(Facts.Decls[1].Name), "total");
}
