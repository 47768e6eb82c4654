//===- PlanUses.cpp - Declaration and updates of a member -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RecordPlan.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <set>

namespace decontend {

/// One member's declaration with the new type, its name in the same column if
/// the type leaves room.
static bool redeclare(Conversion &C, const Counter &Of,
                      const std::string &Contents) {
  SourceText Text(Contents);
  llvm::StringRef File = C.P.str(Of.InRecord->Where.File);
  Span At = Of.Field->Text;
  std::string Place = fmt::format("{}:{}", File.str(), Of.Field->Line);
  auto Fail = [&](const char *Why) {
    return C.L.require(
        "declaration-editable", false,
        fmt::format("{} at {} {}", C.P.str(Of.Key).str(), Place, Why));
  };
  if (At.empty() || At.End > Contents.size())
    return Fail("is declared by a macro");
  llvm::StringRef Code = Text.slice(At), Name = memberName(C, Of);
  llvm::StringRef Type = C.P.str(Of.Field->Type);
  if (!Code.starts_with(Type) || !Code.ends_with(";"))
    return Fail("is declared together with others, or qualified");
  size_t Gap = Code.drop_front(Type.size()).find_first_not_of(" \t");
  llvm::StringRef Rest = Code.drop_front(Type.size() + Gap);
  if (Gap == 0 || Gap == llvm::StringRef::npos || !Rest.starts_with(Name) ||
      Rest.drop_front(Name.size()).contains(',') ||
      (Rest.size() > Name.size() &&
       (llvm::isAlnum(Rest[Name.size()]) || Rest[Name.size()] == '_')))
    return Fail("is declared together with others, or qualified");
  llvm::StringRef Space = Code.substr(Type.size(), Gap);
  llvm::StringRef Before = Contents;
  Before = Before.slice(Text.lineBegin(At.Begin), At.Begin);
  unsigned Column = visualWidth((Before + Type + Space).str());
  unsigned Now = visualWidth((Before + C.Remedy.Type).str());
  std::string Pad = " ";
  if (Space != " ")
    Pad = Now < Column           ? padding(Now, Column, Space.contains('\t'))
          : Space.contains('\t') ? "\t"
                                 : " ";
  C.L.edit({File.str(), At.Begin, uint32_t(At.Begin + Type.size() + Gap),
            C.Remedy.Type + Pad});
  return true;
}

/// Adds `#include <Header>` to \p File unless it is there.
static bool include(Conversion &C, llvm::StringRef File,
                    llvm::StringRef Header) {
  const std::string *Contents = C.text(File);
  if (!Contents)
    return false;
  SourceText Text(*Contents);
  if (Text.includes(Header))
    return true;
  std::optional<uint32_t> At = Text.includePlace(Header);
  // Files that have only headers of their own: before these.
  if (size_t Own = Contents->find("\n#include \"");
      !At && Own != std::string::npos)
    At = Own + 1;
  else if (!At && llvm::StringRef(*Contents).starts_with("#include \""))
    At = 0;
  if (!At)
    return C.L.require("header-included", false,
                       fmt::format("{} has no place for #include <{}>",
                                   File.str(), Header.str()));
  C.L.edit(
      {File.str(), *At, *At, fmt::format("#include <{}>\n", Header.str())});
  return true;
}

/// Does a file of the unit end in \p Header?
static bool sees(const Conversion &C, const UnitFacts &Unit,
                 llvm::StringRef Header) {
  std::string Tail = "/" + Header.str();
  return std::any_of(
      Unit.Files.begin(), Unit.Files.end(), [&](const Dependency &D) {
        return C.P.str(D.Path) == Header || C.P.str(D.Path).ends_with(Tail);
      });
}

bool planDeclaration(Conversion &C) {
  const RecordFacts &R = *C.Counters[0]->InRecord;
  llvm::StringRef File = C.P.str(R.Where.File);
  const std::string *Contents = C.text(File);
  if (!Contents)
    return false;
  for (const Counter *Of : C.Counters)
    if (!redeclare(C, *Of, *Contents))
      return false;
  // What Init names beyond the type's own header.
  if (!C.Remedy.InitHeader.empty())
    for (const SortedUses &S : C.Uses)
      for (const CounterUse *U : S.Sets) {
        const Node &N = C.P.node(U->Node);
        if (!sees(C, *N.Unit, C.Remedy.InitHeader) &&
            !include(C, C.P.str(N.Facts->Where.File), C.Remedy.InitHeader))
          return false;
      }
  return include(C, File, C.Remedy.Header);
}

bool isDeclared(const Program &P, llvm::StringRef Name) {
  for (const auto &U : P.units()) {
    for (const FunctionFacts &F : U->Functions)
      if (P.str(F.Name) == Name)
        return true;
    for (const DeclFacts &D : U->Decls)
      if (D.Function && P.str(D.Name) == Name)
        return true;
  }
  return false;
}

namespace {

/// How far each CPU may go before it tells others.
constexpr unsigned CountBatch = 1024, AmountBatch = 65536;

class UpdatePlanner {
public:
  UpdatePlanner(Conversion &C, bool Approximate,
                llvm::ArrayRef<const CounterUse *> Initial)
      : C(C), R(C.Remedy), Approximate(Approximate),
        Initial(Initial.begin(), Initial.end()) {}

  bool run() {
    Local = !Approximate && !R.AddLocal.empty() && !R.SubLocal.empty() &&
            (R.LocalNeeds.empty() || isDeclared(C.P, R.LocalNeeds));
    Batched = !Local && !R.AddBatch.empty();
    if (Batched && !nameBatch())
      return false;
    for (size_t I = 0; I < C.Counters.size(); ++I) {
      for (const CounterUse *U : C.Uses[I].Bumps)
        if (!bump(*C.Counters[I], *U))
          return false;
      for (const CounterUse *U : C.Uses[I].Sets)
        if (!Initial.count(U) && !reset(*U))
          return false;
    }
    return C.L.require("updates-stay-local", true, proof());
  }

private:
  bool fail(const CounterUse &U, const char *Form) {
    return C.L.require(
        "remedy-complete", false,
        fmt::format("{} has no form `{}` for {}", R.Id, Form, placeOf(C, U)));
  }

  bool bump(const Counter &Of, const CounterUse &U) {
    bool Down = U.Op->Op == AtomicModel::Sub || U.Op->Op == AtomicModel::Dec;
    bool One = U.Op->By < 0;
    std::optional<SpelledCall> Call = spelledCall(C, U.Node, U.Event);
    std::string N = One ? "1" : exact(Of, Call->Args[U.Op->By]);
    std::string Counter = spelledCounter(C, U);
    std::string Form;
    if (Local) {
      Form = Down ? R.SubLocal : R.AddLocal;
    } else if (Batched) {
      Form = R.AddBatch;
      // The API adds a signed 64 bit amount: the sign goes in front of that.
      if (Down)
        N = One ? "-1" : negated(N);
    } else if (One && !(Down ? R.Dec : R.Inc).empty()) {
      Form = Down ? R.Dec : R.Inc;
    } else {
      Form = Down ? R.Sub : R.Add;
    }
    if (Form.empty())
      return fail(U, Down ? "sub" : "add");
    replace(
        U, Call->Text,
        fillIn(Form,
               {{"c", "&" + Counter}, {"o", Counter}, {"n", N}, {"b", Batch}}));
    return true;
  }

  bool reset(const CounterUse &U) {
    if (R.Set.empty() || U.Op->By < 0)
      return fail(U, "set");
    std::optional<SpelledCall> Call = spelledCall(C, U.Node, U.Event);
    std::string Counter = spelledCounter(C, U);
    replace(U, Call->Text,
            fillIn(R.Set, {{"c", "&" + Counter},
                           {"o", Counter},
                           {"v", Call->Args[U.Op->By]}}));
    return true;
  }

  void replace(const CounterUse &U, Span At, std::string New) {
    std::string File = C.P.str(C.P.node(U.Node).Facts->Where.File).str();
    C.L.edit({File, At.Begin, At.End, fitted(C, File, At, std::move(New))});
  }

  /// An amount that may be a negative number in unsigned arithmetic becomes
  /// what the old function took it for.
  static std::string exact(const Counter &Of, const std::string &N) {
    std::string Plain = N;
    for (size_t At; (At = Plain.find("->")) != std::string::npos;)
      Plain.replace(At, 2, "..");
    bool Literal = llvm::all_of(llvm::StringRef(Plain).ltrim('-'),
                                [](char X) { return llvm::isDigit(X); });
    bool Narrow = Of.Type && Of.Type->Width == -32;
    if (Plain.find('-') == std::string::npos || Literal || !Narrow)
      return N;
    return fmt::format("(int)({})", N);
  }

  static std::string negated(const std::string &N) {
    bool Name = llvm::all_of(N, [](char X) {
      return llvm::isAlnum(X) || X == '_' || X == '-' || X == '>' || X == '.';
    });
    if (llvm::all_of(N, [](char X) { return llvm::isDigit(X); }))
      return "-" + N;
    if (Name && N[0] != '-')
      return "-(long long)" + N;
    return fmt::format("-(long long)({})", N);
  }

  /// A named constant, in the only file that updates or beside the record.
  bool nameBatch() {
    std::set<std::string> Files;
    std::set<const UnitFacts *> Units;
    uint32_t First = ~0u;
    bool Amounts = false;
    for (const SortedUses &S : C.Uses)
      for (const CounterUse *U : S.Bumps) {
        const FunctionFacts &F = *C.P.node(U->Node).Facts;
        Files.insert(C.P.str(F.Where.File).str());
        Units.insert(C.P.node(U->Node).Unit);
        First = std::min(First, begin(F));
        Amounts |= U->Op->By >= 0;
      }
    const RecordFacts &Record = *C.Counters[0]->InRecord;
    std::string File = C.P.str(Record.Where.File).str();
    llvm::StringRef Of = C.P.str(Record.Key);
    std::string Name = Of.substr(Of.rfind(' ') + 1).upper();
    if (C.Counters.size() == 1)
      Name += "_" + memberName(C, *C.Counters[0]).upper();
    Name += "_BATCH";
    if (Files.size() == 1)
      File = *Files.begin();
    const std::string *Contents = C.text(File);
    if (!Contents || !nameFree(Name, Units))
      return false;
    SourceText Text(*Contents);
    uint32_t At = Files.size() == 1 ? First : recordBegin(Record, Text);
    At = Text.commentAbove(At).Begin;
    Bound = Amounts ? AmountBatch : CountBatch;
    C.L.edit({File, At, At,
              fmt::format("/*\n * How much of {} a CPU may hold back.\n * An "
                          "approximate read errs by that for each CPU.\n */\n"
                          "#define {} {}\n\n",
                          memberNames(C), Name, Bound)});
    Batch = Name;
    return true;
  }

  /// Where the function starts; if a macro makes it, the line of its name.
  uint32_t begin(const FunctionFacts &F) const {
    const std::string *Contents = C.Files.get(C.P.str(F.Where.File));
    if (!F.Whole.empty() || !Contents)
      return F.Whole.Begin;
    SourceText Text(*Contents);
    uint32_t At = 0;
    for (uint32_t Line = 1; Line < F.Where.Line; ++Line)
      At = Text.nextLine(At);
    return At;
  }

  bool nameFree(const std::string &Name,
                const std::set<const UnitFacts *> &Units) {
    std::set<Sym> Seen;
    for (const UnitFacts *U : Units)
      for (const Dependency &D : U->Files) {
        if (!Seen.insert(D.Path).second)
          continue;
        const std::string *Contents = C.Files.get(C.P.str(D.Path));
        if (Contents && llvm::StringRef(*Contents).contains(Name) &&
            !mentionsOf(*Contents, Name).empty())
          return C.L.require("name-free", false,
                             fmt::format("{} mentions {} already",
                                         C.P.str(D.Path).str(), Name));
      }
    return C.L.require("name-free", true,
                       fmt::format("no file of the units that update it "
                                   "mentions {}",
                                   Name));
  }

  static uint32_t recordBegin(const RecordFacts &R, const SourceText &Text) {
    uint32_t At = R.Braces.Begin;
    return Text.lineBegin(At);
  }

  std::string proof() const {
    if (Local)
      return fmt::format("all reads of {} are exact sums, so no update has to "
                         "tell other CPUs",
                         memberNames(C));
    if (Batched)
      return fmt::format("a CPU tells others once it has held back {}; an "
                         "approximate read errs by at most {} for each CPU",
                         Bound, Bound);
    return fmt::format("updates of {} tell other CPUs as {} does by default",
                       memberNames(C), R.Type);
  }

  Conversion &C;
  const CounterRemedy &R;
  const bool Approximate;
  std::set<const CounterUse *> Initial;
  bool Local = false, Batched = false;
  std::string Batch;
  unsigned Bound = 0;
};

} // namespace

bool planUpdates(Conversion &C, bool Approximate,
                 llvm::ArrayRef<const CounterUse *> Initial) {
  return UpdatePlanner(C, Approximate, Initial).run();
}

} // namespace decontend
