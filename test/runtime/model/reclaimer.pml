//===- reclaimer.pml - Sleeping, waking and flush of the reclaimer --------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PRODUCERS threads that each queue ITEMS items and wait beyond LIMIT,
// FLUSHERS threads that queue one item and flush, the worker, and at the end a
// destroy. Steps are single memory accesses, in any interleaving; those that
// are steps here are sequentially consistent in runtime/src/reclaimer.c, so
// that interleavings are all there is.
//
// The list is kept as the order in which items were pushed, and taken whole. A
// futex wait is one step that looks at the word and goes to sleep, and a second
// one that only a wake enables, or nothing at all (they may end early). Naps
// never end by themselves here, so whoever needs the worker in one has to wake
// it: what does not fail is not saved by the clock. To make those naps matter
// only to those who wait, the destroy comes last and ends them.
//
// Checked: flush returns after all that was queued before it; each item runs
// once; nobody sleeps for ever (invalid end states), nor the worker with items
// in the list and nobody about to wake it.
//
// Each mutant leaves out or moves one step, and must fail; `run` reads the
// lines below and checks that.
//
// holds: -DPRODUCERS=1 -DITEMS=1 -DFLUSHERS=1 -DLIMIT=1
// holds: -DPRODUCERS=2 -DITEMS=1 -DFLUSHERS=0 -DLIMIT=1
// holds: -DPRODUCERS=0 -DITEMS=0 -DFLUSHERS=2 -DLIMIT=9
// holds: -DPRODUCERS=1 -DITEMS=2 -DFLUSHERS=1 -DLIMIT=1
// long: -DPRODUCERS=3 -DITEMS=1 -DFLUSHERS=0 -DLIMIT=1
// long: -DPRODUCERS=2 -DITEMS=1 -DFLUSHERS=1 -DLIMIT=1
// mutant: SLEEPS_WITHOUT_LOOKING
// mutant: LOOKS_BEFORE_SAYING_SLEEPING
// mutant: NAPS_ALTHOUGH_SOMEBODY_WAITS
// mutant: FLUSH_LEAVES_THE_NAP
// mutant: WAKE_BEFORE_PUSH
// mutant: NEWEST_FIRST
// mutant: FLUSH_UNTIL_ANY_PROGRESS
// mutant: ANNOUNCED_BEFORE_PENDING
// mutant: NOT_ANNOUNCED
// mutant: WAITER_COUNTED_LATE
// mutant: LOOKS_BEFORE_READING_PROGRESS
// mutant: STOP_WITHOUT_WAKING
// mutant: STOP_READ_AFTER_THE_LIST
//
//===----------------------------------------------------------------------===//

#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#ifndef FLUSHERS
#define FLUSHERS 1
#endif
#ifndef LIMIT
#define LIMIT 1
#endif

#define USERS (PRODUCERS + FLUSHERS)
#define ALL (PRODUCERS * ITEMS + FLUSHERS)
#define MOST (ALL + FLUSHERS)

#define WORKING 0
#define NAPPING 1
#define SLEEPING 2

/* An item is the number of its user; a marker that plus USERS. */
byte list[MOST];
byte queued = 0;

byte pending = 0;
byte state = WORKING;
byte waiters = 0;
byte progress = 0;
bool stop = false;
bool workerAsleep = false;
byte asleep = 0; /* bits of users */
bool reached[USERS];

byte ran[USERS]; /* items of each, whose callbacks have returned */
byte finished = 0;

inline push(what) {
  d_step { list[queued] = what; queued++ }
}

/* Local: seen. */
inline wake(fromNap) {
  seen = state;
  if
  :: seen == SLEEPING || (seen == NAPPING && fromNap) ->
    atomic {
      if
      :: state == seen -> state = WORKING; seen = 1
      :: else -> seen = 0
      fi
    }
    if
    :: seen -> workerAsleep = false
    :: else
    fi
  :: else
  fi;
  seen = 0
}

/* Local: before, seen. goal is what ends the wait. */
inline waitFor(goal) {
  do
  ::
#ifdef LOOKS_BEFORE_READING_PROGRESS
    if
    :: goal -> break
    :: else
    fi;
    before = progress;
#else
    before = progress;
    if
    :: goal -> break
    :: else
    fi;
#endif
#ifdef FLUSH_LEAVES_THE_NAP
    wake(false);
#else
    wake(true);
#endif
    atomic {
      if
      :: progress == before -> asleep = asleep | (1 << me)
      :: else
      fi
    }
    !(asleep & (1 << me))
#ifdef FLUSH_UNTIL_ANY_PROGRESS
    ;
    break
#endif
  od;
  before = 0
}

inline defer() {
  d_step { over = (pending >= LIMIT); pending++ }
#ifdef WAKE_BEFORE_PUSH
  wake(false);
  push(me);
#else
  push(me);
  wake(false);
#endif
}

proctype Producer(byte me) {
  byte seen, before, left = ITEMS;
  bool over;
  do
  :: left > 0 ->
    left--;
    defer();
    if
    :: over ->
#ifndef WAITER_COUNTED_LATE
      waiters++;
#endif
      waitFor(pending <= LIMIT);
#ifdef WAITER_COUNTED_LATE
      waiters++;
#endif
      waiters--
    :: else
    fi;
    over = false
  :: else -> break
  od;
  finished++
}

proctype Flusher(byte me) {
  byte seen, before;
  bool over;
  defer();
  waiters++;
  push(me + USERS);
  waitFor(reached[me]);
  waiters--;
  assert(ran[me] == 1);
  finished++
}

/* One who waits looks again. */
inline announce() {
  progress++;
  if
  :: waiters -> asleep = 0
  :: else
  fi
}

proctype Worker() {
  byte taken[MOST];
  byte count, i, items;
  bool last;
  do
  ::
#ifndef STOP_READ_AFTER_THE_LIST
    last = stop;
#endif
    d_step {
      count = 0;
      do
      :: count < queued ->
#ifdef NEWEST_FIRST
        taken[count] = list[queued - 1 - count];
#else
        taken[count] = list[count];
#endif
        count++
      :: else -> break
      od;
      i = 0;
      do
      :: i < count -> list[i] = 0; i++
      :: else -> break
      od;
      queued = 0;
      i = 0
    }
    if
    :: count > 0 ->
      items = 0;
      do
      :: i < count ->
        if
        :: taken[i] < USERS -> d_step { ran[taken[i]]++; items++ }
        :: else ->
          d_step { pending = pending - items; items = 0 }
#ifdef NOT_ANNOUNCED
          reached[taken[i] - USERS] = true
#else
          reached[taken[i] - USERS] = true;
          announce()
#endif
        fi;
        d_step { taken[i] = 0; i++ }
      :: else -> break
      od;
#ifdef ANNOUNCED_BEFORE_PENDING
      announce();
      pending = pending - items;
#elif defined(NOT_ANNOUNCED)
      pending = pending - items;
#else
      pending = pending - items;
      announce();
#endif
      d_step { count = 0; i = 0; items = 0 }
      state = NAPPING;
#ifdef NAPS_ALTHOUGH_SOMEBODY_WAITS
      atomic { state == NAPPING -> workerAsleep = true }
      !workerAsleep;
#else
      if
      :: waiters == 0 ->
        atomic {
          if
          :: state == NAPPING -> workerAsleep = true
          :: else
          fi
        }
        !workerAsleep
      :: else
      fi;
#endif
      state = WORKING
    :: else ->
#ifdef STOP_READ_AFTER_THE_LIST
      last = stop;
#endif
      if
      :: last -> break
      :: else
      fi;
#ifdef LOOKS_BEFORE_SAYING_SLEEPING
      if
      :: queued == 0 && !stop -> i = 1
      :: else -> i = 0
      fi;
      state = SLEEPING;
      if
      :: i == 1 ->
#else
      state = SLEEPING;
      if
#ifdef SLEEPS_WITHOUT_LOOKING
      :: true ->
#else
      :: queued == 0 && !stop ->
#endif
#endif
        i = 0;
        atomic {
          if
          :: state == SLEEPING -> workerAsleep = true
          :: else
          fi
        }
        !workerAsleep
      :: else
      fi;
      state = WORKING
    fi
  od
}

init {
  byte seen, n = 0;
  atomic {
    run Worker();
    do
    :: n < PRODUCERS -> run Producer(n); n++
    :: n >= PRODUCERS && n < USERS -> run Flusher(n); n++
    :: else -> break
    od;
    n = 0
  }
  atomic {
    finished == USERS;
    assert(!(workerAsleep && state == SLEEPING && queued > 0))
  }
  waiters++;
  stop = true;
#ifndef STOP_WITHOUT_WAKING
  wake(true);
#endif
  _nr_pr == 1; /* the worker has ended */
  assert(queued == 0 && pending == 0);
  n = 0;
  do
  :: n < PRODUCERS -> assert(ran[n] == ITEMS); n++
  :: n >= PRODUCERS && n < USERS -> assert(ran[n] == 1); n++
  :: else -> break
  od
}
