//===- Decode.cpp - Bytes to facts ------------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shards come from caches and from other machines, so nothing in them is
// believed: each read is bounded, counts are checked against the bytes that are
// left before memory is taken, and every index is checked once here, so that no
// user of facts has to.
//
//===----------------------------------------------------------------------===//

#include "analysis/facts/Codec.h"
#include "analysis/facts/ShardLayout.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace decontend;
using namespace decontend::shard;

namespace {

llvm::Error shardError(const llvm::Twine &Message) {
  return llvm::createStringError(
      std::make_error_code(std::errc::illegal_byte_sequence), Message);
}

/// Reads facts. The first problem sticks: later reads give zeros and consume
/// nothing, so callers check once at the end and in loops.
class Reader {
public:
  Reader(llvm::StringRef Payload, Symbols &Names)
      : Cur(Payload.bytes_begin()), End(Payload.bytes_end()), Names(Names) {}

  void strings();
  void unit(UnitFacts &U);
  const char *problem() const { return Problem; }

private:
  void fail(const char *Why) {
    if (!Problem)
      Problem = Why;
    Cur = End;
  }
  size_t left() const { return static_cast<size_t>(End - Cur); }

  uint64_t number() {
    if (LLVM_LIKELY(Cur != End && *Cur < 0x80))
      return *Cur++;
    return longNumber();
  }
  uint64_t longNumber() {
    uint64_t V = 0;
    for (unsigned Shift = 0; Cur != End; Shift += 7) {
      if (Shift > 35) { // No number in a shard has more than 33 bits.
        fail("damaged: a number is too long");
        return 0;
      }
      uint8_t B = *Cur++;
      V |= static_cast<uint64_t>(B & 0x7f) << Shift;
      if (B < 0x80)
        return V;
    }
    fail("truncated");
    return 0;
  }
  template <typename T> T narrow(uint64_t V) {
    if (LLVM_UNLIKELY(V > std::numeric_limits<T>::max())) {
      fail("damaged: a number is out of range");
      return 0;
    }
    return static_cast<T>(V);
  }
  uint32_t u32() { return narrow<uint32_t>(number()); }
  uint16_t u16() { return narrow<uint16_t>(number()); }
  uint8_t byte() {
    if (LLVM_UNLIKELY(Cur == End)) {
      fail("truncated");
      return 0;
    }
    return *Cur++;
  }
  uint32_t delta(uint32_t &Last) {
    uint64_t Z = number();
    // Out of range below zero wraps to a huge number, which narrow() refuses.
    return Last = narrow<uint32_t>(Last + ((Z >> 1) ^ (0 - (Z & 1))));
  }
  template <typename T> T kind(uint8_t V, T Max) {
    if (LLVM_UNLIKELY(V > static_cast<uint8_t>(Max))) {
      fail("damaged: an unknown kind of fact");
      return T();
    }
    return static_cast<T>(V);
  }
  Sym sym() {
    uint64_t Id = number();
    if (LLVM_UNLIKELY(Id >= Table.size())) {
      fail("damaged: a string that is not in its table");
      return Sym::None;
    }
    return Table[Id];
  }
  uint32_t line() { return delta(LastLine); }
  Span span() {
    uint32_t Begin = delta(LastOffset);
    return {Begin, narrow<uint32_t>(static_cast<uint64_t>(Begin) + number())};
  }
  Place place() {
    Place P;
    P.File = sym();
    P.Line = line();
    P.Column = u32();
    return P;
  }

  /// Reads a count of elements that take at least \p Least bytes each.
  size_t count(size_t Least) {
    uint64_t N = number();
    if (LLVM_UNLIKELY(N > left() / Least)) {
      fail("truncated");
      return 0;
    }
    return N;
  }
  template <typename T, typename Read>
  void list(std::vector<T> &To, size_t Least, Read Each) {
    To.resize(count(Least));
    for (T &Element : To) {
      if (LLVM_UNLIKELY(Problem != nullptr))
        return;
      Each(Element);
    }
  }

  void expr(Expr &E);
  void event(Event &E, uint32_t &NextExpr);
  void access(Access &A, uint32_t &LastAt);
  void function(FunctionFacts &F);
  void checkEvents(const FunctionFacts &F);
  void record(RecordFacts &R);
  void global(GlobalFacts &G);

  const uint8_t *Cur, *End;
  const char *Problem = nullptr;
  Symbols &Names;
  std::vector<Sym> Table; ///< By number in the shard; 0 is the empty string.
  uint32_t LastLine = 0, LastOffset = 0;
};

} // namespace

void Reader::strings() {
  size_t N = count(MinString);
  Table.reserve(N + 1);
  Table.push_back(Sym::None);
  for (size_t I = 0; I != N && !Problem; ++I) {
    size_t Length = count(1);
    Table.push_back(
        Names.intern({reinterpret_cast<const char *>(Cur), Length}));
    Cur += Length;
  }
}

void Reader::expr(Expr &E) {
  uint8_t Head = byte();
  E.Root = static_cast<RootKind>(Head & ExprRootMask);
  if (Head & ExprBase)
    E.Base = sym();
  if (Head & ExprText)
    E.Text = sym();
  if (Head & ExprRecord)
    E.Record = sym();
  if (Head & ExprField)
    E.Field = sym();
  if (Head & ExprExtras) {
    E.Flags = byte();
    E.Index = u16();
  }
}

void Reader::event(Event &E, uint32_t &NextExpr) {
  E.Kind = kind(byte(), EventKind::Scope);
  uint8_t Has = byte();
  E.Line = line();
  E.Column = u32();
  if (Has & EventVia)
    E.Via = kind(byte(), CallVia::Variable);
  if (Has & EventFlags)
    E.Flags = u16();
  if (Has & EventText)
    E.Text = span();
  if (Has & EventCallee)
    E.Callee = sym();
  if (Has & EventMacro)
    E.Macro = sym();
  if (Has & EventComment)
    E.Comment = sym();
  if (Has & EventLink)
    E.Link = u32();
  if (Has & EventExprs) {
    E.FirstExpr = delta(NextExpr);
    E.NumExprs = u16();
    NextExpr =
        narrow<uint32_t>(static_cast<uint64_t>(E.FirstExpr) + E.NumExprs);
  }
}

/// Links lead forward from an opener and back from an End, so that a
/// walk along them ends.
void Reader::checkEvents(const FunctionFacts &F) {
  size_t NumEvents = F.Events.size(), NumExprs = F.Exprs.size();
  for (size_t I = 0; I != NumEvents; ++I) {
    const Event &E = F.Events[I];
    if (E.FirstExpr > NumExprs || E.NumExprs > NumExprs - E.FirstExpr)
      return fail("damaged: arguments that do not exist");
    if (!E.Link)
      continue;
    if (E.Kind == EventKind::Call && E.Link < NumEvents)
      continue;
    bool Back = E.Kind == EventKind::End;
    if (E.Link >= NumEvents || (Back && E.Link >= I) ||
        (opensBlock(E.Kind) && E.Link <= I))
      return fail("damaged: a block that does not close");
  }
  for (const Access &A : F.Accesses) {
    bool Used = A.Kind == AccessKind::Argument || A.is(Access::Consumed);
    if (A.Path >= NumExprs || A.At > NumEvents || (Used && A.At == NumEvents))
      return fail("damaged: an access to nothing");
  }
}

void Reader::access(Access &A, uint32_t &LastAt) {
  uint8_t Head = byte();
  A.Kind = kind(Head & AccessKindMask, AccessKind::Escape);
  if (Head & AccessFlags)
    A.Flags = byte();
  if (Head & AccessArgument)
    A.Argument = u16();
  A.At = delta(LastAt);
  A.Path = u32();
  A.Line = line();
  A.Column = u32();
  if (Head & AccessText)
    A.Text = span();
}

void Reader::function(FunctionFacts &F) {
  F.Key = sym();
  F.Name = sym();
  F.Where = place();
  F.EndLine = u32();
  F.Whole = span();
  F.Body = span();
  F.Section = sym();
  F.ReturnType = sym();
  F.Flags = u16();
  list(F.Params, MinParam, [this](ParamFacts &P) {
    P.Name = sym();
    P.Type = sym();
    P.Record = sym();
  });
  list(F.Exprs, MinExpr, [this](Expr &E) { expr(E); });
  uint32_t NextExpr = 0;
  list(F.Events, MinEvent, [&](Event &E) { event(E, NextExpr); });
  uint32_t LastAt = 0;
  list(F.Accesses, MinAccess, [&](Access &A) { access(A, LastAt); });
  checkEvents(F);
}

void Reader::record(RecordFacts &R) {
  R.Key = sym();
  R.Where = place();
  R.Braces = span();
  R.Flags = byte();
  list(R.Fields, MinField, [this](FieldFacts &F) {
    F.Name = sym();
    F.Type = sym();
    F.Record = sym();
    F.Flags = byte();
    F.Width = static_cast<int8_t>(byte());
    F.Line = line();
    F.Text = span();
  });
}

void Reader::global(GlobalFacts &G) {
  G.Key = sym();
  G.Name = sym();
  G.Type = sym();
  G.Record = sym();
  G.Section = sym();
  G.Flags = byte();
  G.Width = static_cast<int8_t>(byte());
  G.Where = place();
  G.Text = span();
  G.Init = span();
}

void Reader::unit(UnitFacts &U) {
  U.MainFile = sym();
  list(U.Files, MinDependency, [this](Dependency &D) {
    D.Path = sym();
    if (left() < sizeof(Digest))
      return fail("truncated");
    std::memcpy(D.Content.data(), Cur, sizeof(Digest));
    Cur += sizeof(Digest);
  });
  list(U.Functions, MinFunction, [this](FunctionFacts &F) { function(F); });
  list(U.Records, MinRecord, [this](RecordFacts &R) { record(R); });
  list(U.Globals, MinGlobal, [this](GlobalFacts &G) { global(G); });
  list(U.Slots, MinSlot, [this](SlotFill &S) {
    S.Slot = sym();
    S.Function = sym();
    S.Object = sym();
    S.Within = sym();
    S.Where = place();
  });
  list(U.Markers, MinMarker, [this](MarkerFacts &M) {
    M.Macro = sym();
    M.Argument = sym();
    M.Where = place();
  });
  list(U.Decls, MinDecl, [this](DeclFacts &D) {
    D.Key = sym();
    D.Name = sym();
    D.Where = place();
    D.Text = span();
    D.Function = byte() != 0;
  });
  list(U.Inits, MinInit, [this](InitFacts &I) {
    I.Object = sym();
    I.Field = sym();
    I.Value = sym();
    I.Where = place();
    I.Text = span();
  });
  list(U.Inactive, MinInactive, [this](InactiveText &I) {
    I.File = sym();
    I.Line = line();
    I.Text = span();
    list(I.Words, 1, [this](Sym &S) { S = sym(); });
  });
  list(U.Borrowed, 1, [this](Sym &S) { S = sym(); });
  list(U.BorrowedFrom, 1, [this](Sym &S) { S = sym(); });
  if (left())
    fail("damaged: bytes after the last fact");
}

static llvm::Error checkHeader(llvm::StringRef Shard) {
  llvm::StringRef Start(Magic, sizeof(Magic));
  if (Shard.take_front(Start.size()) != Start.take_front(Shard.size()))
    return shardError("not a shard");
  if (Shard.size() < SizeAt)
    return shardError("truncated");
  uint32_t Version = llvm::support::endian::read32le(Shard.data() + VersionAt);
  if (Version != FactsVersion)
    return shardError("written by another version (" + llvm::Twine(Version) +
                      ", this is " + llvm::Twine(FactsVersion) + ")");
  if (Shard.size() < HeaderSize)
    return shardError("truncated");
  uint32_t Size = llvm::support::endian::read32le(Shard.data() + SizeAt);
  if (Shard.size() - HeaderSize < Size)
    return shardError("truncated");
  if (Shard.size() - HeaderSize > Size)
    return shardError("damaged: bytes after its end");
  return llvm::Error::success();
}

llvm::Error decontend::verifyShard(llvm::StringRef Shard) {
  if (llvm::Error E = checkHeader(Shard))
    return E;
  Digest Sum = digestOf(Shard.drop_front(HeaderSize));
  if (std::memcmp(Sum.data(), Shard.data() + ChecksumAt, Sum.size()) != 0)
    return shardError("checksum does not match");
  return llvm::Error::success();
}

static llvm::Error decodeWith(llvm::StringRef Shard, Symbols &Names,
                              UnitFacts &Out, ShardCheck Check) {
  llvm::Error E =
      Check == ShardCheck::Verified ? checkHeader(Shard) : verifyShard(Shard);
  if (E)
    return E;
  Reader R(Shard.drop_front(HeaderSize), Names);
  R.strings();
  R.unit(Out);
  if (!R.problem())
    return llvm::Error::success();
  Out = UnitFacts();
  return shardError(R.problem());
}

llvm::Error decontend::decode(llvm::StringRef Shard, UnitFacts &Out,
                              ShardCheck Check) {
  Out = UnitFacts();
  return decodeWith(Shard, Out.Names, Out, Check);
}

llvm::Error decontend::decodeInto(llvm::StringRef Shard, Symbols &Program,
                                  UnitFacts &Out, ShardCheck Check) {
  Out = UnitFacts();
  return decodeWith(Shard, Program, Out, Check);
}
