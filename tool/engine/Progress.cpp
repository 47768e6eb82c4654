//===- Progress.cpp - Progress on a terminal ------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace decontend {

void Progress::step() {
  size_t N = ++Done;
  if (!On)
    return;
  std::unique_lock<std::mutex> Guard(Lock, std::try_to_lock);
  if (!Guard)
    return;
  auto Now = std::chrono::steady_clock::now();
  if (Now - Last < std::chrono::milliseconds(200) ||
      Now - Start < std::chrono::seconds(1))
    return;
  Last = Now;
  Shown = true;
  double Seconds = std::chrono::duration<double>(Now - Start).count();
  double Rate = N / Seconds;
  unsigned Left = Rate > 0 ? unsigned((Total - N) / Rate) : 0;
  llvm::errs() << "\r\x1b[K" << What << " " << N << "/" << Total << "  "
               << llvm::format("%.0f", Rate) << "/s  " << Left / 60 << ":"
               << llvm::format("%02u", Left % 60) << " left";
  llvm::errs().flush();
}

Progress::~Progress() {
  if (Shown)
    llvm::errs() << "\r\x1b[K";
}

} // namespace decontend
