//===- PlanRecord.cpp - Members become counters spread over CPUs ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RecordPlan.h"
#include "fmt/format.h"

namespace decontend {

std::string Conversion::at(NodeId N, uint32_t Line) const {
  return fmt::format("{}:{}", P.str(P.node(N).Facts->Where.File).str(), Line);
}

const std::string *Conversion::text(llvm::StringRef File) const {
  const std::string *Contents = Files.get(File);
  if (!Contents)
    L.require("file-readable", false, File.str() + " cannot be read");
  return Contents;
}

std::string fillIn(llvm::StringRef Form,
                   llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> By) {
  std::string Out;
  while (!Form.empty()) {
    auto [Head, Rest] = Form.split('{');
    Out += Head;
    if (Head.size() == Form.size())
      break;
    bool Filled = false;
    for (const auto &[Name, Value] : By) {
      llvm::StringRef Key = Name;
      Key = Key.trim("{}");
      llvm::StringRef Tail = Rest;
      if (Tail.consume_front(Key) && Tail.consume_front("}")) {
        Out += Value;
        Rest = Tail;
        Filled = true;
        break;
      }
    }
    if (!Filled)
      Out += '{';
    Form = Rest;
  }
  return Out;
}

namespace {

class RecordPlanner {
public:
  RecordPlanner(const Program &P, const Counters &All, const CounterJudge &J,
                const Locksets &Locks, const MakingSites &Made,
                const Counter &First, const CounterRemedy &Remedy,
                Sources &Files)
      : All(All), J(J), Locks(Locks), First(First),
        C{P, Files, Remedy, {}, {}, L, &Made} {}

  Plan run() {
    take(First);
    std::string Why;
    if (convertible(C, 0, Why))
      group();
    L.title(fmt::format("make {} of {} a {}", memberNames(C),
                        C.P.str(First.Record).str(), C.Remedy.Type));
    if (requireConvertible(C))
      convert();
    return L.finish();
  }

private:
  /// Counters of the record that would be judged, set up and converted alike.
  /// By place of declaration, so that the plan of each is the same.
  void group() {
    NodeId Home = setUpFunction(C, 0);
    C.Counters.clear();
    C.Uses.clear();
    for (const Counter &Other : All.all())
      if (&Other == &First || (Home != NoNode && goesAlong(Other, Home)))
        take(Other);
  }

  void take(const Counter &Of) {
    C.Counters.push_back(&Of);
    C.Uses.push_back(J.sort(Of));
  }

  bool goesAlong(const Counter &Other, NodeId Home) {
    if (Other.Record != First.Record || !Other.Field || !remediedAlike(Other))
      return false;
    std::optional<Finding> F = J.judge(Other);
    if (!F || F->Shape != counterShapeId(CounterShape::ReportOnly))
      return false;
    Ledger Own;
    Conversion Alone{C.P, C.Files, C.Remedy, {&Other}, {J.sort(Other)},
                     Own, C.Made};
    std::string Why;
    return convertible(Alone, 0, Why) && setUpFunction(Alone, 0) == Home;
  }

  bool remediedAlike(const Counter &Other) const {
    return Other.Type && First.Type && Other.Type->Type == First.Type->Type;
  }

  void convert() {
    bool Approximate = false;
    if (!planDeclaration(C) || !planReads(C, J, Locks, Approximate))
      return;
    if (C.Remedy.Init.empty()) {
      planUpdates(C, Approximate, {});
      return;
    }
    std::optional<SetUp> From = findSetUp(C);
    if (!From || !planUpdates(C, Approximate, From->Initial))
      return;
    for (auto &[Function, Steps] : From->Steps) {
      destroyAfterLastUse(C, Function, Steps);
      if (L.failed())
        return;
      if (C.Remedy.InitFails)
        makeFallible(C, Function, Steps);
      else if (!initialise(Function, Steps))
        return;
    }
  }

  /// Where the initialisation cannot fail, it only takes the place of a set.
  bool initialise(NodeId N, llvm::ArrayRef<InitStep> Steps) {
    const FunctionFacts &F = *C.P.node(N).Facts;
    const std::string *Contents = C.text(C.P.str(F.Where.File));
    if (!Contents)
      return false;
    SourceText Text(*Contents);
    for (const InitStep &S : Steps) {
      Span At = F.Events[S.Event].Text;
      std::string File = C.P.str(F.Where.File).str();
      if (S.Replaces)
        L.edit({File, At.Begin, At.End, S.Init + ";"});
      else
        L.edit({File, At.End, At.End,
                "\n" + Text.indentAt(At.Begin).str() + S.Init + ";"});
    }
    return true;
  }

  const Counters &All;
  const CounterJudge &J;
  const Locksets &Locks;
  const Counter &First;
  Ledger L;
  Conversion C;
};

} // namespace

Plan planRecord(const Program &P, const Counters &All, const CounterJudge &J,
                const Locksets &Locks, const MakingSites &Made,
                const Counter &C, const CounterRemedy &Remedy, Sources &Files) {
  return RecordPlanner(P, All, J, Locks, Made, C, Remedy, Files).run();
}

} // namespace decontend
