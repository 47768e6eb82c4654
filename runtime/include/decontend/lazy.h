//===- lazy.h - Made at first use ---------------------------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   get: value there? --> yes: done
//                     --> no: create, without any lock --> publish once
//                                  --> another was first: drop own, take that
//
// For costly set-up per object that many objects never need. Any number of
// threads may create at the same time; one result is kept.
//
// Source: the publication by one compare-and-exchange is the lock-free form of
// lazy initialisation in Goetz et al., "Java Concurrency in Practice", section
// 16.2; Linux uses it in cmpxchg() of lazily made fields.
//
// Properties:
//  - Memory order: publishing releases and each read acquires, so what create
//    did happens before what a reader does with the value.
//  - Blocking: none by itself; create may sleep, and nobody waits for another
//    thread's create. In return create runs up to once for each thread that
//    comes before the first is done, so it must not have effects that drop does
//    not undo. Where that costs too much, use pthread_once and give up retries.
//  - Errors: create's error is returned to that caller only; the next get tries
//    anew. If a thread fails and another has published meanwhile, it gets the
//    value.
//  - Context: create gets what was fixed when the lazy value was set up, never
//    anything of the first caller. Put in there the credentials, limits and
//    locale that the owner had, and let create use those.
//  - Contexts: any thread, and create of another lazy value; peek in signal
//    handlers too. A create that gets its own value never ends. Fork: no state
//    but the value: a child whose parent was creating creates by itself.
//  - Cost: readers one acquire load and one compare, no write. Writers what
//    create costs, and one compare-and-exchange.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_LAZY_H
#define DECONTEND_LAZY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Members are private. Neither moved nor copied while in use.
struct dct_lazy {
  void *value; ///< Null: not yet; 1: closed.
  int (*create)(void *context, void **value);
  void (*drop)(void *context, void *value);
  void *context;
};

/// Initialiser; nothing is created and nothing can fail. create(context,
/// &value) returns 0 and sets value, neither null nor 1, or returns an error
/// (an errno value, never 0) and owns what it began. drop(context, value)
/// undoes create; null: nothing to undo. context is the owner's and outlives
/// the lazy value.
#define DCT_LAZY_INIT(create, drop, context) {NULL, (create), (drop), (context)}

/// The same at run time, before others see *lazy.
void dct_lazy_init(struct dct_lazy *lazy,
                   int (*create)(void *context, void **value),
                   void (*drop)(void *context, void *value), void *context);

// What get leaves to the library: all but the value that is there.
int dct_lazy_get_slow(struct dct_lazy *lazy, void **value);

/// The value, or null when there is none (yet, or any more). Never creates.
static inline void *dct_lazy_peek(const struct dct_lazy *lazy) {
  void *value = __atomic_load_n(&lazy->value, __ATOMIC_ACQUIRE);
  return (uintptr_t)value > 1 ? value : NULL;
}

/// Whether close was called. Once 1, always 1.
static inline int dct_lazy_is_closed(const struct dct_lazy *lazy) {
  return (uintptr_t)__atomic_load_n(&lazy->value, __ATOMIC_ACQUIRE) == 1;
}

/// Sets *value to the value, creating it if need be. It is owned by *lazy.
/// Returns 0, create's error, EINVAL when create returned 0 without a value, or
/// ECANCELED after close. Sleeps if create does.
static inline int dct_lazy_get(struct dct_lazy *lazy, void **value) {
  void *known = dct_lazy_peek(lazy);
  if (__builtin_expect(known == NULL, 0))
    return dct_lazy_get_slow(lazy, value);
  *value = known;
  return 0;
}

/// Publishes value, as create would, and gives up its ownership. If there is
/// one already, drops value and takes that. Sets *kept; returns 0, EINVAL (null
/// or 1; *kept is not set), or ECANCELED after close (value was dropped). Does
/// not sleep unless drop does.
int dct_lazy_offer(struct dct_lazy *lazy, void *value, void **kept);

/// Teardown: drops the value, if one was created, and lets no other be created:
/// what is being created meanwhile is dropped by its creator, who gets
/// ECANCELED. The caller makes sure that nobody still uses the value, and that
/// creators have returned before the context goes. More than once does no
/// harm. Only dct_lazy_init makes it usable again.
void dct_lazy_close(struct dct_lazy *lazy);

#ifdef __cplusplus
}
#endif

#endif // DECONTEND_LAZY_H
