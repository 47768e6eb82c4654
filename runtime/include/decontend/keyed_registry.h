//===- keyed_registry.h - One object for each key -----------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   get:        find in shard --> there: one more reference
//                             --> not there: make, unlocked --> insert
//                                   --> another was first: drop own, take that
//   get_unique: make --> insert, for keys that nobody else can have
//   put:        last reference --> unlink --> grace period --> destroy
//
// Replaces a global list that is walked under a lock to find the object of a
// key or to learn that there is none, which makes the n-th creation cost n.
//
// Source: a hash table with chains in shards that each have a lock and grow by
// themselves (Knuth, "The Art of Computer Programming", volume 3, section 6.4;
// shards as in java.util.concurrent.ConcurrentHashMap before Java 8). The last
// reference is dropped under the lock of the shard, as Linux's
// refcount_dec_and_lock does it, so that no object in the table is dying and a
// key has one object at a time. Making outside of the lock and dropping the
// loser is sget() of Linux.
//
// Why not cds_lfht of liburcu: a get writes the reference count anyway, so
// finding without a lock would spare little; and there a table that cannot grow
// for want of memory ends the process, each thread that looks must be a
// registered reader, and those may not outlive a fork.
//
// Properties:
//  - Uniqueness: at any moment at most one object of a key can be found, if
//    get_unique keeps its promise. An object whose last reference was put is
//    destroyed later, so it may exist beside its successor: what both would
//    claim (a name, a port) must be released before put, or get fails and is
//    tried again after a flush, see reclaimer.h.
//  - Memory order: what make did happens before what any get of the object
//    returns; what is done before a put happens before destroy.
//  - Grace period: destroy runs in the reclaimer, after all read sections that
//    had begun when the last reference was put. So a pointer that was found by
//    other means inside a read section stays valid to its end.
//  - Blocking: find, get, put and the inserts take the lock of one shard in 32,
//    for one chain, or for doubling one shard's table. make is called without
//    a lock and may sleep. The put of the last reference may wait for the
//    limit of the reclaimer: not in a read section then.
//  - Contexts: any thread; callbacks of the reclaimer, except destroy of the
//    registry. Not signal handlers. hash and equal are called under the lock of
//    a shard, and may not call the registry.
//  - Memory: 128 bytes and 8 bytes for each entry of the most there ever were,
//    for each shard, up to twice that, never given back before destroy; without
//    memory to grow chains get longer, and nothing fails.
//  - Cost: get of an object that is there: one lock, one short chain and one
//    increment. Creation: two (get_unique: one) locks and what make costs,
//    however many objects there are; one creation in as many as a shard has
//    doubles its table. put: one decrement, and of the last reference one lock
//    and one defer.
//  - Fork: the registry goes on in the child, with all objects of the parent.
//    References of threads that the child does not have stay for ever. _Fork
//    and raw clone run no handlers: do not use the registry there.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_KEYED_REGISTRY_H
#define DECONTEND_KEYED_REGISTRY_H

#include "decontend/reclaimer.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dct_keyed_registry;

/// Part of the object. Private; needs no initialisation.
struct dct_keyed_entry {
  struct dct_keyed_entry *next;
  struct dct_keyed_registry *registry;
  uint64_t hash;
  size_t references;
  struct dct_reclaim_head reclaim;
};

/// All three are needed. context is that of the registry.
struct dct_keyed_ops {
  /// Any function of the key alone; the registry mixes the bits.
  uint64_t (*hash)(const void *key, void *context);
  /// Whether the entry's key, which never changes, is key.
  int (*equal)(const struct dct_keyed_entry *entry, const void *key,
               void *context);
  /// Undoes make and frees. May sleep. In the reclaimer's worker; for a loser,
  /// which nobody has seen, in the thread that made it.
  void (*destroy)(struct dct_keyed_entry *entry, void *context);
};

/// Makes an object for the key: sets *entry to the entry inside and returns 0,
/// or returns an error (an errno value). Called without locks; several threads
/// may call it for one key at the same time. Must not get the same key.
typedef int dct_keyed_make(const void *key, void *arg,
                           struct dct_keyed_entry **entry);

/// get_unique looks for the key all the same, and ends the process with a
/// message if it is there. On by itself in a library built without NDEBUG.
#define DCT_KEYED_CHECK_UNIQUE 1u

/// Makes an empty registry. *ops is copied; the reclaimer must outlive the
/// registry, and may serve others too. flags: 0 or DCT_KEYED_CHECK_UNIQUE.
/// Returns null and sets errno (ENOMEM, EINVAL).
struct dct_keyed_registry *
dct_keyed_registry_create(const struct dct_keyed_ops *ops, void *context,
                          struct dct_reclaimer *reclaimer, unsigned flags);

/// Waits for the destruction of objects that were put, and frees the registry.
/// Returns EBUSY while there are objects, EDEADLK in a callback of the
/// reclaimer; the registry is unharmed then. Nobody else may use it meanwhile.
int dct_keyed_registry_destroy(struct dct_keyed_registry *registry);

/// The object of the key with one more reference, or null. Never makes.
struct dct_keyed_entry *
dct_keyed_registry_find(struct dct_keyed_registry *registry, const void *key);

/// Sets *entry to the object of the key, making it if there is none, with a
/// reference that the caller puts. Of threads that race, all get the same one;
/// the others' are destroyed at once. Returns 0, make's error, or EINVAL when
/// make returned 0 without an entry.
int dct_keyed_registry_get(struct dct_keyed_registry *registry, const void *key,
                           dct_keyed_make *make, void *arg,
                           struct dct_keyed_entry **entry);

/// The same for a key that no other object has or gets while this one lives,
/// such as the address of a new owner: makes without looking. A key that is
/// there already gets a second object, and which of them is found is not
/// determined: the caller's error, see DCT_KEYED_CHECK_UNIQUE.
int dct_keyed_registry_get_unique(struct dct_keyed_registry *registry,
                                  const void *key, dct_keyed_make *make,
                                  void *arg, struct dct_keyed_entry **entry);

/// The second half of get: inserts an object that the caller has made, with one
/// reference. If the key is there, destroys it and takes that one instead. The
/// entry returned has a reference that the caller puts.
struct dct_keyed_entry *
dct_keyed_registry_insert(struct dct_keyed_registry *registry, const void *key,
                          struct dct_keyed_entry *entry);

/// The second half of get_unique.
void dct_keyed_registry_insert_unique(struct dct_keyed_registry *registry,
                                      const void *key,
                                      struct dct_keyed_entry *entry);

/// One more reference for a caller that has one. Does not block.
static inline void dct_keyed_registry_hold(struct dct_keyed_entry *entry) {
  __atomic_fetch_add(&entry->references, 1, __ATOMIC_RELAXED);
}

/// Gives a reference back. After the last one a new object of the key can be
/// made, and this one is destroyed after a grace period.
void dct_keyed_registry_put(struct dct_keyed_entry *entry);

/// Objects that can be found. Adds up one number of each shard, which others
/// may change meanwhile.
size_t dct_keyed_registry_count(const struct dct_keyed_registry *registry);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_KEYED_REGISTRY_H
