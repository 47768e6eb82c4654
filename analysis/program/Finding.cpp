//===- Finding.cpp - Order and identity of findings -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/program/Finding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/ErrorHandling.h"
#include <map>
#include <tuple>

namespace decontend {

llvm::StringRef confidenceName(Confidence C) {
  switch (C) {
  case Confidence::Low:
    return "low";
  case Confidence::Medium:
    return "medium";
  case Confidence::High:
    return "high";
  }
  llvm_unreachable("not a confidence");
}

bool parseConfidence(llvm::StringRef Text, Confidence &Out) {
  for (Confidence C : {Confidence::Low, Confidence::Medium, Confidence::High})
    if (Text == confidenceName(C)) {
      Out = C;
      return true;
    }
  return false;
}

/// What stays the same while lines move. The parts are joined by NUL, which
/// none of them can hold, so that "a"+"bc" and "ab"+"c" differ.
static std::string identity(const Finding &F) {
  std::string Id;
  for (const std::string *Part : {&F.Rule, &F.File, &F.Function, &F.Subject}) {
    Id += *Part;
    Id.push_back('\0');
  }
  return Id;
}

static std::string fingerprint(llvm::StringRef Identity, size_t Ordinal) {
  llvm::BLAKE3 Hash;
  Hash.update(Identity);
  Hash.update(std::to_string(Ordinal));
  return llvm::toHex(Hash.final<8>(), /*LowerCase=*/true);
}

void finishFindings(std::vector<Finding> &Findings) {
  // Function and message only break ties, so that the order does not depend on
  // the order in which rules and units were judged.
  llvm::sort(Findings, [](const Finding &L, const Finding &R) {
    auto Key = [](const Finding &F) {
      return std::tie(F.File, F.Line, F.Column, F.Rule, F.Shape, F.Subject,
                      F.Function, F.Message);
    };
    return Key(L) < Key(R);
  });

  std::map<std::string, size_t> Seen;
  for (Finding &F : Findings) {
    std::string Id = identity(F);
    size_t Ordinal = Seen[Id]++;
    F.Fingerprint = fingerprint(Id, Ordinal);
  }
}

} // namespace decontend
