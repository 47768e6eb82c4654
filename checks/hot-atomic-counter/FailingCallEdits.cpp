//===- FailingCallEdits.cpp - Checks and results --------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FailingCalls.h"
#include "StubText.h"
#include "fmt/format.h"
#include <algorithm>

namespace decontend {

std::vector<std::string> FailingCalls::undoAll() const {
  std::vector<std::string> All;
  for (size_t I = Points.size(); I-- > 0;)
    All.insert(All.end(), Points[I].Undo.begin(), Points[I].Undo.end());
  return All;
}

/// `if (failed) return x;` with the calls undone before it leaves.
void FailingCalls::writeInlineUndo(const ErrorExit &X) {
  const Event &B = F.Events[X.Branch], &L = F.Events[X.Leave];
  std::string Outer = Text.indentAt(B.Text.Begin).str(), Inner = Outer + Unit;
  std::string Calls;
  for (const std::string &Call : undoAll())
    Calls += fmt::format("{};\n{}", Call, Inner);
  if (B.is(Event::Braced)) {
    edit(L.Text.Begin, L.Text.Begin, Calls);
    return;
  }
  // Behind the condition, whose text ends where the statement's line does.
  uint32_t Head = Text.lineBegin(L.Text.Begin);
  if (Head <= B.Text.Begin) {
    refuse("callers-unwind", fmt::format("{} leaves on the line of its test",
                                         Paths.at(X.Branch)));
    return;
  }
  edit(Head - 1, Head - 1, " {");
  edit(L.Text.Begin, L.Text.Begin, Calls);
  edit(L.Text.End, L.Text.End, fmt::format("\n{}}}", Outer));
}

/// The call with its check, for a line that is indented already.
std::string FailingCalls::check(size_t I, const std::string &Indent) const {
  const FailPoint &Point = Points[I];
  if (Tail)
    return fmt::format("return {};", Point.Call);
  std::vector<std::string> Calls;
  std::string Jump = Leave;
  if (!Labels[I].empty()) {
    Jump = "goto " + Labels[I];
  } else {
    for (size_t J = I; J-- > 0;)
      Calls.insert(Calls.end(), Points[J].Undo.begin(), Points[J].Undo.end());
    for (const Undoing &U : Undo)
      Calls.push_back(U.Text);
    if (Before)
      for (uint32_t J : Before->Undo)
        Calls.push_back(Paths.source(J));
  }
  std::string Out = Status.empty() ? fmt::format("if ({})", Point.Call)
                                   : fmt::format("{} = {};\n{}if ({})", Status,
                                                 Point.Call, Indent, Status);
  bool Braces = !Calls.empty() ||
                (!Paths.Exits.empty() &&
                 std::all_of(Paths.Exits.begin(), Paths.Exits.end(),
                             [&](const ErrorExit &X) {
                               return F.Events[X.Branch].is(Event::Braced);
                             }));
  Out += Braces ? " {\n" : "\n";
  for (const std::string &Call : Calls)
    Out += fmt::format("{}{}{};\n", Indent, Unit, Call);
  Out += fmt::format("{}{}{};", Indent, Unit, Jump);
  if (Braces)
    Out += fmt::format("\n{}}}", Indent);
  return Out;
}

void FailingCalls::writePoints() {
  for (size_t I = 0; I < Points.size(); ++I) {
    const Event &E = F.Events[Points[I].Event];
    std::string Indent = Text.indentAt(E.Text.Begin).str();
    std::string New = check(I, Indent);
    if (!Points[I].Replaces) {
      edit(E.Text.End, E.Text.End, fmt::format("\n{}{}", Indent, New));
      continue;
    }
    if (MoveTo < 0) {
      edit(E.Text.Begin, E.Text.End, New);
      continue;
    }
    Span Lines = *Text.wholeLines(E.Text);
    Lines.Begin = Text.commentAbove(Lines.Begin).Begin;
    std::string Comment =
        Text.text().slice(Lines.Begin, Text.lineBegin(E.Text.Begin)).str();
    Span Gone = Text.withSpareBlank(Lines);
    edit(Gone.Begin, Gone.End, "");
    uint32_t To = Text.lineBegin(F.Events[MoveTo].Text.Begin);
    To = Text.commentAbove(To).Begin;
    bool Apart = To > 0 && Text.lineAt(To - 1).trim().empty();
    edit(To, To,
         fmt::format("{}{}{}\n{}", Comment, Indent, New, Apart ? "\n" : ""));
  }
}

/// `int ret;` behind the declarations at the start of the body.
void FailingCalls::declareStatus() {
  std::vector<Span> Declared;
  for (const Event &E : F.Events)
    if (E.is(Event::Declares))
      Declared.push_back(E.Text);
  uint32_t First = Text.lineBegin(F.Body.End - 1);
  for (const Event &E : F.Events) {
    bool Inside = E.Text.empty() || E.is(Event::Declares) ||
                  std::any_of(Declared.begin(), Declared.end(),
                              [&](Span S) { return S.contains(E.Text); });
    if (!Inside && E.Text.Begin > F.Body.Begin)
      First = std::min(First, Text.lineBegin(E.Text.Begin));
  }
  First = Text.commentAbove(First).Begin;
  uint32_t Top = Text.nextLine(F.Body.Begin);
  // Neither behind a blank line nor under the #if of the first statement.
  while (First > Top && (Text.lineAt(First - 1).trim().empty() ||
                         Text.lineAt(First - 1).starts_with("#if")))
    First = Text.lineBegin(First - 1);
  std::string Line = fmt::format("{}int {};\n", Unit, Status);
  if (First <= Top)
    edit(Top, Top, Line + "\n");
  else
    edit(First, First, Line);
}

void FailingCalls::becomeInt() {
  std::string Code = codeOnly(Text.text());
  uint32_t Name = Paths.offsetOf(F.Where.Line) + F.Where.Column - 1;
  size_t Void = voidBefore(Code, Name);
  if (Void == llvm::StringRef::npos) {
    refuse("initialiser-can-fail",
           fmt::format("the result of {}() at {}:{} is not spelled there",
                       P.name(Paths.Id).str(), File, F.Where.Line));
    return;
  }
  Out.BecomesInt = true;
  edit(Void, Void + 4, "int");
  std::vector<Edit> Zero =
      returnZero(File, Text.text(), Code, F.Body.Begin, F.Body.End);
  if (Tail) // The last of them is the closing brace's.
    Zero.pop_back();
  for (Edit &E : Zero)
    Out.Edits.push_back(std::move(E));
}

/// Earlier steps that the ways out which are there already leave as they are.
/// That is a fault of its own, and no reason to leave differently.
std::string FailingCalls::gaps() {
  std::string Found;
  if (!MayMove || !Before)
    return Found;
  std::set<std::string> Made;
  for (uint32_t I : Paths.undone(*Before))
    Made.insert(Paths.source(I));
  uint32_t End = Before->Step >= 0 ? Before->Step : Before->Branch;
  for (uint32_t I = 0; I < End; ++I) {
    if (F.Events[I].Kind != EventKind::Call || Paths.Shape.parent(I) != -1)
      continue;
    Undoing U = Undoes.of(I, End);
    if (U.Kind == Undoing::Call && U.From != Paths.Id && !Made.count(U.Text) &&
        U.From != NoNode)
      Found += fmt::format("; as on the error paths that were there, {}() at "
                           "{} is not undone ({} {})",
                           P.calleeName(F.Events[I]).str(), Paths.at(I), U.Text,
                           U.Why);
  }
  return Found;
}

void FailingCalls::write() {
  if (!UseLadder)
    for (const ErrorExit *X : Later)
      writeInlineUndo(*X);
  if (Paths.Result == ResultKind::Void)
    becomeInt();
  writePoints();
  if (UseLadder)
    writeLadder();
  if (NewStatus && !Tail)
    declareStatus();
  std::string Calls;
  auto Note = [&](const std::string &Call, const std::string &Why) {
    Calls += fmt::format("{}{}{}", Calls.empty() ? "" : ", then ", Call,
                         Why.empty() ? "" : " (" + Why + ")");
  };
  for (const Undoing &U : Undo)
    Note(U.Text, U.Why);
  if (Before)
    for (uint32_t I : Paths.undone(*Before))
      Note(Paths.source(I), "");
  Out.Unwinds =
      fmt::format("{}() at {}: a failure {}", P.name(Paths.Id).str(),
                  Paths.at(Points.front().Event),
                  Calls.empty() ? "finds nothing to undo" : "makes " + Calls);
  for (size_t I = 1; I < Points.size(); ++I)
    for (const std::string &Call : Points[I - 1].Undo)
      Out.Unwinds +=
          fmt::format("{} that at {} {}", I == 1 ? "," : " and",
                      Paths.at(Points[I].Event), "makes " + Call + " first");
  Out.Unwinds += gaps();
  if (!Later.empty())
    Out.Unwinds +=
        fmt::format(", and that at {} undoes it", Paths.at(Later[0]->Branch));
}

} // namespace decontend
