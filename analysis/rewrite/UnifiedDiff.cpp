//===- UnifiedDiff.cpp - Line differences as text for patch(1) ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Before, After --> [split, number] --> [Comparison] --> changes
//                                                            |
//                          text <-- [hunks] <-- [slideDown] --
//
// The comparison is Myers' O(ND) search from both ends, in linear space: it
// finds a point in the middle of a shortest edit path and recurses into the
// two halves.
//
//===----------------------------------------------------------------------===//
#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <optional>

namespace decontend {
namespace {

/// Lines [A0, A1) before became [B0, B1) after.
struct Change {
  size_t A0, A1, B0, B1;
};

using Lines = std::vector<llvm::StringRef>;
using Numbers = std::vector<uint32_t>;

/// Lines with their ends, so that a missing last one makes a difference.
Lines splitLines(llvm::StringRef Text) {
  Lines Result;
  while (!Text.empty()) {
    size_t End = Text.find('\n');
    size_t Size = End == llvm::StringRef::npos ? Text.size() : End + 1;
    Result.push_back(Text.take_front(Size));
    Text = Text.drop_front(Size);
  }
  return Result;
}

/// Equal lines get equal numbers, which are quick to compare.
Numbers number(const Lines &L, llvm::StringMap<uint32_t> &Known) {
  Numbers Result;
  for (llvm::StringRef Line : L)
    Result.push_back(Known.try_emplace(Line, Known.size()).first->second);
  return Result;
}

class Comparison {
public:
  Comparison(const Numbers &A, const Numbers &B) : A(A), B(B) {}

  std::vector<Change> run() {
    compare(0, A.size(), 0, B.size());
    return std::move(Changes);
  }

private:
  /// Bounds the time for files that have little in common. There the whole
  /// differing part is shown as replaced, which is right and as readable.
  static constexpr ptrdiff_t MaxEdits = 4096;

  const Numbers &A, &B;
  std::vector<Change> Changes;

  struct Point {
    size_t A, B;
  };

  void emit(Change C) {
    if (!Changes.empty() && Changes.back().A1 == C.A0 &&
        Changes.back().B1 == C.B0) {
      Changes.back().A1 = C.A1;
      Changes.back().B1 = C.B1;
      return;
    }
    Changes.push_back(C);
  }

  void compare(size_t A0, size_t A1, size_t B0, size_t B1) {
    while (A0 < A1 && B0 < B1 && A[A0] == B[B0])
      ++A0, ++B0;
    while (A0 < A1 && B0 < B1 && A[A1 - 1] == B[B1 - 1])
      --A1, --B1;
    if (A0 == A1 && B0 == B1)
      return;
    std::optional<Point> Middle;
    if (A0 != A1 && B0 != B1)
      Middle = middle(A0, A1, B0, B1);
    if (!Middle)
      return emit({A0, A1, B0, B1});
    compare(A0, Middle->A, B0, Middle->B);
    compare(Middle->A, A1, Middle->B, B1);
  }

  /// One of the two searches. Reach[K] is how far along A it got on diagonal K
  /// (A minus B) with the edits so far, or -1.
  struct Search {
    ptrdiff_t N, M, Limit;
    std::vector<ptrdiff_t> Reach;
    ptrdiff_t Low = 0, High = 0; ///< Diagonals given up as they left the box.

    Search(ptrdiff_t N, ptrdiff_t M, ptrdiff_t Limit)
        : N(N), M(M), Limit(Limit), Reach(2 * Limit + 3, -1) {
      at(1) = 0;
    }
    ptrdiff_t &at(ptrdiff_t K) { return Reach[K + Limit + 1]; }
    /// Whether the search came to a point of the box on diagonal K.
    bool has(ptrdiff_t K) {
      if (K < -Limit || K > Limit || at(K) == -1)
        return false;
      return at(K) <= N && at(K) >= K && at(K) - K <= M;
    }
    /// The start of diagonal K after one more edit, the D-th.
    ptrdiff_t step(ptrdiff_t K, ptrdiff_t D) {
      if (K == -D || (K != D && at(K - 1) < at(K + 1)))
        return at(K + 1);
      return at(K - 1) + 1;
    }
  };

  /// A point that a shortest path passes with about half of its edits made;
  /// none if that path is too long to look for.
  std::optional<Point> middle(size_t A0, size_t A1, size_t B0, size_t B1) {
    const ptrdiff_t N = A1 - A0, M = B1 - B0, Delta = N - M;
    const ptrdiff_t Limit = std::min((N + M + 1) / 2, MaxEdits);
    // With an odd distance the forward search closes the gap, else the
    // backward one.
    const bool Odd = Delta % 2 != 0;
    Search Forward(N, M, Limit), Backward(N, M, Limit);
    auto Point = [&](ptrdiff_t X, ptrdiff_t K) {
      return Comparison::Point{A0 + X, B0 + (X - K)};
    };

    for (ptrdiff_t D = 0; D <= Limit; ++D) {
      for (ptrdiff_t K = -D + Forward.Low; K <= D - Forward.High; K += 2) {
        ptrdiff_t X = Forward.step(K, D), Y = X - K;
        while (X < N && Y < M && A[A0 + X] == B[B0 + Y])
          ++X, ++Y;
        Forward.at(K) = X;
        if (X > N)
          Forward.High += 2;
        else if (Y > M)
          Forward.Low += 2;
        else if (Odd && Backward.has(Delta - K) &&
                 X >= N - Backward.at(Delta - K))
          return Point(X, K);
      }
      for (ptrdiff_t K = -D + Backward.Low; K <= D - Backward.High; K += 2) {
        ptrdiff_t X = Backward.step(K, D), Y = X - K;
        while (X < N && Y < M && A[A1 - X - 1] == B[B1 - Y - 1])
          ++X, ++Y;
        Backward.at(K) = X;
        if (X > N)
          Backward.High += 2;
        else if (Y > M)
          Backward.Low += 2;
        else if (!Odd && Forward.has(Delta - K) &&
                 Forward.at(Delta - K) >= N - X)
          return Point(Forward.at(Delta - K), Delta - K);
      }
    }
    return std::nullopt;
  }
};

/// Moves a block of pure insertions or deletions down as far as it goes, as
/// diff(1) does: an added function then starts with its first line and not with
/// the brace that ends the one before. Blocks that touch become one.
std::vector<Change> slideDown(const std::vector<Change> &Changes,
                              const Numbers &A, const Numbers &B) {
  std::vector<Change> Result;
  for (size_t I = Changes.size(); I-- != 0;) {
    Change C = Changes[I];
    size_t Bound = Result.empty() ? A.size() : Result.back().A0;
    auto Same = [&] {
      return C.A0 == C.A1   ? B[C.B0] == B[C.B1]
             : C.B0 == C.B1 ? A[C.A0] == A[C.A1]
                            : false;
    };
    while (C.A1 < Bound && Same())
      ++C.A0, ++C.A1, ++C.B0, ++C.B1;
    if (!Result.empty() && C.A1 == Result.back().A0) {
      Result.back().A0 = C.A0;
      Result.back().B0 = C.B0;
    } else {
      Result.push_back(C);
    }
  }
  std::reverse(Result.begin(), Result.end());
  return Result;
}

void printLine(llvm::raw_ostream &OS, char Mark, llvm::StringRef Line) {
  OS << Mark << Line;
  if (!Line.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

void printRange(llvm::raw_ostream &OS, char Mark, size_t Begin, size_t Count) {
  OS << Mark << (Count == 0 ? Begin : Begin + 1);
  if (Count != 1)
    OS << ',' << Count;
}

/// Quotes a name with odd bytes, and ends one with spaces by a tab, as git
/// does; patch(1) reads both.
void printName(llvm::raw_ostream &OS, llvm::StringRef Mark,
               llvm::StringRef Side, llvm::StringRef File) {
  auto IsOdd = [](char C) {
    return llvm::isASCII(C) && (!llvm::isPrint(C) || C == '"' || C == '\\');
  };
  OS << Mark << ' ';
  if (std::none_of(File.begin(), File.end(), IsOdd)) {
    OS << Side << File << (File.contains(' ') ? "\t\n" : "\n");
    return;
  }
  OS << '"' << Side;
  for (char C : File) {
    if (C == '"' || C == '\\')
      OS << '\\' << C;
    else if (IsOdd(C))
      OS << '\\' << char('0' + (C >> 6)) << char('0' + (C >> 3 & 7))
         << char('0' + (C & 7));
    else
      OS << C;
  }
  OS << "\"\n";
}

} // namespace

std::string unifiedDiff(llvm::StringRef File, llvm::StringRef Before,
                        llvm::StringRef After) {
  constexpr size_t Context = 3;
  if (Before == After)
    return {};
  const Lines Old = splitLines(Before), New = splitLines(After);
  llvm::StringMap<uint32_t> Known;
  const Numbers A = number(Old, Known), B = number(New, Known);
  const std::vector<Change> Changes = slideDown(Comparison(A, B).run(), A, B);

  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printName(OS, "---", "a/", File);
  printName(OS, "+++", "b/", File);
  for (size_t First = 0; First != Changes.size();) {
    size_t Next = First + 1;
    while (Next != Changes.size() &&
           Changes[Next].A0 - Changes[Next - 1].A1 <= 2 * Context)
      ++Next;
    const size_t Lead = std::min(Context, Changes[First].A0);
    const Change &Last = Changes[Next - 1];
    const size_t End = std::min(Last.A1 + Context, Old.size());
    size_t Begin = Changes[First].A0 - Lead;
    const size_t NewBegin = Changes[First].B0 - Lead;
    OS << "@@ ";
    printRange(OS, '-', Begin, End - Begin);
    OS << ' ';
    printRange(OS, '+', NewBegin, Last.B1 + (End - Last.A1) - NewBegin);
    OS << " @@\n";
    for (; First != Next; ++First) {
      const Change &C = Changes[First];
      for (; Begin != C.A0; ++Begin)
        printLine(OS, ' ', Old[Begin]);
      for (; Begin != C.A1; ++Begin)
        printLine(OS, '-', Old[Begin]);
      for (size_t I = C.B0; I != C.B1; ++I)
        printLine(OS, '+', New[I]);
    }
    for (; Begin != End; ++Begin)
      printLine(OS, ' ', Old[Begin]);
  }
  return OS.str();
}

} // namespace decontend
