//===- keyed_registry.c - One object for each key -----------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/keyed_registry.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// Locked all at once for a fork: ThreadSanitizer stops at 64 locks.
enum { ShardBits = 5, Shards = 1 << ShardBits, FirstBuckets = 8 };

typedef struct dct_keyed_entry entry;

struct shard {
  pthread_mutex_t lock;
  entry **buckets; // a power of two
  size_t mask;
  size_t count;
  entry *first[FirstBuckets];
} __attribute__((aligned(128)));

struct dct_keyed_registry {
  struct shard shards[Shards];
  struct dct_keyed_ops ops;
  void *context;
  struct dct_reclaimer *reclaimer;
  unsigned flags;
  struct dct_keyed_registry *older, *newer;
};

// For the fork handlers.
static pthread_mutex_t AllLock = PTHREAD_MUTEX_INITIALIZER;
static struct dct_keyed_registry *Newest;
static int HandlersRegistered;

//===----------------------------------------------------------------------===//
// One shard
//===----------------------------------------------------------------------===//

// Caller's hashes may differ in few bits. The finaliser of MurmurHash3.
static uint64_t hashOf(const struct dct_keyed_registry *registry,
                       const void *key) {
  uint64_t hash = registry->ops.hash(key, registry->context);
  hash = (hash ^ (hash >> 33)) * UINT64_C(0xff51afd7ed558ccd);
  hash = (hash ^ (hash >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
  return hash ^ (hash >> 33);
}

static struct shard *shardOf(struct dct_keyed_registry *registry,
                             uint64_t hash) {
  return &registry->shards[hash >> (64 - ShardBits)];
}

static entry **bucketOf(struct shard *shard, uint64_t hash) {
  return &shard->buckets[hash & shard->mask];
}

static entry *lookUp(struct dct_keyed_registry *registry, struct shard *shard,
                     uint64_t hash, const void *key) {
  for (entry *e = *bucketOf(shard, hash); e; e = e->next)
    if (e->hash == hash && registry->ops.equal(e, key, registry->context))
      return e;
  return NULL;
}

static void chain(struct shard *shard, entry *e) {
  entry **bucket = bucketOf(shard, e->hash);
  e->next = *bucket;
  *bucket = e;
}

static void unchain(struct shard *shard, entry *e) {
  entry **place = bucketOf(shard, e->hash);
  while (*place != e)
    place = &(*place)->next;
  *place = e->next;
  __atomic_store_n(&shard->count, shard->count - 1, __ATOMIC_RELAXED);
}

// Without memory the chains get longer.
static void grow(struct shard *shard) {
  size_t before = shard->mask + 1;
  entry **buckets = calloc(2 * before, sizeof(entry *));
  if (!buckets)
    return;
  entry **old = shard->buckets;
  shard->buckets = buckets;
  shard->mask = 2 * before - 1;
  for (size_t i = 0; i < before; ++i)
    for (entry *e = old[i], *next; e; e = next) {
      next = e->next;
      chain(shard, e);
    }
  if (old != shard->first)
    free(old);
}

static void add(struct dct_keyed_registry *registry, struct shard *shard,
                uint64_t hash, entry *e) {
  e->registry = registry;
  e->hash = hash;
  e->references = 1;
  if (shard->count > shard->mask)
    grow(shard);
  chain(shard, e);
  __atomic_store_n(&shard->count, shard->count + 1, __ATOMIC_RELAXED);
}

//===----------------------------------------------------------------------===//
// Fork
//===----------------------------------------------------------------------===//

static void beforeFork(void) {
  pthread_mutex_lock(&AllLock);
  for (struct dct_keyed_registry *r = Newest; r; r = r->older)
    for (int i = 0; i < Shards; ++i)
      pthread_mutex_lock(&r->shards[i].lock);
}

static void afterFork(void) {
  for (struct dct_keyed_registry *r = Newest; r; r = r->older)
    for (int i = Shards; i; --i)
      pthread_mutex_unlock(&r->shards[i - 1].lock);
  pthread_mutex_unlock(&AllLock);
}

// Adds r to those that the handlers care for. Returns 0 or ENOMEM.
static int enlist(struct dct_keyed_registry *r) {
  pthread_mutex_lock(&AllLock);
  if (!HandlersRegistered)
    HandlersRegistered = !pthread_atfork(beforeFork, afterFork, afterFork);
  int known = HandlersRegistered;
  if (known) {
    r->older = Newest;
    if (Newest)
      Newest->newer = r;
    Newest = r;
  }
  pthread_mutex_unlock(&AllLock);
  return known ? 0 : ENOMEM;
}

static void delist(struct dct_keyed_registry *r) {
  pthread_mutex_lock(&AllLock);
  *(r->newer ? &r->newer->older : &Newest) = r->older;
  if (r->older)
    r->older->newer = r->newer;
  pthread_mutex_unlock(&AllLock);
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

static void dispose(struct dct_keyed_registry *registry) {
  for (int i = 0; i < Shards; ++i) {
    struct shard *shard = &registry->shards[i];
    if (shard->buckets != shard->first)
      free(shard->buckets);
    pthread_mutex_destroy(&shard->lock);
  }
  free(registry);
}

struct dct_keyed_registry *
dct_keyed_registry_create(const struct dct_keyed_ops *ops, void *context,
                          struct dct_reclaimer *reclaimer, unsigned flags) {
  if (!ops || !ops->hash || !ops->equal || !ops->destroy || !reclaimer) {
    errno = EINVAL;
    return NULL;
  }
  struct dct_keyed_registry *registry =
      aligned_alloc(_Alignof(struct dct_keyed_registry), sizeof *registry);
  if (!registry)
    return NULL;
  *registry = (struct dct_keyed_registry){
      .ops = *ops, .context = context, .reclaimer = reclaimer, .flags = flags};
#ifndef NDEBUG
  registry->flags |= DCT_KEYED_CHECK_UNIQUE;
#endif
  for (int i = 0; i < Shards; ++i) {
    struct shard *shard = &registry->shards[i];
    pthread_mutex_init(&shard->lock, NULL);
    shard->buckets = shard->first;
    shard->mask = FirstBuckets - 1;
  }
  int error = enlist(registry);
  if (!error)
    return registry;
  dispose(registry);
  errno = error;
  return NULL;
}

int dct_keyed_registry_destroy(struct dct_keyed_registry *registry) {
  if (dct_keyed_registry_count(registry))
    return EBUSY;
  // What was put still refers to the registry.
  int error = dct_reclaimer_flush(registry->reclaimer);
  if (error)
    return error;
  delist(registry);
  dispose(registry);
  return 0;
}

static entry *findHashed(struct dct_keyed_registry *registry, uint64_t hash,
                         const void *key) {
  struct shard *shard = shardOf(registry, hash);
  pthread_mutex_lock(&shard->lock);
  entry *e = lookUp(registry, shard, hash, key);
  if (e)
    dct_keyed_registry_hold(e);
  pthread_mutex_unlock(&shard->lock);
  return e;
}

entry *dct_keyed_registry_find(struct dct_keyed_registry *registry,
                               const void *key) {
  return findHashed(registry, hashOf(registry, key), key);
}

static entry *insertHashed(struct dct_keyed_registry *registry, uint64_t hash,
                           const void *key, entry *own) {
  struct shard *shard = shardOf(registry, hash);
  pthread_mutex_lock(&shard->lock);
  entry *first = lookUp(registry, shard, hash, key);
  if (first)
    dct_keyed_registry_hold(first);
  else
    add(registry, shard, hash, own);
  pthread_mutex_unlock(&shard->lock);
  if (!first)
    return own;
  registry->ops.destroy(own, registry->context);
  return first;
}

entry *dct_keyed_registry_insert(struct dct_keyed_registry *registry,
                                 const void *key, entry *own) {
  return insertHashed(registry, hashOf(registry, key), key, own);
}

void dct_keyed_registry_insert_unique(struct dct_keyed_registry *registry,
                                      const void *key, entry *own) {
  uint64_t hash = hashOf(registry, key);
  struct shard *shard = shardOf(registry, hash);
  pthread_mutex_lock(&shard->lock);
  if ((registry->flags & DCT_KEYED_CHECK_UNIQUE) &&
      lookUp(registry, shard, hash, key)) {
    fprintf(stderr, "dct_keyed_registry: a key that should be fresh is there "
                    "already\n");
    abort();
  }
  add(registry, shard, hash, own);
  pthread_mutex_unlock(&shard->lock);
}

int dct_keyed_registry_get(struct dct_keyed_registry *registry, const void *key,
                           dct_keyed_make *make, void *arg, entry **result) {
  uint64_t hash = hashOf(registry, key);
  entry *e = findHashed(registry, hash, key);
  if (!e) {
    int error = make(key, arg, &e);
    if (error || !e)
      return error ? error : EINVAL;
    e = insertHashed(registry, hash, key, e);
  }
  *result = e;
  return 0;
}

int dct_keyed_registry_get_unique(struct dct_keyed_registry *registry,
                                  const void *key, dct_keyed_make *make,
                                  void *arg, entry **result) {
  entry *e = NULL;
  int error = make(key, arg, &e);
  if (error || !e)
    return error ? error : EINVAL;
  dct_keyed_registry_insert_unique(registry, key, e);
  *result = e;
  return 0;
}

static void expire(struct dct_reclaim_head *head) {
  entry *e = (entry *)(void *)((char *)head - offsetof(entry, reclaim));
  e->registry->ops.destroy(e, e->registry->context);
}

void dct_keyed_registry_put(entry *e) {
  size_t references = __atomic_load_n(&e->references, __ATOMIC_RELAXED);
  while (references > 1)
    if (__atomic_compare_exchange_n(&e->references, &references, references - 1,
                                    1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  // Under the lock, so that none who finds it revives it.
  struct dct_keyed_registry *registry = e->registry;
  struct shard *shard = shardOf(registry, e->hash);
  pthread_mutex_lock(&shard->lock);
  int last = !__atomic_sub_fetch(&e->references, 1, __ATOMIC_ACQ_REL);
  if (last)
    unchain(shard, e);
  pthread_mutex_unlock(&shard->lock);
  if (last)
    dct_reclaimer_defer(registry->reclaimer, &e->reclaim, expire);
}

size_t dct_keyed_registry_count(const struct dct_keyed_registry *registry) {
  size_t count = 0;
  for (int i = 0; i < Shards; ++i)
    count += __atomic_load_n(&registry->shards[i].count, __ATOMIC_RELAXED);
  return count;
}
