//===- CodecTest.cpp - Shards of facts --------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/facts/Codec.h"
#include "analysis/facts/JsonDump.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace decontend;
using llvm::StringRef;

namespace {

/// Facts with something else in every member. Strings are interned in the order
/// in which the codec meets them, so that decoding gives the same Syms;
/// \p Before is interned first to disturb that.
UnitFacts sample(llvm::ArrayRef<StringRef> Before = {}) {
  UnitFacts U;
  auto S = [&](StringRef Text) { return U.Names.intern(Text); };
  for (StringRef Text : Before)
    S(Text);
  U.MainFile = S("ipc/main.c");
  U.Files = {{S("ipc/main.c"), digestOf("a")}, {S("inc/h.h"), digestOf("b")}};

  FunctionFacts F;
  F.Key = S("free_ns@ipc/main.c");
  F.Name = S("free_ns");
  F.Where = {S("ipc/main.c"), 70000, 3};
  F.EndLine = 70123;
  F.Whole = {100, 900};
  F.Body = {150, 900};
  F.Section = S(".exit.text");
  F.ReturnType = S("void");
  F.Flags = FunctionFacts::Static | FunctionFacts::Variadic;
  F.Params = {{S("ns"), S("struct ipc_namespace *"), S("struct ipc_namespace")},
              {S("n"), S("int"), Sym::None}};
  F.Exprs = {{RootKind::Param, Expr::AddressOf | Expr::Pointer, 65535, S("ns"),
              S("&ns->list"), S("struct list_head"), S("struct ns.list")},
             {RootKind::Null, 0, 0, Sym::None, S("NULL"), Sym::None, Sym::None},
             {}};
  Event Branch;
  Branch.Kind = EventKind::Branch;
  Branch.Flags = Event::NullTest | Event::Braced;
  Branch.Line = 70002;
  Branch.Column = 2;
  Branch.Text = {160, 170};
  Branch.Callee = S("!ns");
  Branch.Link = 2;
  Event Call;
  Call.Kind = EventKind::Call;
  Call.Via = CallVia::Slot;
  Call.Flags = 0xffff;
  Call.Line = 69990; // A macro's line may be before that of its use.
  Call.Column = 4000000000;
  Call.Text = {10, 4294967295};
  Call.Callee = S("struct ops.free");
  Call.Macro = S("CALL");
  Call.Comment = S("/* waits, \xff not UTF-8 */");
  Call.FirstExpr = 1;
  Call.NumExprs = 2;
  Event End;
  End.Kind = EventKind::End;
  End.Line = 70010;
  F.Events = {Branch, Call, End};
  Event Return;
  Return.Kind = EventKind::Return;
  Return.NumExprs = 1;
  F.Events.push_back(Return);
  Access Update;
  Update.Kind = AccessKind::Update;
  Update.Flags = Access::ResultUsed | Access::OneStep;
  Update.At = 4; // One past the last event.
  Update.Path = 1;
  Update.Line = 70001;
  Update.Column = 9;
  Update.Text = {150, 158};
  Access Argument;
  Argument.Kind = AccessKind::Argument;
  Argument.Flags = Access::Consumed;
  Argument.Argument = 1;
  Argument.At = 1;
  Argument.Line = 70002;
  F.Accesses = {Update, Argument};
  U.Functions = {F, FunctionFacts()};

  U.Records = {{S("struct ns"),
                {S("inc/h.h"), 12, 1},
                {30, 90},
                RecordFacts::Packed | RecordFacts::Cxx,
                {{S("list"),
                  S("struct list_head"),
                  S("struct list_head"),
                  FieldFacts::Array,
                  -32,
                  13,
                  {40, 60}}}}};
  U.Globals = {{S("init_ns"),
                S("init_ns"),
                S("struct ns"),
                S("struct ns"),
                S(".data"),
                GlobalFacts::Defined,
                64,
                {S("ipc/main.c"), 5, 11},
                {50, 70},
                {60, 69}}};
  U.Slots = {{S("struct ops.free"),
              S("free_ns@ipc/main.c"),
              S("ns_ops"),
              S("setup"),
              {S("ipc/main.c"), 9, 2}}};
  U.Markers = {{S("module_exit"), S("ns_exit"), {S("ipc/main.c"), 99, 1}}};
  U.Decls = {{S("put_ns"), S("put_ns"), {S("inc/h.h"), 8, 6}, {3, 29}, true}};
  U.Inits = {{S("init_ns"),
              S("struct ns.n"),
              S("counter"),
              {S("ipc/main.c"), 6, 8},
              {9, 12}}};
  U.Inactive = {{S("inc/h.h"), 70, {900, 990}, {S("endif"), S("ns")}}};
  U.BorrowedFrom = {S("inc/h.h")};
  U.Borrowed = {S("put_ns@linux/ns.h"), S("get_ns@linux/ns.h")};
  return U;
}

llvm::SmallVector<char, 0> shardOf(const UnitFacts &U) {
  llvm::SmallVector<char, 0> Out;
  encode(U, Out);
  return Out;
}

StringRef ref(const llvm::SmallVectorImpl<char> &V) {
  return {V.data(), V.size()};
}

std::string messageOf(llvm::Error E) { return llvm::toString(std::move(E)); }

std::string jsonOf(const UnitFacts &U) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  dumpJson(U, OS);
  return Text;
}

void expectSame(const UnitFacts &A, const UnitFacts &B) {
  EXPECT_EQ(A.MainFile, B.MainFile);
  EXPECT_TRUE(A.Files == B.Files);
  EXPECT_TRUE(A.Functions == B.Functions);
  EXPECT_TRUE(A.Records == B.Records);
  EXPECT_TRUE(A.Globals == B.Globals);
  EXPECT_TRUE(A.Slots == B.Slots);
  EXPECT_TRUE(A.Markers == B.Markers);
  EXPECT_TRUE(A.Borrowed == B.Borrowed);
  EXPECT_TRUE(A.Decls == B.Decls);
  EXPECT_TRUE(A.Inits == B.Inits);
  EXPECT_TRUE(A.Inactive == B.Inactive);
  EXPECT_TRUE(A.BorrowedFrom == B.BorrowedFrom);
}

TEST(Codec, RoundTrip) {
  UnitFacts In = sample(), Out;
  ASSERT_EQ("", messageOf(decode(ref(shardOf(In)), Out)));
  expectSame(In, Out);
  ASSERT_EQ(In.Names.size(), Out.Names.size());
  for (uint32_t I = 0; I != In.Names.size(); ++I)
    EXPECT_EQ(In.str(Sym(I)), Out.str(Sym(I)));
}

TEST(Codec, EmptyUnit) {
  UnitFacts Out = sample();
  ASSERT_EQ("", messageOf(decode(ref(shardOf(UnitFacts())), Out)));
  expectSame(UnitFacts(), Out);
  EXPECT_EQ(1u, Out.Names.size());
}

TEST(Codec, OrderOfInterningDoesNotShow) {
  UnitFacts Other = sample({"unused", "void", "struct ops.free", "ns", "NULL"});
  EXPECT_EQ(ref(shardOf(sample())), ref(shardOf(Other)));
  EXPECT_EQ(jsonOf(sample()), jsonOf(Other));
}

TEST(Codec, EveryTruncationIsAnError) {
  auto Shard = shardOf(sample());
  for (size_t Size = 0; Size != Shard.size(); ++Size) {
    UnitFacts Out;
    EXPECT_EQ("truncated", messageOf(decode(ref(Shard).take_front(Size), Out)))
        << Size;
    EXPECT_TRUE(Out.Functions.empty());
  }
}

TEST(Codec, EveryFlippedByteIsAnError) {
  auto Shard = shardOf(sample());
  for (size_t I = 0; I != Shard.size(); ++I)
    for (int Bits : {1, 0x80, 0xff}) {
      Shard[I] ^= static_cast<char>(Bits);
      UnitFacts Out;
      EXPECT_NE("", messageOf(decode(ref(Shard), Out))) << I;
      Shard[I] ^= static_cast<char>(Bits);
    }
}

/// What a hostile writer can do: any byte, under a checksum that is not looked
/// at. There is nothing to expect but to come back with sound indices.
TEST(Codec, HostileBytesAreHarmless) {
  auto Shard = shardOf(sample());
  for (size_t I = 0; I != Shard.size(); ++I) {
    char Old = Shard[I];
    for (int Byte : {0, 1, 2, 5, 0x40, 0x7f, 0x80, 0x81, 0xff, Old + 1}) {
      Shard[I] = static_cast<char>(Byte);
      UnitFacts Out;
      if (messageOf(decode(ref(Shard), Out, ShardCheck::Verified)).empty())
        EXPECT_FALSE(jsonOf(Out).empty());
    }
    Shard[I] = Old;
  }
}

TEST(Codec, LinksMustLeadSomewhere) {
  struct Case {
    EventKind Kind;
    uint32_t Link;
    bool Fine;
  };
  for (const Case &C :
       {Case{EventKind::Loop, 2, true}, Case{EventKind::Loop, 1, false},
        Case{EventKind::End, 0, true}, Case{EventKind::End, 1, false},
        Case{EventKind::Goto, 3, false}}) {
    UnitFacts U, Out;
    U.Functions.resize(1);
    U.Functions[0].Events.resize(3);
    U.Functions[0].Events[1].Kind = C.Kind;
    U.Functions[0].Events[1].Link = C.Link;
    EXPECT_EQ(C.Fine, messageOf(decode(ref(shardOf(U)), Out)).empty());
  }
}

TEST(Codec, ArgumentsMustExist) {
  UnitFacts U, Out;
  U.Functions.resize(1);
  U.Functions[0].Exprs.resize(2);
  U.Functions[0].Events.resize(1);
  U.Functions[0].Events[0].FirstExpr = 1;
  U.Functions[0].Events[0].NumExprs = 2;
  EXPECT_EQ("damaged: arguments that do not exist",
            messageOf(decode(ref(shardOf(U)), Out)));
}

TEST(Codec, ErrorsSayWhatIsWrong) {
  auto Shard = shardOf(sample());
  EXPECT_EQ("truncated", messageOf(verifyShard("")));
  EXPECT_EQ("not a shard", messageOf(verifyShard("#!/bin/sh\n")));
  Shard.back() ^= 1;
  EXPECT_EQ("checksum does not match", messageOf(verifyShard(ref(Shard))));
  Shard.back() ^= 1;
  EXPECT_EQ("", messageOf(verifyShard(ref(Shard))));
  Shard.push_back(0);
  EXPECT_EQ("damaged: bytes after its end", messageOf(verifyShard(ref(Shard))));
  Shard[4] = 77;
  EXPECT_EQ("written by another version (77, this is " +
                std::to_string(FactsVersion) + ")",
            messageOf(verifyShard(ref(Shard))));
}

TEST(Codec, DecodeIntoSharesOneTable) {
  Symbols Program;
  Sym Void = Program.intern("void");
  UnitFacts A, B;
  auto Shard = shardOf(sample());
  ASSERT_EQ("", messageOf(decodeInto(ref(Shard), Program, A)));
  size_t Size = Program.size();
  ASSERT_EQ("", messageOf(decodeInto(ref(Shard), Program, B)));
  EXPECT_EQ(Size, Program.size());
  EXPECT_EQ(1u, A.Names.size());
  EXPECT_EQ(Void, A.Functions[0].ReturnType);
  EXPECT_EQ("struct ops.free", Program.str(A.Slots[0].Slot));
  expectSame(A, B);
}

TEST(JsonDump, SaysWhatTheFactsSay) {
  std::string Text = jsonOf(sample());
  auto Parsed = llvm::json::parse(Text);
  ASSERT_TRUE(bool(Parsed)) << messageOf(Parsed.takeError());
  const llvm::json::Object &F =
      *(*Parsed->getAsObject()->getArray("functions"))[0].getAsObject();
  EXPECT_EQ("static variadic", F.getString("flags").value_or(""));
  EXPECT_EQ("ipc/main.c:70000:3", F.getString("at").value_or(""));
  const llvm::json::Array &Events = *F.getArray("events");
  int64_t Depths[] = {0, 1, 0, 0};
  for (size_t I = 0; I != 4; ++I)
    EXPECT_EQ(Depths[I], Events[I].getAsObject()->getInteger("depth"));
  const llvm::json::Object &Call = *Events[1].getAsObject();
  EXPECT_EQ("call", Call.getString("kind").value_or(""));
  EXPECT_EQ("slot", Call.getString("via").value_or(""));
  EXPECT_EQ("NULL", (*Call.getArray("args"))[0].getAsString().value_or(""));
}

} // namespace
