//===- ProgramMaker.h - Programs made by hand -------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   unit("a.c") --> function("f") --> call("g") --> open(Branch) --> ... -->
//   end() link() --> Program
//
// For tests of linking and judging that need no parser.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TEST_UNIT_PROGRAMMAKER_H
#define DECONTEND_TEST_UNIT_PROGRAMMAKER_H

#include "analysis/program/Program.h"
#include "llvm/Support/ErrorHandling.h"

namespace decontend {

/// Puts events into one function. Stays valid until the next function is made.
class BodyMaker {
public:
  BodyMaker(Symbols &Names, FunctionFacts &F) : Names(Names), F(F) {}

  BodyMaker &param(llvm::StringRef Name, llvm::StringRef Type = "void *",
                   llvm::StringRef Record = "") {
    F.Params.push_back(
        {Names.intern(Name), Names.intern(Type), Names.intern(Record)});
    return *this;
  }
  BodyMaker &section(llvm::StringRef Name) {
    F.Section = Names.intern(Name);
    return *this;
  }

  Event &add(EventKind K, llvm::StringRef Callee = "", uint16_t Flags = 0) {
    Event &E = F.Events.emplace_back();
    E.Kind = K;
    E.Flags = Flags;
    E.Line = F.Events.size();
    E.Column = 1;
    E.Callee = Names.intern(Callee);
    E.FirstExpr = F.Exprs.size();
    return E;
  }
  BodyMaker &arg(RootKind Root, llvm::StringRef Base, llvm::StringRef Text = "",
                 llvm::StringRef Field = "", uint16_t Index = 0) {
    Expr X;
    X.Root = Root;
    X.Base = Names.intern(Base);
    X.Text = Names.intern(Text.empty() ? Base : Text);
    X.Field = Names.intern(Field);
    X.Index = Index;
    F.Exprs.push_back(X);
    ++F.Events.back().NumExprs;
    return *this;
  }
  BodyMaker &call(llvm::StringRef Callee, uint16_t Flags = 0) {
    add(EventKind::Call, Callee, Flags);
    return *this;
  }
  BodyMaker &slotCall(llvm::StringRef Slot) {
    add(EventKind::Call, Slot).Via = CallVia::Slot;
    return *this;
  }
  BodyMaker &callParam(llvm::StringRef Param) {
    add(EventKind::Call, Param).Via = CallVia::Variable;
    return *this;
  }
  BodyMaker &ret() {
    add(EventKind::Return);
    return *this;
  }
  BodyMaker &jump(llvm::StringRef Label) {
    add(EventKind::Goto, Label);
    return *this;
  }
  BodyMaker &label(llvm::StringRef Name) {
    add(EventKind::Label, Name);
    return *this;
  }
  BodyMaker &open(EventKind K, uint16_t Flags = 0) {
    Open.push_back(F.Events.size());
    add(K, K == EventKind::Loop ? "for" : "", Flags);
    return *this;
  }
  BodyMaker &end() {
    uint32_t Opener = Open.back();
    Open.pop_back();
    F.Events[Opener].Link = F.Events.size();
    add(EventKind::End).Link = Opener;
    return *this;
  }
  /// Number of the event that was added last.
  uint32_t last() const { return F.Events.size() - 1; }

private:
  Symbols &Names;
  FunctionFacts &F;
  std::vector<uint32_t> Open;
};

/// A program with the built-in models.
class ProgramMaker {
public:
  explicit ProgramMaker(const Models &M) : P(M) {}

  void unit(llvm::StringRef File) {
    finishUnit();
    Unit = std::make_unique<UnitFacts>();
    Unit->MainFile = P.names().intern(File);
    Unit->Files.push_back({Unit->MainFile, {}});
  }
  BodyMaker function(llvm::StringRef Key) {
    FunctionFacts &F = Unit->Functions.emplace_back();
    F.Key = P.names().intern(Key);
    F.Name = P.names().intern(Key.split('@').first);
    F.Where = {Unit->MainFile, uint32_t(Unit->Functions.size()), 1};
    return BodyMaker(P.names(), F);
  }
  void slot(llvm::StringRef Slot, llvm::StringRef Function,
            llvm::StringRef Object = "ops") {
    Unit->Slots.push_back({P.names().intern(Slot),
                           P.names().intern(Function),
                           P.names().intern(Object),
                           Sym::None,
                           {Unit->MainFile, 99, 1}});
  }
  void marker(llvm::StringRef Macro, llvm::StringRef Argument) {
    Unit->Markers.push_back({P.names().intern(Macro),
                             P.names().intern(Argument),
                             {Unit->MainFile, 98, 1}});
  }
  UnitFacts &current() { return *Unit; }
  const Program &link() {
    finishUnit();
    P.link();
    return P;
  }
  NodeId id(llvm::StringRef Key) const { return P.find(P.find(Key)); }
  const Node &node(llvm::StringRef Key) const { return P.node(id(Key)); }

  Program P;

private:
  void finishUnit() {
    if (Unit)
      P.add(std::move(Unit));
  }
  std::unique_ptr<UnitFacts> Unit;
};

} // namespace decontend

#endif
