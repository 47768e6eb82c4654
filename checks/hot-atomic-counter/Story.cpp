//===- Story.cpp - Sentences and trace of a finding -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Story.h"
#include "fmt/format.h"

namespace decontend {

namespace {

class CounterStory {
public:
  CounterStory(const Program &P, const Counter &C, const SortedUses &S,
               const BumpHeat &H, const Busy &Ways, Finding &Out)
      : P(P), C(C), S(S), H(H), Ways(Ways), Out(Out) {}

  void tell(const SharingVerdict &Share, CounterShape Shape) {
    const CounterUse &U = *H.Use;
    const FunctionFacts &F = *P.node(U.Node).Facts;
    const Access &A = F.Accesses[U.Access];
    Out.Rule = "hot-atomic-counter";
    Out.Shape = counterShapeId(Shape).str();
    Out.File = P.str(F.Where.File).str();
    Out.Line = A.Line;
    Out.Column = A.Column;
    Out.Function = P.name(U.Node).str();
    Out.Subject = P.str(C.Key).str();
    if (C.Variable)
      Out.Subject = P.str(C.Variable->Name).str();
    Out.Message = message(Shape);
    Out.Why.Shape = shape(Shape);
    Out.Why.Sharing = Share.Why.empty() ? "not seen" : Share.Why;
    Out.Why.Heat = heat();
    Out.Why.Remedy = remedy(Shape);
    for (unsigned B = 0; B < 16; ++B)
      if (P.node(U.Node).Contexts & (1u << B))
        Out.Context +=
            (Out.Context.empty() ? "" : "+") + contextName(1u << B).str();
    if (Out.Context.empty())
      Out.Context = "unknown";
    trace();
  }

private:
  std::string message(CounterShape Shape) const {
    switch (Shape) {
    case CounterShape::Dead:
      return fmt::format("'{}' is bumped by everyone and read by nobody",
                         Out.Subject);
    case CounterShape::ReportOnly:
      return fmt::format("'{}' is bumped by everyone and read only to be shown",
                         Out.Subject);
    case CounterShape::Decided:
      return fmt::format("'{}' is bumped by everyone and read rarely",
                         Out.Subject);
    case CounterShape::HotRead:
      return fmt::format("'{}' is bumped and read by everyone", Out.Subject);
    case CounterShape::Reference:
      return fmt::format("'{}' is a reference count that everyone takes",
                         Out.Subject);
    }
    return "";
  }

  static std::string count(size_t N, const char *What) {
    return fmt::format("{} {}{}", N, What, N == 1 ? "" : "s");
  }

  std::string shape(CounterShape Shape) const {
    std::string Text =
        count(S.Bumps.size(), "atomic update") + " whose result is not used";
    size_t Readers = S.Reports.size() + S.Decisions.size() + S.HotReads.size() +
                     S.Vague.size();
    if (!Readers)
      return Text + ", no reader";
    Text += ", " + count(Readers, "reader");
    std::string Kinds;
    auto Add = [&](size_t N, const char *What) {
      if (N)
        Kinds += fmt::format("{}{} {}", Kinds.empty() ? "" : ", ", N, What);
    };
    Add(S.Reports.size(), "to report");
    Add(S.Decisions.size(), "to decide");
    Add(S.HotReads.size(), "on a hot path");
    Add(S.Vague.size(), "of unseen purpose");
    return Text + " (" + Kinds + ")";
  }

  std::string heat() const {
    std::string Text = "hot: " + H.Reach.Entry->Why;
    if (H.Reach.Calls)
      Text += fmt::format(", {} further", count(H.Reach.Calls, "call"));
    if (H.Conditions)
      Text += fmt::format(", {}", count(H.Conditions, "condition"));
    return Text;
  }

  std::string remedy(CounterShape Shape) const {
    if (Shape == CounterShape::Dead)
      return "delete it: nobody reads it";
    if (Shape == CounterShape::Reference)
      return "take it for a batch of users at a time, or count references "
             "without a shared line (percpu_ref, rcuref_t)";
    if (Shape == CounterShape::HotRead)
      return "update it less often (batch, or limit the rate), or keep it per "
             "object";
    llvm::StringRef Type =
        C.Field ? P.str(C.Field->Type) : P.str(C.Variable->Type);
    std::string To = "a per-CPU counter";
    for (const CounterRemedy *R : P.models().remediesFor(Type))
      if (!R->Variable) {
        To = "a " + R->Type;
        break;
      }
    if (Shape == CounterShape::Decided)
      return "make it " + To +
             " if the decision stands an approximate value; "
             "else keep it per object";
    return "make it " + To;
  }

  TraceStep step(NodeId N, uint32_t Line, uint32_t Column,
                 std::string Note) const {
    TraceStep T;
    T.File = P.str(P.node(N).Facts->Where.File).str();
    T.Line = Line;
    T.Column = Column;
    T.Function = P.name(N).str();
    T.Note = std::move(Note);
    return T;
  }

  void uses(llvm::ArrayRef<const CounterUse *> Uses, const char *Note) {
    for (const CounterUse *U : Uses) {
      if (U == H.Use)
        continue;
      const Access &A = P.node(U->Node).Facts->Accesses[U->Access];
      Out.Trace.push_back(step(U->Node, A.Line, A.Column, Note));
    }
  }

  void trace() {
    for (uint32_t I : Ways.way(H.Use->Node)) {
      const Edge &E = P.edges()[I];
      const Event &Call = P.node(E.Caller).Facts->Events[E.Event];
      Out.Trace.push_back(step(E.Caller, Call.Line, Call.Column,
                               "calls " + P.name(E.Callee).str() + "()"));
    }
    Out.Trace.push_back(step(H.Use->Node, Out.Line, Out.Column, "updates it"));
    uses(S.Bumps, "updates it");
    uses(S.Reports, "reads it, to report");
    uses(S.Decisions, "reads it, to decide");
    uses(S.HotReads, "reads it, on a hot path");
    uses(S.Vague, "reads it");
    uses(S.Tests, "tests it");
    uses(S.Sets, "sets it");
    uses(S.Escapes, "takes its address");
    Place At = C.where(P);
    TraceStep T;
    T.File = P.str(At.File).str();
    T.Line = At.Line;
    T.Column = At.Column;
    T.Note = "declared here";
    Out.Trace.push_back(T);
  }

  const Program &P;
  const Counter &C;
  const SortedUses &S;
  const BumpHeat &H;
  const Busy &Ways;
  Finding &Out;
};

} // namespace

void tellCounter(const Program &P, const Counter &C, const SortedUses &S,
                 const BumpHeat &H, const SharingVerdict &Share,
                 CounterShape Shape, const Busy &Ways, Finding &F) {
  CounterStory(P, C, S, H, Ways, F).tell(Share, Shape);
}

} // namespace decontend
