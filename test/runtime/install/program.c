//===- program.c - A user of the installed C interface --------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/percpu_counter.h"

static DCT_PERCPU_COUNTER_STATIC(hits);

int main(void) {
  dct_percpu_counter_add(&hits, 42);
  return dct_percpu_counter_sum(&hits) == 42 ? 0 : 1;
}
