//===- program.cpp - A user of the installed C++ interface ---------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decontend/percpu_counter.hpp"

static constinit decontend::static_percpu_counter Hits;

int main() {
  Hits += 41;
  ++Hits;
  return Hits.sum() == 42 ? 0 : 1;
}
