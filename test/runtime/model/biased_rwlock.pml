//===- biased_rwlock.pml - The handshake of the biased lock ---------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One lock, READERS readers that share ROWS rows of the table, a writer that
// waits and one that tries, all for ever. Steps are single memory accesses, in
// any interleaving; runtime/src/biased_rwlock.c makes those of the handshake
// sequentially consistent, so that interleavings are all there is. The weaker
// ones (leaving, and the test before publishing) are argued in the header.
//
// Checked: a writer is alone (the assertions), and no state is left in which all
// wait (invalid end states; NO_TRY leaves out the writer that never waits, which
// would hide them). Not checked: starvation, which is that of the underlying
// lock.
//
// Each MUTANT_... leaves out or moves one step of the algorithm, and must fail.
// check-biased-rwlock.sh runs all of them.
//
//===----------------------------------------------------------------------===//

#ifndef READERS
#define READERS 2
#endif
#ifndef ROWS
#define ROWS 2
#endif

#define OFF 0
#define ON 1
#define DRAINING 2
#define NONE 255

byte bias = OFF;
byte taken = 0; /* rows, saturating at ROWS */
bool slot[ROWS];
byte sharers = 0; /* of the underlying lock */
bool owned = false;

byte reading = 0;
byte writing = 0;

inline take_row() {
  atomic {
    if
    :: taken < ROWS -> row = taken; taken++
    :: else -> row = (row == NONE -> 0 : (row + 1) % ROWS)
    fi
  }
}

inline publish() {
  atomic {
    if
    :: !slot[row] -> slot[row] = true; got = true
    :: else -> got = false
    fi
  }
}

inline turn_on() {
  if
  :: bias != ON ->
    if
    :: bias = ON
    :: skip /* inhibited */
    fi
  :: else
  fi
}

/* Sets fast, or holds the underlying lock. */
inline enter() {
  fast = false;
  got = false;
  seen = bias;
  if
  :: seen == ON ->
    if
    :: row == NONE -> take_row()
    :: else
    fi;
#ifdef MUTANT_CHECK_BEFORE_PUBLISHING
    seen = bias;
#endif
    publish();
    if
    :: !got -> take_row(); publish()
    :: else
    fi;
    if
    :: got ->
#if !defined(MUTANT_NO_CHECK) && !defined(MUTANT_CHECK_BEFORE_PUBLISHING)
      seen = bias;
#endif
      if
      :: seen == ON -> fast = true
      :: else -> slot[row] = false
      fi
    :: else
    fi
  :: else
  fi;
  /* Left-over values would only multiply the states. */
  d_step { seen = OFF; got = false }
  if
  :: !fast ->
    atomic { !owned -> sharers++ }
#ifndef MUTANT_BIAS_AFTER_LEAVING
    turn_on()
#endif
  :: else
  fi
}

inline leave() {
#ifdef MUTANT_FORGETFUL_LEAVE
  /* Takes any reader in its slot for itself. */
  fast = (row != NONE && slot[row]);
#endif
  if
  :: fast -> atomic { slot[row] = false; fast = false }
  :: else ->
    sharers--;
#ifdef MUTANT_BIAS_AFTER_LEAVING
    turn_on()
#endif
  fi
}

proctype Reader() {
  byte row = NONE;
  byte seen;
  bool fast, got;
  do
  :: enter();
    reading++;
    assert(writing == 0);
    if
    :: skip
    :: true -> /* a nested read */
#ifdef MUTANT_NESTED_READ_LOCKS
      atomic { !owned -> sharers++ }
      sharers--
#else
      skip
#endif
    fi;
    assert(writing == 0);
    reading--;
    leave()
  od
}

inline section() {
  writing++;
  assert(writing == 1 && reading == 0);
  writing--
}

/* Sets clear. */
inline revoke(wait) {
  clear = true;
#ifndef MUTANT_NO_REVOCATION
  seen = bias;
  if
  :: seen != OFF ->
#ifdef MUTANT_ROWS_BEFORE_BIAS
    count = taken;
#endif
#ifndef MUTANT_SCAN_BEFORE_BIAS
    bias = DRAINING;
#endif
#ifndef MUTANT_ROWS_BEFORE_BIAS
    count = taken;
#endif
    i = 0;
#ifndef MUTANT_NO_SCAN
    do
    :: i < count && clear ->
      if
      :: !slot[i] -> i++
      :: slot[i] && !wait -> clear = false
      fi
    :: else -> break
    od;
#endif
    if
    :: clear -> bias = OFF
    :: else ->
#if defined(MUTANT_FAILED_TRY_FORGETS)
      bias = OFF
#elif defined(MUTANT_SCAN_BEFORE_BIAS)
      bias = DRAINING
#else
      skip
#endif
    fi;
    d_step { i = 0; count = 0 }
  :: else
  fi;
  seen = OFF
#endif
}

proctype Writer() {
  byte seen, count, i;
  bool clear;
  do
  :: atomic { !owned && sharers == 0 -> owned = true }
    revoke(true);
    section();
    owned = false
  od
}

proctype TryWriter() {
  byte seen, count, i;
  bool clear, got;
  do
  :: atomic {
      got = (!owned && sharers == 0);
      owned = (got -> true : owned)
    }
    if
    :: got ->
      revoke(false);
      if
      :: clear -> section()
      :: else
      fi;
      owned = false
    :: else
    fi
  od
}

init {
  byte n = 0;
  atomic {
    do
    :: n < READERS -> run Reader(); n++
    :: else -> break
    od;
    run Writer();
#ifndef NO_TRY
    run TryWriter()
#endif
  }
}
