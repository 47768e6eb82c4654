//===- other.cpp - A second unit with the same inline function -----*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shared.h"

int other() {
  hit();
  return static_cast<int>(Hits.sum());
}
