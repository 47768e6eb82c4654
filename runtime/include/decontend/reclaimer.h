//===- reclaimer.h - Frees later, many at a time ------------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   defer --> list --> worker: take all, wait for readers once, call each
//
// Replaces `synchronize_rcu(); teardown(object);` once per object: the caller
// pushes the object on a lock-free list and goes on; one thread takes the whole
// list, waits for one grace period for all of it, and then runs the callbacks,
// which may sleep. What is deferred while it waits makes the next batch.
//
// Source: the list that is pushed to by compare-and-exchange and emptied by one
// exchange is Treiber's stack (IBM RJ 5118, 1986) without pop, so it has no ABA
// problem; one grace period for a batch is call_rcu (McKenney and Slingwine,
// "Read-Copy Update", PDCS 1998). Other than call_rcu of liburcu: callbacks run
// in order, flush waits for what was queued before it, the number of waiting
// items can be limited, and a child of fork goes on.
//
// Properties:
//  - Order: callbacks of one reclaimer run one at a time, those of items whose
//    defers are ordered by happens-before in that order.
//  - Memory order: defer releases and the callback acquires, so what the caller
//    did before defer happens before the callback. defer is also a full fence.
//    The callbacks of what a flush covers happen before its return. What else
//    readers need is up to the grace period.
//  - Grace period: a function of the caller's choice, by default
//    synchronize_rcu of liburcu's flavour memb. It runs in the worker, which is
//    not a registered reader; a callback that reads must register around it.
//  - Blocking: try_defer is lock-free, but for one futex wake when the worker
//    sleeps. defer waits when more than limit items are queued. flush and
//    destroy wait. Never wait inside a read section: the grace period would
//    wait for the waiter. The same holds for locks that a callback takes.
//  - Contexts: any thread; callbacks, which do not wait for the limit of their
//    own reclaimer. Not signal handlers: a defer may create a thread in a child
//    of fork.
//  - Memory: nothing is allocated after create; the item is part of the object.
//  - Cost: defer is two atomic read-modify-writes and two loads of one line
//  that
//    all who defer share; a system call if the worker sleeps, which it does
//    after a millisecond without items. Latency: at most that millisecond, one
//    grace period under way, its callbacks, and one grace period more.
//  - Fork: needs no call. In the child nothing is lost and nothing runs twice:
//    what was queued is, as memory was copied, freed in both processes. Only
//    the one item whose callback runs at that moment is left alone in the
//    child. A new worker starts at the first use. Two conditions: the grace
//    period must work in the child, and liburcu's does only if no other thread
//    was a registered reader at the fork (flavour bp with its own fork
//    functions has no such condition); and a callback that forks must exec or
//    _exit in the child. _Fork and raw clone run no handlers: do not use the
//    reclaimer there.
//  - The worker blocks all signals and inherits CPUs and priority from whoever
//    creates it: not from a thread that is bound to one CPU, if that matters.
//
// Back-pressure. An object that is freed late is also charged late: a limit on
// live objects can be hit by objects that are dead already. Release the charge
// before defer, or, where that cannot be, flush and try once more:
//
//   object = create();
//   if (!object && errno == ENOSPC && !dct_reclaimer_flush(r))
//     object = create();
//
// Shutdown order: make the objects unreachable; stop those who defer; destroy
// the reclaimer; only then free what callbacks use and unload their code.
//
// test/runtime/model/reclaimer.pml checks sleeping, waking and flush in all
// interleavings, and that they fail without each of their steps.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_RECLAIMER_H
#define DECONTEND_RECLAIMER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Part of the object. Private from defer until the callback gets it.
struct dct_reclaim_head {
  struct dct_reclaim_head *next;
  void (*fn)(struct dct_reclaim_head *head);
};

struct dct_reclaimer;

/// What limit is when none is given.
#define DCT_RECLAIMER_LIMIT 65536

/// Zero bytes are the defaults.
struct dct_reclaimer_options {
  /// Returns once all readers that may have seen an object before the call have
  /// left their read section. May sleep. Null: synchronize_rcu of memb.
  void (*wait_for_readers)(void);
  /// Items queued and not done beyond which defer waits. As it queues first and
  /// waits then, there may be one more for each thread that defers, besides
  /// what callbacks defer. 0: DCT_RECLAIMER_LIMIT; SIZE_MAX: never wait.
  size_t limit;
};

/// Numbers lag behind by at most 64 callbacks, and by nothing for what a flush
/// has waited for. They are read one by one.
struct dct_reclaimer_stats {
  uint64_t queued;        ///< Items ever deferred.
  uint64_t done;          ///< Callbacks that have returned.
  uint64_t batches;       ///< Grace periods waited for.
  uint64_t largest_batch; ///< The most items that shared one.
};

/// Makes a reclaimer and its worker. Null options are the defaults. Returns
/// null and sets errno (ENOMEM, EAGAIN) without memory or thread. Owned by the
/// caller until destroy. Does not wait.
struct dct_reclaimer *
dct_reclaimer_create(const struct dct_reclaimer_options *options);

/// Runs everything that is queued and what its callbacks queue, ends the worker
/// and frees the reclaimer. Nobody else may use it during or after the call.
/// Waits; for ever if a callback always defers anew. Returns 0, or EDEADLK in a
/// callback of this reclaimer, which is then unharmed.
int dct_reclaimer_destroy(struct dct_reclaimer *reclaimer);

/// Queues fn(head), after a grace period. The object must be unreachable for
/// new readers already, and head in no other use; fn usually frees the object
/// and must not throw nor end the thread. Then waits while more than limit
/// items are queued, unless in a callback. fn may run before defer returns.
void dct_reclaimer_defer(struct dct_reclaimer *reclaimer,
                         struct dct_reclaim_head *head,
                         void (*fn)(struct dct_reclaim_head *head));

/// The same, but never waits: returns EAGAIN, and queues nothing, if limit or
/// more items are queued. Otherwise 0. Where waiting is not allowed.
int dct_reclaimer_try_defer(struct dct_reclaimer *reclaimer,
                            struct dct_reclaim_head *head,
                            void (*fn)(struct dct_reclaim_head *head));

/// Waits until the callbacks of all items whose defer happened before have
/// returned; not for what those callbacks defer. Returns 0, or EDEADLK in a
/// callback of this reclaimer. One grace period or two, no pause.
int dct_reclaimer_flush(struct dct_reclaimer *reclaimer);

/// Waits for one grace period in the calling thread and runs nothing: for what
/// has no head. Not in a read section.
void dct_reclaimer_synchronize(struct dct_reclaimer *reclaimer);

/// Items that are queued and not done. Loads; may be old when it returns.
size_t dct_reclaimer_pending(const struct dct_reclaimer *reclaimer);

/// Does not wait.
void dct_reclaimer_get_stats(const struct dct_reclaimer *reclaimer,
                             struct dct_reclaimer_stats *stats);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_RECLAIMER_H
