//===- biased_rwlock.hpp - Readers that do not meet -------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   decontend::biased_shared_mutex<> Lock;      // before a std::shared_mutex
//   std::shared_lock Guard(Lock);
//
// Algorithm, memory order, blocking, costs and limits are those of
// biased_rwlock.h. Underlying is any lock with lock, unlock, lock_shared and
// unlock_shared. The table of readers is shared with the locks of C.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_BIASED_RWLOCK_HPP
#define DECONTEND_BIASED_RWLOCK_HPP

#include "decontend/biased_rwlock.h"
#include <cstdint>
#include <memory>
#include <new>
#include <shared_mutex>
#include <system_error>

namespace decontend {

/// Meets the requirements of SharedMutex without the timed functions, as far as
/// Underlying does. A thread may nest reads, which std::shared_mutex forbids.
template <class Underlying = std::shared_mutex> class biased_shared_mutex {
public:
  biased_shared_mutex() = default;

  /// No thread may be inside.
  ~biased_shared_mutex() = default;
  biased_shared_mutex(const biased_shared_mutex &) = delete;
  biased_shared_mutex &operator=(const biased_shared_mutex &) = delete;

  /// Throws std::system_error (resource_deadlock_would_occur) when the calling
  /// thread is known to hold the lock shared, and what Underlying throws.
  void lock() {
    if (dct_bias_held(&Bias))
      throw std::system_error(
          std::make_error_code(std::errc::resource_deadlock_would_occur));
    Lock.lock();
    dct_bias_revoke(&Bias);
  }

  /// Does not wait, neither for the underlying lock nor for readers. Turns the
  /// bias off even when it fails.
  bool try_lock()
    requires requires(Underlying &U) { U.try_lock(); }
  {
    if (dct_bias_held(&Bias) || !Lock.try_lock())
      return false;
    if (dct_bias_try_revoke(&Bias))
      return true;
    Lock.unlock();
    return false;
  }

  void unlock() { Lock.unlock(); }

  /// Throws what Underlying throws.
  void lock_shared() {
    if (dct_bias_enter(&Bias))
      return;
    Lock.lock_shared();
    dct_bias_entered(&Bias);
  }

  bool try_lock_shared()
    requires requires(Underlying &U) { U.try_lock_shared(); }
  {
    if (dct_bias_enter(&Bias))
      return true;
    if (!Lock.try_lock_shared())
      return false;
    dct_bias_entered(&Bias);
    return true;
  }

  /// By the thread that locked.
  void unlock_shared() {
    if (!dct_bias_leave(&Bias))
      Lock.unlock_shared();
  }

  /// See dct_bias_set_inhibit and dct_bias_is_on.
  void set_inhibit(std::uint32_t Times) noexcept {
    dct_bias_set_inhibit(&Bias, Times);
  }
  bool is_biased() const noexcept { return dct_bias_is_on(&Bias); }

  /// In the child of a fork, where only the calling thread is left: makes the
  /// lock anew, whoever held it, without running its destructor. A guard that
  /// was held over the fork must be leaked in the child, not destroyed.
  void reset_in_child() noexcept(noexcept(Underlying())) {
    dct_bias_forget(&Bias);
    Bias = DCT_BIAS_INIT;
    ::new (static_cast<void *>(std::addressof(Lock))) Underlying();
  }

private:
  dct_bias Bias = DCT_BIAS_INIT;
  Underlying Lock;
};

} // namespace decontend

#endif // DECONTEND_BIASED_RWLOCK_HPP
