//===- LocksetsFixture.h - Programs that take locks -------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TEST_UNIT_LOCKSETSFIXTURE_H
#define DECONTEND_TEST_UNIT_LOCKSETSFIXTURE_H

#include "ProgramMaker.h"
#include "analysis/program/Locksets.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <optional>

namespace decontend {

class LocksetsTest : public testing::Test {
protected:
  LocksetsTest() : Known(llvm::cantFail(loadModels())), M(Known) {
    M.unit("a.c");
  }

  /// Calls a locking function with one path as its argument.
  void take(BodyMaker &B, llvm::StringRef Function, llvm::StringRef Text,
            llvm::StringRef Field, RootKind Root = RootKind::Param,
            llvm::StringRef Base = "", uint16_t Flags = 0) {
    llvm::StringRef Path = Text;
    Path.consume_front("&");
    if (Base.empty())
      Base = Path.take_until([](char C) { return C == '-' || C == '.'; });
    B.call(Function, Flags).arg(Root, Base, Text, Field);
  }

  /// An argument that is a pointer variable.
  void pointer(BodyMaker &B, llvm::StringRef Name,
               RootKind Root = RootKind::Param, uint16_t Index = 0) {
    B.arg(Root, Name, Name, "", Index);
    body().Exprs.back().Flags |= Expr::Pointer;
  }

  void branch(BodyMaker &B, llvm::StringRef Condition) {
    B.open(EventKind::Branch).arg(RootKind::Unknown, "", Condition);
    body().Events.back().Callee = M.P.names().intern(Condition);
  }

  /// The last event stems from an expansion of \p Name in line \p Line.
  void macro(llvm::StringRef Name, uint32_t Line) {
    Event &E = body().Events.back();
    E.Macro = M.P.names().intern(Name);
    E.Line = 1000 + Line;
  }

  /// The declaration of a variable that \p CleanUp is run on. Initialised by
  /// the call just before.
  void guard(BodyMaker &B, llvm::StringRef Name, llvm::StringRef CleanUp) {
    uint32_t Call = B.last();
    llvm::StringRef Callee = M.P.str(body().Events[Call].Callee);
    B.add(EventKind::Assign, CleanUp, Event::Declares);
    B.arg(RootKind::Local, Name).arg(RootKind::Call, Callee);
  }

  FunctionFacts &body() { return M.current().Functions.back(); }

  void link() {
    if (!Locks) {
      M.link();
      Locks.emplace(M.P);
    }
  }

  /// The first call of \p Callee in \p Function.
  uint32_t at(llvm::StringRef Function, llvm::StringRef Callee = "here") {
    link();
    const FunctionFacts &F = *M.P.node(M.id(Function)).Facts;
    for (uint32_t I = 0; I < F.Events.size(); ++I)
      if (F.Events[I].Kind == EventKind::Call &&
          M.P.str(F.Events[I].Callee) == Callee)
        return I;
    ADD_FAILURE() << Function.str() << " does not call " << Callee.str();
    return 0;
  }

  std::string spell(LockId I) {
    std::string Out = Locks->kindName(I).str();
    LockMode Mode = Locks->lock(I).Mode;
    Out += Mode == LockMode::Read ? ":r" : Mode == LockMode::Write ? ":w" : "";
    if (!Locks->text(I).empty())
      Out += " " + Locks->text(I).str();
    if (!Locks->className(I).empty())
      Out += " (" + Locks->className(I).str() + ")";
    return Out;
  }

  std::string spell(const LockSet &Held) {
    std::vector<std::string> Words;
    for (const HeldLock &H : Held)
      Words.push_back((H.Surely ? "" : "?") + spell(H.Lock));
    std::sort(Words.begin(), Words.end());
    std::string Out;
    for (const std::string &W : Words)
      Out += (Out.empty() ? "" : ", ") + W;
    return Out;
  }

  /// What is held where \p Function calls \p Callee: `?` marks what is not
  /// sure.
  std::string held(llvm::StringRef Function, llvm::StringRef Callee = "here") {
    uint32_t I = at(Function, Callee);
    return spell(Locks->before(M.id(Function), I));
  }

  Models Known;
  ProgramMaker M;
  std::optional<Locksets> Locks;
};

} // namespace decontend

#endif
