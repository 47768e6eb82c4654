//===- reclaimer.hpp - Frees later, many at a time --------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decontend::reclaimer Reclaimer;
//   Table.erase(Key);                          // no new reader finds it
//   Reclaimer.defer(std::move(Object));        // a std::unique_ptr
//
// Algorithm, memory order, blocking, contexts, costs and fork are those of
// reclaimer.h. A deleter must not throw.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_RECLAIMER_HPP
#define DECONTEND_RECLAIMER_HPP

#include "decontend/reclaimer.h"
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace decontend {

/// Base of a class whose objects carry what the reclaimer needs, so that
/// deferring them allocates nothing. Public and not virtual. Copies have a head
/// of their own.
class reclaimable : private dct_reclaim_head {
public:
  reclaimable() noexcept : dct_reclaim_head{} {}
  reclaimable(const reclaimable &) noexcept : dct_reclaim_head{} {}
  reclaimable &operator=(const reclaimable &) noexcept { return *this; }

private:
  friend class reclaimer;
};

class reclaimer {
public:
  /// Throws std::system_error without memory or thread.
  explicit reclaimer(const dct_reclaimer_options &Options = {})
      : Handle(dct_reclaimer_create(&Options)) {
    if (!Handle)
      throw std::system_error(errno, std::generic_category(),
                              "decontend::reclaimer");
  }

  /// Runs everything that is queued. Not in a callback of this reclaimer.
  ~reclaimer() { dct_reclaimer_destroy(Handle); }
  reclaimer(const reclaimer &) = delete;
  reclaimer &operator=(const reclaimer &) = delete;

  /// Destroys *Object by its deleter after a grace period. Without reclaimable
  /// it allocates a few words; where that fails it waits for the grace period
  /// and destroys at once, so nothing is lost. Null does nothing.
  template <class T, class Deleter>
  void defer(std::unique_ptr<T, Deleter> Object) noexcept {
    if (!Object)
      return;
    // A deleter with a state has nowhere to go in the object.
    if constexpr (std::is_base_of_v<reclaimable, T> &&
                  std::is_empty_v<Deleter> &&
                  std::is_default_constructible_v<Deleter>) {
      dct_reclaim_head *Head = static_cast<reclaimable *>(Object.release());
      dct_reclaimer_defer(Handle, Head, [](dct_reclaim_head *Head) {
        Deleter()(static_cast<T *>(static_cast<reclaimable *>(Head)));
      });
    } else {
      deferCall([Object = std::move(Object)]() mutable { Object.reset(); });
    }
  }

  /// Calls Function() after a grace period, which may sleep and must not throw.
  /// Moves it into memory that it allocates; where that fails it waits for the
  /// grace period and calls at once. Function's move must not throw.
  template <class F>
    requires std::is_nothrow_move_constructible_v<F> && std::is_invocable_v<F &>
  void defer_call(F Function) noexcept {
    deferCall(std::move(Function));
  }

  /// The C function, for objects with a head of their own.
  void defer(dct_reclaim_head &Head, void (*Fn)(dct_reclaim_head *)) noexcept {
    dct_reclaimer_defer(Handle, &Head, Fn);
  }

  /// Waits until all that was deferred before is done. Throws std::system_error
  /// (resource_deadlock_would_occur) in a callback of this reclaimer.
  void flush() {
    if (int Error = dct_reclaimer_flush(Handle))
      throw std::system_error(Error, std::generic_category(),
                              "decontend::reclaimer::flush");
  }

  /// Waits for one grace period.
  void synchronize() noexcept { dct_reclaimer_synchronize(Handle); }

  std::size_t pending() const noexcept { return dct_reclaimer_pending(Handle); }

  dct_reclaimer_stats stats() const noexcept {
    dct_reclaimer_stats Result;
    dct_reclaimer_get_stats(Handle, &Result);
    return Result;
  }

  /// Owned by this object.
  dct_reclaimer *native_handle() noexcept { return Handle; }

private:
  template <class F> struct call : dct_reclaim_head {
    F Function;
    explicit call(F &&Function) noexcept
        : dct_reclaim_head{}, Function(std::move(Function)) {}
  };

  template <class F> void deferCall(F Function) noexcept {
    auto *Call = new (std::nothrow) call<F>(std::move(Function));
    if (!Call) {
      dct_reclaimer_synchronize(Handle);
      Function();
      return;
    }
    dct_reclaimer_defer(Handle, Call, [](dct_reclaim_head *Head) {
      std::unique_ptr<call<F>> Self(static_cast<call<F> *>(Head));
      Self->Function();
    });
  }

  dct_reclaimer *Handle;
};

} // namespace decontend

#endif // DECONTEND_RECLAIMER_HPP
