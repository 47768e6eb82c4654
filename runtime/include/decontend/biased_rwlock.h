//===- biased_rwlock.h - Readers that do not meet ----------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   reader, bias on:   publish in own slot --> bias still on? --> section
//   reader, bias off:  shared lock --> section, and perhaps bias on
//   writer:            exclusive lock --> bias off --> wait for slots -->
//   section
//
// A reader-writer lock whose readers write no common cache line while nobody
// writes. For locks that are read very often and written rarely.
//
// Source: BRAVO, Dice and Kogan, "BRAVO: Biased Locking for Reader-Writer
// Locks", USENIX ATC 2019. Four departures:
//  - The paper hashes thread and lock together into one table. Here the thread
//    has a row and the lock chooses the column, so that a writer looks at one
//    column, and threads do not write each other's lines.
//  - A thread remembers what it holds, so unlock needs no token and a nested
//    read never waits for the writer that waits for the outer one.
//  - Only rows that were ever handed out are looked at, and a thread whose slot
//    is taken by another moves on to the next row.
//  - The time for which readers were seen inside is no cost of a revocation, as
//    any lock waits for them. One slow reader would otherwise keep the bias off
//    for nine times its section.
//
// Memory order. The reader stores its slot and then loads the bias; the writer
// stores the bias and then loads the number of rows and the slots. All of these
// are sequentially consistent, so of two that race at least one sees the other:
// the reader finds the bias off and withdraws, or the writer finds the slot and
// waits. A reader takes its row before it stores its slot, so a writer that
// must see the slot sees the row as well. Leaving is a release store of the
// slot that the writer's load acquires: the section of the reader happens
// before that of the writer. The bias is turned on only by a reader that holds
// the underlying lock, after the last writer left it; the load of a fast reader
// acquires that store: the section of the writer happens before that of the
// reader. test/runtime/model/biased_rwlock.pml checks the handshake, and that
// it fails without each of its steps.
//
// Blocking: as the underlying lock. A writer that turns the bias off waits for
// its readers by looking at their slots again: it spins for some microseconds,
// then yields, then sleeps between 50 microseconds and 1 millisecond. Nobody
// has to wake it, so no wake-up can be lost; it may sleep up to 1 ms too long.
//
// Cost. Reader, bias on: one compare-and-exchange on a line of its own thread,
// one store. Reader, bias off: the underlying lock and one reading of the time
// stamp counter. Writer, bias off: the underlying lock. Writer, bias on: one
// line for each row in use, at most DCT_BIAS_ROWS, and the last pause of each
// wait; the bias then stays off for DCT_BIAS_INHIBIT times as long as that, so
// it takes at most about 1 / (DCT_BIAS_INHIBIT + 1) of the time of writers.
// Memory: 16 bytes a lock, 128 KiB for the process (pages are touched as rows
// are).
//
// Contexts: threads. Not signal handlers. A read is released by the thread that
// took it; code that changes its thread inside (coroutines) is not supported.
//
// Limits:
//  - A thread remembers 8 locks at a time; a ninth uses the underlying lock,
//    and its nested reads are as the underlying lock has them.
//  - Of two locks that a thread reads at once and that share a column (1 pair
//    in 64), the second uses the underlying lock.
//  - A thread that ends inside a read section holds it for ever, as it does
//    with pthread_rwlock_t, and even a new lock at the same address meets it.
//  - fork: in the child the slots of the threads that are gone are emptied, and
//    reads of the forking thread stay held. What other threads held through the
//    underlying lock stays locked in the child: see reset_in_child. This is a
//    handler of pthread_atfork; _Fork and raw clone run none. If the handler
//    cannot be registered (no memory at load), no lock of the process is ever
//    biased: slower and right.
//  - Starvation is that of the underlying lock; after a revocation readers and
//    writers meet there.
//
// Needs POSIX.1-2008 declarations (-std=gnu11, or _POSIX_C_SOURCE=200809L).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_BIASED_RWLOCK_H
#define DECONTEND_BIASED_RWLOCK_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Threads with a row of their own; more threads share rows, which costs only
/// those that read the same lock at the same time.
#define DCT_BIAS_ROWS 256

/// How many times as long as the revocation the bias stays off; from the paper.
#define DCT_BIAS_INHIBIT 9

//===----------------------------------------------------------------------===//
// The bias alone, to put before any reader-writer lock
//===----------------------------------------------------------------------===//

/// Members are private. Initialise with DCT_BIAS_INIT; needs no destruction,
/// but see dct_bias_has_readers. Not to be moved while a lock is held.
struct dct_bias {
  uint32_t on;
  uint32_t inhibit;
  uint64_t off_until;
};

#define DCT_BIAS_INIT {0, DCT_BIAS_INHIBIT, 0}

/// Tries to enter a read section without the underlying lock. Returns 1 when
/// the caller is inside now, 0 when it must take the underlying lock shared and
/// then call dct_bias_entered. Never blocks. Succeeds always when the caller is
/// inside already and the thread remembers it.
int dct_bias_enter(struct dct_bias *bias);

/// Tells that the caller has just taken the underlying lock shared. May turn
/// the bias on. Never blocks.
void dct_bias_entered(struct dct_bias *bias);

/// Leaves a read section. Returns 1 when that was all, 0 when the caller must
/// release the underlying lock. Never blocks.
int dct_bias_leave(struct dct_bias *bias);

/// Whether this thread is known to be inside a read section of bias; may miss
/// one taken while the thread held 8 others. For writers, which would wait for
/// themselves.
int dct_bias_held(const struct dct_bias *bias);

/// Turns the bias off and waits for all readers inside. The caller holds the
/// underlying lock exclusively and is in no read section of it. Blocks. Costs
/// one load when the bias is off already.
void dct_bias_revoke(struct dct_bias *bias);

/// The same without waiting. Returns 1 when no reader is inside, 0 when the
/// caller must release the underlying lock; the bias is off in both cases, so
/// that who tries again gets through.
int dct_bias_try_revoke(struct dct_bias *bias);

/// Whether a reader that did not take the underlying lock is inside. Exact only
/// while the caller holds the underlying lock exclusively and the bias is off;
/// otherwise a snapshot that may be old.
int dct_bias_has_readers(const struct dct_bias *bias);

/// Whether readers skip the underlying lock at the moment. A snapshot, to show.
int dct_bias_is_on(const struct dct_bias *bias);

/// Sets how many times the duration of a revocation the bias stays off after
/// it; 0 turns it on again with the next reader. Call before any thread uses
/// the lock, or while holding it exclusively.
static inline void dct_bias_set_inhibit(struct dct_bias *bias, uint32_t times) {
  bias->inhibit = times;
}

//===----------------------------------------------------------------------===//
// The bias before a pthread_rwlock_t
//===----------------------------------------------------------------------===//

/// Members are private, except that bias may be given to dct_bias_is_on and
/// dct_bias_set_inhibit.
struct dct_biased_rwlock {
  struct dct_bias bias;
  pthread_rwlock_t lock;
};

#define DCT_BIASED_RWLOCK_INIT {DCT_BIAS_INIT, PTHREAD_RWLOCK_INITIALIZER}

/// Returns 0 or the error of pthread_rwlock_init. attr may be null and is not
/// kept.
int dct_biased_rwlock_init(struct dct_biased_rwlock *lock,
                           const pthread_rwlockattr_t *attr);

/// Returns 0, EBUSY when a reader is inside (nothing is destroyed; may miss one
/// that uses the underlying lock), or the error of pthread_rwlock_destroy.
int dct_biased_rwlock_destroy(struct dct_biased_rwlock *lock);

/// Takes the lock shared. Returns 0, EDEADLK (the caller holds it exclusively)
/// or EAGAIN (too many readers). A thread may nest reads of one lock, also
/// while a writer waits.
int dct_biased_rwlock_rdlock(struct dct_biased_rwlock *lock);

/// The same without blocking; EBUSY: a writer holds it.
int dct_biased_rwlock_tryrdlock(struct dct_biased_rwlock *lock);

/// Takes the lock exclusively. Returns 0, or EDEADLK when the caller holds it
/// in any way. A read that was taken while the thread held 8 others may be
/// missed; then it is up to the underlying lock, which waits for ever.
int dct_biased_rwlock_wrlock(struct dct_biased_rwlock *lock);

/// The same without blocking; EBUSY: somebody holds it. May cost a walk over
/// the rows, and turns the bias off even when it fails.
int dct_biased_rwlock_trywrlock(struct dct_biased_rwlock *lock);

/// Release what the calling thread took shared, or exclusively. Two functions,
/// as the lock does not record which it was.
int dct_biased_rwlock_rdunlock(struct dct_biased_rwlock *lock);
int dct_biased_rwlock_wrunlock(struct dct_biased_rwlock *lock);

/// In the child of a fork: makes the lock anew with attr, whoever held it, and
/// forgets a read of the calling thread. Call wrlock before fork and wrunlock
/// in the parent (three handlers for pthread_atfork), or the data under the
/// lock may be half changed. Returns the error of pthread_rwlock_init.
int dct_biased_rwlock_reset_in_child(struct dct_biased_rwlock *lock,
                                     const pthread_rwlockattr_t *attr);

/// Makes the calling thread forget its reads of bias and empties its slot; the
/// underlying lock is left alone. For reset_in_child of other locks.
void dct_bias_forget(struct dct_bias *bias);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_BIASED_RWLOCK_H
