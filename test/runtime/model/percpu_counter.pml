//===- percpu_counter.pml - Adds, publishing and limits of the counter ----===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two CPUs; ADDERS threads that each try TRIES times to add AMOUNT within LIMIT,
// with a batch of BATCH, migrate as they like, and may give back what they got. A
// restartable sequence is one step; its store goes through a buffer of its CPU, in
// order (x86-64, and releases on arm64), and what others see of up and down lags
// behind. A fence and a migration wait for the buffer. Atomic operations are seen
// at once and, as on arm64, do not wait for it.
//
// Checked: what limited adds got and did not give back never passes the limit; in
// the end the sum is exactly that, and the count lacks less than a batch per CPU.
// Not checked: the variant without restartable sequences, fork, and wrapping.
//
// Each MUTANT_ name leaves out or moves one step, and must fail.
// check-percpu-counter.sh runs all of them.
//
//===----------------------------------------------------------------------===//

#ifndef ADDERS
#define ADDERS 3
#endif
#ifndef TRIES
#define TRIES 2
#endif
#ifndef AMOUNT
#define AMOUNT 1
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifndef LIMIT
#define LIMIT 3
#endif
// With HELPERS, each CPU starts with an amount of 1 that was got but not
// published, which a thread publishes meanwhile. With STILL, threads neither
// migrate nor give back.
#define CPUS 2
#define MOST (BATCH - 1)
#ifdef MUTANT_MARGIN_OF_ONE_CPU
#define MARGIN MOST
#else
#define MARGIN (MOST * CPUS)
#endif

short up[CPUS], down[CPUS], seenUp[CPUS], seenDown[CPUS], published[CPUS];
short count, directUp, directDown;
byte publishing;
short held; // What was got and not given back.
short finished;
mtype = { UP, DOWN };
chan buffer[CPUS] = [3] of { mtype };

#define pending(c) (up[c] - down[c] - published[c])
#define near(c, a) (pending(c) + (a) <= MOST && -pending(c) - (a) <= MOST)
#define drained(c) (len(buffer[c]) == 0)
#define room(c) (len(buffer[c]) < 3)

// One restartable sequence; for the caller to guard with room and near.
inline change(a) {
  if
#ifdef MUTANT_ONE_TOTAL
  :: up[cpu] = up[cpu] + a; buffer[cpu]!(a > 0 -> UP : DOWN)
#else
  :: a > 0 -> up[cpu] = up[cpu] + AMOUNT; buffer[cpu]!UP
  :: else -> down[cpu] = down[cpu] + AMOUNT; buffer[cpu]!DOWN
#endif
  fi
}

inline direct(a) {
  if
  :: a > 0 -> directUp = directUp + AMOUNT
  :: else -> directDown = directDown + AMOUNT
  fi;
  count = count + a
}

inline maybeMigrate() {
  if
#ifndef STILL
  :: atomic { drained(cpu) -> cpu = 1 - cpu }
#endif
  :: skip
  fi
}

inline publish() {
#ifndef MUTANT_UNANNOUNCED
  publishing++;
#endif
  taken = 0;
  atomic {
    taken = pending(cpu);
    published[cpu] = up[cpu] - down[cpu]
  }
#ifdef MUTANT_COUNT_AFTER_END
  publishing--;
#endif
#ifdef MUTANT_TORN_COUNT
  torn = count;
  count = torn + taken;
#else
  count = count + taken;
#endif
#if !defined(MUTANT_UNANNOUNCED) && !defined(MUTANT_COUNT_AFTER_END)
  publishing--;
#endif
}

inline add(a) {
  maybeMigrate();
  if
#if AMOUNT >= BATCH
  :: direct(a)
#else
  :: atomic { room(cpu) && near(cpu, a) -> change(a) }
  :: !near(cpu, a) ->
     publish();
     maybeMigrate();
     if
     :: atomic { room(cpu) && near(cpu, a) -> change(a) }
     :: direct(a) // Interrupted too often, which may always be.
     fi
#endif
  fi
}

#define upOf(c) (cpu == c -> up[c] : seenUp[c])
#define downOf(c) (cpu == c -> down[c] : seenDown[c])

// Sets fits. The caller has added already.
inline look() {
  fits = false;
  value = publishing;
  if
  :: value == 0 ->
     value = count;
     if
     :: value + MARGIN < LIMIT -> fits = true
     :: else
     fi
  :: else
  fi;
  if
  :: fits
  :: else ->
#ifdef MUTANT_UP_FIRST
     value = directUp;
     value = value + upOf(0);
     value = value + upOf(1);
     value = value - directDown;
     value = value - downOf(0);
     value = value - downOf(1);
#else
     value = -directDown;
     value = value - downOf(0);
     value = value - downOf(1);
     value = value + directUp;
     value = value + upOf(0);
     value = value + upOf(1);
#endif
     fits = (value <= LIMIT)
  fi
}

proctype adder(byte cpu) {
  byte tries = 0;
  short value, taken;
#ifdef MUTANT_TORN_COUNT
  short torn;
#endif
  bool fits;
  do
  :: tries < TRIES ->
     tries++;
#ifdef MUTANT_LOOK_FIRST
     look();
     fits = fits && value + AMOUNT <= LIMIT;
     if
     :: fits -> add(AMOUNT); held = held + AMOUNT; assert(held <= LIMIT)
     :: else
     fi;
#else
     add(AMOUNT);
#ifndef MUTANT_NO_FENCE
     drained(cpu);
#endif
     look();
     if
     :: fits ->
        held = held + AMOUNT;
        assert(held <= LIMIT);
        if
#ifndef STILL
        :: held = held - AMOUNT; add(-AMOUNT)
#endif
        :: skip
        fi
     :: else -> add(-AMOUNT)
     fi;
#endif
     d_step { value = 0; taken = 0; fits = false } // Fewer states.
  :: else -> break
  od;
  finished++
}

#ifdef HELPERS
proctype helper(byte cpu) {
  short taken;
#ifdef MUTANT_TORN_COUNT
  short torn;
#endif
  publish();
  finished++
}
#endif

// Stores become seen at some time.
#ifdef MUTANT_ONE_TOTAL
#define WENT_DOWN(c) seenUp[c] = seenUp[c] - AMOUNT
#else
#define WENT_DOWN(c) seenDown[c] = seenDown[c] + AMOUNT
#endif

active proctype drain() {
end:
  do
  :: atomic { buffer[0]?UP -> seenUp[0] = seenUp[0] + AMOUNT }
  :: atomic { buffer[0]?DOWN -> WENT_DOWN(0) }
  :: atomic { buffer[1]?UP -> seenUp[1] = seenUp[1] + AMOUNT }
  :: atomic { buffer[1]?DOWN -> WENT_DOWN(1) }
  od
}

init {
  byte i;
  atomic {
#ifdef HELPERS
    up[0] = 1; up[1] = 1; seenUp[0] = 1; seenUp[1] = 1;
    held = 2;
    run helper(0);
    run helper(1);
    finished = finished - 2;
#endif
    i = 0;
    do
    :: i < ADDERS -> run adder(i % CPUS); i++
    :: else -> break
    od
  }
  finished == ADDERS;
  assert(directUp - directDown + up[0] + up[1] - down[0] - down[1] == held);
  assert(count == directUp - directDown + published[0] + published[1]);
  assert(near(0, 0) && near(1, 0));
  assert(publishing == 0)
}
