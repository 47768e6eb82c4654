//===- FixIts.cpp - Edits of a plan as fix-it hints -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FixIts.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace clang;

namespace decontend {

bool liesIn(const Plan &P, llvm::StringRef File) {
  return llvm::all_of(P.Edits, [&](const Edit &E) { return E.File == File; });
}

std::vector<FixItHint> fixIts(const Plan &P, FileID FID,
                              const SourceManager &SM) {
  // In the order in which applyEdits() makes them: insertions at one place keep
  // the order of the plan, hence the address.
  std::vector<const Edit *> Order;
  for (const Edit &E : P.Edits)
    Order.push_back(&E);
  llvm::sort(Order, [](const Edit *L, const Edit *R) {
    return std::tie(L->Begin, L->End, L) < std::tie(R->Begin, R->End, R);
  });
  std::vector<Edit> Joined;
  for (size_t I = 0; I < Order.size(); ++I) {
    const Edit &E = *Order[I];
    if (llvm::any_of(llvm::ArrayRef(Order).take_front(I),
                     [&](const Edit *O) { return *O == E; }))
      continue;
    if (!Joined.empty() && E.Begin < Joined.back().End)
      return {};
    if (!Joined.empty() && E.Begin == Joined.back().End) {
      Joined.back().End = E.End;
      Joined.back().Text += E.Text;
    } else {
      Joined.push_back(E);
    }
  }
  SourceLocation Start = SM.getLocForStartOfFile(FID);
  size_t Size = SM.getBufferData(FID).size();
  std::vector<FixItHint> Hints;
  for (const Edit &E : Joined) {
    if (E.Begin > E.End || E.End > Size)
      return {};
    SourceLocation Begin = Start.getLocWithOffset(E.Begin);
    Hints.push_back(E.Begin == E.End
                        ? FixItHint::CreateInsertion(Begin, E.Text)
                        : FixItHint::CreateReplacement(
                              CharSourceRange::getCharRange(
                                  Begin, Start.getLocWithOffset(E.End)),
                              E.Text));
  }
  return Hints;
}

} // namespace decontend
