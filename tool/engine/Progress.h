//===- Progress.h - Progress on a terminal ----------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_TOOL_ENGINE_PROGRESS_H
#define DECONTEND_TOOL_ENGINE_PROGRESS_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace decontend {

/// One line on standard error that is overwritten: how many of how many, rate,
/// time left. Silent when \p On is false, and for work of less than a second.
/// step() may be called from several threads.
class Progress {
public:
  Progress(bool On, std::string What, size_t Total)
      : On(On), What(std::move(What)), Total(Total),
        Start(std::chrono::steady_clock::now()), Last(Start) {}
  ~Progress();
  void step();

private:
  const bool On;
  const std::string What;
  const size_t Total;
  const std::chrono::steady_clock::time_point Start;
  std::chrono::steady_clock::time_point Last;
  std::atomic<size_t> Done{0};
  std::mutex Lock;
  bool Shown = false;
};

} // namespace decontend

#endif
