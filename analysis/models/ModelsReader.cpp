//===- ModelsReader.cpp - One file of models ------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/ModelsReader.h"
#include "analysis/models/ModelFields.h"
#include "analysis/models/ModelsCounters.h"
#include <iterator>

using namespace llvm;

namespace decontend {

namespace {

class Reader : public FieldReader {
public:
  using FieldReader::FieldReader;

  bool file(const YamlNode &Root);

  ModelFile Out;

private:
  bool removals(Value N, std::vector<ModelRemoval> &To);
  bool function(Value N);
  bool checkFunction(Value N, const FunctionModel &M);
  bool wait(Value N, WaitModel &M);
  bool callback(Value N, std::vector<CallbackModel> &To);
  bool slot(Value N);
  bool entry(Value N);
};

bool Reader::wait(Value N, WaitModel &M) {
  // In the order of CostKind.
  static constexpr StringRef Costs[] = {"full", "expedited", "adaptive",
                                        "barrier"};
  if (!map(N, "a wait",
           {{"flavour", toText("a flavour, such as rcu", M.Flavour)},
            {"cost", toChoice("a cost", Costs, M.Cost)},
            {"domain-arg", toArg(M.DomainArg)},
            {"deferred", toText("the name of a function", M.Deferred)},
            {"barrier", toText("the name of a function", M.BarrierCall)},
            {"head-type", toText("a type", M.HeadType)},
            {"free-macro", toText("the name of a macro", M.FreeMacro)},
            {"expedite", toText("the name of a function", M.Expedite)}}))
    return false;
  return !M.Flavour.empty() || fail(N, "the key 'flavour' in a wait", "none");
}

bool Reader::callback(Value N, std::vector<CallbackModel> &To) {
  CallbackModel M;
  M.Arg = -1;
  if (!map(N, "a callback",
           {{"arg", toArg(M.Arg)},
            {"context", toContext(M.Context)},
            {"inline", toFlag(M.Inline)},
            {"holds", toText("the kind of a global lock", M.Holds)}}))
    return false;
  if (M.Arg < 0)
    return fail(N, "the key 'arg' in a callback", "none");
  if (M.Context == CtxNone && !M.Inline)
    return fail(N, "the key 'context' in a callback that is not inline",
                "none");
  To.push_back(M);
  return true;
}

/// Keys that mean nothing without another one.
bool Reader::checkFunction(Value N, const FunctionModel &M) {
  auto Needs = [&](bool Has, bool Other, StringRef Key, StringRef Wanted) {
    return !Has || Other ||
           fail(N, "the key " + Wanted + " beside '" + Key + "'", "none");
  };
  bool Locks = M.Acquires >= 0 || M.Releases >= 0;
  return Needs(!M.FreeByRcu.empty(), M.Frees >= 0, "free-by-rcu", "'frees'") &&
         Needs(M.CacheArg >= 0, M.Frees >= 0, "cache-arg", "'frees'") &&
         Needs(M.UnlinksIfNull, M.Unlinks >= 0, "unlinks-if-null",
               "'unlinks'") &&
         Needs(Locks, !M.Lock.empty(), "acquires' or 'releases", "'lock'") &&
         Needs(!M.Lock.empty(), Locks, "lock", "'acquires' or 'releases'") &&
         Needs(M.LockIsGlobal, Locks, "lock-is-global",
               "'acquires' or 'releases'") &&
         Needs(!M.LockObject.empty(), Locks || !M.Asserts.empty(),
               "lock-object", "'acquires', 'releases' or 'asserts'") &&
         Needs(!M.LockWith.empty(), Locks, "lock-with",
               "'acquires' or 'releases'") &&
         Needs(M.LockMode || M.LockOn || M.LockRest || !M.LockUnless.empty(),
               M.Acquires >= 0,
               "lock-mode', 'lock-on', 'lock-rest' or 'lock-unless",
               "'acquires'") &&
         Needs(M.AssertsArg >= 0, !M.Asserts.empty(), "asserts-arg",
               "'asserts'");
}

bool Reader::function(Value N) {
  FunctionModel M;
  std::vector<std::string> Aliases;
  auto Wait = [&](Value V) { return wait(V, M.Wait.emplace()); };
  auto Callbacks = [&](Value V) {
    return list(V, "callbacks",
                [&](Value Item) { return callback(Item, M.Callbacks); });
  };
  auto Atomic = [&](Value V) {
    return readAtomic(*this, V, M.Atomic.emplace());
  };
  // In the order of LockModeT and LockOutcome.
  static constexpr StringRef Modes[] = {"exclusive", "read", "write"};
  static constexpr StringRef Outcomes[] = {"always", "nonzero", "zero"};
  if (!map(N, "a function",
           {{"name", toText("the name of a function", M.Name)},
            {"aliases", toNames("the name of a function", Aliases)},
            {"wait", Wait},
            {"defers", toText("a flavour, such as rcu", M.Defers)},
            {"asserts", toText("the kind of a lock", M.Asserts)},
            {"frees", toArg(M.Frees)},
            {"free-by-rcu", toText("the name of a macro", M.FreeByRcu)},
            {"cache-arg", toArg(M.CacheArg)},
            {"unlinks", toArg(M.Unlinks)},
            {"unlinks-if-null", toFlag(M.UnlinksIfNull)},
            {"drops-ref", toArg(M.DropsRef)},
            {"takes-ref", toArg(M.TakesRef)},
            {"acquires", toArg(M.Acquires)},
            {"releases", toArg(M.Releases)},
            {"lock", toText("the kind of a lock, such as mutex", M.Lock)},
            {"lock-is-global", toFlag(M.LockIsGlobal)},
            {"lock-mode", toChoice("a mode", Modes, M.LockMode)},
            {"lock-on", toChoice("an outcome", Outcomes, M.LockOn)},
            {"lock-object", toText("RECORD.MEMBER or a global", M.LockObject)},
            {"lock-with", toNames("the kind of a lock", M.LockWith)},
            {"lock-rest", toFlag(M.LockRest)},
            {"lock-unless", toNames("a record", M.LockUnless)},
            {"asserts-arg", toArg(M.AssertsArg)},
            {"returns-arg", toArg(M.ReturnsArg)},
            {"no-return", toFlag(M.NoReturn)},
            {"allocates", toFlag(M.Allocates)},
            {"sleeps", toFlag(M.Sleeps)},
            {"inert", toFlag(M.Inert)},
            {"stops-device", toFlag(M.StopsDevice)},
            {"destroys-domain", toFlag(M.DestroysDomain)},
            {"waits-for-work", toFlag(M.WaitsForWork)},
            {"opaque", toFlag(M.Opaque)},
            {"atomic", Atomic},
            {"reports", toFlag(M.Reports)},
            {"clock", toFlag(M.Clock)},
            {"callbacks", Callbacks}}))
    return false;
  if (M.Name.empty())
    return fail(N, "the key 'name' in a function", "none");
  if (N.Keys.size() == 1 + (Aliases.empty() ? 0 : 1))
    return fail(N, "a key besides 'name' that says what '" + M.Name + "' does",
                "none");
  if (!checkFunction(N, M) || !once(N, "function", M.Name))
    return false;
  for (const std::string &Alias : Aliases) {
    if (!once(N, "function", Alias))
      return false;
    Out.Functions.push_back(M);
    Out.Functions.back().Name = Alias;
  }
  Out.Functions.push_back(std::move(M));
  return true;
}

bool Reader::slot(Value N) {
  std::vector<std::string> Full, Records, Members;
  SlotModel M;
  if (!map(N, "a slot",
           {{"slot", toNames("RECORD.MEMBER", Full)},
            {"record", toNames("a record, such as struct foo", Records)},
            {"members", toNames("the name of a member", Members)},
            {"context", toContext(M.Context)},
            {"why", toText("a line of text", M.Why)},
            {"holds", toText("the kind of a global lock", M.Holds)},
            {"worker", toFlag(M.Worker)}}))
    return false;
  if (Records.empty() != Members.empty())
    return fail(N, "'record' and 'members' together", "one of them");
  for (const std::string &Record : Records)
    for (const std::string &Member : Members)
      Full.push_back(Record + "." + Member);
  if (Full.empty())
    return fail(N, "the key 'slot', or 'record' and 'members'", "none");
  if (M.Context == CtxNone)
    return fail(N, "the key 'context' in a slot", "none");
  for (const std::string &Slot : Full) {
    auto [Record, Member] = StringRef(Slot).rsplit('.');
    if (Record.empty() || Member.empty())
      return fail(N, "RECORD.MEMBER", "'" + Slot + "'");
    if (!once(N, "slot", Slot))
      return false;
    M.Slot = Slot;
    Out.Slots.push_back(M);
  }
  return true;
}

bool Reader::entry(Value N) {
  std::vector<std::string> Texts[4];
  EntryModel M;
  auto To = [&](EntryModel::KindT Kind, StringRef What) {
    return toNames(What, Texts[Kind]);
  };
  if (!map(N, "an entry",
           {{"name", To(EntryModel::Name, "the name of a function")},
            {"section", To(EntryModel::Section, "the name of a section")},
            {"marker", To(EntryModel::Marker, "the name of a macro")},
            {"file", To(EntryModel::File, "the path of a file")},
            {"context", toContext(M.Context)},
            {"exports", toFlag(M.Exports)},
            {"why", toText("a line of text", M.Why)}}))
    return false;
  if (Texts[0].empty() && Texts[1].empty() && Texts[2].empty() &&
      Texts[3].empty())
    return fail(N, "one of the keys 'name', 'section', 'marker', 'file'",
                "none");
  if (M.Context == CtxNone && !M.Exports)
    return fail(N, "the key 'context' or 'exports' in an entry", "none");
  constexpr StringRef KindNames[] = {"name", "section", "marker", "file"};
  for (auto Kind : {EntryModel::Name, EntryModel::Section, EntryModel::Marker,
                    EntryModel::File})
    for (std::string &Text : Texts[Kind]) {
      // Extraction asks for the list of markers, so it must be a list.
      if (Kind == EntryModel::Marker && StringRef(Text).contains('*'))
        return fail(N, "the name of a macro without '*'", "'" + Text + "'");
      if (!once(N, KindNames[Kind], Text))
        return false;
      M.Kind = Kind;
      M.Pattern = std::move(Text);
      Out.Entries.push_back(M);
    }
  return true;
}

bool Reader::removals(Value N, std::vector<ModelRemoval> &To) {
  return list(N, "names", [&](Value Item) {
    ModelRemoval R{"", Item.Line, Item.Column};
    if (!text(Item, "a name", R.Text))
      return false;
    To.push_back(std::move(R));
    return true;
  });
}

bool Reader::file(const YamlNode &Root) {
  if (Root.Kind == YamlNode::Null)
    return true;
  auto Each = [this](StringRef What, bool (Reader::*Read)(Value)) {
    return [this, What, Read](Value V) {
      return list(V, What, [this, Read](Value I) { return (this->*Read)(I); });
    };
  };
  auto To = [this](std::vector<ModelRemoval> &Into) {
    return [this, &Into](Value V) { return removals(V, Into); };
  };
  auto EachOf = [this](StringRef What,
                       bool (*Read)(FieldReader &, Value, ModelFile &)) {
    return [this, What, Read](Value V) {
      return list(V, What,
                  [this, Read](Value I) { return Read(*this, I, Out); });
    };
  };
  auto Remove = [&](Value V) {
    return map(V, "the key 'remove'",
               {{"functions", To(Out.RemoveFunctions)},
                {"slots", To(Out.RemoveSlots)},
                {"entries", To(Out.RemoveEntries)},
                {"counters", To(Out.RemoveCounters)},
                {"records", To(Out.RemoveRecords)},
                {"remedies", To(Out.RemoveRemedies)},
                {"paces", To(Out.RemovePaces)}});
  };
  return map(Root, "a file of models",
             {{"functions", Each("functions", &Reader::function)},
              {"slots", Each("slots", &Reader::slot)},
              {"entries", Each("entries", &Reader::entry)},
              {"counters", EachOf("counter types", readCounterTypes)},
              {"records", EachOf("records", readRecords)},
              {"remedies", EachOf("remedies", readRemedy)},
              {"paces", EachOf("paces", readPaces)},
              {"remove", Remove}});
}

} // namespace

Expected<ModelFile> readModels(StringRef Name, StringRef Text) {
  Expected<YamlNode> Root = parseYaml(Name, Text);
  if (!Root)
    return Root.takeError();
  Reader R(Name);
  if (!R.file(*Root))
    return createStringError(inconvertibleErrorCode(), "%s", R.Failure.c_str());
  return std::move(R.Out);
}

} // namespace decontend
