//===- hashed_locks.hpp - An array of locks by address ----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decontend::hashed_locks<std::shared_mutex> Locks;
//   {
//     auto Guard = Locks.shared(Node);          // one key, shared
//     read(Node->Attributes);
//   }
//   auto Guard = Locks.exclusive(From, To);     // two keys, in fixed order
//   auto Guard = Locks.exclusive_all();         // the whole table
//
// The hash, the sizes, the memory order, the costs and the one rule (a thread
// that holds a lock of an array takes no other of it) are those of
// hashed_locks.h. Lock is any BasicLockable that can be made without arguments;
// the shared forms need lock_shared and unlock_shared, the try forms try_lock
// and try_lock_shared. Nothing here blocks except inside Lock.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_HASHED_LOCKS_HPP
#define DECONTEND_HASHED_LOCKS_HPP

#include "decontend/hashed_locks.h"
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <utility>

namespace decontend {

template <class T>
concept basic_lockable = requires(T &Lock) {
  Lock.lock();
  Lock.unlock();
};

template <class T>
concept shared_lockable = requires(T &Lock) {
  Lock.lock_shared();
  Lock.unlock_shared();
};

template <basic_lockable Lock> class hashed_locks {
  struct alignas(DCT_HASHED_LOCKS_ALIGN) cell {
    Lock Mutex;
  };

  struct take_exclusive {
    static void lock(Lock &L) { L.lock(); }
    static void unlock(Lock &L) noexcept { L.unlock(); }
  };
  struct take_shared {
    static void lock(Lock &L) { L.lock_shared(); }
    static void unlock(Lock &L) noexcept { L.unlock_shared(); }
  };

  // Holds the cells First, First + Step, ... up to Last. One class serves two
  // keys and the whole table, as both are an ascending sequence.
  template <class Take> class range_guard {
  public:
    range_guard() noexcept = default;
    range_guard(range_guard &&Other) noexcept { swap(Other); }
    range_guard &operator=(range_guard &&Other) noexcept {
      range_guard(std::move(Other)).swap(*this);
      return *this;
    }
    ~range_guard() { unlock(); }

    bool owns_lock() const noexcept { return Held != 0; }
    explicit operator bool() const noexcept { return owns_lock(); }

    /// Releases early, in the reverse order. Does nothing when nothing is held.
    void unlock() noexcept {
      while (Held)
        Take::unlock(Cells[First + --Held * Step].Mutex);
    }

  private:
    friend hashed_locks;

    range_guard(cell *Cells, std::size_t First, std::size_t Step,
                std::size_t Wanted)
        : Cells(Cells), First(First), Step(Step) {
      // A constructor that throws runs no destructor, so what is held is given
      // back here.
      try {
        for (; Held < Wanted; ++Held)
          Take::lock(Cells[First + Held * Step].Mutex);
      } catch (...) {
        unlock();
        throw;
      }
    }

    void swap(range_guard &Other) noexcept {
      std::swap(Cells, Other.Cells);
      std::swap(First, Other.First);
      std::swap(Step, Other.Step);
      std::swap(Held, Other.Held);
    }

    cell *Cells = nullptr;
    std::size_t First = 0;
    std::size_t Step = 0;
    std::size_t Held = 0;
  };

public:
  using exclusive_guard = std::unique_lock<Lock>;
  using shared_guard = std::shared_lock<Lock>;
  using exclusive_range_guard = range_guard<take_exclusive>;
  using shared_range_guard = range_guard<take_shared>;

  /// Makes at least Count locks, rounded up to a power of two; 0: from the
  /// number of CPUs (dct_hashed_locks_default_count). Throws std::length_error
  /// above DCT_HASHED_LOCKS_MAX, std::bad_alloc, and what Lock() throws.
  explicit hashed_locks(std::size_t Count = 0)
      : Count(checked(Count)), Cells(new cell[this->Count]) {}

  /// No lock may be held when the array goes.
  ~hashed_locks() = default;
  hashed_locks(const hashed_locks &) = delete;
  hashed_locks &operator=(const hashed_locks &) = delete;

  std::size_t size() const noexcept { return Count; }

  /// The lock of Key, for other guards and for timed functions. The reference
  /// lives as long as the array.
  Lock &of(const void *Key) const noexcept {
    return Cells[dct_hashed_locks_index(Key, Count)].Mutex;
  }

  /// Locks Key for the life of the guard. Throws what Lock throws.
  [[nodiscard]] exclusive_guard exclusive(const void *Key) const {
    return exclusive_guard(of(Key));
  }
  [[nodiscard]] shared_guard shared(const void *Key) const
    requires shared_lockable<Lock>
  {
    return shared_guard(of(Key));
  }

  /// The same without blocking: the guard owns the lock or does not.
  [[nodiscard]] exclusive_guard try_exclusive(const void *Key) const
    requires requires(Lock &L) { L.try_lock(); }
  {
    return exclusive_guard(of(Key), std::try_to_lock);
  }
  [[nodiscard]] shared_guard try_shared(const void *Key) const
    requires requires(Lock &L) { L.try_lock_shared(); }
  {
    return shared_guard(of(Key), std::try_to_lock);
  }

  /// Locks two keys in the order of the addresses of their locks; a lock that
  /// both share is taken once. The keys may be equal. When Lock throws, nothing
  /// stays locked.
  [[nodiscard]] exclusive_range_guard exclusive(const void *A,
                                                const void *B) const {
    return pair<exclusive_range_guard>(A, B);
  }
  [[nodiscard]] shared_range_guard shared(const void *A, const void *B) const
    requires shared_lockable<Lock>
  {
    return pair<shared_range_guard>(A, B);
  }

  /// Locks everything in the same order; linear in size(). When Lock throws,
  /// nothing stays locked.
  [[nodiscard]] exclusive_range_guard exclusive_all() const {
    return exclusive_range_guard(Cells.get(), 0, 1, Count);
  }
  [[nodiscard]] shared_range_guard shared_all() const
    requires shared_lockable<Lock>
  {
    return shared_range_guard(Cells.get(), 0, 1, Count);
  }

  /// In the child of a fork, where only the calling thread is left: makes all
  /// locks anew, whoever held them, without running their destructors. A guard
  /// that was held over the fork must be leaked in the child, not destroyed.
  void reset_in_child() noexcept(noexcept(Lock())) {
    for (std::size_t I = 0; I < Count; ++I)
      ::new (static_cast<void *>(&Cells[I].Mutex)) Lock();
  }

private:
  static std::size_t checked(std::size_t Count) {
    std::size_t Rounded = dct_hashed_locks_round(Count);
    if (!Rounded)
      throw std::length_error("decontend::hashed_locks: too many locks");
    return Rounded;
  }

  template <class Guard> Guard pair(const void *A, const void *B) const {
    std::size_t I = dct_hashed_locks_index(A, Count);
    std::size_t J = dct_hashed_locks_index(B, Count);
    if (I > J)
      std::swap(I, J);
    return Guard(Cells.get(), I, J - I, I == J ? 1 : 2);
  }

  std::size_t Count;
  std::unique_ptr<cell[]> Cells;
};

} // namespace decontend

#endif // DECONTEND_HASHED_LOCKS_HPP
