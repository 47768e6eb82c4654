//===- program.cpp - A user of the installed C++ interface ---------*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shared.h"

int other();

int main() {
  Hits += 41;
  hit();
  return other() == 43 && Hits.sum() == 43 ? 0 : 1;
}
