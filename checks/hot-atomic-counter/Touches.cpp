//===- Touches.cpp - What a call reads and writes -------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Touches.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <optional>

namespace decontend {

bool Touches::writes() const {
  return std::any_of(All.begin(), All.end(),
                     [](const Touch &T) { return T.Writes; });
}

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

std::string canonicalPath(llvm::StringRef Text) {
  Text.consume_front("&");
  // `*p` is p with all of what it points to; `(*p).x` is `p->x`.
  if (Text.consume_front("(*")) {
    auto [Base, Rest] = Text.split(')');
    if (Rest.consume_front("."))
      return (Base + "->" + Rest).str();
    return (Base + Rest).str();
  }
  Text.consume_front("*");
  return Text.str();
}

/// The next step of a path: a name, or an index with its brackets.
static llvm::StringRef takeStep(llvm::StringRef &Path) {
  while (Path.consume_front(".") || Path.consume_front("->"))
    ;
  llvm::StringRef Step;
  if (Path.starts_with("["))
    Step = Path.take_front(Path.find(']') == llvm::StringRef::npos
                               ? Path.size()
                               : Path.find(']') + 1);
  else if (Path.starts_with("::"))
    Step = Path.take_until([&, I = 0](char C) mutable {
      return ++I > 2 && (C == '-' || C == '[');
    });
  else
    Step = Path.take_while(isWord);
  if (Step.empty() && !Path.empty())
    Step = Path;
  Path = Path.drop_front(Step.size());
  return Step;
}

static bool isNumber(llvm::StringRef Index) {
  return Index.size() > 2 &&
         llvm::all_of(Index.drop_front().drop_back(), llvm::isDigit);
}

bool samePart(llvm::StringRef A, llvm::StringRef B) {
  while (!A.empty() && !B.empty()) {
    llvm::StringRef X = takeStep(A), Y = takeStep(B);
    bool Indices = X.starts_with("[") && Y.starts_with("[");
    if (X != Y && !(Indices && !(isNumber(X) && isNumber(Y))))
      return false;
  }
  return true;
}

bool sameRoot(llvm::StringRef A, llvm::StringRef B) {
  return !A.empty() && !B.empty() && takeStep(A) == takeStep(B);
}

bool overlap(const Touch &A, const Touch &B) {
  if (sameRoot(A.Path, B.Path))
    return samePart(A.Path, B.Path);
  return !empty(A.Field) && A.Field == B.Field;
}

Clash clash(const Touches &A, const Touches &B) {
  auto Own = [](const Touch &T, const Touches &Mine, const Touches &Other) {
    bool Shared = Mine.Reached.count(T.In) && Other.Reached.count(T.In);
    bool Private = T.Path.empty() || llvm::StringRef(T.Path).starts_with("::");
    return !Shared || !Private;
  };
  for (const Touch &X : A.All)
    for (const Touch &Y : B.All)
      if ((X.Writes || Y.Writes) && Own(X, A, B) && Own(Y, B, A) &&
          overlap(X, Y))
        return {&X, &Y};
  return {};
}

namespace {
/// Local variables that stand for one path: `ids = &ns->ids[1]`.
class Aliases {
public:
  Aliases(const Program &P, const FunctionFacts &F) : P(P) {
    std::map<Sym, unsigned> Count;
    for (const Event &E : F.Events)
      if (E.Kind == EventKind::Assign && E.NumExprs == 2) {
        const Expr &L = F.exprs(E)[0], &R = F.exprs(E)[1];
        if (L.Root != RootKind::Local || !empty(L.Field))
          continue;
        if (++Count[L.Base] == 1 &&
            (R.Root == RootKind::Param || R.Root == RootKind::Global) &&
            (R.Flags & Expr::Pointer || R.Flags & Expr::AddressOf))
          Stands[L.Base] = &R;
      }
    for (auto [Name, N] : Count)
      if (N > 1)
        Stands.erase(Name);
  }

  /// Where \p X leads to, from a parameter or a global; none if neither does.
  /// With its address, `->` behind it is a `.` behind the path.
  struct Way {
    std::string Path;
    bool Address = false;
  };
  std::optional<Way> way(const Expr &X, unsigned Depth = 0) const {
    Way Out{canonicalPath(P.str(X.Text)), (X.Flags & Expr::AddressOf) != 0};
    llvm::StringRef Rest = Out.Path;
    Rest = Rest.drop_front(Rest.take_while(isWord).size());
    switch (X.Root) {
    case RootKind::Param:
      return Out;
    case RootKind::Global:
      Out.Path = ("::" + P.str(X.Base) + Rest).str();
      return Out;
    case RootKind::Local: {
      auto It = Stands.find(X.Base);
      if (It == Stands.end() || Depth > 3)
        return std::nullopt;
      std::optional<Way> Base = way(*It->second, Depth + 1);
      if (!Base || Rest.empty())
        return Base;
      Out.Path = join(Base->Path, Base->Address, Rest);
      return Out;
    }
    default:
      return std::nullopt;
    }
  }

  std::optional<std::string> path(const Expr &X) const {
    std::optional<Way> Found = way(X);
    return Found ? std::optional(Found->Path) : std::nullopt;
  }

  /// Is \p E what makes a variable stand for a path?
  bool sets(const FunctionFacts &F, const Event &E) const {
    return E.Kind == EventKind::Assign && E.NumExprs == 2 &&
           F.exprs(E)[0].Root == RootKind::Local &&
           Stands.count(F.exprs(E)[0].Base) != 0;
  }

  /// `&a.b` followed by `->c` is `a.b.c`; `a.b` followed by `->c` is `a.b->c`.
  static std::string join(llvm::StringRef Base, bool Address,
                          llvm::StringRef Rest) {
    std::string Out = Base.str();
    if (Address && Rest.consume_front("->"))
      return Out + "." + Rest.str();
    return Out + Rest.str();
  }

private:
  const Program &P;
  std::map<Sym, const Expr *> Stands;
};
} // namespace

static void sortUnique(Touches &T) {
  std::sort(T.All.begin(), T.All.end());
  T.All.erase(std::unique(T.All.begin(), T.All.end(),
                          [](const Touch &A, const Touch &B) {
                            return !(A < B) && !(B < A);
                          }),
              T.All.end());
}

void TouchFinder::call(NodeId N, uint32_t Index, unsigned Depth, Touches &Out) {
  const FunctionFacts &F = *P.node(N).Facts;
  const Event &E = F.Events[Index];
  const FunctionModel *M = P.modelOf(E);
  Aliases Names(P, F);
  auto Args = F.exprs(E);
  auto Argument = [&](const Expr &X, bool Writes) {
    if (!(X.Flags & (Expr::Pointer | Expr::AddressOf)))
      return;
    bool Local = X.Root == RootKind::Local;
    std::optional<std::string> Path = Names.path(X);
    if (!Path && Local)
      Path = canonicalPath(P.str(X.Text));
    if (Path)
      Out.All.push_back({*Path, X.Field, Writes, N, E.Line});
  };
  if (M) {
    Out.Allocates |= M->Allocates;
    if (M->Atomic && size_t(M->Atomic->On) < Args.size())
      Argument(Args[M->Atomic->On], M->Atomic->Op != AtomicModel::Read);
    else if (M->Unlinks >= 0 && size_t(M->Unlinks) < Args.size())
      Argument(Args[M->Unlinks], true);
    return;
  }
  NodeId Callee = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
  if (E.Via == CallVia::Slot)
    if (llvm::ArrayRef<NodeId> T = P.targets(E.Callee); T.size() == 1)
      Callee = T[0];
  if (Callee == NoNode) {
    Out.Complete = false;
    return;
  }
  Out.Reached.insert(Callee);
  if (!P.node(Callee).Facts) {
    Out.Bodiless = true;
    for (const Expr &X : Args)
      Argument(X, true);
    return;
  }
  if (Depth == 0 || Busy.count(Callee)) {
    Out.Complete &= Busy.count(Callee) != 0;
    return;
  }
  const Touches &Inner = body(Callee, Depth - 1);
  Out.Reached.insert(Inner.Reached.begin(), Inner.Reached.end());
  Out.Complete &= Inner.Complete;
  Out.Allocates |= Inner.Allocates;
  Out.Bodiless |= Inner.Bodiless;
  const FunctionFacts &G = *P.node(Callee).Facts;
  for (const Touch &T : Inner.All) {
    Touch New = T;
    llvm::StringRef Rest = T.Path;
    if (!T.Path.empty() && !Rest.starts_with("::")) {
      llvm::StringRef Base = Rest.take_while(isWord);
      Rest = Rest.drop_front(Base.size());
      New.Path.clear();
      for (size_t I = 0; I < G.Params.size() && I < Args.size(); ++I)
        if (P.str(G.Params[I].Name) == Base) {
          const Expr &X = Args[I];
          std::optional<Aliases::Way> To = Names.way(X);
          if (!To && X.Root == RootKind::Local)
            To = Aliases::Way{canonicalPath(P.str(X.Text)),
                              (X.Flags & Expr::AddressOf) != 0};
          if (To)
            New.Path = Aliases::join(To->Path, To->Address, Rest);
        }
      if (New.Path.size() > 200)
        New.Path.clear();
    }
    Out.All.push_back(std::move(New));
  }
}

const Touches &TouchFinder::body(NodeId N, unsigned Depth) {
  auto [It, New] = Known.try_emplace({N, Depth});
  if (!New)
    return It->second;
  Touches Out;
  const FunctionFacts &F = *P.node(N).Facts;
  Busy.insert(N);
  Aliases Names(P, F);
  for (const Access &A : F.Accesses) {
    // What a call does to its arguments is that call's business.
    if (A.Kind == AccessKind::Argument && A.At < F.Events.size() &&
        F.Events[A.At].Kind == EventKind::Call)
      continue;
    // A local variable that stands for a path is followed.
    if (A.Kind == AccessKind::Escape && A.At < F.Events.size() &&
        Names.sets(F, F.Events[A.At]))
      continue;
    const Expr &X = F.Exprs[A.Path];
    Touch T;
    T.Path = Names.path(X).value_or("");
    T.Field = X.Field;
    T.Writes = A.Kind != AccessKind::Read;
    T.In = N;
    T.Line = A.Line;
    if (!T.Path.empty() || !empty(T.Field))
      Out.All.push_back(std::move(T));
  }
  for (uint32_t I = 0; I < F.Events.size(); ++I)
    if (F.Events[I].Kind == EventKind::Call)
      call(N, I, Depth, Out);
  sortUnique(Out);
  Busy.erase(N);
  return It->second = std::move(Out);
}

Touches TouchFinder::ofCall(NodeId N, uint32_t Event) {
  Touches Out;
  call(N, Event, MaxDepth, Out);
  sortUnique(Out);
  return Out;
}

} // namespace decontend
