//===- Codec.cpp - Facts to bytes -------------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/facts/Codec.h"
#include "analysis/facts/ShardLayout.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include <cassert>

using namespace decontend;
using namespace decontend::shard;

Digest decontend::digestOf(llvm::StringRef Bytes) {
  return llvm::BLAKE3::hash<sizeof(Digest)>(llvm::arrayRefFromStringRef(Bytes));
}

namespace {

/// Appends facts to a body and collects the strings they use.
class Writer {
public:
  explicit Writer(const Symbols &Names) : Names(Names), Ids(Names.size(), 0) {}

  void unit(const UnitFacts &U);
  void finish(llvm::SmallVectorImpl<char> &Out) const;

private:
  static void append(llvm::SmallVectorImpl<char> &To, uint64_t V) {
    for (; V >= 0x80; V >>= 7)
      To.push_back(static_cast<char>(V | 0x80));
    To.push_back(static_cast<char>(V));
  }
  void number(uint64_t V) { append(Body, V); }
  void byte(uint8_t V) { Body.push_back(static_cast<char>(V)); }

  /// Neighbours in a shard are neighbours in the text; their difference takes
  /// one byte where the number takes three. Small either way, hence zigzag.
  void delta(uint32_t V, uint32_t &Last) {
    int64_t D = static_cast<int64_t>(V) - static_cast<int64_t>(Last);
    number((static_cast<uint64_t>(D) << 1) ^ static_cast<uint64_t>(D >> 63));
    Last = V;
  }

  void sym(Sym S) {
    if (empty(S))
      return number(0);
    uint32_t &Id = Ids[static_cast<uint32_t>(S)];
    if (!Id) {
      Used.push_back(S);
      Id = static_cast<uint32_t>(Used.size());
    }
    number(Id);
  }
  void line(uint32_t V) { delta(V, LastLine); }
  void span(Span S) {
    assert(S.Begin <= S.End && "a span ends before it begins");
    delta(S.Begin, LastOffset);
    number(S.End - S.Begin);
  }
  void place(const Place &P) {
    sym(P.File);
    line(P.Line);
    number(P.Column);
  }

  void event(const Event &E, uint32_t &NextExpr);
  void expr(const Expr &E);
  void access(const Access &A, uint32_t &LastAt);
  void function(const FunctionFacts &F);
  void record(const RecordFacts &R);
  void global(const GlobalFacts &G);

  const Symbols &Names;
  std::vector<uint32_t> Ids; ///< By Sym: its number in the shard, or 0.
  std::vector<Sym> Used;
  llvm::SmallVector<char, 0> Body;
  uint32_t LastLine = 0, LastOffset = 0;
};

} // namespace

void Writer::expr(const Expr &E) {
  uint8_t Head = static_cast<uint8_t>(E.Root);
  Head |= empty(E.Base) ? 0 : ExprBase;
  Head |= empty(E.Text) ? 0 : ExprText;
  Head |= empty(E.Record) ? 0 : ExprRecord;
  Head |= empty(E.Field) ? 0 : ExprField;
  Head |= E.Flags || E.Index ? ExprExtras : 0;
  byte(Head);
  if (Head & ExprBase)
    sym(E.Base);
  if (Head & ExprText)
    sym(E.Text);
  if (Head & ExprRecord)
    sym(E.Record);
  if (Head & ExprField)
    sym(E.Field);
  if (Head & ExprExtras) {
    byte(E.Flags);
    number(E.Index);
  }
}

void Writer::event(const Event &E, uint32_t &NextExpr) {
  uint8_t Has = 0;
  Has |= E.Via != CallVia::Direct ? EventVia : 0;
  Has |= E.Flags ? EventFlags : 0;
  Has |= E.Text != Span() ? EventText : 0;
  Has |= empty(E.Callee) ? 0 : EventCallee;
  Has |= empty(E.Macro) ? 0 : EventMacro;
  Has |= empty(E.Comment) ? 0 : EventComment;
  Has |= E.Link ? EventLink : 0;
  Has |= E.NumExprs || E.FirstExpr ? EventExprs : 0;
  byte(static_cast<uint8_t>(E.Kind));
  byte(Has);
  line(E.Line);
  number(E.Column);
  if (Has & EventVia)
    byte(static_cast<uint8_t>(E.Via));
  if (Has & EventFlags)
    number(E.Flags);
  if (Has & EventText)
    span(E.Text);
  if (Has & EventCallee)
    sym(E.Callee);
  if (Has & EventMacro)
    sym(E.Macro);
  if (Has & EventComment)
    sym(E.Comment);
  if (Has & EventLink)
    number(E.Link);
  if (Has & EventExprs) {
    delta(E.FirstExpr, NextExpr);
    number(E.NumExprs);
    NextExpr = E.FirstExpr + E.NumExprs;
  }
}

void Writer::access(const Access &A, uint32_t &LastAt) {
  uint8_t Head = static_cast<uint8_t>(A.Kind);
  Head |= A.Flags ? AccessFlags : 0;
  Head |= A.Argument != Access::NoArgument ? AccessArgument : 0;
  Head |= A.Text != Span() ? AccessText : 0;
  byte(Head);
  if (Head & AccessFlags)
    byte(A.Flags);
  if (Head & AccessArgument)
    number(A.Argument);
  delta(A.At, LastAt);
  number(A.Path);
  line(A.Line);
  number(A.Column);
  if (Head & AccessText)
    span(A.Text);
}

void Writer::function(const FunctionFacts &F) {
  sym(F.Key);
  sym(F.Name);
  place(F.Where);
  number(F.EndLine);
  span(F.Whole);
  span(F.Body);
  sym(F.Section);
  sym(F.ReturnType);
  number(F.Flags);
  number(F.Params.size());
  for (const ParamFacts &P : F.Params) {
    sym(P.Name);
    sym(P.Type);
    sym(P.Record);
  }
  number(F.Exprs.size());
  for (const Expr &E : F.Exprs)
    expr(E);
  number(F.Events.size());
  uint32_t NextExpr = 0;
  for (const Event &E : F.Events)
    event(E, NextExpr);
  number(F.Accesses.size());
  uint32_t LastAt = 0;
  for (const Access &A : F.Accesses)
    access(A, LastAt);
}

void Writer::record(const RecordFacts &R) {
  sym(R.Key);
  place(R.Where);
  span(R.Braces);
  byte(R.Flags);
  number(R.Fields.size());
  for (const FieldFacts &F : R.Fields) {
    sym(F.Name);
    sym(F.Type);
    sym(F.Record);
    byte(F.Flags);
    byte(static_cast<uint8_t>(F.Width));
    line(F.Line);
    span(F.Text);
  }
}

void Writer::global(const GlobalFacts &G) {
  sym(G.Key);
  sym(G.Name);
  sym(G.Type);
  sym(G.Record);
  sym(G.Section);
  byte(G.Flags);
  byte(static_cast<uint8_t>(G.Width));
  place(G.Where);
  span(G.Text);
  span(G.Init);
}

void Writer::unit(const UnitFacts &U) {
  sym(U.MainFile);
  number(U.Files.size());
  for (const Dependency &D : U.Files) {
    sym(D.Path);
    Body.append(D.Content.begin(), D.Content.end());
  }
  number(U.Functions.size());
  for (const FunctionFacts &F : U.Functions)
    function(F);
  number(U.Records.size());
  for (const RecordFacts &R : U.Records)
    record(R);
  number(U.Globals.size());
  for (const GlobalFacts &G : U.Globals)
    global(G);
  number(U.Slots.size());
  for (const SlotFill &S : U.Slots) {
    sym(S.Slot);
    sym(S.Function);
    sym(S.Object);
    sym(S.Within);
    place(S.Where);
  }
  number(U.Markers.size());
  for (const MarkerFacts &M : U.Markers) {
    sym(M.Macro);
    sym(M.Argument);
    place(M.Where);
  }
  number(U.Decls.size());
  for (const DeclFacts &D : U.Decls) {
    sym(D.Key);
    sym(D.Name);
    place(D.Where);
    span(D.Text);
    byte(D.Function);
  }
  number(U.Inits.size());
  for (const InitFacts &I : U.Inits) {
    sym(I.Object);
    sym(I.Field);
    sym(I.Value);
    place(I.Where);
    span(I.Text);
  }
  number(U.Inactive.size());
  for (const InactiveText &I : U.Inactive) {
    sym(I.File);
    line(I.Line);
    span(I.Text);
    number(I.Words.size());
    for (Sym S : I.Words)
      sym(S);
  }
  for (const std::vector<Sym> *List : {&U.Borrowed, &U.BorrowedFrom}) {
    number(List->size());
    for (Sym S : *List)
      sym(S);
  }
}

void Writer::finish(llvm::SmallVectorImpl<char> &Out) const {
  Out.clear();
  Out.append(std::begin(Magic), std::end(Magic));
  Out.resize(HeaderSize);
  append(Out, Used.size());
  for (Sym S : Used) {
    llvm::StringRef Text = Names.str(S);
    append(Out, Text.size());
    Out.append(Text.begin(), Text.end());
  }
  Out.append(Body.begin(), Body.end());

  llvm::StringRef Payload =
      llvm::StringRef(Out.data(), Out.size()).drop_front(HeaderSize);
  assert(Payload.size() <= UINT32_MAX && "a unit of more than 4 GiB of facts");
  llvm::support::endian::write32le(Out.data() + VersionAt, FactsVersion);
  llvm::support::endian::write32le(Out.data() + SizeAt,
                                   static_cast<uint32_t>(Payload.size()));
  Digest Sum = digestOf(Payload);
  std::copy(Sum.begin(), Sum.end(), Out.begin() + ChecksumAt);
}

void decontend::encode(const UnitFacts &Unit,
                       llvm::SmallVectorImpl<char> &Out) {
  Writer W(Unit.Names);
  W.unit(Unit);
  W.finish(Out);
}
