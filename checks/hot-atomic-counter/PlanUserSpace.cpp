//===- PlanUserSpace.cpp - The runtime's counter in programs --------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   C++  std::atomic<long> hits{0};   --> decontend::percpu_counter hits{0};
//        hits.fetch_add(1, relaxed);  --> ++hits;
//        hits.load()                  --> hits.sum()
//   C    static _Atomic long hits;    --> static struct dct_percpu_counter hits
//                                           = DCT_PERCPU_COUNTER_INIT(0);
//        hits++;                      --> dct_percpu_counter_inc(&hits);
//        printf("%ld", hits)          --> printf("%ld", dct_percpu_counter_sum(
//                                                          &hits))
//
// The runtime counts in 64 bits with a sign. What a narrower integer would have
// read is a cast of that, since both wrap.
//
//===----------------------------------------------------------------------===//
#include "InPlace.h"
#include "Instances.h"
#include "Mentions.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

namespace {

/// Objects in static storage want the form that is never destroyed, if the
/// models have one.
const CounterRemedy &forStorage(const Program &P, const Counter &C,
                                const CounterRemedy &Given) {
  if (!C.Variable || Given.Variable)
    return Given;
  for (const CounterRemedy *R : P.models().remediesFor(P.str(C.Variable->Type)))
    if (R->Variable && R->Language == Given.Language &&
        R->Header == Given.Header)
      return *R;
  return Given;
}

class UserSpacePlanner {
public:
  UserSpacePlanner(const Program &P, const CounterJudge &J, const Counter &C,
                   const CounterRemedy &Given, Sources &Files)
      : P(P), J(J), C(C), Remedy(forStorage(P, C, Given)),
        Cxx(Remedy.Language == "c++"), Places(P, C, Files, L),
        Text(Places, Remedy, L) {}

  Plan run() {
    L.title(fmt::format("make {} a {}",
                        P.str(C.Field ? C.Key : C.Variable->Name).str(),
                        Remedy.Type));
    if (!oneInteger() || !readersOnlyReport() || !Places.find() ||
        !mentionsSeen() || !Text.requireNoOrder() || !objects() || !declare() ||
        !Text.include(Remedy.Header))
      return L.finish();
    for (const UsePlace &U : Places.uses())
      if (!(U.Op == AtomicModel::Read ? read(U) : Text.rewriteUpdate(U)))
        return L.finish();
    L.require("uses-are-statements", true,
              "each update is a statement of its own");
    L.require("width-kept", true,
              fmt::format("it counts in 64 bits; what reads it gets the value "
                          "as {}",
                          valueType()));
    ownedHere();
    return L.finish();
  }

private:
  int width() const { return C.Field ? C.Field->Width : C.Variable->Width; }
  std::string valueType() const {
    bool Atomic = C.Field ? C.Field->Flags & FieldFacts::Atomic
                          : C.Variable->Flags & GlobalFacts::Atomic;
    return valueTypeOf(Places.type(), width(), Cxx, !Atomic);
  }

  bool oneInteger() {
    bool Array = C.Field ? C.Field->Flags & FieldFacts::Array
                         : C.Variable->Flags & GlobalFacts::Array;
    bool Placed = C.Variable && !empty(C.Variable->Section);
    return L.require("one-integer", !Array && !Placed && width() != 0,
                     Array     ? "it is an array"
                     : Placed  ? "it lies in a section of its own"
                     : width() ? fmt::format("it is an integer of {} bits",
                                             std::abs(width()))
                               : "it is not seen to be an integer");
  }

  bool readersOnlyReport() {
    SortedUses S = J.sort(C);
    for (auto [Uses, What] :
         {std::pair{&S.Decisions, "reads it to decide"},
          std::pair{&S.HotReads, "reads it on a hot path"},
          std::pair{&S.Tests, "tests it"},
          std::pair{&S.Racy, "updates it without atomicity"}})
      if (!Uses->empty())
        return L.require("reads-only-report", false,
                         placeOf(*Uses->front()) + " " + What);
    for (const CounterUse &U : C.Uses) {
      const FunctionFacts &F = *P.node(U.Node).Facts;
      if (U.Kind == UseKind::Read && C.Field &&
          (F.is(FunctionFacts::Constructor) || P.name(U.Node) == "operator="))
        return L.require("reads-only-report", false,
                         placeOf(U) + " copies it with its object");
    }
    if (S.Reports.empty() && !S.Vague.empty())
      return L.require("reads-only-report", false,
                       fmt::format("what becomes of the value that {} reads is "
                                   "not seen",
                                   placeOf(*S.Vague.front())));
    std::string Vague;
    if (!S.Vague.empty())
      Vague =
          fmt::format("; what becomes of the value at {} is not seen, to be "
                      "confirmed that it may cost a cache line of each CPU",
                      placeOf(*S.Vague.front()));
    return L.require("reads-only-report", true,
                     fmt::format("{} of {} readers only show the value{}",
                                 S.Reports.size(),
                                 S.Reports.size() + S.Vague.size(), Vague));
  }

  std::string placeOf(const CounterUse &U) const {
    const FunctionFacts &F = *P.node(U.Node).Facts;
    return fmt::format("{}:{}", P.str(F.Where.File).str(),
                       F.Accesses[U.Access].Line);
  }

  bool mentionsSeen() {
    MentionSearch Found = searchMentions(Places);
    return L.require("no-use-elsewhere", Found.Trouble.empty(),
                     Found.Trouble.empty() ? Found.proof() : Found.Trouble);
  }

  /// In C, memory that an object's counter owns has to be given back, and its
  /// set-up may fail. In static storage neither is so.
  bool objects() {
    if (C.Variable)
      return true;
    Instances Of = instancesOf(P, C.Record);
    if (!L.require("objects-are-few", Of.Many.empty(),
                   Of.Many.empty()
                       ? fmt::format("nothing makes {} in a hot place",
                                     P.str(C.Record).str())
                       : Of.Many))
      return false;
    if (Cxx)
      return L.require(
          "destroyed-after-last-use", true,
          "constructor and destructor see to it" +
              (Of.Static.empty()
                   ? std::string()
                   : fmt::format("; the object at {} dies when the program "
                                 "ends: to be confirmed that no thread updates "
                                 "it from then on",
                                 Of.Static)));
    if (!Of.Heap.empty())
      return L.require("initialiser-cannot-fail", false,
                       Of.Heap + ": its counter would need an initialisation "
                                 "that may fail, and a destruction");
    if (Of.Static.empty())
      return L.require("initialiser-cannot-fail", false,
                       "it is not seen where objects of its record lie");
    if (!Places.initialisers().empty()) {
      const InitFacts &I = *Places.initialisers().front().second;
      return L.require("initialiser-cannot-fail", false,
                       fmt::format("{}:{} initialises it by a macro",
                                   P.str(I.Where.File).str(), I.Where.Line));
    }
    return L.require("initialiser-cannot-fail", true,
                     fmt::format("all its objects lie in static storage, at "
                                 "{}, where zero bytes are a valid counter",
                                 Of.Static));
  }

  bool declare() {
    if (C.Field || Cxx)
      return Text.changeType();
    if (Remedy.Define.empty())
      return L.require("form-exists", false,
                       Remedy.Id + " has no form for a variable");
    return Text.requireInitial(
               llvm::StringRef(Remedy.Define).contains("{v}")) &&
           Text.defineAnew(valueType());
  }

  bool read(const UsePlace &U) {
    std::string New = Text.fill(Remedy.Sum, U);
    if (New.empty())
      return L.require("form-exists", false,
                       fmt::format("{} has no form for {}", Remedy.Id, U.at()));
    std::string Type = valueType();
    if (needsCast(U, Type))
      New = Cxx ? fmt::format("static_cast<{}>({})", Type, New)
                : fmt::format("({}){}", Type, New);
    Text.replace(U.File, U.Whole, New);
    return true;
  }

  /// What reads it sees the type that it had, unless it converts it anyway, to
  /// the same value.
  bool needsCast(const UsePlace &U, llvm::StringRef Type) const {
    if (width() == -64)
      return false;
    llvm::StringRef Code = Places.code(U.File);
    llvm::StringRef Before = Code.take_front(U.Whole.Begin).rtrim();
    llvm::StringRef After = Code.substr(U.Whole.End).ltrim();
    if (Before.ends_with(("(" + Type + ")").str()) ||
        (Before.ends_with(("static_cast<" + Type + ">(").str()) &&
         After.starts_with(")")))
      return false;
    if (width() != 64 || !After.starts_with(";"))
      return true;
    const FunctionFacts &F = Places.function(U);
    if (Before.ends_with("return"))
      return P.str(F.ReturnType).contains("auto");
    if (!Before.consume_back("=") || Before.ends_with("=") ||
        Before.ends_with("!"))
      return true;
    size_t Begin = Before.find_last_of(";{}");
    return Before.substr(Begin + 1).contains("auto");
  }

  /// What a header declares may be used by programs that are not seen.
  void ownedHere() {
    std::string Header;
    for (const DeclarationPlace &D : Places.declarations()) {
      bool Main = false;
      for (const auto &U : P.units())
        Main |= P.str(U->MainFile) == D.File;
      if (!Main)
        Header = D.at();
    }
    L.require("not-public", true,
              Header.empty()
                  ? "no header declares it"
                  : fmt::format("{} declares it: to be confirmed that nothing "
                                "outside of this build includes that header",
                                Header));
  }

  const Program &P;
  const CounterJudge &J;
  const Counter &C;
  const CounterRemedy &Remedy;
  bool Cxx;
  Ledger L;
  UsePlaces Places;
  InPlace Text;
};

} // namespace

Plan planUserSpace(const Program &P, const CounterJudge &J, const Counter &C,
                   const CounterRemedy &Remedy, Sources &Files) {
  return UserSpacePlanner(P, J, C, Remedy, Files).run();
}

} // namespace decontend
