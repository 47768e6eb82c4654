//===- Lock.h - Which lock it is --------------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   argument of a locking call --> Lock {kind, mode, root, text, class}
//
// Within a function, two locks are the same when their access paths are spelt
// the same from the same root. Across functions that holds for paths that start
// at a parameter or a global variable; of all others only the class is left:
// the field (`struct inode.i_rwsem`) or the global variable that holds the
// lock.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_LOCK_H
#define DECONTEND_ANALYSIS_PROGRAM_LOCK_H

#include "analysis/facts/Facts.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>

namespace decontend {

enum class LockKind : uint8_t {
  Spin,
  SpinRw, ///< rwlock_t: readers and writers that spin.
  Seq,    ///< Writers of a sequence lock.
  Bit,
  Local,
  Rcu,
  Preempt, ///< Not a lock: preemption is off.
  Irq,     ///< Not a lock: interrupts are off.
  Bh,      ///< Not a lock: softirqs are off.
  Srcu,
  Mutex,
  RwSem,
  Semaphore,
  Other, ///< Any other kind of the models; sleeping. KindName spells it.
};

/// The kind that models spell \p Name.
LockKind lockKind(llvm::StringRef Name);

/// Does who waits for such a lock spin?
bool isSpinning(LockKind K);

/// Is sleeping forbidden where it is held?
bool isAtomic(LockKind K);

/// May it be taken again by who holds it, once per release?
bool isNesting(LockKind K);

enum class LockMode : uint8_t { Exclusive, Read, Write };

/// One lock, as one function sees it. Plain data.
struct Lock {
  LockKind Kind = LockKind::Other;
  LockMode Mode = LockMode::Exclusive;
  RootKind Root = RootKind::Unknown; ///< Unknown: only the class is known.
  uint16_t Index = 0;                ///< Parameter number, when Root is Param.
  Sym Base = Sym::None;              ///< As Expr::Base, of the program.
  Sym Class = Sym::None; ///< Field or key of a global, of the program; or none.
  Sym KindName = Sym::None; ///< Of LockTable::names().
  Sym Text = Sym::None;     ///< The object that is the lock, `x->lock`, of
                        ///< LockTable::names(). Empty: only the class is known.
  Sym Path = Sym::None; ///< Text with `.` for every `->`; set by LockTable:
                        ///< members of anonymous structs are spelt either way.
  bool operator==(const Lock &) const = default;
};

using LockId = uint32_t;

/// All locks of a program, each once. Not thread-safe while it grows.
class LockTable {
public:
  LockId intern(Lock L);
  const Lock &operator[](LockId I) const { return All[I]; }
  size_t size() const { return All.size(); }

  Symbols &names() { return Names; }
  llvm::StringRef text(LockId I) const { return Names.str(All[I].Text); }
  llvm::StringRef kindName(LockId I) const {
    return Names.str(All[I].KindName);
  }

  /// Surely the same lock: same root, same text. The mode does not matter.
  bool same(LockId A, LockId B) const;

  /// Perhaps the same: of one class, or of one kind if a class is unknown. Two
  /// different texts from one root do not exclude it.
  bool alike(LockId A, LockId B) const;

  /// What is left of \p I outside of the function: its class.
  LockId classOnly(LockId I);

  /// \p I with the mode in which it is at least held when it may be \p Other.
  LockId weaker(LockId I, LockMode Other);

private:
  Symbols Names;
  std::vector<Lock> All;
  llvm::DenseMap<Sym, Sym> PathOf; ///< Of texts.
  llvm::DenseMap<std::tuple<uint64_t, uint64_t, uint64_t>, LockId> ByContent;
};

/// What is left of lock text \p Text (`p->a.lock`, `*p`) when its base \p Base
/// is argument \p Arg (`&x->m`, `y`): `x->m.a.lock`. \p Object says that the
/// argument is no pointer but the object itself (a reference, or the object of
/// a method call). Empty if the text does not start with the base.
std::string placeArgument(llvm::StringRef Text, llvm::StringRef Base,
                          llvm::StringRef Arg, bool Object);

/// The reverse: what \p Text is in a function whose parameter \p Param is given
/// \p Arg. Empty if the lock is not reached through that argument.
std::string seenFromParam(llvm::StringRef Text, llvm::StringRef Arg,
                          llvm::StringRef Param, bool Object);

} // namespace decontend

#endif
