//===- ModelsCounters.cpp - Sections about counters -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/ModelsCounters.h"

using namespace llvm;

namespace decontend {

using Value = FieldReader::Value;
using Key = FieldReader::Key;

bool readAtomic(FieldReader &In, Value N, AtomicModel &M) {
  // In the order of OpKind.
  static constexpr StringRef Ops[] = {"read", "set", "add",      "sub",
                                      "inc",  "dec", "exchange", "bits"};
  M.On = -1;
  bool HasOp = false;
  auto Op = [&, Choose = In.toChoice("an operation", Ops, M.Op)](Value V) {
    HasOp = true;
    return Choose(V);
  };
  if (!In.map(N, "an atomic operation",
              {{"op", Op},
               {"on", In.toArg(M.On)},
               {"by", In.toArg(M.By)},
               {"returns", In.toFlag(M.Returns)},
               {"tests", In.toFlag(M.Tests)}}))
    return false;
  if (!HasOp)
    return In.fail(N, "the key 'op' in an atomic operation", "none");
  if (M.On < 0)
    return In.fail(N, "the key 'on' in an atomic operation", "none");
  bool Amount = M.Op == AtomicModel::Add || M.Op == AtomicModel::Sub;
  if (Amount && M.By < 0)
    return In.fail(N, "the key 'by' beside 'op: " + Ops[M.Op] + "'", "none");
  if (!Amount && M.Op != AtomicModel::Set && M.By >= 0)
    return In.fail(N, "'by' only beside 'op: add', 'sub' or 'set'",
                   "'op: " + Ops[M.Op] + "'");
  if (M.By == M.On)
    return In.fail(N, "different arguments 'on' and 'by'",
                   "twice " + Twine(M.On));
  M.Returns |= M.Op == AtomicModel::Read;
  return true;
}

/// Bits of an integer, negative for a signed one.
static FieldReader::ReadValue toWidth(FieldReader &In, int &To) {
  return [&In, &To](Value N) {
    int Width = 0;
    if (N.Kind != YamlNode::Scalar ||
        StringRef(N.Text).getAsInteger(10, Width) ||
        !is_contained({8, 16, 32, 64}, std::abs(Width)))
      return In.fail(N, "a width (8, 16, 32, 64; negative for a signed type)");
    To = Width;
    return true;
  };
}

bool readCounterTypes(FieldReader &In, Value N, ModelFile &Out) {
  // In the order of KindT.
  static constexpr StringRef Kinds[] = {"plain", "reference", "spread"};
  std::vector<std::string> Types;
  CounterTypeModel M;
  if (!In.map(N, "a counter type",
              {{"type", In.toNames("a type", Types)},
               {"kind", In.toChoice("a kind", Kinds, M.Kind)},
               {"width", toWidth(In, M.Width)}}))
    return false;
  if (Types.empty())
    return In.fail(N, "the key 'type' in a counter type", "none");
  for (std::string &Type : Types) {
    if (!In.once(N, "counter type", Type))
      return false;
    M.Type = std::move(Type);
    Out.CounterTypes.push_back(M);
  }
  return true;
}

bool readRecords(FieldReader &In, Value N, ModelFile &Out) {
  // In the order of SharingT.
  static constexpr StringRef Sharings[] = {"wide", "many", "owner"};
  std::vector<std::string> Records;
  RecordModel M;
  bool HasSharing = false;
  auto Sharing =
      [&, Choose = In.toChoice("a sharing", Sharings, M.Sharing)](Value V) {
        HasSharing = true;
        return Choose(V);
      };
  if (!In.map(N, "a record",
              {{"record", In.toNames("a record, such as struct foo", Records)},
               {"sharing", Sharing},
               {"why", In.toText("a line of text", M.Why)}}))
    return false;
  if (Records.empty())
    return In.fail(N, "the key 'record' in a record", "none");
  if (!HasSharing)
    return In.fail(N, "the key 'sharing' in a record", "none");
  // It completes a sentence of a finding: "'struct net' is ...".
  if (M.Why.empty())
    return In.fail(N, "the key 'why' in a record", "none");
  for (std::string &Record : Records) {
    if (!In.once(N, "record", Record))
      return false;
    M.Record = std::move(Record);
    Out.Records.push_back(M);
  }
  return true;
}

bool readPaces(FieldReader &In, Value N, ModelFile &Out) {
  // In the order of Pace.
  static constexpr StringRef Paces[] = {"work", "remote", "serial", "control"};
  std::vector<std::string> Of;
  PaceModel M;
  bool HasPace = false;
  auto At = [&, Choose = In.toChoice("a pace", Paces, M.At)](Value V) {
    HasPace = true;
    return Choose(V);
  };
  if (!In.map(N, "a pace",
              {{"of",
                In.toNames("a slot, a function or the reason of an entry", Of)},
               {"pace", At}}))
    return false;
  if (Of.empty())
    return In.fail(N, "the key 'of' in a pace", "none");
  if (!HasPace)
    return In.fail(N, "the key 'pace' in a pace", "none");
  for (std::string &Pattern : Of) {
    if (!In.once(N, "pace", Pattern))
      return false;
    M.Pattern = std::move(Pattern);
    Out.Paces.push_back(M);
  }
  return true;
}

/// A form may name these places: `{o}`. Other braces are text of the language.
static FieldReader::ReadValue toForm(FieldReader &In, StringRef Places,
                                     std::string &To) {
  return [&In, Places, &To](Value N) {
    if (!In.text(N, "text with places such as {c}", To))
      return false;
    StringRef Rest = To;
    while (true) {
      Rest = Rest.drop_until([](char C) { return C == '{'; });
      if (!Rest.consume_front("{"))
        return true;
      StringRef Place = Rest.take_while([](char C) { return isAlpha(C); });
      SmallVector<StringRef, 8> Known;
      Places.split(Known, ' ');
      if (!Place.empty() && Rest.drop_front(Place.size()).starts_with("}") &&
          !is_contained(Known, Place))
        return In.fail(N,
                       "a form with the places {" + join(Known, "}, {") + "}",
                       "'{" + Place + "}'");
    }
  };
}

/// An amount that a form does not mention would be dropped without a word.
static bool needs(FieldReader &In, Value N, StringRef Key, StringRef Form,
                  StringRef Place) {
  return Form.empty() || Form.contains(Place) ||
         In.fail(N, "the place " + Place + " in '" + Key + "'",
                 "'" + Form + "'");
}

bool readRemedy(FieldReader &In, Value N, ModelFile &Out) {
  static constexpr StringRef Languages[] = {"c", "c++"};
  CounterRemedy M;
  int Language = -1;
  auto Form = [&](StringRef Places, std::string &To) {
    return toForm(In, Places, To);
  };
  constexpr StringRef Of = "c o name", By = "c o name n", To = "c o name v";
  if (!In.map(
          N, "a remedy",
          {{"id", In.toText("a name in kebab case", M.Id)},
           {"for", In.toNames("a type", M.For)},
           {"language", In.toChoice("a language", Languages, Language)},
           {"type", In.toText("a type", M.Type)},
           {"header", In.toText("a header", M.Header)},
           {"needs", In.toText("the name of a function", M.Needs)},
           {"init", Form(To, M.Init)},
           {"init-fails", In.toFlag(M.InitFails)},
           {"init-header", In.toText("a header", M.InitHeader)},
           {"boot-failure", Form(Of, M.BootFailure)},
           {"destroy", Form(Of, M.Destroy)},
           {"inc", Form(Of, M.Inc)},
           {"dec", Form(Of, M.Dec)},
           {"add", Form(By, M.Add)},
           {"sub", Form(By, M.Sub)},
           {"add-batch", Form("c o name n b", M.AddBatch)},
           {"add-local", Form(By, M.AddLocal)},
           {"sub-local", Form(By, M.SubLocal)},
           {"local-needs", In.toText("the name of a function", M.LocalNeeds)},
           {"set", Form(To, M.Set)},
           {"read", Form(Of, M.Read)},
           {"read-positive", Form(Of, M.ReadPositive)},
           {"sum", Form(Of, M.Sum)},
           {"sum-positive", Form(Of, M.SumPositive)},
           {"sum-locks", In.toText("a line of text", M.SumLocks)},
           {"variable", In.toFlag(M.Variable)},
           {"define", Form("t name v", M.Define)},
           {"define-static", Form("t name v", M.DefineStatic)},
           {"declare", Form("t name", M.Declare)},
           {"each-cpu", Form("v", M.EachCpu)},
           {"of-cpu", Form("c o name v", M.OfCpu)}}))
    return false;
  if (Language >= 0)
    M.Language = Languages[Language].str();
  for (auto [Name, Text] :
       {std::pair<StringRef, StringRef>{"id", M.Id},
        {"header", M.Header},
        {"add", M.Add},
        {M.Variable ? "define" : "type", M.Variable ? M.Define : M.Type}})
    if (Text.empty())
      return In.fail(N, "the key '" + Name + "' in a remedy", "none");
  if (M.For.empty())
    return In.fail(N, "the key 'for' in a remedy", "none");
  if (M.InitFails && M.Init.empty())
    return In.fail(N, "the key 'init' beside 'init-fails'", "none");
  if (!M.BootFailure.empty() && !M.InitFails)
    return In.fail(N, "'init-fails: true' beside 'boot-failure'", "none");
  if (!M.Variable && !(M.Define + M.DefineStatic + M.Declare).empty())
    return In.fail(N, "'variable: true' beside 'define'", "none");
  if (M.EachCpu.empty() != M.OfCpu.empty())
    return In.fail(N, "'each-cpu' and 'of-cpu' together", "one of them");
  if (!needs(In, N, "each-cpu", M.EachCpu, "{v}") ||
      !needs(In, N, "of-cpu", M.OfCpu, "{v}") ||
      !needs(In, N, "add", M.Add, "{n}") ||
      !needs(In, N, "sub", M.Sub, "{n}") ||
      !needs(In, N, "add-local", M.AddLocal, "{n}") ||
      !needs(In, N, "sub-local", M.SubLocal, "{n}") ||
      !needs(In, N, "add-batch", M.AddBatch, "{n}") ||
      !needs(In, N, "add-batch", M.AddBatch, "{b}") ||
      !needs(In, N, "set", M.Set, "{v}") || !In.once(N, "remedy", M.Id))
    return false;
  Out.Remedies.push_back(std::move(M));
  return true;
}

} // namespace decontend
