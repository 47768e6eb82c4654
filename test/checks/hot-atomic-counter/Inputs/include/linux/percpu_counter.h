// Just enough of the kernel's API for the tests of this rule: counters that are
// spread over CPUs, with nothing behind them.
#ifndef TEST_LINUX_PERCPU_COUNTER_H
#define TEST_LINUX_PERCPU_COUNTER_H

#include <linux/gfp.h>

struct percpu_counter {
  s64 count;
  int *counters;
};

int percpu_counter_init(struct percpu_counter *fbc, s64 amount, gfp_t gfp);
void percpu_counter_destroy(struct percpu_counter *fbc);
void percpu_counter_set(struct percpu_counter *fbc, s64 amount);
void percpu_counter_add_batch(struct percpu_counter *fbc, s64 amount,
                              int batch);
s64 __percpu_counter_sum(struct percpu_counter *fbc);

static inline void percpu_counter_add(struct percpu_counter *fbc, s64 amount) {
  percpu_counter_add_batch(fbc, amount, 32);
}
static inline void percpu_counter_add_local(struct percpu_counter *fbc,
                                            s64 amount) {
  percpu_counter_add_batch(fbc, amount, 0x7fffffff);
}
static inline void percpu_counter_sub(struct percpu_counter *fbc, s64 amount) {
  percpu_counter_add(fbc, -amount);
}
static inline void percpu_counter_sub_local(struct percpu_counter *fbc,
                                            s64 amount) {
  percpu_counter_add_local(fbc, -amount);
}
static inline void percpu_counter_inc(struct percpu_counter *fbc) {
  percpu_counter_add(fbc, 1);
}
static inline void percpu_counter_dec(struct percpu_counter *fbc) {
  percpu_counter_add(fbc, -1);
}
static inline s64 percpu_counter_sum(struct percpu_counter *fbc) {
  return __percpu_counter_sum(fbc);
}
static inline s64 percpu_counter_sum_positive(struct percpu_counter *fbc) {
  s64 ret = __percpu_counter_sum(fbc);

  return ret < 0 ? 0 : ret;
}
static inline s64 percpu_counter_read(struct percpu_counter *fbc) {
  return fbc->count;
}
static inline s64 percpu_counter_read_positive(struct percpu_counter *fbc) {
  s64 ret = fbc->count;

  return ret < 0 ? 0 : ret;
}

#endif
