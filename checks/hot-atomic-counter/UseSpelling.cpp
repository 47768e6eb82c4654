//===- UseSpelling.cpp - How a use of a counter is written ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StubText.h"
#include "UsePlaces.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

static std::string withoutSpace(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (!llvm::isSpace(C))
      Out += C;
  return Out;
}

bool UsePlaces::place(const CounterUse &U, UsePlace &Out) {
  const FunctionFacts &F = *P.node(U.Node).Facts;
  const Access &A = F.Accesses[U.Access];
  Out.Use = &U;
  Out.File = P.str(F.Where.File).str();
  Out.Line = A.Line;
  if (!text(Out.File))
    return fail(Out, "cannot be edited");
  if (U.Wrapped)
    return fail(Out, fmt::format("passes its address to {}()",
                                 P.calleeName(F.Events[A.At]).str()));
  if (U.Kind == UseKind::Escape)
    return fail(Out, "takes its address");
  if (U.Kind == UseKind::Value ||
      (U.Kind == UseKind::Bump && U.To.Bits != Sinks::None))
    return L.require("result-unused", false,
                     Out.at() + " uses the value that the update yields");
  if (U.Kind != UseKind::Bump && U.Kind != UseKind::Read &&
      U.Kind != UseKind::Set)
    return fail(Out, "is neither an atomic update nor a read");
  if (A.is(Access::Initial))
    return constructorInit(A, Out);
  if (A.is(Access::FromMacro) || A.Text.empty())
    return fail(Out, "is spelled by a macro");
  Out.Mention = Out.Whole = A.Text;
  Out.Object = code(Out.File).slice(A.Text.Begin, A.Text.End).str();
  switch (A.Kind) {
  case AccessKind::Argument:
    return U.Op ? call(U, Out) : fail(Out, "takes its address");
  case AccessKind::Update:
    return update(A, Out);
  case AccessKind::Read:
    Out.Op = AtomicModel::Read;
    // `*(volatile long *)&x` is a read of x in the facts.
    if (code(Out.File).take_front(A.Text.Begin).rtrim(" \t\n(").ends_with("&"))
      return fail(Out, "reads it through its address");
    return true;
  case AccessKind::Write: {
    const Event &E = F.Events[A.At];
    if (!E.is(Event::Statement) || E.Text.empty() || !E.Text.contains(A.Text))
      return fail(Out, "sets it as part of an expression");
    Out.Op = AtomicModel::Set;
    Out.Whole = {E.Text.Begin, E.Text.End - 1};
    llvm::StringRef Rest = code(Out.File).slice(A.Text.End, Out.Whole.End);
    size_t Sign = Rest.find('=');
    if (Out.Whole.Begin != A.Text.Begin || Sign == llvm::StringRef::npos)
      return fail(Out, "sets it as part of an expression");
    Out.Amount = llvm::StringRef(*text(Out.File))
                     .slice(A.Text.End + Sign + 1, Out.Whole.End)
                     .trim()
                     .str();
    statement(Out, true);
    return true;
  }
  case AccessKind::Escape:
    break;
  }
  return fail(Out, "takes its address");
}

bool UsePlaces::call(const CounterUse &U, UsePlace &Out) {
  const FunctionFacts &F = *P.node(U.Node).Facts;
  const Event &E = F.Events[U.Event];
  llvm::StringRef Code = code(Out.File);
  llvm::StringRef Text = *text(Out.File);
  if (E.Text.empty() || !E.Text.contains(Out.Mention))
    return fail(Out, "is part of what a macro spells");
  Out.Op = U.Op->Op;
  Out.Whole = E.Text;
  if (Code.slice(E.Text.Begin, E.Text.End).ends_with(";"))
    --Out.Whole.End;
  statement(Out, E.is(Event::Statement));
  bool Amount = U.Op->By >= 0;
  uint32_t After = Out.Mention.End;
  bool Method = Out.Whole.Begin == Out.Mention.Begin;
  std::vector<Span> Args;
  if (Method) {
    llvm::StringRef Rest = Code.slice(After, Out.Whole.End).ltrim();
    if (Rest.starts_with(".")) {
      size_t Open = Code.find('(', After);
      size_t Close =
          Open < Out.Whole.End ? matching(Code, Open) : llvm::StringRef::npos;
      if (Close != Out.Whole.End)
        return fail(Out, "is written in an unusual way");
      Args = splitArguments(Code, Open + 1, Close - 1);
      if (!Amount)
        return true;
      if (Args.size() < size_t(U.Op->By))
        return fail(Out, "is written in an unusual way");
      Out.Amount =
          Text.slice(Args[U.Op->By - 1].Begin, Args[U.Op->By - 1].End).str();
      return true;
    }
    // An operator, or the read that a conversion makes.
    size_t Skip = Rest.find_first_not_of("+-=");
    if (Amount && Skip != llvm::StringRef::npos && Skip > 0)
      Out.Amount = Text.substr(Out.Whole.End - Rest.size() + Skip)
                       .take_front(Rest.size() - Skip)
                       .trim()
                       .str();
    return (!Amount || !Out.Amount.empty()) ||
           fail(Out, "is written in an unusual way");
  }
  size_t Open = Code.find('(', Out.Whole.Begin);
  if (Open > Out.Mention.Begin)
    return Code.slice(Out.Whole.Begin, Out.Mention.Begin).trim() == "++" ||
                   Code.slice(Out.Whole.Begin, Out.Mention.Begin).trim() == "--"
               ? true
               : fail(Out, "is written in an unusual way");
  if (matching(Code, Open) != Out.Whole.End)
    return fail(Out, "is written in an unusual way");
  Args = splitArguments(Code, Open + 1, Out.Whole.End - 1);
  // A macro of the program may take its arguments in another order.
  auto Same = [&](int Number) {
    if (size_t(Number) >= Args.size())
      return false;
    if (!E.is(Event::FromMacro))
      return true;
    llvm::StringRef Given = P.str(F.exprs(E)[Number].Text);
    return Number < E.NumExprs ? withoutSpace(Code.slice(Args[Number].Begin,
                                                         Args[Number].End)) ==
                                     withoutSpace(Given)
                               : true;
  };
  if (size_t(U.Op->On) >= Args.size() ||
      !Args[U.Op->On].contains(Out.Mention) || !Same(U.Op->On) ||
      withoutSpace(Code.slice(Args[U.Op->On].Begin, Args[U.Op->On].End))
              .size() > withoutSpace(Out.Object).size() + 3)
    return fail(Out, "is spelled by a macro");
  if (!Amount)
    return true;
  if (Same(U.Op->By)) {
    Out.Amount = Text.slice(Args[U.Op->By].Begin, Args[U.Op->By].End).str();
    return true;
  }
  // The macro says how much: `COUNT(&x)` adds one.
  if (Args.size() == 1 && U.Op->By < E.NumExprs &&
      F.exprs(E)[U.Op->By].Root == RootKind::Constant) {
    Out.Amount = P.str(F.exprs(E)[U.Op->By].Text).str();
    return true;
  }
  return fail(Out, "is spelled by a macro");
}

bool UsePlaces::update(const Access &A, UsePlace &Out) {
  llvm::StringRef Code = code(Out.File).slice(A.Text.Begin, A.Text.End);
  llvm::StringRef Object = Code;
  Out.Op = A.is(Access::Plus) ? AtomicModel::Inc : AtomicModel::Dec;
  uint32_t Begin = A.Text.Begin;
  if (Object.consume_front("++") || Object.consume_front("--")) {
    Begin += Code.size() - Object.ltrim().size();
    Object = Object.trim();
  } else if (Object.ends_with("++") || Object.ends_with("--")) {
    Object = Object.drop_back(2).rtrim();
  } else {
    size_t Sign = Code.find(A.is(Access::Plus) ? "+=" : "-=");
    if (Sign == llvm::StringRef::npos)
      return fail(Out, "is written in an unusual way");
    Out.Op = A.is(Access::Plus) ? AtomicModel::Add : AtomicModel::Sub;
    Out.Amount = llvm::StringRef(*text(Out.File))
                     .slice(A.Text.Begin + Sign + 2, A.Text.End)
                     .trim()
                     .str();
    Object = Code.take_front(Sign).rtrim();
  }
  Out.Object = Object.str();
  Out.Mention = {Begin, uint32_t(Begin + Object.size())};
  statement(Out, false);
  return true;
}

/// The facts have line and column of what a constructor initialises.
bool UsePlaces::constructorInit(const Access &A, UsePlace &Out) {
  Out.Op = AtomicModel::Set;
  Out.Initial = true;
  SourceText Text(*text(Out.File));
  uint32_t At = 0;
  for (uint32_t Line = 1; Line < A.Line; ++Line)
    At = Text.nextLine(At);
  At += A.Column - 1;
  llvm::StringRef Code = code(Out.File);
  size_t Open = Code.find_first_of("({", At);
  if (A.is(Access::FromMacro) || !Code.substr(At).starts_with(name()) ||
      Open == llvm::StringRef::npos ||
      Code.slice(At + name().size(), Open).trim() != "")
    return fail(Out, "initialises it in an unusual way");
  size_t End = matching(Code, Open);
  if (End == llvm::StringRef::npos)
    return fail(Out, "initialises it in an unusual way");
  Out.Mention = {At, uint32_t(At + name().size())};
  Out.Whole = {At, uint32_t(End)};
  Out.Object = name().str();
  Out.Amount = Text.text().slice(Open + 1, End - 1).trim().str();
  return true;
}

/// Sets Statement if \p Known, or if the text around says that it is one.
void UsePlaces::statement(UsePlace &Out, bool Known) const {
  llvm::StringRef Code = code(Out.File);
  uint32_t End = Out.Whole.End;
  while (End < Code.size() && llvm::isSpace(Code[End]))
    ++End;
  if (End == Code.size() || Code[End] != ';')
    return;
  llvm::StringRef Before = Code.take_front(Out.Whole.Begin).rtrim();
  if (Before.consume_back(")")) {
    llvm::StringRef Rest = Before.rtrim();
    Rest = Rest.consume_back("void") ? Rest.rtrim() : llvm::StringRef();
    if (Rest.consume_back("("))
      Before = Rest.rtrim();
    else
      Before = Code.take_front(Out.Whole.Begin).rtrim();
  }
  uint32_t Begin = Before.size();
  while (llvm::isSpace(Code[Begin]))
    ++Begin;
  if (!Known) {
    bool Word = Before.ends_with("else") || Before.ends_with("do");
    // Behind `)` it may be the last part of a `for`, which no `;` follows.
    if (!Word &&
        (Before.empty() ||
         llvm::StringRef(";{}:)").find(Before.back()) == llvm::StringRef::npos))
      return;
  }
  Out.Statement = {Begin, End + 1};
}

} // namespace decontend
