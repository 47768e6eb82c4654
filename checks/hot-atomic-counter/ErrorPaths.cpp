//===- ErrorPaths.cpp - How a function leaves after a failure -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ErrorPaths.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

static ResultKind kindOf(llvm::StringRef Type) {
  if (Type == "void")
    return ResultKind::Void;
  if (Type.ends_with("*"))
    return ResultKind::Pointer;
  if (Type == "bool" || Type == "_Bool")
    return ResultKind::Bool;
  return Type == "int" ? ResultKind::Int : ResultKind::Other;
}

ErrorPaths::ErrorPaths(const Program &P, NodeId N, const SourceText &Text)
    : P(P), Id(N), F(*P.node(N).Facts), Text(Text), Shape(P, F),
      Result(kindOf(P.str(F.ReturnType))) {
  findLabels();
  findExits();
}

void ErrorPaths::findLabels() {
  // The labels that end the function: nothing but calls, assignments and small
  // branches behind the first of them, up to the last return.
  uint32_t First = F.Events.size();
  for (uint32_t I = F.Events.size(); I-- > 0;) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Loop || E.Kind == EventKind::Switch ||
        (E.Kind == EventKind::Return && Shape.parent(I) == -1 &&
         I + 1 != F.Events.size()))
      break;
    if (E.Kind == EventKind::Label && Shape.parent(I) == -1)
      First = I;
  }
  for (uint32_t I = First; I < F.Events.size(); ++I)
    if (F.Events[I].Kind == EventKind::Label && Shape.parent(I) == -1)
      Labels.push_back({F.Events[I].Callee, I});
  if (Labels.empty())
    return;
  Mixed = First == 0 ||
          (F.Events[First - 1].Kind != EventKind::Return &&
           F.Events[First - 1].Kind != EventKind::Goto) ||
          Shape.parent(First - 1) != -1;
  if (F.Events.back().Kind == EventKind::Return &&
      Shape.parent(F.Events.size() - 1) == -1)
    Final = F.Events.size() - 1;
  Ladder = !Mixed && (Final >= 0 || Result == ResultKind::Void);
  for (uint32_t I = First; I < F.Events.size(); ++I)
    Ladder &= F.Events[I].Kind != EventKind::Goto;
}

bool ErrorPaths::isError(uint32_t Branch, const Event &Return) const {
  if (Return.NumExprs == 0)
    return false;
  const Expr &X = F.exprs(Return)[0];
  const Event &B = F.Events[Branch];
  if (X.Root == RootKind::Constant) {
    bool Zero = P.str(X.Text) == "0" || P.str(X.Text) == "const";
    return Result == ResultKind::Bool ? Zero : !Zero;
  }
  if (X.Root == RootKind::Null)
    return Result == ResultKind::Pointer;
  bool Tests = (B.is(Event::ErrorTest) && !B.is(Event::Negated)) ||
               (B.is(Event::NullTest) && B.is(Event::Negated)) ||
               (B.NumExprs && F.exprs(B)[0].Root == RootKind::Call);
  return Tests;
}

void ErrorPaths::findExits() {
  uint32_t End = Labels.empty() ? F.Events.size() : Labels[0].Event;
  for (uint32_t I = 0; I < End; ++I) {
    const Event &B = F.Events[I];
    if (B.Kind != EventKind::Branch || Shape.parent(I) != -1 || B.Link <= I + 1)
      continue;
    bool Else = B.Link + 1 < F.Events.size() &&
                F.Events[B.Link + 1].Kind == EventKind::Else;
    uint32_t Last = B.Link - 1;
    const Event &L = F.Events[Last];
    if (Else || Shape.parent(Last) != int(I))
      continue;
    ErrorExit X;
    X.Branch = I;
    X.Leave = Last;
    if (L.Kind == EventKind::Goto && labelIndex(L.Callee) >= 0)
      X.Label = L.Callee;
    else if (L.Kind != EventKind::Return || !isError(I, L))
      continue;
    for (uint32_t J = I + 1; J < Last; ++J)
      if (F.Events[J].Kind == EventKind::Call) {
        // `return ERR_PTR(err)` is a call as well.
        bool InLeave = L.Text.contains(F.Events[J].Text);
        if (!InLeave)
          X.Undo.push_back(J);
      }
    if (B.NumExprs) {
      const Expr &Tested = F.exprs(B)[0];
      Sym Callee = Tested.Root == RootKind::Call ? Tested.Base : Sym::None;
      int From = int(I) - 1;
      bool Stored = Tested.Root == RootKind::Local && empty(Tested.Field);
      if (Stored || !empty(Tested.Field)) {
        if (Stored)
          X.Status = Tested.Base;
        for (; From >= 0; --From) {
          const Event &A = F.Events[From];
          if (A.Kind == EventKind::Assign && A.NumExprs == 2 &&
              F.exprs(A)[0].Text == Tested.Text)
            break;
        }
        if (From >= 0 && F.exprs(F.Events[From])[1].Root == RootKind::Call)
          Callee = F.exprs(F.Events[From])[1].Base;
      }
      for (; From >= 0 && !empty(Callee) && X.Step < 0; --From)
        if (F.Events[From].Kind == EventKind::Call &&
            F.Events[From].Callee == Callee)
          X.Step = From;
    }
    Exits.push_back(std::move(X));
  }
}

const ErrorExit *ErrorPaths::before(uint32_t I) const {
  const ErrorExit *Last = nullptr;
  for (const ErrorExit &X : Exits)
    if (X.Branch < I)
      Last = &X;
  return Last;
}

std::vector<const ErrorExit *> ErrorPaths::behind(uint32_t I) const {
  std::vector<const ErrorExit *> Out;
  for (const ErrorExit &X : Exits)
    if (X.Branch > I)
      Out.push_back(&X);
  return Out;
}

int ErrorPaths::unlisted(uint32_t I) const {
  uint32_t End = Labels.empty() ? F.Events.size() : Labels[0].Event;
  for (uint32_t J = I + 1; J < End; ++J) {
    const Event &E = F.Events[J];
    if ((E.Kind != EventKind::Return && E.Kind != EventKind::Goto) ||
        Shape.parent(J) == -1)
      continue;
    bool Listed = std::any_of(Exits.begin(), Exits.end(),
                              [&](const ErrorExit &X) { return X.Leave == J; });
    // A plain `return 0` in a branch is success.
    bool Success = E.Kind == EventKind::Return &&
                   (E.NumExprs == 0 || !isError(Shape.parent(J), E));
    if (!Listed && !Success)
      return int(J);
  }
  return -1;
}

std::vector<uint32_t> ErrorPaths::chain(Sym Name) const {
  std::vector<uint32_t> Out;
  int Index = labelIndex(Name);
  if (Index < 0)
    return Out;
  Span Leave = Final >= 0 ? F.Events[Final].Text : Span();
  for (uint32_t I = Labels[Index].Event; I < F.Events.size(); ++I)
    if (F.Events[I].Kind == EventKind::Call &&
        (Leave.empty() || !Leave.contains(F.Events[I].Text)))
      Out.push_back(I);
  return Out;
}

std::vector<uint32_t> ErrorPaths::undone(const ErrorExit &X) const {
  std::vector<uint32_t> Out = X.Undo;
  for (uint32_t I : chain(X.Label))
    Out.push_back(I);
  return Out;
}

int ErrorPaths::labelIndex(Sym Name) const {
  for (size_t I = 0; I < Labels.size(); ++I)
    if (Labels[I].Name == Name)
      return int(I);
  return -1;
}

llvm::StringRef ErrorPaths::returnText(const ErrorExit *X) const {
  int Event = X && empty(X->Label) ? int(X->Leave) : Final;
  return Event < 0 ? llvm::StringRef() : Text.slice(F.Events[Event].Text);
}

std::string ErrorPaths::at(uint32_t I) const {
  return fmt::format("{}:{}", P.str(F.Where.File).str(),
                     I < F.Events.size() ? F.Events[I].Line : F.EndLine);
}

std::string ErrorPaths::source(uint32_t I) const {
  return Text.slice(F.Events[I].Text).rtrim("; \t\n").str();
}

uint32_t ErrorPaths::offsetOf(uint32_t Line) const {
  uint32_t At = 0;
  for (uint32_t L = 1; L < Line && At < Text.text().size(); ++L)
    At = Text.nextLine(At);
  return At;
}

std::string ErrorPaths::indentUnit() const {
  for (uint32_t At = Text.nextLine(F.Body.Begin); At < F.Body.End;
       At = Text.nextLine(At)) {
    llvm::StringRef Indent = Text.indentAt(At);
    if (!Indent.empty() && !Text.lineAt(At).trim().empty())
      return Indent.str();
    if (Text.nextLine(At) == At)
      break;
  }
  return "\t";
}

bool ErrorPaths::declaresInt(llvm::StringRef Name) const {
  std::string Code = codeOnly(Text.slice(F.Body));
  for (uint32_t At : mentionsOf(Code, Name)) {
    llvm::StringRef Head = llvm::StringRef(Code).take_front(At);
    size_t Begin = Head.find_last_of(";{}");
    Head = Head.substr(Begin == llvm::StringRef::npos ? 0 : Begin + 1).ltrim();
    // `int i, ret` and `int ret`, but not `int *ret` nor `x = (int)ret`.
    if (!Head.consume_front("int") || Head.empty() ||
        !llvm::isSpace(Head.front()) || Head.rtrim().ends_with("*") ||
        Head.contains('('))
      continue;
    // One of an inner block is not there at the outermost level.
    llvm::StringRef Above = llvm::StringRef(Code).take_front(At);
    bool Outermost = Above.count('{') == Above.count('}') + 1;
    if (Outermost && (Head.trim().empty() || Head.rtrim().ends_with(",")))
      return true;
  }
  return false;
}

std::string ErrorPaths::statusVariable() const {
  // What is tested or returned after a failure comes first.
  for (const ErrorExit &X : Exits)
    if (!empty(X.Status) && declaresInt(P.str(X.Status)))
      return P.str(X.Status).str();
  for (const Event &E : F.Events)
    if (E.Kind == EventKind::Return && E.NumExprs &&
        F.exprs(E)[0].Root == RootKind::Local && Result == ResultKind::Int &&
        declaresInt(P.str(F.exprs(E)[0].Base)))
      return P.str(F.exprs(E)[0].Base).str();
  return "";
}

} // namespace decontend
