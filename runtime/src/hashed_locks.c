//===- hashed_locks.c - An array of locks by address -------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/hashed_locks.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { LeastDefault = 64, MostDefault = 4096, LocksPerCPU = 16 };

static size_t roundUp(size_t count) {
  size_t power = 1;
  while (power < count)
    power *= 2;
  return power;
}

size_t dct_hashed_locks_default_count(void) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus < LeastDefault / LocksPerCPU)
    return LeastDefault;
  if (cpus > MostDefault / LocksPerCPU)
    return MostDefault;
  return roundUp((size_t)cpus * LocksPerCPU);
}

size_t dct_hashed_locks_round(size_t count) {
  if (count > DCT_HASHED_LOCKS_MAX)
    return 0;
  return count ? roundUp(count) : dct_hashed_locks_default_count();
}

// Sets *cells and *count, or returns an error and leaves both alone.
static int allocate(size_t wanted, size_t size, void **cells, size_t *count) {
  size_t rounded = dct_hashed_locks_round(wanted);
  if (!rounded)
    return EINVAL;
  void *memory = aligned_alloc(DCT_HASHED_LOCKS_ALIGN, rounded * size);
  if (!memory)
    return ENOMEM;
  *cells = memory;
  *count = rounded;
  return 0;
}

struct pair {
  size_t first, second; // first <= second
};

static struct pair inOrder(const void *a, const void *b, size_t count) {
  size_t i = dct_hashed_locks_index(a, count);
  size_t j = dct_hashed_locks_index(b, count);
  return i <= j ? (struct pair){i, j} : (struct pair){j, i};
}

//===----------------------------------------------------------------------===//
// Mutexes
//===----------------------------------------------------------------------===//

int dct_hashed_mutexes_init(struct dct_hashed_mutexes *table, size_t count,
                            const pthread_mutexattr_t *attr) {
  *table = (struct dct_hashed_mutexes){NULL, 0};
  void *cells;
  int error = allocate(count, sizeof(*table->cells), &cells, &count);
  if (error)
    return error;
  *table = (struct dct_hashed_mutexes){cells, 0};
  for (; table->count < count; ++table->count)
    if ((error = pthread_mutex_init(&table->cells[table->count].lock, attr))) {
      dct_hashed_mutexes_destroy(table);
      return error;
    }
  return 0;
}

void dct_hashed_mutexes_destroy(struct dct_hashed_mutexes *table) {
  for (size_t i = 0; i < table->count; ++i)
    pthread_mutex_destroy(&table->cells[i].lock);
  free(table->cells);
  *table = (struct dct_hashed_mutexes){NULL, 0};
}

int dct_hashed_mutexes_lock2(struct dct_hashed_mutexes *table, const void *a,
                             const void *b) {
  struct pair p = inOrder(a, b, table->count);
  int error = pthread_mutex_lock(&table->cells[p.first].lock);
  if (error || p.first == p.second)
    return error;
  error = pthread_mutex_lock(&table->cells[p.second].lock);
  if (error)
    pthread_mutex_unlock(&table->cells[p.first].lock);
  return error;
}

int dct_hashed_mutexes_unlock2(struct dct_hashed_mutexes *table, const void *a,
                               const void *b) {
  struct pair p = inOrder(a, b, table->count);
  int error = pthread_mutex_unlock(&table->cells[p.second].lock);
  if (p.first == p.second)
    return error;
  int other = pthread_mutex_unlock(&table->cells[p.first].lock);
  return error ? error : other;
}

int dct_hashed_mutexes_lock_all(struct dct_hashed_mutexes *table) {
  for (size_t i = 0; i < table->count; ++i) {
    int error = pthread_mutex_lock(&table->cells[i].lock);
    if (error) {
      while (i)
        pthread_mutex_unlock(&table->cells[--i].lock);
      return error;
    }
  }
  return 0;
}

int dct_hashed_mutexes_unlock_all(struct dct_hashed_mutexes *table) {
  int first = 0;
  for (size_t i = table->count; i;) {
    int error = pthread_mutex_unlock(&table->cells[--i].lock);
    first = first ? first : error;
  }
  return first;
}

int dct_hashed_mutexes_reset_in_child(struct dct_hashed_mutexes *table,
                                      const pthread_mutexattr_t *attr) {
  for (size_t i = 0; i < table->count; ++i) {
    int error = pthread_mutex_init(&table->cells[i].lock, attr);
    if (error)
      return error;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Reader-writer locks
//===----------------------------------------------------------------------===//

typedef int take(pthread_rwlock_t *);

int dct_hashed_rwlocks_init(struct dct_hashed_rwlocks *table, size_t count,
                            const pthread_rwlockattr_t *attr) {
  *table = (struct dct_hashed_rwlocks){NULL, 0};
  void *cells;
  int error = allocate(count, sizeof(*table->cells), &cells, &count);
  if (error)
    return error;
  *table = (struct dct_hashed_rwlocks){cells, 0};
  for (; table->count < count; ++table->count)
    if ((error = pthread_rwlock_init(&table->cells[table->count].lock, attr))) {
      dct_hashed_rwlocks_destroy(table);
      return error;
    }
  return 0;
}

void dct_hashed_rwlocks_destroy(struct dct_hashed_rwlocks *table) {
  for (size_t i = 0; i < table->count; ++i)
    pthread_rwlock_destroy(&table->cells[i].lock);
  free(table->cells);
  *table = (struct dct_hashed_rwlocks){NULL, 0};
}

static int takeTwo(struct dct_hashed_rwlocks *table, const void *a,
                   const void *b, take *lock) {
  struct pair p = inOrder(a, b, table->count);
  int error = lock(&table->cells[p.first].lock);
  if (error || p.first == p.second)
    return error;
  error = lock(&table->cells[p.second].lock);
  if (error)
    pthread_rwlock_unlock(&table->cells[p.first].lock);
  return error;
}

int dct_hashed_rwlocks_rdlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b) {
  return takeTwo(table, a, b, pthread_rwlock_rdlock);
}

int dct_hashed_rwlocks_wrlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b) {
  return takeTwo(table, a, b, pthread_rwlock_wrlock);
}

int dct_hashed_rwlocks_unlock2(struct dct_hashed_rwlocks *table, const void *a,
                               const void *b) {
  struct pair p = inOrder(a, b, table->count);
  int error = pthread_rwlock_unlock(&table->cells[p.second].lock);
  if (p.first == p.second)
    return error;
  int other = pthread_rwlock_unlock(&table->cells[p.first].lock);
  return error ? error : other;
}

static int takeAll(struct dct_hashed_rwlocks *table, take *lock) {
  for (size_t i = 0; i < table->count; ++i) {
    int error = lock(&table->cells[i].lock);
    if (error) {
      while (i)
        pthread_rwlock_unlock(&table->cells[--i].lock);
      return error;
    }
  }
  return 0;
}

int dct_hashed_rwlocks_rdlock_all(struct dct_hashed_rwlocks *table) {
  return takeAll(table, pthread_rwlock_rdlock);
}

int dct_hashed_rwlocks_wrlock_all(struct dct_hashed_rwlocks *table) {
  return takeAll(table, pthread_rwlock_wrlock);
}

int dct_hashed_rwlocks_unlock_all(struct dct_hashed_rwlocks *table) {
  int first = 0;
  for (size_t i = table->count; i;) {
    int error = pthread_rwlock_unlock(&table->cells[--i].lock);
    first = first ? first : error;
  }
  return first;
}

int dct_hashed_rwlocks_reset_in_child(struct dct_hashed_rwlocks *table,
                                      const pthread_rwlockattr_t *attr) {
  for (size_t i = 0; i < table->count; ++i) {
    int error = pthread_rwlock_init(&table->cells[i].lock, attr);
    if (error)
      return error;
  }
  return 0;
}
