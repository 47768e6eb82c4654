//===- Verdict.cpp - What a counter's uses amount to ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Story.h"
#include "analysis/program/Flow.h"

namespace decontend {

llvm::StringRef counterShapeId(CounterShape S) {
  switch (S) {
  case CounterShape::Dead:
    return "dead-counter";
  case CounterShape::ReportOnly:
    return "report-only-counter";
  case CounterShape::Decided:
    return "decided-counter";
  case CounterShape::HotRead:
    return "hot-read-counter";
  case CounterShape::Reference:
    return "hot-reference";
  }
  llvm_unreachable("not a shape");
}

CounterJudge::CounterJudge(const Program &P) : P(P), Shared(P), Heat(P) {
  for (const auto &U : P.units())
    for (const InactiveText &I : U->Inactive)
      LeftOut.insert(I.Words.begin(), I.Words.end());
  // What is passed to functions without a body, such as memcpy().
  for (const Node &N : P.nodes()) {
    if (!N.Facts)
      continue;
    for (const Event &E : N.Facts->Events) {
      if (E.Kind != EventKind::Call || E.Via != CallVia::Direct)
        continue;
      NodeId Callee = P.find(E.Callee);
      if (Callee == NoNode || P.node(Callee).Facts || P.node(Callee).Model)
        continue;
      for (const Expr &X : N.Facts->exprs(E))
        if (!empty(X.Record))
          Copied.insert(X.Record);
    }
  }
}

/// Reached by what shows figures to people, and by nothing hotter.
bool CounterJudge::isReport(NodeId N) const {
  return (P.node(N).Contexts & CtxReport) && !isHot(N);
}

bool CounterJudge::isHot(NodeId N) const {
  Busy::Reach R = Heat.of(N);
  return R.Any && R.At != Pace::Control;
}

SortedUses CounterJudge::sort(const Counter &C) const {
  SortedUses S;
  for (const CounterUse &U : C.Uses) {
    switch (U.Kind) {
    case UseKind::Bump:
      S.Bumps.push_back(&U);
      break;
    case UseKind::Value:
      S.Values.push_back(&U);
      break;
    case UseKind::Set:
      S.Sets.push_back(&U);
      break;
    case UseKind::Test:
    case UseKind::Bits:
      S.Tests.push_back(&U);
      break;
    case UseKind::Racy:
      S.Racy.push_back(&U);
      break;
    case UseKind::Escape:
      S.Escapes.push_back(&U);
      break;
    case UseKind::Read:
      if (U.To.Bits == Sinks::None)
        break; // nobody wants to know
      if (isReport(U.Node) ||
          !(U.To.Bits & ~(Sinks::Shown | Sinks::Copied | Sinks::Returned)))
        S.Reports.push_back(&U);
      else if (!U.To.has(Sinks::Decision))
        S.Vague.push_back(&U);
      else if (isReport(U.To.Where))
        S.Reports.push_back(&U);
      else if (isHot(U.To.Where))
        S.HotReads.push_back(&U);
      else
        S.Decisions.push_back(&U);
      break;
    }
  }
  return S;
}

/// Is the update in a branch that tests what is added?
bool CounterJudge::testsItsAmount(const CounterUse &U) const {
  const FunctionFacts &F = *P.node(U.Node).Facts;
  if (!U.Op || U.Op->By < 0 || U.Wrapped ||
      U.Op->By >= int(F.Events[U.Event].NumExprs))
    return false;
  const Expr &Amount = F.Exprs[F.Events[U.Event].FirstExpr + U.Op->By];
  if (Amount.Root != RootKind::Local && Amount.Root != RootKind::Param)
    return false;
  Flow Shape(P, F);
  for (int Up = Shape.parent(U.Event); Up >= 0; Up = Shape.parent(Up))
    if (F.Events[Up].Kind == EventKind::Branch &&
        mentionsVariable(P.str(F.Events[Up].Callee), P.str(Amount.Base)))
      return true;
  return false;
}

BumpHeat CounterJudge::heatOf(const CounterUse &U) const {
  BumpHeat H;
  H.Use = &U;
  H.Reach = Heat.of(U.Node);
  H.Conditions = H.Reach.Conditions;
  const FunctionFacts &F = *P.node(U.Node).Facts;
  uint32_t At = F.Accesses[U.Access].At;
  if (At < F.Events.size()) {
    Flow Shape(P, F);
    H.Here = Shape.conditions(At);
    H.Conditions += H.Here + Shape.earlyLeaves(At);
    // `if (bytes) counter += bytes;` is no error, though it looks like one.
    H.Rare = Shape.onErrorPath(At) && !testsItsAmount(U);
    for (int Up = Shape.parent(At); Up >= 0; Up = Shape.parent(Up))
      H.Rare |= F.Events[Up].Kind == EventKind::Branch &&
                F.Events[Up].is(Event::Unlikely);
  }
  return H;
}

BumpHeat CounterJudge::hottest(llvm::ArrayRef<const CounterUse *> Uses) const {
  BumpHeat Best;
  auto Rank = [](const BumpHeat &H) {
    return std::make_tuple(!H.Reach.Any, H.Rare,
                           static_cast<unsigned>(H.Reach.At), H.Conditions,
                           H.Reach.Calls);
  };
  for (const CounterUse *U : Uses) {
    BumpHeat H = heatOf(*U);
    if (!Best.Use || Rank(H) < Rank(Best))
      Best = H;
  }
  return Best;
}

/// Is what is added a sum that has been collected until it was large enough?
bool CounterJudge::batched(const CounterUse &U) const {
  if (!U.Op || U.Op->By < 0 || U.Wrapped)
    return false;
  const FunctionFacts &F = *P.node(U.Node).Facts;
  const Event &Call = F.Events[U.Event];
  if (U.Op->By >= int(Call.NumExprs))
    return false;
  const Expr &Amount = F.Exprs[Call.FirstExpr + U.Op->By];
  if (Amount.Root != RootKind::Local || !empty(Amount.Field))
    return false;
  for (uint32_t I = 0; I < U.Event; ++I) {
    llvm::StringRef Test = P.str(F.Events[I].Callee);
    if (F.Events[I].Kind == EventKind::Branch &&
        Test.contains_insensitive("batch") &&
        mentionsVariable(Test, P.str(Amount.Base)))
      return true;
  }
  return false;
}

/// Does a member of the same record say whether the update happens? Statistics
/// that have to be switched on are off.
bool CounterJudge::switched(const Counter &C, const CounterUse &U) const {
  const FunctionFacts &F = *P.node(U.Node).Facts;
  uint32_t At = F.Accesses[U.Access].At;
  if (At >= F.Events.size() || empty(C.Record))
    return false;
  Flow Shape(P, F);
  llvm::DenseSet<uint32_t> Around;
  for (int Up = Shape.parent(At); Up >= 0; Up = Shape.parent(Up))
    if (F.Events[Up].Kind == EventKind::Branch)
      Around.insert(Up);
  std::string Of = (P.str(C.Record) + ".").str();
  for (const Access &A : F.Accesses)
    if (A.Kind == AccessKind::Read && A.is(Access::Consumed) &&
        Around.contains(A.At) && P.str(F.Exprs[A.Path].Field).starts_with(Of))
      return true;
  return false;
}

/// Does the function turn back before the update unless some time has passed?
bool CounterJudge::rateLimited(const CounterUse &U) const {
  const FunctionFacts &F = *P.node(U.Node).Facts;
  uint32_t At = F.Accesses[U.Access].At;
  llvm::DenseSet<Sym> Clocks; // local variables that hold a time
  for (uint32_t I = 0; I < At && I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
      const Expr &L = F.Exprs[E.FirstExpr], &R = F.Exprs[E.FirstExpr + 1];
      NodeId Callee = R.Root == RootKind::Call ? P.find(R.Base) : NoNode;
      if (L.Root == RootKind::Local && empty(L.Field) && Callee != NoNode &&
          P.models().isClock(P.name(Callee)))
        Clocks.insert(L.Base);
    }
    if (E.Kind != EventKind::Branch || !E.Link)
      continue;
    for (Sym Clock : Clocks)
      if (mentionsVariable(P.str(E.Callee), P.str(Clock)))
        return true;
  }
  return false;
}

namespace {

/// Collects caps on the confidence, each with its reason.
class DoubtList {
public:
  explicit DoubtList(Finding &F) : F(F) { F.Level = Confidence::High; }
  void cap(Confidence At, const llvm::Twine &Why) {
    if (F.Level > At) {
      F.Level = At;
      F.Doubts.push_back(Why.str());
    }
  }

private:
  Finding &F;
};

} // namespace

/// Counts what seldom happens, to judge by its name.
static bool countsRareThings(llvm::StringRef Name) {
  std::string Lower = Name.lower();
  for (llvm::StringRef Word :
       {"err",       "fail",  "drop",    "discard",  "invalid",
        "violation", "bad",   "oom",     "overflow", "overrun",
        "timeout",   "retry", "retries", "corrupt",  "collision",
        "carrier",   "warn",  "reset",   "miss",     "events"})
    if (llvm::StringRef(Lower).contains(Word))
      return true;
  return false;
}

SharingVerdict CounterJudge::sharing(const Counter &C) const {
  if (!C.Variable)
    return Shared.of(C.Record);
  SharingVerdict V;
  V.Kind = P.str(C.Variable->Section).contains("percpu") ? SharingVerdict::Owner
                                                         : SharingVerdict::Wide;
  V.Proven = true;
  V.Why = "'" + P.str(C.Variable->Name).str() +
          "' is one variable for the whole program";
  return V;
}

void CounterJudge::doubt(const Counter &C, const SortedUses &S,
                         const BumpHeat &H, const SharingVerdict &Share,
                         CounterShape Shape, Finding &F) const {
  DoubtList D(F);
  Sym Name = C.Field ? C.Field->Name : C.Variable->Name;
  if (Shape == CounterShape::Reference)
    D.cap(Confidence::Low, "references need care that is not seen here");
  if (Shape == CounterShape::HotRead)
    D.cap(Confidence::Low, "a hot path decides by its value");
  if (Share.Kind == SharingVerdict::Many)
    D.cap(Confidence::Low, "there are many such objects");
  if (!S.Escapes.empty() || C.AddressKept)
    D.cap(Confidence::Low, "its address or offset goes where nobody looks");
  if (H.Reach.At == Pace::Control)
    D.cap(Confidence::Low, "only control calls update it");
  if (H.Conditions > 6)
    D.cap(Confidence::Low, "many conditions stand on the way to it");
  if (Shape == CounterShape::Decided && (H.Conditions > 1 || H.Reach.Calls > 3))
    D.cap(Confidence::Low, "something decides by its value, and the way to the "
                           "update is long or has conditions");
  if (Shape == CounterShape::Dead) {
    if (C.Field && Copied.contains(C.Record))
      D.cap(Confidence::Medium, "objects are copied as a whole");
    if (LeftOut.contains(Name))
      D.cap(Confidence::Medium, "text that this configuration leaves out "
                                "mentions its name");
  }
  if (Share.Kind == SharingVerdict::Unknown)
    D.cap(Confidence::Medium, "it is not seen who shares the object");
  if (Shape == CounterShape::Decided)
    D.cap(Confidence::Medium, "something decides by its value");
  if (!S.Vague.empty())
    D.cap(Confidence::Medium, "it is not seen what becomes of its value");
  if (H.Reach.At == Pace::Serial)
    D.cap(Confidence::Medium, "one core at a time updates it for an object");
  if (H.Reach.At == Pace::Remote)
    D.cap(Confidence::Medium,
          "each update goes with a wait for another machine");
  if (H.Conditions > 2 || H.Here > 1)
    D.cap(Confidence::Medium, "it is updated behind several conditions");
  const FunctionFacts &In = *P.node(H.Use->Node).Facts;
  const Expr &Path = In.Exprs[In.Accesses[H.Use->Access].Path];
  if (Path.Root == RootKind::Global &&
      P.str(Path.Text).contains(
          (P.str(Path.Base).split('@').first + "[").str()))
    D.cap(Confidence::Medium,
          "who shares one element of the array is not seen");
  if (switched(C, *H.Use))
    D.cap(Confidence::Medium, "a member of the object says whether it is "
                              "updated");
  if (H.Reach.Calls > 8)
    D.cap(Confidence::Medium, "the way there is long");
  if (countsRareThings(P.str(Name)))
    D.cap(Confidence::Medium, "by its name it counts what seldom happens");
}

/// A reference count is worth a word only where everyone takes and drops it for
/// each unit of work.
std::optional<Finding> CounterJudge::judgeReference(const Counter &C,
                                                    const SortedUses &S) const {
  if (!S.Racy.empty() || !S.Escapes.empty())
    return std::nullopt;
  std::vector<const CounterUse *> Takes = S.Bumps, Drops;
  // Who looks at what is left after a drop looks for the last one.
  for (const CounterUse *U : S.Values) {
    if (!U->Op || U->Op->Op != AtomicModel::Dec)
      return std::nullopt;
    Drops.push_back(U);
  }
  for (const CounterUse *U : S.Tests) {
    if (!U->Op ||
        (U->Op->Op != AtomicModel::Inc && U->Op->Op != AtomicModel::Dec))
      return std::nullopt;
    (U->Op->Op == AtomicModel::Inc ? Takes : Drops).push_back(U);
  }
  if (Takes.empty() || Drops.empty())
    return std::nullopt;
  BumpHeat Take = hottest(Takes), Drop = hottest(Drops);
  for (const BumpHeat &H : {Take, Drop})
    if (!H.Reach.Any || H.Rare || H.Reach.At != Pace::Work || H.Conditions > 3)
      return std::nullopt;
  SharingVerdict Share = sharing(C);
  if (Share.Kind != SharingVerdict::Wide)
    return std::nullopt;
  Finding F;
  doubt(C, S, Take, Share, CounterShape::Reference, F);
  tellCounter(P, C, S, Take, Share, CounterShape::Reference, Heat, F);
  return F;
}

std::optional<Finding> CounterJudge::judge(const Counter &C) const {
  SortedUses S = sort(C);
  if (C.Type && C.Type->Kind == CounterTypeModel::Spread)
    return std::nullopt;
  bool Drops = !S.Values.empty() && S.Tests.empty() &&
               llvm::all_of(S.Values, [](const CounterUse *U) {
                 return U->Op && U->Op->Op == AtomicModel::Dec;
               });
  if (!S.Tests.empty() || Drops ||
      (C.Type && C.Type->Kind == CounterTypeModel::Reference))
    return judgeReference(C, S);
  // A plain ++ is one of a statistic that may lose counts, or of a counter that
  // something else guards; it is looked at on demand only.
  bool Racy = S.Bumps.empty() && !C.Type;
  if (Racy)
    S.Bumps = S.Racy;
  if (S.Bumps.empty() || !S.Values.empty() || (!Racy && !S.Racy.empty()))
    return std::nullopt;
  BumpHeat H = hottest(S.Bumps);
  if (!H.Reach.Any || H.Rare)
    return std::nullopt;
  CounterShape Shape = !S.HotReads.empty()    ? CounterShape::HotRead
                       : !S.Decisions.empty() ? CounterShape::Decided
                       : !S.Reports.empty() || !S.Vague.empty() ||
                               !S.Escapes.empty() || C.AddressKept
                           ? CounterShape::ReportOnly
                           : CounterShape::Dead;
  // What this rule would advise has been done.
  if (rateLimited(*H.Use) || (!C.Variable && batched(*H.Use)))
    return std::nullopt;
  // Read through the members that it shares its bytes with.
  if (Shape == CounterShape::Dead && C.Field &&
      ((C.Field->Flags & FieldFacts::InUnion) || C.Field->Text.empty()))
    return std::nullopt;
  SharingVerdict Share = sharing(C);
  if (Share.Kind == SharingVerdict::Owner)
    return std::nullopt;
  Finding F;
  doubt(C, S, H, Share, Shape, F);
  if (Racy) {
    F.Level = std::min(F.Level, Confidence::Medium);
    F.Doubts.push_back("updates without atomicity may be guarded, or lose "
                       "counts already");
  }
  tellCounter(P, C, S, H, Share, Shape, Heat, F);
  return F;
}

} // namespace decontend
