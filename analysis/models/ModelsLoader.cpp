//===- ModelsLoader.cpp - Files of models into one set --------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/ModelsReader.h"
#include "embedded/ModelTexts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fmt/format.h>

using namespace llvm;

namespace decontend {

static bool isGlob(StringRef Text) { return Text.contains('*'); }

/// Only `*` is special in a model's name; the library knows more.
static std::string globText(StringRef Text) {
  std::string Out;
  for (char C : Text) {
    if (StringRef("?[]{}\\").contains(C))
      Out += '\\';
    Out += C;
  }
  return Out;
}

static GlobPattern makeGlob(StringRef Escaped) {
  // With everything but `*` escaped there is no pattern that is malformed.
  return cantFail(GlobPattern::create(Escaped));
}

namespace {

/// Items by name; a later one of the same name takes the earlier one's place.
template <typename T> class ModelTable {
public:
  void add(const std::string &Key, T Item) {
    auto [It, New] = ByKey.try_emplace(Key, Items.size());
    if (!New) {
      Items[It->second].reset();
      It->second = Items.size();
    }
    Items.push_back(std::move(Item));
  }

  /// Removes the item called \p Text or, if that is a glob, all it matches.
  /// \p NameOf gives the part of an item that is compared.
  template <typename Fn> bool remove(StringRef Text, Fn NameOf) {
    std::string Escaped = globText(Text);
    GlobPattern Glob = makeGlob(Escaped);
    bool Any = false;
    for (auto It = ByKey.begin(), End = ByKey.end(); It != End;) {
      auto Here = It++;
      std::optional<T> &Item = Items[Here->second];
      StringRef Name = NameOf(*Item);
      if (Name != Text && !(isGlob(Text) && Glob.match(Name)))
        continue;
      Item.reset();
      ByKey.erase(Here);
      Any = true;
    }
    return Any;
  }

  /// Exact names sorted, then globs in their order, which decides lookups.
  template <typename Fn> std::vector<T> take(Fn KeyOf) {
    std::vector<T> Out, Globs;
    for (std::optional<T> &Item : Items)
      if (Item)
        (isGlob(KeyOf(*Item)) ? Globs : Out).push_back(std::move(*Item));
    llvm::sort(Out,
               [&](const T &L, const T &R) { return KeyOf(L) < KeyOf(R); });
    std::move(Globs.begin(), Globs.end(), std::back_inserter(Out));
    return Out;
  }

  /// In order of declaration.
  std::vector<T> takeInOrder() {
    std::vector<T> Out;
    for (std::optional<T> &Item : Items)
      if (Item)
        Out.push_back(std::move(*Item));
    return Out;
  }

private:
  std::vector<std::optional<T>> Items;
  StringMap<size_t> ByKey;
};

std::string entryKey(const EntryModel &E) {
  return fmt::format("{}{}", static_cast<int>(E.Kind), E.Pattern);
}

} // namespace

class ModelsBuilder {
public:
  Error addFile(StringRef Name, StringRef Text);
  Models finish();

private:
  static void indexGlobs(Models &M);

  ModelTable<FunctionModel> Functions;
  ModelTable<SlotModel> Slots;
  ModelTable<EntryModel> Entries;
  ModelTable<CounterTypeModel> CounterTypes;
  ModelTable<RecordModel> Records;
  ModelTable<PaceModel> Paces;
  /// With the number of the file, by which they are ordered in the end.
  ModelTable<std::pair<unsigned, CounterRemedy>> Remedies;
  unsigned FileNumber = 0;
};

Error ModelsBuilder::addFile(StringRef Name, StringRef Text) {
  Expected<ModelFile> File = readModels(Name, Text);
  if (!File)
    return File.takeError();

  // Removals come first, so that a file may remove a glob and then say more
  // about some names, whatever the order of its keys.
  auto Remove = [&](auto &Table, const std::vector<ModelRemoval> &Removals,
                    StringRef What, auto NameOf) -> Error {
    for (const ModelRemoval &R : Removals)
      if (!Table.remove(R.Text, NameOf))
        return createStringError(
            inconvertibleErrorCode(), "%s",
            fmt::format("{}:{}:{}: expected the name of {} that an earlier "
                        "file declares, found '{}'",
                        Name.str(), R.Line, R.Column, What.str(), R.Text)
                .c_str());
    return Error::success();
  };
  if (Error E =
          Remove(Functions, File->RemoveFunctions, "a function",
                 [](const FunctionModel &M) { return StringRef(M.Name); }))
    return E;
  if (Error E = Remove(Slots, File->RemoveSlots, "a slot",
                       [](const SlotModel &M) { return StringRef(M.Slot); }))
    return E;
  if (Error E =
          Remove(Entries, File->RemoveEntries, "an entry",
                 [](const EntryModel &M) { return StringRef(M.Pattern); }))
    return E;
  if (Error E =
          Remove(CounterTypes, File->RemoveCounters, "a counter type",
                 [](const CounterTypeModel &M) { return StringRef(M.Type); }))
    return E;
  if (Error E =
          Remove(Records, File->RemoveRecords, "a record",
                 [](const RecordModel &M) { return StringRef(M.Record); }))
    return E;
  if (Error E = Remove(Paces, File->RemovePaces, "a pace",
                       [](const PaceModel &M) { return StringRef(M.Pattern); }))
    return E;
  if (Error E = Remove(Remedies, File->RemoveRemedies, "a remedy",
                       [](const std::pair<unsigned, CounterRemedy> &M) {
                         return StringRef(M.second.Id);
                       }))
    return E;

  for (FunctionModel &M : File->Functions)
    Functions.add(std::string(M.Name), std::move(M));
  for (SlotModel &M : File->Slots)
    Slots.add(std::string(M.Slot), std::move(M));
  for (EntryModel &M : File->Entries)
    Entries.add(entryKey(M), std::move(M));
  for (CounterTypeModel &M : File->CounterTypes)
    CounterTypes.add(std::string(M.Type), std::move(M));
  for (RecordModel &M : File->Records)
    Records.add(std::string(M.Record), std::move(M));
  for (PaceModel &M : File->Paces)
    Paces.add(std::string(M.Pattern), std::move(M));
  for (CounterRemedy &M : File->Remedies)
    Remedies.add(std::string(M.Id), std::make_pair(FileNumber, std::move(M)));
  ++FileNumber;
  return Error::success();
}

void ModelsBuilder::indexGlobs(Models &M) {
  auto Texts = std::make_shared<std::vector<std::string>>();
  auto Collect = [&](StringRef Text) {
    if (isGlob(Text))
      Texts->push_back(globText(Text));
  };
  for (const FunctionModel &F : M.Functions)
    Collect(F.Name);
  for (const SlotModel &S : M.Slots)
    Collect(S.Slot);
  for (const EntryModel &E : M.Entries)
    Collect(E.Pattern);
  for (const CounterTypeModel &C : M.CounterTypes)
    Collect(C.Type);
  for (const RecordModel &R : M.Records)
    Collect(R.Record);
  for (const PaceModel &P : M.Paces)
    Collect(P.Pattern);
  for (const CounterRemedy &R : M.Remedies)
    for (const std::string &Type : R.For)
      Texts->push_back(globText(Type));

  // The vector no longer grows: patterns may refer to its strings.
  auto Next = Texts->begin();
  auto Index = [&](StringRef Text, size_t I, StringMap<size_t> &Exact,
                   std::vector<std::pair<GlobPattern, size_t>> &Globs) {
    if (isGlob(Text))
      Globs.emplace_back(makeGlob(*Next++), I);
    else
      Exact[Text] = I;
  };
  for (auto [I, F] : enumerate(M.Functions))
    Index(F.Name, I, M.FunctionByName, M.FunctionGlobs);
  for (auto [I, S] : enumerate(M.Slots))
    Index(S.Slot, I, M.SlotByName, M.SlotGlobs);
  for (auto [I, E] : enumerate(M.Entries))
    Index(E.Pattern, I, M.EntryByText[E.Kind], M.EntryGlobs);
  for (auto [I, C] : enumerate(M.CounterTypes))
    Index(C.Type, I, M.CounterByType, M.CounterGlobs);
  for (auto [I, R] : enumerate(M.Records))
    Index(R.Record, I, M.RecordByName, M.RecordGlobs);
  for (auto [I, P] : enumerate(M.Paces))
    Index(P.Pattern, I, M.PaceByName, M.PaceGlobs);
  for (auto [I, R] : enumerate(M.Remedies))
    for (size_t T = 0; T < R.For.size(); ++T)
      M.RemedyTypes.emplace_back(makeGlob(*Next++), I);
  M.GlobTexts = std::move(Texts);
}

Models ModelsBuilder::finish() {
  Models M;
  M.Functions = Functions.take([](const FunctionModel &F) { return F.Name; });
  M.Slots = Slots.take([](const SlotModel &S) { return S.Slot; });
  M.Entries = Entries.take(entryKey);
  M.CounterTypes =
      CounterTypes.take([](const CounterTypeModel &C) { return C.Type; });
  M.Records = Records.take([](const RecordModel &R) { return R.Record; });
  M.Paces = Paces.take([](const PaceModel &P) { return P.Pattern; });
  std::vector<std::pair<unsigned, CounterRemedy>> InOrder =
      Remedies.takeInOrder();
  for (unsigned File = FileNumber; File-- > 0;)
    for (auto &[Of, R] : InOrder)
      if (Of == File)
        M.Remedies.push_back(std::move(R));
  indexGlobs(M);
  M.computeDigest();
  return M;
}

Expected<Models> loadModels(ArrayRef<std::string> Files) {
  ModelsBuilder Builder;
  for (const auto &[Path, Text] : embedded::ModelTexts())
    if (Error E = Builder.addFile(StringRef(Path.data(), Path.size()),
                                  StringRef(Text.data(), Text.size())))
      return std::move(E);
  for (const std::string &File : Files) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        MemoryBuffer::getFile(File, /*IsText=*/true);
    if (!Text)
      return createStringError(
          Text.getError(), "%s",
          fmt::format("{}: expected a readable file of models, found: {}", File,
                      Text.getError().message())
              .c_str());
    if (Error E = Builder.addFile(File, (*Text)->getBuffer()))
      return std::move(E);
  }
  return Builder.finish();
}

Expected<Models>
loadModelsFromText(ArrayRef<std::pair<std::string, std::string>> Texts) {
  ModelsBuilder Builder;
  for (const auto &[Name, Text] : Texts)
    if (Error E = Builder.addFile(Name, Text))
      return std::move(E);
  return Builder.finish();
}

} // namespace decontend
