//===- FailingCallLeave.cpp - How a failure is passed on ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FailingCalls.h"
#include "StubText.h"
#include "fmt/format.h"

namespace decontend {

/// How the function says that it failed, with STATUS for the code.
std::string FailingCalls::leaveLike(const ErrorExit *X,
                                    bool &NeedsStatus) const {
  NeedsStatus = true;
  if (Paths.Result == ResultKind::Void || Paths.Result == ResultKind::Int)
    return "return STATUS";
  NeedsStatus = false;
  std::vector<int> Returns;
  if (X && empty(X->Label))
    Returns.push_back(int(X->Leave));
  for (const ErrorExit &Other : Paths.Exits)
    if (empty(Other.Label))
      Returns.push_back(int(Other.Leave));
  if (Paths.Final >= 0 && Paths.Ladder)
    Returns.push_back(Paths.Final);
  for (int I : Returns) {
    const Event &E = F.Events[I];
    if (!E.NumExprs || E.Text.empty())
      continue;
    const Expr &V = F.exprs(E)[0];
    if (V.Root == RootKind::Null || V.Root == RootKind::Constant)
      return Paths.source(I);
    // `return ERR_PTR(-ENOMEM)`: another code in the same wrapping.
    llvm::StringRef Code = Text.slice(E.Text);
    size_t Open = Code.find('(');
    if (V.Root == RootKind::Call && Open != llvm::StringRef::npos) {
      NeedsStatus = true;
      return (Code.take_front(Open + 1) + "STATUS)").str();
    }
  }
  return "";
}

bool FailingCalls::chooseLeave() {
  bool NeedsStatus = false;
  UseLadder = Paths.Ladder && !Paths.Labels.empty();
  if (Before && !empty(Before->Label)) {
    Leave = "goto " + P.str(Before->Label).str();
    if (Paths.Final >= 0) {
      const Event &R = F.Events[Paths.Final];
      for (const Expr &X : F.exprs(R))
        if (X.Root == RootKind::Local)
          Status = P.str(X.Base).str();
      for (uint32_t I = 0; I < F.Events.size(); ++I)
        if (F.Events[I].Kind == EventKind::Call &&
            R.Text.contains(F.Events[I].Text))
          for (const Expr &X : F.exprs(F.Events[I]))
            if (X.Root == RootKind::Local)
              Status = P.str(X.Base).str();
      if (!Status.empty() && !Paths.declaresInt(Status))
        return refuse("callers-unwind",
                      fmt::format("the {} that is returned at {} is no int",
                                  Status, Paths.at(Paths.Final)));
    }
    return true;
  }
  Leave = leaveLike(Before, NeedsStatus);
  if (Leave.empty())
    return refuse(MayMove ? "callers-unwind" : "initialiser-can-fail",
                  fmt::format("{}() at {}:{} never says that it failed, so "
                              "nobody expects that",
                              P.name(Paths.Id).str(), File, F.Where.Line));
  if (!NeedsStatus)
    return true;
  Status = Paths.Result == ResultKind::Void ? "" : Paths.statusVariable();
  if (Status.empty()) {
    NewStatus = true;
    std::string Code = codeOnly(Text.text());
    auto Uses = [&](const char *Name) {
      size_t N = 0;
      for (uint32_t At : mentionsOf(Code, Name))
        N += llvm::StringRef(Code).take_front(At).rtrim().ends_with("int");
      return N;
    };
    Status = Uses("err") > Uses("ret") ? "err" : "ret";
    // A name that the function knows already would be another's.
    std::string Whole = codeOnly(Text.slice(F.Whole));
    for (const char *Other : {"ret", "err", "error", "status"})
      if (!mentionsOf(Whole, Status).empty())
        Status = Other;
  }
  size_t At = Leave.find("STATUS");
  Leave.replace(At, 6, Status);
  return true;
}

/// Is a code that was put into Status before the call still wanted behind it?
bool FailingCalls::clobbers() const {
  if (Status.empty() || NewStatus)
    return false;
  for (uint32_t I = Points.back().Event + 1; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Assign && E.NumExprs &&
        P.str(F.exprs(E)[0].Text) == Status)
      return false;
    for (const ErrorExit &X : Paths.Exits)
      if (X.Branch == I && P.str(X.Status) != Status)
        return true;
    if (E.Kind == EventKind::Label)
      return false;
  }
  return false;
}

bool FailingCalls::chooseStatus() {
  const Event &E = F.Events[Points.back().Event];
  bool AtEnd = Points.back().Event + 1 == F.Events.size();
  Tail = Paths.Result == ResultKind::Void && Points.size() == 1 && AtEnd &&
         Undo.empty() && Later.empty() && !E.Text.empty();
  if (clobbers()) {
    // The code that is there already is what the author returns.
    bool Set = false;
    for (uint32_t I = 0; I < Points.front().Event; ++I) {
      const Event &A = F.Events[I];
      if (A.Kind == EventKind::Assign && A.NumExprs == 2 &&
          P.str(F.exprs(A)[0].Text) == Status) {
        const Expr &V = F.exprs(A)[1];
        Set = V.Root == RootKind::Constant && P.str(V.Text) != "0";
      }
    }
    if (Set)
      Status.clear();
  }
  return true;
}

} // namespace decontend
