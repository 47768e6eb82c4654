//===- keyed_registry.hpp - One object for each key -------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decontend::keyed_registry<dev_t, SuperBlock> Blocks(Reclaimer);
//   auto Block = Blocks.get(Device, [&] { return SuperBlock(Device); });
//   Block->sync();                        // put when Block goes
//
// Algorithm, memory order, blocking, contexts, costs and fork are those of
// keyed_registry.h. Hash, Equal and ~T must not throw.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_KEYED_REGISTRY_HPP
#define DECONTEND_KEYED_REGISTRY_HPP

#include "decontend/keyed_registry.h"
#include "decontend/reclaimer.hpp"
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace decontend {

template <class Key, class T, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
class keyed_registry {
  struct node : dct_keyed_entry {
    const Key Name;
    T Object;

    // By the result of a call, so that T need not move.
    template <class Make>
    node(const Key &Name, Make &&M)
        : dct_keyed_entry{}, Name(Name), Object(std::forward<Make>(M)()) {}
  };

public:
  /// A reference to an object, or none. As thread-safe as std::shared_ptr:
  /// different ones may be used by different threads. May outlive neither the
  /// registry nor the reclaimer.
  class ref {
  public:
    ref() noexcept = default;
    ref(const ref &Other) noexcept : Node(Other.Node) {
      if (Node)
        dct_keyed_registry_hold(Node);
    }
    ref(ref &&Other) noexcept : Node(std::exchange(Other.Node, nullptr)) {}
    ref &operator=(ref Other) noexcept {
      std::swap(Node, Other.Node);
      return *this;
    }
    ~ref() { reset(); }

    void reset() noexcept {
      if (Node)
        dct_keyed_registry_put(std::exchange(Node, nullptr));
    }

    T *get() const noexcept { return Node ? &Node->Object : nullptr; }
    T &operator*() const noexcept { return Node->Object; }
    T *operator->() const noexcept { return &Node->Object; }
    explicit operator bool() const noexcept { return Node != nullptr; }
    const Key &key() const noexcept { return Node->Name; }
    friend bool operator==(const ref &, const ref &) noexcept = default;

  private:
    friend class keyed_registry;
    explicit ref(dct_keyed_entry *Entry) noexcept
        : Node(static_cast<node *>(Entry)) {}
    node *Node = nullptr;
  };

  /// The reclaimer must outlive the registry. Throws std::system_error without
  /// memory. Flags as in dct_keyed_registry_create.
  explicit keyed_registry(reclaimer &Reclaimer, unsigned Flags = 0,
                          Hash HashOf = {}, Equal Equals = {})
      : HashOf(std::move(HashOf)), Equals(std::move(Equals)) {
    const dct_keyed_ops Ops = {hash, equal, destroy};
    Handle =
        dct_keyed_registry_create(&Ops, this, Reclaimer.native_handle(), Flags);
    if (!Handle)
      throw std::system_error(errno, std::generic_category(),
                              "decontend::keyed_registry");
  }

  /// No ref may be left. Waits for the objects that are being destroyed; not in
  /// a callback of the reclaimer.
  ~keyed_registry() {
    [[maybe_unused]] int Error = dct_keyed_registry_destroy(Handle);
    assert(!Error && "a reference outlives its registry");
  }
  keyed_registry(const keyed_registry &) = delete;
  keyed_registry &operator=(const keyed_registry &) = delete;

  /// The object of Name, or none.
  ref find(const Key &Name) noexcept {
    return ref(dct_keyed_registry_find(Handle, &Name));
  }

  /// The object of Name; if there is none, what M() returns, in place. Throws
  /// what M throws, and std::bad_alloc.
  template <class Make>
    requires std::is_invocable_r_v<T, Make &&>
  ref get(const Key &Name, Make &&M) {
    if (ref Known = find(Name))
      return Known;
    auto Own = std::make_unique<node>(Name, std::forward<Make>(M));
    const Key &Lasting = Own->Name;
    return ref(dct_keyed_registry_insert(Handle, &Lasting, Own.release()));
  }

  /// The same for a name that is fresh by construction.
  template <class Make>
    requires std::is_invocable_r_v<T, Make &&>
  ref get_unique(const Key &Name, Make &&M) {
    auto Own = std::make_unique<node>(Name, std::forward<Make>(M));
    dct_keyed_registry_insert_unique(Handle, &Own->Name, Own.get());
    return ref(Own.release());
  }

  std::size_t size() const noexcept { return dct_keyed_registry_count(Handle); }

private:
  static std::uint64_t hash(const void *Name, void *Self) {
    return static_cast<keyed_registry *>(Self)->HashOf(
        *static_cast<const Key *>(Name));
  }
  static int equal(const dct_keyed_entry *Entry, const void *Name, void *Self) {
    return static_cast<keyed_registry *>(Self)->Equals(
        static_cast<const node *>(Entry)->Name,
        *static_cast<const Key *>(Name));
  }
  static void destroy(dct_keyed_entry *Entry, void *) {
    delete static_cast<node *>(Entry);
  }

  dct_keyed_registry *Handle;
  [[no_unique_address]] Hash HashOf;
  [[no_unique_address]] Equal Equals;
};

} // namespace decontend

#endif // DECONTEND_KEYED_REGISTRY_HPP
