//===- locks_bench.cpp - Readers of different objects -----------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread reads (and in the second set one time in 1024 changes) an object
// of its own. The peers and the biased locks guard all objects with one lock,
// the hashed locks choose one by object. Peers that are not part of the system
// take part when the build says that they can be linked:
// DECONTEND_BENCH_ABSL, DECONTEND_BENCH_BOOST, DECONTEND_BENCH_TBB.
//
//   runtime-bench --benchmark_filter=locks_ --benchmark_min_time=0.02
//
//===----------------------------------------------------------------------===//

#include "decontend/biased_rwlock.hpp"
#include "decontend/hashed_locks.hpp"
#include <benchmark/benchmark.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <shared_mutex>
#include <string>
#include <vector>
#ifdef DECONTEND_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif
#ifdef DECONTEND_BENCH_BOOST
#include <boost/thread/shared_mutex.hpp>
#endif
#ifdef DECONTEND_BENCH_TBB
#include <tbb/queuing_rw_mutex.h>
#include <tbb/spin_rw_mutex.h>
#endif

namespace {

struct Object {
  alignas(128) long Owner = 1, Mode = 2, Size = 3;
};

constexpr int ObjectCount = 64;
Object Objects[ObjectCount];

// The two sections of a lock that std::shared_lock and std::unique_lock take.
template <class Lock> struct One {
  alignas(128) static inline Lock L;

  template <class Body> static void read(const Object *, Body B) {
    std::shared_lock Guard(L);
    B();
  }
  template <class Body> static void write(const Object *, Body B) {
    std::unique_lock Guard(L);
    B();
  }
};

struct PthreadRWLock {
  alignas(128) static inline pthread_rwlock_t L = PTHREAD_RWLOCK_INITIALIZER;

  template <class Body> static void read(const Object *, Body B) {
    pthread_rwlock_rdlock(&L);
    B();
    pthread_rwlock_unlock(&L);
  }
  template <class Body> static void write(const Object *, Body B) {
    pthread_rwlock_wrlock(&L);
    B();
    pthread_rwlock_unlock(&L);
  }
};

struct BiasedRWLock {
  alignas(128) static inline dct_biased_rwlock L = DCT_BIASED_RWLOCK_INIT;

  template <class Body> static void read(const Object *, Body B) {
    dct_biased_rwlock_rdlock(&L);
    B();
    dct_biased_rwlock_rdunlock(&L);
  }
  template <class Body> static void write(const Object *, Body B) {
    dct_biased_rwlock_wrlock(&L);
    B();
    dct_biased_rwlock_wrunlock(&L);
  }
};

template <class Lock> struct Hashed {
  static inline decontend::hashed_locks<Lock> Locks;

  template <class Body> static void read(const Object *O, Body B) {
    if constexpr (decontend::shared_lockable<Lock>) {
      auto Guard = Locks.shared(O);
      B();
    } else {
      write(O, B);
    }
  }
  template <class Body> static void write(const Object *O, Body B) {
    auto Guard = Locks.exclusive(O);
    B();
  }
};

#ifdef DECONTEND_BENCH_ABSL
struct AbslMutex {
  alignas(128) static inline absl::Mutex L;

  template <class Body> static void read(const Object *, Body B) {
    absl::ReaderMutexLock Guard(&L);
    B();
  }
  template <class Body> static void write(const Object *, Body B) {
    absl::WriterMutexLock Guard(&L);
    B();
  }
};
#endif

#ifdef DECONTEND_BENCH_TBB
template <class Lock> struct TBB {
  alignas(128) static inline Lock L;

  template <class Body> static void read(const Object *, Body B) {
    typename Lock::scoped_lock Guard(L, false);
    B();
  }
  template <class Body> static void write(const Object *, Body B) {
    typename Lock::scoped_lock Guard(L, true);
    B();
  }
};
#endif

// Two threads that the scheduler leaves on one CPU never contend, and the
// measurement is too short for it to move them.
class Pin {
public:
  explicit Pin(int Thread) {
    pthread_getaffinity_np(pthread_self(), sizeof(Before), &Before);
    int Wanted = Thread % CPU_COUNT(&Before);
    for (int CPU = 0; CPU < CPU_SETSIZE; ++CPU)
      if (CPU_ISSET(CPU, &Before) && Wanted-- == 0) {
        cpu_set_t One;
        CPU_ZERO(&One);
        CPU_SET(CPU, &One);
        pthread_setaffinity_np(pthread_self(), sizeof(One), &One);
      }
  }
  ~Pin() { pthread_setaffinity_np(pthread_self(), sizeof(Before), &Before); }

private:
  cpu_set_t Before;
};

template <class Section, int WriteEvery> void run(benchmark::State &State) {
  Pin Pinned(State.thread_index());
  Object &O = Objects[State.thread_index() % ObjectCount];
  long Sum = 0;
  int Step = 0;
  for (auto Unused : State) {
    (void)Unused;
    if (WriteEvery && ++Step == WriteEvery) {
      Step = 0;
      Section::write(&O, [&] { ++O.Size; });
    } else {
      Section::read(&O, [&] { Sum += O.Owner + O.Mode + O.Size; });
    }
  }
  benchmark::DoNotOptimize(Sum);
}

template <class Section> void add(const char *Name) {
  auto Register = [](const std::string &Full, auto *Function) {
    benchmark::RegisterBenchmark(Full.c_str(), Function)
        ->Threads(1)
        ->Threads(2)
        ->Threads(4)
        ->Threads(8)
        ->UseRealTime();
  };
  Register(std::string("locks_read/") + Name, run<Section, 0>);
  Register(std::string("locks_write1in1024/") + Name, run<Section, 1024>);
}

const bool Added = [] {
  add<One<std::shared_mutex>>("std::shared_mutex");
  add<PthreadRWLock>("pthread_rwlock_t");
#ifdef DECONTEND_BENCH_ABSL
  add<AbslMutex>("absl::Mutex");
#endif
#ifdef DECONTEND_BENCH_BOOST
  add<One<boost::shared_mutex>>("boost::shared_mutex");
#endif
#ifdef DECONTEND_BENCH_TBB
  add<TBB<tbb::spin_rw_mutex>>("tbb::spin_rw_mutex");
  add<TBB<tbb::queuing_rw_mutex>>("tbb::queuing_rw_mutex");
#endif
  add<BiasedRWLock>("dct_biased_rwlock");
  add<One<decontend::biased_shared_mutex<>>>("biased_shared_mutex");
  add<Hashed<std::shared_mutex>>("hashed_locks<std::shared_mutex>");
  add<Hashed<std::mutex>>("hashed_locks<std::mutex>");
  return true;
}();

} // namespace
