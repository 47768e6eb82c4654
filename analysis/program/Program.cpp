//===- Program.cpp - All units linked -------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "LockEffects.h"
#include "llvm/ADT/DenseSet.h"
#include <algorithm>

namespace decontend {

void Program::add(std::unique_ptr<UnitFacts> Unit) {
  Units.push_back(std::move(Unit));
}

NodeId Program::nodeFor(Sym Key) {
  auto [It, New] = NodeByKey.try_emplace(Key, Nodes.size());
  if (New) {
    Node &N = Nodes.emplace_back();
    N.Key = Key;
    // `name@file` for internal linkage.
    N.Name = Names.intern(str(Key).split('@').first);
  }
  return It->second;
}

void Program::buildNodes() {
  for (const auto &Unit : Units) {
    for (const FunctionFacts &F : Unit->Functions) {
      NodeId Id = nodeFor(F.Key);
      // Programs that share a compile database have a main() each.
      if (Nodes[Id].Facts && str(F.Name) == "main")
        Id = nodeFor(
            Names.intern((str(F.Key) + "@" + str(Unit->MainFile)).str()));
      Node &N = Nodes[Id];
      if (N.Facts)
        continue;
      N.Facts = &F;
      N.Unit = Unit.get();
      N.Name = F.Name;
      ++Defined;
    }
    for (const RecordFacts &R : Unit->Records)
      Records[R.Key].push_back({&R, Unit.get()});
    for (const GlobalFacts &G : Unit->Globals)
      Globals.try_emplace(G.Key, &G);
    AllSlots.insert(AllSlots.end(), Unit->Slots.begin(), Unit->Slots.end());
  }
}

void Program::link() {
  buildNodes();
  // Mention every callee before models are looked up by Sym.
  for (const auto &Unit : Units)
    for (const FunctionFacts &F : Unit->Functions)
      for (const Event &E : F.Events)
        if (E.Kind == EventKind::Call && E.Via == CallVia::Direct)
          nodeFor(E.Callee);
  for (const SlotFill &S : AllSlots)
    nodeFor(S.Function);

  ModelByName.assign(Names.size(), nullptr);
  std::vector<bool> Asked(Names.size(), false);
  auto Ask = [&](Sym S) {
    size_t I = static_cast<uint32_t>(S);
    if (empty(S) || Asked[I])
      return;
    Asked[I] = true;
    ModelByName[I] = Knowledge.function(str(S));
  };
  for (const Node &N : Nodes)
    Ask(N.Name);
  for (const auto &Unit : Units)
    for (const FunctionFacts &F : Unit->Functions)
      for (const Event &E : F.Events)
        Ask(E.Macro);
  for (Node &N : Nodes) {
    N.Model = ModelByName[static_cast<uint32_t>(N.Name)];
    // What `load` does depends on whose it is.
    std::string Qualified = qualifiedName(str(N.Key));
    if (llvm::StringRef(Qualified).contains("::"))
      if (const FunctionModel *M = Knowledge.function(Qualified))
        N.Model = M;
  }

  buildEdges();
  computeWaits();
  computeContexts();
}

const FunctionModel *Program::modelOf(const Event &E) const {
  if (E.Kind != EventKind::Call)
    return nullptr;
  if (E.Via == CallVia::Direct)
    if (NodeId N = find(E.Callee); N != NoNode && Nodes[N].Model)
      return Nodes[N].Model;
  return modelOfMacro(E);
}

llvm::StringRef Program::calleeName(const Event &E) const {
  if (E.Via == CallVia::Direct)
    if (NodeId N = find(E.Callee); N != NoNode)
      return name(N);
  return str(E.Callee);
}

llvm::ArrayRef<NodeId> Program::targets(Sym Slot) const {
  auto It = SlotTargets.find(Slot);
  if (It == SlotTargets.end())
    return {};
  return It->second;
}

const RecordFacts *Program::record(Sym Key, const UnitFacts *Unit) const {
  auto It = Records.find(Key);
  if (It == Records.end())
    return nullptr;
  const RecordFacts *Header = nullptr;
  for (auto [R, Owner] : It->second) {
    if (Owner == Unit && R->Where.File == Unit->MainFile)
      return R;
    if (!Header && R->Where.File != Owner->MainFile)
      Header = R;
  }
  // A header's record may have been given by any unit that includes it.
  return Header;
}

const GlobalFacts *Program::global(Sym Key) const {
  auto It = Globals.find(Key);
  return It == Globals.end() ? nullptr : It->second;
}

std::vector<size_t> Program::unitsWithGaps() const {
  std::vector<size_t> Out;
  llvm::DenseSet<Sym> Covered, Given;
  for (const auto &U : Units) {
    for (const RecordFacts &R : U->Records)
      Given.insert(R.Where.File);
    for (const DeclFacts &D : U->Decls)
      Given.insert(D.Where.File);
    for (const InactiveText &I : U->Inactive)
      Given.insert(I.File);
    for (const FunctionFacts &F : U->Functions)
      Given.insert(F.Where.File);
  }
  for (size_t U = 0; U < Units.size(); ++U) {
    bool Gap = false;
    for (Sym File : Units[U]->BorrowedFrom)
      if (Given.insert(File).second)
        Gap = true;
    for (Sym Key : Units[U]->Borrowed) {
      NodeId N = find(Key);
      if ((N == NoNode || !Nodes[N].Facts) && Covered.insert(Key).second)
        Gap = true;
    }
    if (Gap)
      Out.push_back(U);
  }
  return Out;
}

} // namespace decontend
