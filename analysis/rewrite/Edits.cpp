//===- Edits.cpp - Applying edits to the bytes of a file ------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <tuple>

namespace decontend {

static llvm::Error badEdit(llvm::StringRef File, const Edit &E,
                           const llvm::Twine &What) {
  return llvm::createStringError(File + ": edit of bytes " +
                                 llvm::Twine(E.Begin) + " to " +
                                 llvm::Twine(E.End) + " " + What);
}

llvm::Expected<std::string> applyEdits(llvm::StringRef File,
                                       llvm::StringRef Contents,
                                       std::vector<Edit> Edits) {
  llvm::erase_if(Edits, [&](const Edit &E) { return E.File != File; });
  // At one offset insertions come before the replacement that starts there;
  // insertions at one place keep the order of the plan, hence the address.
  std::vector<const Edit *> Order;
  for (const Edit &E : Edits)
    Order.push_back(&E);
  llvm::sort(Order, [](const Edit *L, const Edit *R) {
    return std::tie(L->Begin, L->End, L) < std::tie(R->Begin, R->End, R);
  });

  std::string Result;
  size_t Done = 0;     // Bytes of Contents that are dealt with.
  size_t SameFrom = 0; // First edit with the range of the current one.
  for (size_t I = 0; I != Order.size(); ++I) {
    const Edit &E = *Order[I];
    if (E.Begin > E.End || E.End > Contents.size())
      return badEdit(File, E,
                     "is outside the file of " + llvm::Twine(Contents.size()) +
                         " bytes");
    if (Order[SameFrom]->Begin != E.Begin || Order[SameFrom]->End != E.End)
      SameFrom = I;
    // Two units that include one header each ask for its edit.
    auto Earlier = llvm::ArrayRef(Order).slice(SameFrom, I - SameFrom);
    if (llvm::any_of(Earlier, [&](const Edit *O) { return *O == E; }))
      continue;
    if (E.Begin < Done)
      return badEdit(File, E,
                     "overlaps one that ends at byte " + llvm::Twine(Done));
    Result += Contents.slice(Done, E.Begin);
    Result += E.Text;
    Done = E.End;
  }
  Result += Contents.substr(Done);
  return Result;
}

} // namespace decontend
