//===- PlanVariable.cpp - A variable with a part for each CPU -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   static atomic_t hits = ATOMIC_INIT(0);  --> static DEFINE_PER_CPU(int,
//   hits); atomic_inc(&hits);                      --> this_cpu_inc(hits);
//   atomic_read(&hits)                      --> hits_sum(), a new function
//   above
//                                               the first that reads
//
//===----------------------------------------------------------------------===//
#include "InPlace.h"
#include "Mentions.h"
#include "Removal.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

namespace {

class VariablePlanner {
public:
  VariablePlanner(const Program &P, const CounterJudge &J, const Counter &C,
                  const CounterRemedy &Remedy, Sources &Files)
      : P(P), J(J), C(C), Remedy(Remedy), Places(P, C, Files, L),
        Text(Places, Remedy, L) {}

  Plan run() {
    std::string Name = P.str(C.Variable ? C.Variable->Name : C.Key).str();
    L.title(fmt::format("make {} a per-CPU variable", Name));
    if (!C.Variable || Remedy.EachCpu.empty()) {
      L.require("form-exists", false,
                fmt::format("{} has no form for it", Remedy.Id));
      return L.finish();
    }
    if (!atFileLevel() || !readersOnlyReport() || !Places.find() ||
        !mentionsSeen() || !Text.requireInitial(false) ||
        !Text.requireNoOrder() || !sets() || !sumFunction() ||
        !Text.defineAnew(valueType(), Prototype) ||
        !Text.include(Remedy.Header))
      return L.finish();
    for (const UsePlace &U : Places.uses())
      if (!rewrite(U))
        break;
    if (!L.failed())
      L.require("uses-are-statements", true,
                "each update is a statement of its own");
    return L.finish();
  }

private:
  std::string valueType() const {
    int Width = C.Type ? C.Type->Width : C.Variable->Width;
    std::string Type = valueTypeOf(Places.type(), Width, false, false);
    // The kernel has a name of its own for what is 64 bits everywhere.
    if (Type == "long long" && !empty(P.find("s64")))
      return "s64";
    return Type;
  }

  bool atFileLevel() {
    bool Local = C.Variable->Flags & GlobalFacts::Local;
    bool Array = C.Variable->Flags & GlobalFacts::Array;
    bool Placed = !empty(C.Variable->Section);
    return L.require("at-file-level", !Local && !Array && !Placed,
                     fmt::format("{}:{} {}",
                                 P.str(C.Variable->Where.File).str(),
                                 C.Variable->Where.Line,
                                 Local    ? "defines it inside a function"
                                 : Array  ? "defines an array"
                                 : Placed ? "puts it into a section"
                                          : "defines it at file level"));
  }

  bool readersOnlyReport() {
    SortedUses S = J.sort(C);
    for (auto [Uses, What] :
         {std::pair{&S.Decisions, "reads it to decide"},
          std::pair{&S.HotReads, "reads it on a hot path"},
          std::pair{&S.Tests, "tests it"},
          std::pair{&S.Racy, "updates it without atomicity"}})
      if (!Uses->empty()) {
        const CounterUse &U = *Uses->front();
        const FunctionFacts &F = *P.node(U.Node).Facts;
        return L.require("reads-only-report", false,
                         fmt::format("{}:{} {}", P.str(F.Where.File).str(),
                                     F.Accesses[U.Access].Line, What));
      }
    std::string Vague;
    if (!S.Vague.empty()) {
      const CounterUse &U = *S.Vague.front();
      const FunctionFacts &F = *P.node(U.Node).Facts;
      if (S.Reports.empty())
        return L.require("reads-only-report", false,
                         fmt::format("what becomes of the value that {}:{} "
                                     "reads is not seen",
                                     P.str(F.Where.File).str(),
                                     F.Accesses[U.Access].Line));
      Vague =
          fmt::format("; what becomes of the value at {}:{} is not seen, to "
                      "be confirmed that it may take a walk over all CPUs",
                      P.str(F.Where.File).str(), F.Accesses[U.Access].Line);
    }
    return L.require("reads-only-report", true,
                     fmt::format("{} of {} readers only show the value{}",
                                 S.Reports.size(),
                                 S.Reports.size() + S.Vague.size(), Vague));
  }

  bool mentionsSeen() {
    MentionSearch Found = searchMentions(Places);
    return L.require("no-use-elsewhere", Found.Trouble.empty(),
                     Found.Trouble.empty() ? Found.proof() : Found.Trouble);
  }

  /// Per-CPU variables start at 0. A later reset would have to visit all CPUs,
  /// and would lose what they add meanwhile.
  bool sets() {
    for (const UsePlace &U : Places.uses()) {
      if (U.Op != AtomicModel::Set)
        continue;
      bool Zero = initialNumber(U.Amount) == "0";
      bool Once = P.node(U.Use->Node).Contexts == CtxInit;
      if (!Zero || !Once || U.Statement.empty())
        return L.require("no-reset", false,
                         fmt::format("{} sets it{}", U.at(),
                                     Zero ? " when it may count already" : ""));
    }
    return L.require("no-reset", true, "nothing sets it but to 0 at start");
  }

  /// Where the function that sums belongs, and what it is called.
  bool sumFunction() {
    std::vector<const UsePlace *> Readers;
    std::set<std::string> In;
    for (const UsePlace &U : Places.uses())
      if (U.Op == AtomicModel::Read) {
        Readers.push_back(&U);
        In.insert(U.File);
      }
    if (Readers.empty())
      return L.require("sum-visible", true, "nobody reads it");
    std::string Name = Places.name().str();
    for (std::string Try : {Name + "_sum", "sum_" + Name})
      if (Sum.empty() && empty(P.find(Try)))
        Sum = Try;
    if (Sum.empty())
      return L.require(
          "sum-visible", false,
          fmt::format("{}_sum is the name of something else", Name));
    std::string Defining, Header;
    unsigned Declared = 0;
    for (const DeclarationPlace &D : Places.declarations()) {
      (D.Defines ? Defining : Header) = D.File;
      Declared += !D.Defines;
    }
    std::string File = *In.begin();
    bool Shared = In.size() > 1;
    if (Shared) {
      if (Declared != 1 || !llvm::StringRef(Header).ends_with(".h"))
        return L.require(
            "sum-visible", false,
            fmt::format("{} read it, and no single header declares "
                        "it",
                        listFiles(In)));
      File = Defining;
      Prototype = fmt::format("{} {}(void);", valueType(), Sum);
    }
    // Above the first reader there, or at the end of the definition's file.
    const FunctionFacts *Above = nullptr;
    for (const UsePlace *R : Readers) {
      const FunctionFacts &F = Places.function(*R);
      if (R->File == File && (!Above || F.Whole.Begin < Above->Whole.Begin))
        Above = &F;
    }
    return place(File, Above, Shared, Readers);
  }

  bool place(const std::string &File, const FunctionFacts *Above, bool Shared,
             llvm::ArrayRef<const UsePlace *> Readers) {
    const std::string *Contents = Places.text(File);
    SourceText In(*Contents);
    llvm::StringRef Code = Places.code(File);
    uint32_t At = Contents->size();
    std::string Unit = "\t";
    bool OwnLine = true;
    if (Above) {
      At = In.commentAbove(Above->Whole.Begin).Begin;
      Unit = indentUnitOf(In, *Above);
      OwnLine = Code.slice(In.lineBegin(Above->Body.Begin), Above->Body.Begin)
                    .trim()
                    .empty();
    }
    // An #if around it has to be around all who call it.
    std::vector<uint32_t> Around = conditionsAt(Code, At);
    for (const UsePlace *R : Readers) {
      if (R->File != File && Around.empty())
        continue;
      std::vector<uint32_t> There = R->File == File
                                        ? conditionsAt(Code, R->Whole.Begin)
                                        : std::vector<uint32_t>();
      if (There.size() < Around.size() ||
          !std::equal(Around.begin(), Around.end(), There.begin()))
        return L.require("sum-visible", false,
                         fmt::format("{} is compiled under other conditions "
                                     "than the first reader",
                                     R->at()));
    }
    std::string Type = valueType();
    std::string Each = fillIn(Remedy.EachCpu, {{"v", "cpu"}});
    std::string Part = fillIn(Remedy.OfCpu, {{"c", "&" + Places.name().str()},
                                             {"o", Places.name().str()},
                                             {"name", Places.name().str()},
                                             {"v", "cpu"}});
    std::string New = fmt::format(
        "{st}{type} {sum}(void){open}{{\n{t}{type} sum = 0;\n{t}int cpu;\n\n"
        "{t}{each}\n{t}{t}sum += {part};\n{t}return sum;\n}}\n",
        fmt::arg("st", Shared ? "" : "static "), fmt::arg("type", Type),
        fmt::arg("sum", Sum), fmt::arg("open", OwnLine ? "\n" : " "),
        fmt::arg("t", Unit), fmt::arg("each", Each), fmt::arg("part", Part));
    L.edit({File, At, At, Above ? New + "\n" : "\n" + New});
    return L.require(
        "sum-visible", true,
        fmt::format("{}() in {} adds up all CPUs' parts; updates that run "
                    "meanwhile are counted or not",
                    Sum, File));
  }

  /// Offsets of the #if, #else and #elif lines that \p At stands behind.
  static std::vector<uint32_t> conditionsAt(llvm::StringRef Code, uint32_t At) {
    std::vector<uint32_t> Out;
    SourceText Text(Code);
    for (uint32_t Line = 0; Line < At; Line = Text.nextLine(Line)) {
      llvm::StringRef Word = Text.lineAt(Line).trim();
      if (!Word.consume_front("#"))
        continue;
      Word = Word.ltrim();
      if (Word.starts_with("if"))
        Out.push_back(Line);
      else if (Word.starts_with("el") && !Out.empty())
        Out.back() = Line;
      else if (Word.starts_with("endif") && !Out.empty())
        Out.pop_back();
    }
    return Out;
  }

  bool rewrite(const UsePlace &U) {
    switch (U.Op) {
    case AtomicModel::Read:
      Text.replace(U.File, U.Whole, Sum + "()");
      return true;
    case AtomicModel::Set:
      return drop(U);
    default:
      return Text.rewriteUpdate(U);
    }
  }

  /// What sets it to 0 at start says what holds anyway.
  bool drop(const UsePlace &U) {
    Removal Gone(P, U.File, *Places.text(U.File), Places.code(U.File));
    Gone.statement(Places.function(U), U.Statement);
    for (Edit &E : Gone.finish())
      L.edit(std::move(E));
    return Gone.trouble().empty() ||
           L.require(Gone.troubleGuard(), false, Gone.trouble());
  }

  const Program &P;
  const CounterJudge &J;
  const Counter &C;
  const CounterRemedy &Remedy;
  Ledger L;
  UsePlaces Places;
  InPlace Text;
  std::string Sum, Prototype;
};

} // namespace

Plan planVariable(const Program &P, const CounterJudge &J, const Counter &C,
                  const CounterRemedy &Remedy, Sources &Files) {
  return VariablePlanner(P, J, C, Remedy, Files).run();
}

} // namespace decontend
