//===- ExtractTest.cpp - From source text to facts ------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/extract/Extract.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace decontend;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

class ExtractTest : public testing::Test {
protected:
  ExtractTest() : Known(llvm::cantFail(loadModels())) {
    llvm::SmallString<128> Dir;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("extract-test", Dir));
    llvm::SmallString<128> Real;
    EXPECT_FALSE(llvm::sys::fs::real_path(Dir, Real));
    Root = std::string(Real);
  }
  ~ExtractTest() override { llvm::sys::fs::remove_directories(Root); }

  void write(llvm::StringRef Name, llvm::StringRef Text) {
    std::string Path = Root + "/" + Name.str();
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path));
    std::error_code EC;
    llvm::raw_fd_ostream OS(Path, EC);
    ASSERT_FALSE(EC) << Path;
    OS << Text;
  }

  ExtractResult extract(llvm::StringRef Name, llvm::StringRef Text,
                        std::vector<std::string> Flags = {},
                        const KnownBodies *Skip = nullptr) {
    write(Name, Text);
    Source = Text.str();
    UnitPaths Paths(Root, Root + "/build");
    ExtractOptions O;
    O.Knowledge = &Known;
    O.Paths = &Paths;
    O.Known = Skip;
    CompileCommand C{Root, Root + "/" + Name.str(), {"cc"}};
    C.Arguments.insert(C.Arguments.end(), Flags.begin(), Flags.end());
    C.Arguments.push_back("-c");
    C.Arguments.push_back(Name.str());
    return extractUnit(C, O);
  }

  /// Facts of `a.c`; fails the test if it does not parse.
  void facts(llvm::StringRef Text, llvm::StringRef Name = "a.c") {
    ExtractResult R = extract(Name, Text);
    ASSERT_TRUE(R.Ok) << R.Reason;
    Facts = std::move(R.Facts);
  }

  llvm::StringRef str(Sym S) const { return Facts.str(S); }
  llvm::StringRef text(Span S) const {
    return llvm::StringRef(Source).slice(S.Begin, S.End);
  }
  const FunctionFacts &function(llvm::StringRef Name) const {
    for (const FunctionFacts &F : Facts.Functions)
      if (str(F.Name) == Name)
        return F;
    static const FunctionFacts None;
    ADD_FAILURE() << "no function " << Name.str();
    return None;
  }
  /// The first call of \p Callee in the first function.
  const Event &call(llvm::StringRef Callee) const {
    for (const FunctionFacts &F : Facts.Functions)
      for (const Event &E : F.Events)
        if (E.Kind == EventKind::Call && str(E.Callee) == Callee)
          return E;
    static const Event None;
    ADD_FAILURE() << "no call of " << Callee.str();
    return None;
  }
  std::vector<std::string> calls(llvm::StringRef Function) const {
    std::vector<std::string> Out;
    for (const Event &E : function(Function).Events)
      if (E.Kind == EventKind::Call)
        Out.push_back(str(E.Callee).str());
    return Out;
  }
  std::vector<EventKind> kinds(llvm::StringRef Function) const {
    std::vector<EventKind> Out;
    for (const Event &E : function(Function).Events)
      Out.push_back(E.Kind);
    return Out;
  }

  Models Known;
  std::string Root, Source;
  UnitFacts Facts;
};

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

//===--- Comments
//-----------------------------------------------------------===//

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

//===--- Access paths
//---------------------------------------------------------===//

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

//===--- Names
//---------------------------------------------------------------===//

TEST_F(ExtractTest, StaticFunctionsAreKeyedByFile) {
  write("h.h", "static inline void in_header(void) {}\n");
  facts("#include \"h.h\"\n"
        "static void mine(void) {}\n"
        "void shared(void) { mine(); in_header(); }\n");
  EXPECT_EQ(str(function("mine").Key), "mine@a.c");
  EXPECT_EQ(str(function("shared").Key), "shared");
  EXPECT_EQ(str(function("in_header").Key), "in_header@h.h");
  EXPECT_TRUE(function("in_header").is(FunctionFacts::InHeader));
  EXPECT_TRUE(function("mine").is(FunctionFacts::Static));
  EXPECT_THAT(calls("shared"), ElementsAre("mine@a.c", "in_header@h.h"));
}

TEST_F(ExtractTest, CxxFunctionsAreKeyedByUsr) {
  ExtractResult R =
      extract("a.cpp", "namespace n { struct S { void m() const; };\n"
                       "void S::m() const {}\n"
                       "void over(int) {} void over(char) {} }\n"
                       "extern \"C\" void plain() {}\n");
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Keys;
  for (const FunctionFacts &F : R.Facts.Functions)
    Keys.push_back(R.Facts.str(F.Key).str());
  ASSERT_EQ(Keys.size(), 4u);
  EXPECT_THAT(Keys, Contains("plain"));
  EXPECT_THAT(Keys, Contains(HasSubstr("@S@S@F@m#1")));
  EXPECT_NE(Keys[1], Keys[2]) << "overloads stay apart";
}

TEST_F(ExtractTest, SlotsAreFilledByInitialisersAndAssignments) {
  facts("struct inode; struct file;\n"
        "struct ops { int (*a)(void); int (*b)(void); };\n"
        "struct both { struct ops ops; int (*c)(void); };\n"
        "static int one(void) { return 1; }\n"
        "static int two(void) { return 2; }\n"
        "const struct ops table = {.b = one};\n"
        "static const struct both nested = {{one, &two}, two};\n"
        "int (*hook)(void);\n"
        "void set(struct ops *o) {\n"
        "  o->a = two;\n"
        "  hook = one;\n"
        "  o->b();\n"
        "  hook();\n"
        "}\n");
  std::vector<std::string> Fills;
  for (const SlotFill &S : Facts.Slots)
    Fills.push_back((str(S.Slot) + "=" + str(S.Function) + " of " +
                     str(S.Object) + " in " + str(S.Within))
                        .str());
  EXPECT_THAT(Fills, ElementsAre("struct ops.b=one@a.c of table in ",
                                 "struct ops.a=one@a.c of nested@a.c in ",
                                 "struct ops.b=two@a.c of nested@a.c in ",
                                 "struct both.c=two@a.c of nested@a.c in ",
                                 "struct ops.a=two@a.c of  in set",
                                 "hook=one@a.c of  in set"));
  EXPECT_EQ(call("struct ops.b").Via, CallVia::Slot);
  EXPECT_EQ(call("hook").Via, CallVia::Slot);
}

TEST_F(ExtractTest, MarkersStandInTheMainFile) {
  write("h.h", "#define module_exit(f) extern int __e_##f\n"
               "#define EXPORT_SYMBOL(f) extern int __x_##f\n"
               "#define OTHER(f) extern int __o_##f\n"
               "EXPORT_SYMBOL(in_header);\n");
  facts("#include \"h.h\"\n"
        "void leave(void) {}\n"
        "module_exit( leave );\n"
        "OTHER(leave);\n"
        "  EXPORT_SYMBOL(leave);\n");
  ASSERT_EQ(Facts.Markers.size(), 2u);
  EXPECT_EQ(str(Facts.Markers[0].Macro), "module_exit");
  EXPECT_EQ(str(Facts.Markers[0].Argument), "leave");
  EXPECT_EQ(Facts.Markers[0].Where.Line, 3u);
  EXPECT_EQ(Facts.Markers[1].Where.Column, 3u);
  EXPECT_EQ(str(Facts.Markers[1].Where.File), "a.c");
}

//===--- Records
//----------------------------------------------------------------===//

TEST_F(ExtractTest, RecordsAndTheirMembers) {
  facts("struct rcu_head { void *p; };\n"
        "struct foo {\n"
        "  int a, *b;\n"
        "  union { int c; struct rcu_head rcu; };\n"
        "  unsigned bits : 3;\n"
        "  char name[4];\n"
        "  long tail[];\n"
        "} __attribute__((packed));\n"
        "union u { int i; };\n"
        "struct outer { struct inner { int x; } in; };\n"
        "struct declared;\n"
        "#define MAKE(n) struct n { int x; }\n"
        "MAKE(made);\n");
  auto Record = [&](llvm::StringRef Key) -> const RecordFacts * {
    for (const RecordFacts &R : Facts.Records)
      if (str(R.Key) == Key)
        return &R;
    return nullptr;
  };
  const RecordFacts *Foo = Record("struct foo");
  ASSERT_TRUE(Foo);
  std::vector<std::string> Names;
  for (const FieldFacts &F : Foo->Fields)
    Names.push_back(str(F.Name).str());
  EXPECT_THAT(Names, ElementsAre("a", "b", "c", "rcu", "bits", "name", "tail"));
  EXPECT_TRUE(Foo->Flags & RecordFacts::Packed);
  EXPECT_TRUE(text(Foo->Braces).starts_with("{\n  int a"));
  EXPECT_EQ(Foo->Fields[1].Flags, FieldFacts::Pointer);
  EXPECT_EQ(str(Foo->Fields[3].Record), "struct rcu_head");
  EXPECT_EQ(Foo->Fields[4].Flags, FieldFacts::BitField);
  EXPECT_EQ(text(Foo->Fields[4].Text), "unsigned bits : 3;");
  EXPECT_EQ(Foo->Fields[5].Flags, FieldFacts::Array);
  EXPECT_EQ(Foo->Fields[6].Flags, FieldFacts::Array | FieldFacts::Flexible);
  ASSERT_TRUE(Record("union u"));
  EXPECT_TRUE(Record("union u")->Flags & RecordFacts::Union);
  EXPECT_TRUE(Record("struct inner"));
  EXPECT_FALSE(Record("struct declared"));
  ASSERT_TRUE(Record("struct made"));
  EXPECT_TRUE(Record("struct made")->Braces.empty());
}

//===--- Skipped bodies
//----------------------------------------------------------===//

TEST_F(ExtractTest, KnownBodiesAreSkipped) {
  write("h.h", "static inline int given(int x) { return x; }\n"
               "static inline int fresh(int x) { return given(x); }\n"
               "struct old { int x; };\n");
  KnownBodies Skip;
  Skip.add("h.h", KnownBodies::id("given", 1));
  Skip.add("h.h", KnownBodies::id("struct old", 3));
  ExtractResult R =
      extract("a.c", "#include \"h.h\"\nint f(int x) { return fresh(x); }\n",
              {}, &Skip);
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Names;
  for (const FunctionFacts &F : R.Facts.Functions)
    Names.push_back(R.Facts.str(F.Name).str());
  EXPECT_THAT(Names, ElementsAre("fresh", "f"));
  EXPECT_THAT(R.Facts.Records, IsEmpty());
}

//===--- Failures
//------------------------------------------------------------------===//

TEST_F(ExtractTest, TheFirstErrorIsTheReason) {
  ExtractResult R =
      extract("a.c", "int f(void) {\n  return x;\n}\nint g(void) { y; }\n");
  EXPECT_FALSE(R.Ok);
  EXPECT_EQ(R.Reason, "a.c:2: use of undeclared identifier 'x'");
  EXPECT_THAT(R.Facts.Functions, IsEmpty());
}

TEST_F(ExtractTest, WarningsAreNoErrors) {
  // Nor are those that Clang, unlike GCC 12, takes for errors.
  ExtractResult R = extract("a.c",
                            "int f(void) { int unused; return \"x\"; }\n"
                            "int g(void) { return undeclared(); }\n"
                            "int *h(long *p) { return p; }\n"
                            "k(void) { return 0; }\n",
                            {"-Wall", "-Werror", "-pedantic-errors"});
  EXPECT_TRUE(R.Ok) << R.Reason;
}

TEST_F(ExtractTest, AMissingHeaderIsNamed) {
  ExtractResult R = extract("a.c", "\n#include \"gen/made.h\"\n");
  EXPECT_EQ(R.Reason, "a.c:2: 'gen/made.h' file not found");
}

TEST_F(ExtractTest, FilesAreListedOnceInOrder) {
  write("one.h", "#pragma once\n");
  write("two.h", "#include \"one.h\"\n");
  write("build/gen.h", "\n");
  ExtractResult R =
      extract("a.c", "#include \"two.h\"\n#include \"one.h\"\n"
                     "#include \"build/gen.h\"\n#include \"two.h\"\n");
  ASSERT_TRUE(R.Ok) << R.Reason;
  std::vector<std::string> Files;
  for (const Dependency &D : R.Facts.Files)
    Files.push_back(R.Facts.str(D.Path).str());
  EXPECT_THAT(Files, ElementsAre("a.c", "two.h", "one.h", "build/gen.h"));
}

//===--- Compile commands
//------------------------------------------------------------===//

std::vector<std::string> normalised(std::vector<std::string> Arguments,
                                    std::string Directory = "/") {
  return normalisedArguments(
      {std::move(Directory), "/src/a.c", std::move(Arguments)});
}

TEST(CompileCommands, OutputsWarningsAndGccsOwnAreDropped) {
  std::vector<std::string> A = normalised({"gcc",
                                           "-Iinc",
                                           "-D",
                                           "X=1",
                                           "-O2",
                                           "-g",
                                           "-Wall",
                                           "-Werror",
                                           "-c",
                                           "-o",
                                           "a.o",
                                           "-MD",
                                           "-MF",
                                           "a.d",
                                           "-Wp,-MMD,a.d,-DFROM_WP",
                                           "-fconserve-stack",
                                           "-fno-var-tracking-assignments",
                                           "-mrecord-mcount",
                                           "-pg",
                                           "-fplugin=x.so",
                                           "-std=gnu11",
                                           "a.c"});
  EXPECT_EQ(A[0], "clang");
  EXPECT_EQ(A.back(), "/src/a.c");
  EXPECT_THAT(A, Contains("inc"));
  EXPECT_THAT(A, Contains("-std=gnu11"));
  EXPECT_THAT(A, Contains("-DFROM_WP"));
  EXPECT_THAT(A, Contains("-fsyntax-only"));
  for (const char *Gone :
       {"-c", "-o", "a.o", "-MD", "-MF", "a.d", "-Wall", "-Werror", "-g",
        "-fconserve-stack", "-fno-var-tracking-assignments", "-mrecord-mcount",
        "-pg", "-fplugin=x.so", "a.c"})
    EXPECT_THAT(A, Not(Contains(Gone))) << Gone;
}

TEST(CompileCommands, LaunchersAndCompilersByName) {
  EXPECT_EQ(normalised({"ccache", "g++-12", "-c", "a.cpp"})[0], "clang++");
  EXPECT_EQ(normalised({"distcc", "ccache", "cc", "-c", "a.c"})[0], "clang");
  EXPECT_EQ(normalised({"/usr/bin/aarch64-linux-gnu-gcc", "-c", "a.c"})[0],
            "clang");
}

TEST(CompileCommands, TheRootIsTheCommonFolder) {
  auto Root = [](std::vector<std::string> Files) {
    std::vector<CompileCommand> C;
    for (std::string &F : Files)
      C.push_back({"/", F, {"cc"}});
    return guessRoot(C, "/p/build");
  };
  EXPECT_EQ(Root({"/p/src/a.c", "/p/src/b.c"}), "/p/src");
  EXPECT_EQ(Root({"/p/src/a/x.c", "/p/src/ab/y.c"}), "/p/src");
  EXPECT_EQ(Root({"/p/src/a.c", "/p/build/made.c"}), "/p/src")
      << "what the build makes does not count";
  EXPECT_EQ(Root({"/p/build/made.c"}), "/p/build");
  EXPECT_EQ(Root({"/p/a.c", "/q/b.c"}), "/");
}

TEST_F(ExtractTest, TheRootIsTheGitFolderAbove) {
  llvm::sys::fs::create_directories(Root + "/.git");
  llvm::sys::fs::create_directories(Root + "/deep/er");
  std::vector<CompileCommand> C = {{"/", Root + "/deep/er/a.c", {"cc"}}};
  EXPECT_EQ(guessRoot(C, Root + "/build"), Root);
}

TEST_F(ExtractTest, ResponseFilesAreRelativeToTheirFolder) {
  write("sub/flags", "-DFROM_FILE \"-I has space\"");
  std::vector<std::string> A =
      normalised({"cc", "@flags", "-c", "a.c"}, Root + "/sub");
  EXPECT_THAT(A, Contains("FROM_FILE"));
  EXPECT_THAT(A, Contains(" has space"));
}

TEST(UnitPaths, PureAndBack) {
  UnitPaths P("/p", "/p/out/x");
  EXPECT_EQ(P.pure("a.c", "/p/src"), "src/a.c");
  EXPECT_EQ(P.pure("../inc/./b.h", "/p/src"), "inc/b.h");
  EXPECT_EQ(P.pure("/usr/include/c.h", "/p"), "/usr/include/c.h");
  EXPECT_EQ(P.pure("/pq/d.c", "/"), "/pq/d.c");
  EXPECT_EQ(P.absolute("src/a.c"), "/p/src/a.c");
  EXPECT_EQ(P.absolute("/usr/include/c.h"), "/usr/include/c.h");
  UnitPaths Beside("/p", "/b");
  EXPECT_EQ(Beside.pure("/b/gen.h", "/"), "$build/gen.h");
  EXPECT_EQ(Beside.absolute("$build/gen.h"), "/b/gen.h");
}

} // namespace
