//===- hashed_locks.h - An array of locks by address -------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   key --> [shift, multiply, top bits] --> cell --> its lock
//
// Replaces one lock over many objects by a fixed array of locks; the address of
// an object chooses its lock, so the objects stay as large as they were. Two
// flavours with the same functions: dct_hashed_mutexes over pthread_mutex_t and
// dct_hashed_rwlocks over pthread_rwlock_t. hashed_locks.hpp has the same for
// any C++ lock.
//
// Source: lock striping, as in Herlihy and Shavit, "The Art of Multiprocessor
// Programming", chapter 13 (Striped Hash Set). Hash: Fibonacci hashing, Knuth,
// "The Art of Computer Programming" volume 3, section 6.4.
//
// Two keys may share a lock. Hence the one rule that a lock inside the object
// would not need:
//
//   While a thread holds the lock of a key, it takes no other lock of the same
//   array. Who needs two keys takes both at once (lock2), who needs the whole
//   table takes all (lock_all), in both cases with nothing of the array held.
//
// Breaking it hangs with the first pair of keys that collide, or with two
// threads that take two keys in opposite order.
//
// Properties, for all functions unless stated otherwise:
//  - Memory order: that of the underlying lock. Sections of one key happen in
//    some total order (exclusive) or before and after the exclusive ones
//    (shared). Nothing orders sections of different keys that do not collide.
//  - Blocking: lock functions sleep; try functions do not. Fairness is that of
//    the underlying lock: with the default attributes, glibc's rwlock prefers
//    readers, and overlapping readers of one cell can starve its writer. Give
//    init an attribute of kind PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
//    where that matters.
//  - Contexts: threads. Not signal handlers. After fork in a process with
//    several threads see reset_in_child.
//  - Cost: one multiplication more than the underlying lock, and no cache line
//    shared between keys of different cells. lock_all is linear in the number
//    of locks: for rare operations.
//  - Lifetime: the array does not keep objects alive. The caller pins the
//    object (a reference, or a lock of the table that leads to it) from before
//    lock until after unlock.
//  - Chance of sharing: with T threads in sections of independent random keys
//    and n locks, a thread meets a busy lock with a probability of at most
//    (T - 1) / n; with the default n and a thread on each CPU below 1/16. The
//    hash is fixed and known: who may choose addresses can make keys collide,
//    which costs speed and nothing else.
//
// Needs POSIX.1-2008 declarations (-std=gnu11, or _POSIX_C_SOURCE=200809L).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_HASHED_LOCKS_H
#define DECONTEND_HASHED_LOCKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Distance of two locks in bytes. Two lines of 64 bytes: x86-64 fetches lines
/// in pairs, and some arm64 cores have lines of 128 bytes.
#define DCT_HASHED_LOCKS_ALIGN 128

/// Most locks of one array; 8 MiB of memory.
#define DCT_HASHED_LOCKS_MAX 65536

/// The number of locks for count == 0: the smallest power of two that is at
/// least 16 times the configured CPUs, in [64, 4096] (8 to 512 KiB). CPUs that
/// are configured but offline or not allowed to this process count too, so that
/// the number does not depend on when it is asked for.
size_t dct_hashed_locks_default_count(void);

/// Rounds count up to a power of two, 0 to the default. Returns 0 when count is
/// above DCT_HASHED_LOCKS_MAX.
size_t dct_hashed_locks_round(size_t count);

/// Which of count locks key belongs to; count is a power of two up to
/// DCT_HASHED_LOCKS_MAX. key is not dereferenced. The four lowest bits are
/// dropped: malloc aligns to 16, so they say nothing, and a pointer to an early
/// member of the object gets the same lock only if the caller passes the
/// object.
static inline size_t dct_hashed_locks_index(const void *key, size_t count) {
  uint64_t hash =
      ((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15);
  // The high half of a product depends on all bits of the key, so the index is
  // taken from there.
  return (size_t)(((hash >> 32) * (uint64_t)count) >> 32);
}

struct dct_hashed_mutex_cell {
  pthread_mutex_t lock;
} __attribute__((aligned(DCT_HASHED_LOCKS_ALIGN)));

struct dct_hashed_rwlock_cell {
  pthread_rwlock_t lock;
} __attribute__((aligned(DCT_HASHED_LOCKS_ALIGN)));

/// Members are private. Neither is to be copied or moved while a lock is held.
struct dct_hashed_mutexes {
  struct dct_hashed_mutex_cell *cells;
  size_t count;
};

struct dct_hashed_rwlocks {
  struct dct_hashed_rwlock_cell *cells;
  size_t count;
};

//===----------------------------------------------------------------------===//
// Mutexes
//===----------------------------------------------------------------------===//

/// Makes at least count locks (rounded up to a power of two; 0: the default)
/// with attr, which may be null and is not kept. Returns 0, EINVAL (count too
/// large), ENOMEM or the error of pthread_mutex_init; on an error nothing is
/// allocated and *table is all zero. Call before any thread uses the table.
int dct_hashed_mutexes_init(struct dct_hashed_mutexes *table, size_t count,
                            const pthread_mutexattr_t *attr);

/// Frees the locks; none may be held. Does nothing on a table that is all zero.
void dct_hashed_mutexes_destroy(struct dct_hashed_mutexes *table);

/// The lock of key, to pass to other pthread functions (timed lock, condition
/// variables). A condition variable on it must be signalled with broadcast when
/// several keys wait on one variable.
static inline pthread_mutex_t *
dct_hashed_mutexes_of(const struct dct_hashed_mutexes *table, const void *key) {
  return &table->cells[dct_hashed_locks_index(key, table->count)].lock;
}

/// Locks, tries to lock (EBUSY: held), or unlocks key. Returns what the pthread
/// function returns: 0 unless attr of init asked for checks.
static inline int dct_hashed_mutexes_lock(struct dct_hashed_mutexes *table,
                                          const void *key) {
  return pthread_mutex_lock(dct_hashed_mutexes_of(table, key));
}
static inline int dct_hashed_mutexes_trylock(struct dct_hashed_mutexes *table,
                                             const void *key) {
  return pthread_mutex_trylock(dct_hashed_mutexes_of(table, key));
}
static inline int dct_hashed_mutexes_unlock(struct dct_hashed_mutexes *table,
                                            const void *key) {
  return pthread_mutex_unlock(dct_hashed_mutexes_of(table, key));
}

/// Locks two keys, in the order of the addresses of their locks; a lock that
/// both share is taken once. The keys may be equal. Returns 0, or the error of
/// pthread_mutex_lock with neither lock held.
int dct_hashed_mutexes_lock2(struct dct_hashed_mutexes *table, const void *a,
                             const void *b);

/// Undoes lock2 of the same two keys, in either order.
int dct_hashed_mutexes_unlock2(struct dct_hashed_mutexes *table, const void *a,
                               const void *b);

/// Locks everything, in the order that lock2 uses. Returns 0, or the error of
/// pthread_mutex_lock with nothing held.
int dct_hashed_mutexes_lock_all(struct dct_hashed_mutexes *table);

/// Undoes lock_all. Returns the first error of pthread_mutex_unlock.
int dct_hashed_mutexes_unlock_all(struct dct_hashed_mutexes *table);

/// In the child of a fork: makes all locks anew with attr, whoever held them.
/// Call lock_all before fork and unlock_all in the parent (three handlers for
/// pthread_atfork), or the data under the locks may be half changed. Allocates
/// nothing. Returns the error of pthread_mutex_init.
int dct_hashed_mutexes_reset_in_child(struct dct_hashed_mutexes *table,
                                      const pthread_mutexattr_t *attr);

//===----------------------------------------------------------------------===//
// Reader-writer locks
//===----------------------------------------------------------------------===//

/// As dct_hashed_mutexes_init.
int dct_hashed_rwlocks_init(struct dct_hashed_rwlocks *table, size_t count,
                            const pthread_rwlockattr_t *attr);

/// As dct_hashed_mutexes_destroy.
void dct_hashed_rwlocks_destroy(struct dct_hashed_rwlocks *table);

/// The lock of key, to pass to other pthread functions.
static inline pthread_rwlock_t *
dct_hashed_rwlocks_of(const struct dct_hashed_rwlocks *table, const void *key) {
  return &table->cells[dct_hashed_locks_index(key, table->count)].lock;
}

/// Take (rd: shared, wr: exclusive), try to take (EBUSY: held) or release the
/// lock of key. They return what the pthread function returns: EDEADLK when the
/// caller holds the lock exclusively, which may be by another key, EAGAIN with
/// too many readers. Readers contend with readers of the same cell only.
static inline int dct_hashed_rwlocks_rdlock(struct dct_hashed_rwlocks *table,
                                            const void *key) {
  return pthread_rwlock_rdlock(dct_hashed_rwlocks_of(table, key));
}
static inline int dct_hashed_rwlocks_tryrdlock(struct dct_hashed_rwlocks *table,
                                               const void *key) {
  return pthread_rwlock_tryrdlock(dct_hashed_rwlocks_of(table, key));
}
static inline int dct_hashed_rwlocks_wrlock(struct dct_hashed_rwlocks *table,
                                            const void *key) {
  return pthread_rwlock_wrlock(dct_hashed_rwlocks_of(table, key));
}
static inline int dct_hashed_rwlocks_trywrlock(struct dct_hashed_rwlocks *table,
                                               const void *key) {
  return pthread_rwlock_trywrlock(dct_hashed_rwlocks_of(table, key));
}
static inline int dct_hashed_rwlocks_unlock(struct dct_hashed_rwlocks *table,
                                            const void *key) {
  return pthread_rwlock_unlock(dct_hashed_rwlocks_of(table, key));
}

/// As the functions of the same name for mutexes; unlock2 and unlock_all undo
/// both kinds. rdlock_all keeps writers of every key out, and is what a reader
/// of the whole table needs.
int dct_hashed_rwlocks_rdlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b);
int dct_hashed_rwlocks_wrlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b);
int dct_hashed_rwlocks_unlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b);
int dct_hashed_rwlocks_rdlock_all(struct dct_hashed_rwlocks *table);
int dct_hashed_rwlocks_wrlock_all(struct dct_hashed_rwlocks *table);
int dct_hashed_rwlocks_unlock_all(struct dct_hashed_rwlocks *table);

/// As dct_hashed_mutexes_reset_in_child. It is needed even where lock_all was
/// called before fork: glibc knows the writer by its thread id, which changes.
int dct_hashed_rwlocks_reset_in_child(struct dct_hashed_rwlocks *table,
                                      const pthread_rwlockattr_t *attr);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_HASHED_LOCKS_H
