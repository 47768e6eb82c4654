//===- lazy.hpp - Made at first use -----------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decontend::lazy<Mount> M([Owner] { return mountAs(Owner); });
//   M.get().open(Name);
//
// Algorithm, memory order, blocking, contexts and costs are those of lazy.h.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_LAZY_HPP
#define DECONTEND_LAZY_HPP

#include "decontend/lazy.h"
#include <concepts>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace decontend {

/// A T that Make makes at the first get. Make is called without arguments and
/// returns a std::unique_ptr<T>; several threads may call it at the same time,
/// so it must not change what it captured. It captures what the owner of the
/// value decides (credentials, limits): first callers pass nothing.
template <class T, class Make = std::function<std::unique_ptr<T>()>>
  requires std::is_invocable_r_v<std::unique_ptr<T>, const Make &>
class lazy {
public:
  /// Creates nothing.
  explicit lazy(Make Creator) noexcept(
      std::is_nothrow_move_constructible_v<Make>)
      : Creator(std::move(Creator)) {
    dct_lazy_init(&Value, nullptr, drop, nullptr);
  }

  /// Destroys the T if it was created. Nobody may be in get any more.
  ~lazy() { dct_lazy_close(&Value); }
  lazy(const lazy &) = delete;
  lazy &operator=(const lazy &) = delete;

  /// The T, created if need be; it lives until close or destruction. Throws
  /// what Make throws, std::bad_alloc when Make returns null, and
  /// std::runtime_error after close. After an exception the next get tries
  /// anew.
  T &get() {
    if (void *Known = dct_lazy_peek(&Value)) [[likely]]
      return *static_cast<T *>(Known);
    return create();
  }
  T &operator*() { return get(); }
  T *operator->() { return &get(); }

  /// The T if it is there, or null. Never creates.
  T *get_if() const noexcept { return static_cast<T *>(dct_lazy_peek(&Value)); }

  /// Destroys the T, if there is one, and lets no other be created. Nobody may
  /// use the T any more; others may be in get, and get an exception.
  void close() noexcept { dct_lazy_close(&Value); }

private:
  static void drop(void *, void *Object) {
    std::default_delete<T>()(static_cast<T *>(Object));
  }

  [[noreturn]] static void throwClosed() {
    throw std::runtime_error("decontend::lazy: closed");
  }

  T &create() {
    if (dct_lazy_is_closed(&Value))
      throwClosed();
    std::unique_ptr<T> Object;
    // When another thread had better luck, its value serves here too.
    try {
      Object = std::as_const(Creator)();
      if (!Object)
        throw std::bad_alloc();
    } catch (...) {
      if (void *Other = dct_lazy_peek(&Value))
        return *static_cast<T *>(Other);
      throw;
    }
    void *Kept = nullptr;
    if (dct_lazy_offer(&Value, Object.release(), &Kept))
      throwClosed();
    return *static_cast<T *>(Kept);
  }

  dct_lazy Value;
  Make Creator;
};

} // namespace decontend

#endif // DECONTEND_LAZY_HPP
