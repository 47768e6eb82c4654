//===- percpu_counter_test.c - The counter as C sees it ------------*- C
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/percpu_counter.h"
#include <stdio.h>

static DCT_PERCPU_COUNTER_STATIC(hidden);
DCT_PERCPU_COUNTER_STATIC(visible);
static struct dct_percpu_counter started = DCT_PERCPU_COUNTER_INIT(-5);
static struct dct_percpu_counter zeroed;

static int failures;
static void expect(const char *what, int64_t wanted, int64_t got) {
  if (wanted == got)
    return;
  fprintf(stderr, "%s: %lld instead of %lld\n", what, (long long)got,
          (long long)wanted);
  ++failures;
}

int main(void) {
  dct_percpu_counter_inc(&hidden);
  dct_percpu_counter_add_local(&visible, 7);
  dct_percpu_counter_sub(&started, 5);
  dct_percpu_counter_dec(&zeroed);
  expect("hidden", 1, dct_percpu_counter_sum(&hidden));
  expect("visible", 7, dct_percpu_counter_sum(&visible));
  expect("started", -10, dct_percpu_counter_sum(&started));
  expect("zeroed", -1, dct_percpu_counter_sum(&zeroed));

  struct dct_percpu_counter two[2];
  expect("init_many", 0, dct_percpu_counter_init_many(two, 2, 1));
  expect("limited", true, dct_percpu_counter_limited_add(&two[0], 2, 1));
  expect("limited", false, dct_percpu_counter_limited_add(&two[0], 2, 1));
  expect("compare", 1, dct_percpu_counter_compare(&two[0], 1));
  expect("other", 1, dct_percpu_counter_sum(&two[1]));
  dct_percpu_counter_destroy_many(two, 2);
  return failures;
}
