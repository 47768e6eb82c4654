//===- FallibleFixture.h - Initialisers in small programs -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   units --> facts --> Program --> [makeFallible] --> after("a.c") or refusal
//
// Every call of set() on a member of `struct foo` in the initialiser becomes a
// call of count_init(), which count_destroy() undoes.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TEST_UNIT_FALLIBLEFIXTURE_H
#define DECONTEND_TEST_UNIT_FALLIBLEFIXTURE_H

#include "ExtractFixture.h"
#include "analysis/facts/Codec.h"
#include "checks/hot-atomic-counter/Fallible.h"
#include <deque>
#include <optional>

namespace decontend {

class FallibleTest : public ExtractTest {
protected:
  FallibleTest() : P(Known) {
    write("api.h", "#define NULL ((void *)0)\n"
                   "typedef struct { int counter; } count_t;\n"
                   "void set(count_t *c, int v);\n"
                   "int count_init(count_t *c, int v);\n"
                   "void count_destroy(count_t *c);\n"
                   "void panic(const char *text, ...);\n"
                   "void *kzalloc(unsigned long size, int flags);\n"
                   "void kfree(const void *p);\n"
                   "void *ERR_PTR(long error);\n"
                   "struct mutex { int held; };\n"
                   "void mutex_lock(struct mutex *m);\n"
                   "void mutex_unlock(struct mutex *m);\n"
                   "typedef struct { int held; } spinlock_t;\n"
                   "void spin_lock(spinlock_t *l);\n"
                   "void spin_unlock(spinlock_t *l);\n"
                   "struct bar { int open; };\n"
                   "int bar_open(struct bar *b);\n"
                   "void bar_close(struct bar *b);\n"
                   "void bar_start(struct bar *b);\n"
                   "void bar_stop(struct bar *b);\n"
                   "#define __init __attribute__((section(\".init.text\")))\n"
                   "struct foo {\n"
                   "\tcount_t in, out;\n"
                   "\tint limit;\n"
                   "\tstruct bar bar, more[2];\n"
                   "\tstruct mutex lock;\n"
                   "\tspinlock_t spin;\n"
                   "};\n");
  }

  /// Adds a unit. Its text is seen by later ones that include it.
  void unit(llvm::StringRef Name, llvm::StringRef Text,
            std::vector<std::string> Flags = {}) {
    Units.push_back({Name.str(), Flags});
    ExtractResult R = extract(Name, Text, Flags);
    ASSERT_TRUE(R.Ok) << R.Reason;
    llvm::SmallVector<char> Shard;
    encode(R.Facts, Shard);
    auto U = std::make_unique<UnitFacts>();
    ASSERT_FALSE(bool(decodeInto({Shard.data(), Shard.size()}, P.names(), *U)));
    P.add(std::move(U));
  }

  /// The plan for `void foo_init(struct foo *)` or what it is called.
  const Plan &plan(llvm::StringRef Init = "foo_init") {
    P.link();
    Files.emplace(Root);
    NodeId N = P.find(P.find(Init));
    if (N == NoNode)
      N = P.find(P.find(Init.str() + "@a.c"));
    if (N == NoNode || !P.node(N).Facts) {
      ADD_FAILURE() << "no function " << Init.str();
      return Result;
    }
    const FunctionFacts &F = *P.node(N).Facts;
    const RecordFacts *Record = P.record(P.find("struct foo"), nullptr);
    std::deque<Counter> All;
    std::vector<InitStep> Steps;
    for (uint32_t I = 0; I < F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      if (E.Kind != EventKind::Call || P.calleeName(E) != "set")
        continue;
      const Expr &X = F.exprs(E)[0];
      Counter &C = All.emplace_back();
      C.Record = Record->Key;
      C.InRecord = Record;
      for (const FieldFacts &Field : Record->Fields)
        if (P.str(X.Field).ends_with(("." + P.str(Field.Name)).str()))
          C.Field = &Field;
      std::string Path = P.str(X.Text).str();
      Steps.push_back({&C, I, true, "count_init(" + Path + ", 0)",
                       "count_destroy(" + Path + ")"});
    }
    CounterRemedy Remedy;
    Remedy.InitFails = true;
    Remedy.BootFailure = "panic(\"no memory\\n\")";
    Ledger L;
    Conversion C{P, *Files, Remedy, {}, {}, L};
    makeFallible(C, N, Steps);
    Result = L.finish();
    return Result;
  }

  /// The file as the plan leaves it. The result has to parse in every unit.
  std::string after(llvm::StringRef Name) {
    EXPECT_EQ(Result.Refusal, "");
    const std::string *Before = Files->get(Name);
    if (!Before)
      return "";
    auto New = applyEdits(Name, *Before, Result.Edits);
    return New ? *New : llvm::toString(New.takeError());
  }

  /// Does each unit still parse, with \p More flags too?
  void parses(std::vector<std::string> More = {}) {
    for (const std::string &File : Result.files())
      write(File, after(File));
    for (const auto &[Name, Flags] : Units) {
      std::vector<std::string> All = Flags;
      All.insert(All.end(), More.begin(), More.end());
      std::string Text = *Files->get(Name);
      ExtractResult R = extract(Name, after(Name), All);
      EXPECT_TRUE(R.Ok) << R.Reason;
    }
  }

  const Guard *guard(llvm::StringRef Name) const {
    for (const Guard &G : Result.Guards)
      if (G.Name == Name)
        return &G;
    return nullptr;
  }

  Program P;
  std::optional<Sources> Files;
  Plan Result;
  std::vector<std::pair<std::string, std::vector<std::string>>> Units;
};

/// What all files of a test start with.
inline const char *const Api = "#include \"api.h\"\n";

inline const char *const Init = "void foo_init(struct foo *f)\n"
                                "{\n"
                                "\tf->limit = 5;\n"
                                "\tset(&f->in, 0);\n"
                                "\tset(&f->out, 0);\n"
                                "}\n";

inline const char *const Free = "void foo_free(struct foo *f)\n"
                                "{\n"
                                "\tbar_close(&f->bar);\n"
                                "\tkfree(f);\n"
                                "}\n";

inline std::string all(std::initializer_list<llvm::StringRef> Parts) {
  std::string Out = Api;
  for (llvm::StringRef Part : Parts)
    Out += Part.str();
  return Out;
}

/// A ladder of labels, a step without a failure of its own that is crossed,
/// and the undoing of the step before, which only the teardown shows.
inline const char *const Header =
    "#ifdef CONFIG_FOO\n"
    "void foo_init(struct foo *f);\n"
    "void foo_exit(struct foo *f);\n"
    "#else\n"
    "static inline void foo_init(struct foo *f) { }\n"
    "static inline void foo_exit(struct foo *f) { }\n"
    "#endif\n";

inline const char *const Ladder = "int foo_setup(struct foo *f)\n"
                                  "{\n"
                                  "\tint err;\n"
                                  "\n"
                                  "\terr = bar_open(&f->more[0]);\n"
                                  "\tif (err)\n"
                                  "\t\tgoto fail;\n"
                                  "\n"
                                  "\terr = bar_open(&f->bar);\n"
                                  "\tif (err)\n"
                                  "\t\tgoto fail_more;\n"
                                  "\n"
                                  "\tbar_start(&f->more[1]);\n"
                                  "\tfoo_init(f);\n"
                                  "\n"
                                  "\treturn 0;\n"
                                  "\n"
                                  "fail_more:\n"
                                  "\tbar_close(&f->more[0]);\n"
                                  "fail:\n"
                                  "\treturn err;\n"
                                  "}\n"
                                  "void foo_teardown(struct foo *f)\n"
                                  "{\n"
                                  "\tbar_stop(&f->more[1]);\n"
                                  "\tbar_close(&f->bar);\n"
                                  "\tbar_close(&f->more[0]);\n"
                                  "}\n";

} // namespace decontend

#endif
