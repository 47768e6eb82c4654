//===- percpu_counter.hpp - A counter with a word per CPU -------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// percpu_counter.h for C++, with the operators of a std::atomic<integer> that
// statistics use. Algorithm, memory order (relaxed), contexts, costs and error
// bounds are those of percpu_counter.h, function by function.
//
// What std::atomic has and this has not, so that code that needs it does not
// compile: values of ++ and +=, conversion to an integer, exchange, compare and
// exchange, memory orders. Readers say which value they want: sum() or read().
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_PERCPU_COUNTER_HPP
#define DECONTEND_PERCPU_COUNTER_HPP

#include "decontend/percpu_counter.h"
#include <cstdint>
#include <type_traits>

namespace decontend {

/// For objects with static storage: constant-initialised, so usable before
/// constructors run, and never destroyed, so usable until the process ends. Its
/// memory is reachable and never freed. Allocates at the first add; without
/// memory it goes on as an ordinary atomic integer. Nothing throws.
class static_percpu_counter {
public:
  /// Not explicit, like the constructor of std::atomic.
  constexpr static_percpu_counter(std::int64_t value = 0) noexcept
      : Counter DCT_PERCPU_COUNTER_INIT(value) {}
  static_percpu_counter(const static_percpu_counter &) = delete;
  static_percpu_counter &operator=(const static_percpu_counter &) = delete;

  /// Adds amount, with the default batch.
  void add(std::int64_t amount) noexcept {
    dct_percpu_counter_add(&Counter, amount);
  }
  /// Adds amount and publishes by the given batch, in [1, INT32_MAX].
  void add(std::int64_t amount, std::int32_t batch) noexcept {
    dct_percpu_counter_add_batch(&Counter, amount, batch);
  }
  /// Adds amount and does not publish: only where nobody uses read(),
  /// read_positive(), compare() or limited_add().
  void add_local(std::int64_t amount) noexcept {
    dct_percpu_counter_add_local(&Counter, amount);
  }
  /// Takes amount away, with the default batch.
  void sub(std::int64_t amount) noexcept {
    dct_percpu_counter_sub(&Counter, amount);
  }

  void operator++() noexcept { add(1); }
  void operator++(int) noexcept { add(1); }
  void operator--() noexcept { add(-1); }
  void operator--(int) noexcept { add(-1); }
  void operator+=(std::int64_t amount) noexcept { add(amount); }
  void operator-=(std::int64_t amount) noexcept { sub(amount); }

  /// The approximate value, within batch * CPUs.
  std::int64_t read() const noexcept {
    return dct_percpu_counter_read(&Counter);
  }
  /// read(), or 0 if that is negative.
  std::int64_t read_positive() const noexcept {
    return dct_percpu_counter_read_positive(&Counter);
  }
  /// The value, exact once writers have stopped. Linear in CPUs.
  std::int64_t sum() const noexcept { return dct_percpu_counter_sum(&Counter); }
  /// sum(), or 0 if that is negative.
  std::int64_t sum_positive() const noexcept {
    return dct_percpu_counter_sum_positive(&Counter);
  }
  /// Makes the value that of the argument; concurrent adds are kept.
  void set(std::int64_t value) noexcept {
    dct_percpu_counter_set(&Counter, value);
  }
  /// The sign of (value - rhs); sums only when near.
  int compare(std::int64_t rhs) const noexcept {
    return dct_percpu_counter_compare(&Counter, rhs);
  }
  /// Adds amount if the value stays within limit; returns whether it did.
  bool limited_add(std::int64_t limit, std::int64_t amount) noexcept {
    return dct_percpu_counter_limited_add(&Counter, limit, amount);
  }
  /// For functions of percpu_counter.h that have no member here. Owned by this
  /// object: not to be destroyed through it.
  dct_percpu_counter *native_handle() noexcept { return &Counter; }

protected:
  dct_percpu_counter Counter;
};

static_assert(std::is_trivially_destructible_v<static_percpu_counter>,
              "other threads may add while the process ends");

/// For members and objects that go away: frees its memory. Nobody may use it
/// from then on, as with any object.
class percpu_counter : public static_percpu_counter {
public:
  constexpr percpu_counter(std::int64_t value = 0) noexcept
      : static_percpu_counter(value) {}
  ~percpu_counter() { dct_percpu_counter_destroy(&Counter); }
};

} // namespace decontend

#endif // DECONTEND_PERCPU_COUNTER_HPP
