//===- LayOver.cpp - A live unit in a stored program ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   live facts --> [codec] --> Syms of the program --> in the stored one's
//   place
//                                                  --> [link]
//
// Shards are decoded once per process; each live unit then costs one link.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "analysis/facts/Codec.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace decontend {

void layOver(Engine &E, const UnitFacts &Live) {
  // The codec is the one way from one table of names to another.
  SmallVector<char, 0> Shard;
  encode(Live, Shard);
  auto Unit = std::make_unique<UnitFacts>();
  cantFail(decodeInto(StringRef(Shard.data(), Shard.size()), E.Linked->names(),
                      *Unit, ShardCheck::Verified));

  std::vector<std::unique_ptr<UnitFacts>> Units = E.Linked->takeUnits();
  Symbols Names = std::move(E.Linked->names());
  E.Linked = std::make_unique<Program>(E.Knowledge);
  E.Linked->names() = std::move(Names);

  if (E.Live) {
    auto Earlier =
        find_if(Units, [&](const auto &U) { return U.get() == E.Live; });
    if (E.Masked)
      *Earlier = std::move(E.Masked);
    else
      Units.erase(Earlier);
  }
  E.Live = Unit.get();

  // In the order of paths, as loadEngine adds units.
  auto FileOf = [&](const UnitFacts &U) {
    return E.Paths->absolute(E.Linked->str(U.MainFile));
  };
  auto Place = partition_point(Units, [&, File = FileOf(*Unit)](const auto &U) {
    return FileOf(*U) < File;
  });
  if (Place != Units.end() && (*Place)->MainFile == Unit->MainFile) {
    E.Masked = std::move(*Place);
    *Place = std::move(Unit);
  } else {
    E.Masked = nullptr;
    Units.insert(Place, std::move(Unit));
  }
  for (auto &U : Units)
    E.Linked->add(std::move(U));
  E.Linked->link();
}

KnownBodies knownWithout(const Engine &E, StringRef MainFile) {
  KnownBodies Known;
  Sym Main = E.Linked->find(MainFile);
  for (const auto &U : E.Linked->units()) {
    const UnitFacts *Stored = U.get() == E.Live ? E.Masked.get() : U.get();
    if (Stored && (empty(Main) || Stored->MainFile != Main))
      Known.addAll(*Stored, E.Linked->names());
  }
  return Known;
}

} // namespace decontend
