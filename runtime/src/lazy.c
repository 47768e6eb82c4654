//===- lazy.c - Made at first use ---------------------------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/lazy.h"
#include <errno.h>

// Not null, so that a late creator's compare-and-exchange fails.
static void *const Closed = (void *)1;

void dct_lazy_init(struct dct_lazy *lazy,
                   int (*create)(void *context, void **value),
                   void (*drop)(void *context, void *value), void *context) {
  *lazy = (struct dct_lazy)DCT_LAZY_INIT(create, drop, context);
}

static void drop(const struct dct_lazy *lazy, void *value) {
  if (lazy->drop)
    lazy->drop(lazy->context, value);
}

int dct_lazy_offer(struct dct_lazy *lazy, void *value, void **kept) {
  if (!value || value == Closed)
    return EINVAL;
  void *first = NULL;
  if (__atomic_compare_exchange_n(&lazy->value, &first, value, 0,
                                  __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
    *kept = value;
    return 0;
  }
  drop(lazy, value);
  if (first == Closed)
    return ECANCELED;
  *kept = first;
  return 0;
}

int dct_lazy_get_slow(struct dct_lazy *lazy, void **value) {
  if (dct_lazy_is_closed(lazy))
    return ECANCELED;
  void *created = NULL;
  int error = lazy->create(lazy->context, &created);
  if (!error)
    return dct_lazy_offer(lazy, created, value);
  // Whoever was first had better luck.
  void *other = dct_lazy_peek(lazy);
  if (!other)
    return error;
  *value = other;
  return 0;
}

void dct_lazy_close(struct dct_lazy *lazy) {
  void *value = __atomic_exchange_n(&lazy->value, Closed, __ATOMIC_ACQ_REL);
  if (value && value != Closed)
    drop(lazy, value);
}
