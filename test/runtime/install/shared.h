//===- shared.h - What two units share ------------------------------*- C++
//-*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "decontend/percpu_counter.hpp"

inline decontend::static_percpu_counter Hits;

// Not inlined, so that the linker drops one of two copies: with the descriptors
// of its restartable sequences, or it would fail.
[[gnu::noinline]] inline void hit() { ++Hits; }
