//===- Lock.cpp - Which lock it is ----------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lock.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace decontend {

LockKind lockKind(StringRef Name) {
  return llvm::StringSwitch<LockKind>(Name)
      .Case("spinlock", LockKind::Spin)
      .Case("rwlock", LockKind::SpinRw)
      .Case("seqlock", LockKind::Seq)
      .Case("bit", LockKind::Bit)
      .Case("local", LockKind::Local)
      .Case("rcu", LockKind::Rcu)
      .Case("preempt", LockKind::Preempt)
      .Case("irq", LockKind::Irq)
      .Case("bh", LockKind::Bh)
      .Case("srcu", LockKind::Srcu)
      .Case("mutex", LockKind::Mutex)
      .Case("rwsem", LockKind::RwSem)
      .Case("semaphore", LockKind::Semaphore)
      .Default(LockKind::Other);
}

bool isSpinning(LockKind K) { return K <= LockKind::Local; }

bool isAtomic(LockKind K) { return K <= LockKind::Bh; }

bool isNesting(LockKind K) { return K >= LockKind::Rcu && K <= LockKind::Srcu; }

LockId LockTable::intern(Lock L) {
  auto [Known, Fresh] = PathOf.try_emplace(L.Text, L.Text);
  if (Fresh) {
    std::string Path = Names.str(L.Text).str();
    for (size_t At; (At = Path.find("->")) != std::string::npos;)
      Path.replace(At, 2, ".");
    Known->second = Names.intern(Path);
  }
  L.Path = Known->second;
  auto Key = std::make_tuple(uint64_t(L.Kind) << 48 | uint64_t(L.Mode) << 40 |
                                 uint64_t(L.Root) << 32 | L.Index,
                             uint64_t(L.Base) << 32 | uint64_t(L.Class),
                             uint64_t(L.KindName) << 32 | uint64_t(L.Path));
  auto [It, New] = ByContent.try_emplace(Key, LockId(All.size()));
  if (New)
    All.push_back(L);
  return It->second;
}

bool LockTable::same(LockId A, LockId B) const {
  if (A == B)
    return true;
  const Lock &L = All[A], &R = All[B];
  return !empty(L.Path) && L.Path == R.Path && L.Root == R.Root &&
         L.Base == R.Base;
}

bool LockTable::alike(LockId A, LockId B) const {
  const Lock &L = All[A], &R = All[B];
  if (!empty(L.Class) && !empty(R.Class))
    return L.Class == R.Class;
  return L.KindName == R.KindName;
}

LockId LockTable::classOnly(LockId I) {
  Lock L = All[I];
  if (L.Root == RootKind::Global)
    return I;
  L.Root = RootKind::Unknown;
  L.Base = L.Text = Sym::None;
  L.Index = 0;
  return intern(L);
}

LockId LockTable::weaker(LockId I, LockMode Other) {
  Lock L = All[I];
  if (L.Mode == Other)
    return I;
  L.Mode = L.Mode == LockMode::Read || Other == LockMode::Read
               ? LockMode::Read
               : LockMode::Write;
  return intern(L);
}

/// Where \p Base ends in \p Text as a whole word at the start, or npos.
static size_t behindBase(StringRef Text, StringRef Base) {
  if (Base.empty() || !Text.starts_with(Base))
    return StringRef::npos;
  StringRef Rest = Text.substr(Base.size());
  if (!Rest.empty() && (llvm::isAlnum(Rest[0]) || Rest[0] == '_'))
    return StringRef::npos;
  return Base.size();
}

std::string placeArgument(StringRef Text, StringRef Base, StringRef Arg,
                          bool Object) {
  if (Arg.empty())
    return "";
  size_t Stars = Text.find_first_not_of('*');
  if (Stars == StringRef::npos)
    return "";
  std::string Prefix(Stars, '*');
  Text = Text.substr(Stars);
  size_t At = behindBase(Text, Base);
  if (At == StringRef::npos)
    return "";
  StringRef Rest = Text.substr(At);
  if (Rest.consume_front("->") || Rest.consume_front(".")) {
    if (Arg.consume_front("&") || Object)
      return Prefix + Arg.str() + "." + Rest.str();
    return Prefix + Arg.str() + "->" + Rest.str();
  }
  if (Rest.empty() && Stars && !Object) {
    if (Arg.consume_front("&"))
      return Prefix.substr(1) + Arg.str();
    return Prefix + Arg.str();
  }
  if (Rest.empty() && Stars && Object && Base == "this")
    return Prefix.substr(1) + Arg.str();
  return Prefix + Arg.str() + Rest.str();
}

std::string seenFromParam(StringRef Text, StringRef Arg, StringRef Param,
                          bool Object) {
  if (Arg.empty() || Param.empty())
    return "";
  bool Address = Arg.consume_front("&");
  bool Star = Text.consume_front("*");
  size_t At = behindBase(Text, Arg);
  if (At == StringRef::npos)
    return "";
  StringRef Rest = Text.substr(At);
  std::string Stars = Star ? "*" : "";
  if (Address || Object) {
    // The object itself is what the argument points to.
    std::string Through = Object && Param != "this" ? "." : "->";
    if (Rest.empty())
      return Object && Param != "this" ? Stars + Param.str()
                                       : "*" + Stars + Param.str();
    if (Rest.consume_front(".") || Rest.consume_front("->"))
      return Stars + Param.str() + Through + Rest.str();
    return "";
  }
  if (Rest.empty())
    return Star ? "*" + Param.str() : "";
  if (Rest.consume_front("->") || Rest.consume_front("."))
    return Stars + Param.str() + "->" + Rest.str();
  return "";
}

} // namespace decontend
