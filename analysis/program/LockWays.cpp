//===- LockWays.cpp - Which event runs after which, and if what ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockFlow.h"

using llvm::StringRef;

namespace decontend {

static bool opens(EventKind K) {
  switch (K) {
  case EventKind::Loop:
  case EventKind::Branch:
  case EventKind::Else:
  case EventKind::Switch:
  case EventKind::Lambda:
  case EventKind::Scope:
    return true;
  default:
    return false;
  }
}

void LockFlow::findShape() {
  uint32_t End = F.Events.size();
  Parents.assign(End, -1);
  LambdaOf.assign(End, -1);
  std::vector<int> Open;
  for (uint32_t I = 0; I < End; ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::End && !Open.empty())
      Open.pop_back();
    Parents[I] = Open.empty() ? -1 : Open.back();
    for (int Up : Open)
      if (F.Events[Up].Kind == EventKind::Lambda)
        LambdaOf[I] = Up;
    if (opens(E.Kind))
      Open.push_back(I);
    if (E.Kind == EventKind::Label)
      Labels.try_emplace(E.Callee, I);
    if (E.Kind == EventKind::Case)
      for (int Up = Parents[I]; Up >= 0; Up = Parents[Up])
        if (F.Events[Up].Kind == EventKind::Switch) {
          Cases[Up].push_back(I);
          break;
        }
    if (E.Kind == EventKind::End) {
      const Event &Opener = F.Events[E.Link];
      bool Else = I + 1 < End && F.Events[I + 1].Kind == EventKind::Else;
      if (Opener.Kind == EventKind::Else ||
          (Opener.Kind == EventKind::Branch && !Else))
        Sides[I] = {0, 0};
    }
  }
}

/// First event of the body of \p Loop: what its condition calls stands before.
uint32_t LockFlow::behindCondition(uint32_t Loop) const {
  uint32_t End = F.Events[Loop].Link, I = Loop + 1;
  while (I < End) {
    const Event &E = F.Events[I];
    if (!E.is(Event::InCondition) &&
        !(E.Kind == EventKind::Call && E.is(Event::ResultUsed) &&
          E.Link == Loop))
      break;
    I = opens(E.Kind) ? E.Link + 1 : I + 1;
  }
  return std::min(I, End);
}

void LockFlow::jump(uint32_t I, llvm::SmallVectorImpl<Way> &Out) const {
  const Event &E = F.Events[I];
  if (E.Kind == EventKind::Goto) {
    if (auto It = Labels.find(E.Callee); It != Labels.end())
      Out.push_back({It->second});
    return;
  }
  for (int Up = Parents[I]; Up >= 0; Up = Parents[Up]) {
    const Event &O = F.Events[Up];
    if (O.Kind == EventKind::Lambda)
      return;
    if (O.Kind == EventKind::Loop) {
      Out.push_back({E.Kind == EventKind::Break ? O.Link + 1 : O.Link});
      return;
    }
    if (O.Kind == EventKind::Switch && E.Kind == EventKind::Break) {
      Out.push_back({O.Link});
      return;
    }
  }
}

void LockFlow::ways(uint32_t I, llvm::SmallVectorImpl<Way> &Out) const {
  const Event &E = F.Events[I];
  uint32_t End = F.Events.size();
  // A step into the body of a loop, or past it, behind its condition.
  auto Enter = [&](uint32_t Loop) {
    const Event &L = F.Events[Loop];
    uint32_t Body = behindCondition(Loop);
    Out.push_back({Body, int(Loop), true});
    if (!L.is(Event::Endless))
      Out.push_back({L.Link + 1, int(Loop), false});
  };
  auto Next = [&] {
    int Up = Parents[I];
    if (Up >= 0 && F.Events[Up].Kind == EventKind::Loop && int(I) != Up &&
        I + 1 == behindCondition(Up))
      Enter(Up);
    else
      Out.push_back({I + 1});
  };
  switch (E.Kind) {
  case EventKind::Return:
    return;
  case EventKind::Goto:
  case EventKind::Break:
  case EventKind::Continue:
    jump(I, Out);
    return;
  case EventKind::Lambda:
    Out.push_back({E.Link + 1});
    return;
  case EventKind::Branch: {
    Out.push_back({I + 1, int(I), true});
    bool Else =
        E.Link + 1 < End && F.Events[E.Link + 1].Kind == EventKind::Else;
    if (Else)
      Out.push_back({E.Link + 1, int(I), false});
    else
      Out.push_back({E.Link, int(I), false});
    return;
  }
  case EventKind::Switch:
    if (auto It = Cases.find(I); It != Cases.end())
      for (uint32_t Case : It->second)
        Out.push_back({Case});
    Out.push_back({E.Link});
    return;
  case EventKind::Loop: {
    uint32_t Body = behindCondition(I);
    bool After = P.str(E.Callee) == "do";
    if (After)
      Out.push_back({Body});
    else if (Body == I + 1)
      Enter(I);
    else
      Out.push_back({I + 1});
    return;
  }
  case EventKind::End: {
    const Event &O = F.Events[E.Link];
    if (O.Kind == EventKind::Lambda)
      return;
    if (O.Kind == EventKind::Loop) {
      // Around again: to the condition, if calls stand in it.
      if (behindCondition(E.Link) != E.Link + 1)
        Out.push_back({E.Link + 1});
      else
        Enter(E.Link);
      return;
    }
    if (O.Kind == EventKind::Branch && I + 1 < End &&
        F.Events[I + 1].Kind == EventKind::Else) {
      Out.push_back({F.Events[I + 1].Link});
      return;
    }
    Next();
    return;
  }
  case EventKind::Call:
    if (auto It = EffectsAt.find(I);
        It != EffectsAt.end() && It->second->NoReturn)
      return;
    if (NodeId N = E.Via == CallVia::Direct ? P.find(E.Callee) : NoNode;
        N != NoNode && P.node(N).Facts &&
        P.node(N).Facts->is(FunctionFacts::NoReturn))
      return;
    Next();
    return;
  default:
    Next();
    return;
  }
}

const LockCondition &LockFlow::condition(uint32_t Branch) const {
  auto [It, New] = Conditions.try_emplace(Branch);
  if (!New)
    return It->second;
  const Event &E = F.Events[Branch];
  LockCondition &C = It->second;
  if (!E.NumExprs)
    return C; // an arm of ?:, which may be the second one
  const Expr &X = F.Exprs[E.FirstExpr];
  C = LockCondition(E.Kind == EventKind::Branch ? P.str(E.Callee)
                                                : P.str(X.Text));
  if (!C.empty() || E.Kind != EventKind::Branch || !empty(X.Field))
    return C;
  if (X.Root == RootKind::Local && !E.is(Event::ErrorTest))
    C = LockCondition(P.str(X.Base), false, E.is(Event::Negated));
  else if (X.Root == RootKind::Call && !E.is(Event::ErrorTest))
    C = LockCondition(P.str(X.Text).take_until([](char C) { return C == '('; }),
                      true, E.is(Event::Negated));
  return C;
}

/// Does \p C test the value of the call at event \p Call?
bool LockFlow::isResult(const LockCondition &C, uint32_t Call, bool Holds,
                        std::optional<bool> &Nonzero) const {
  const Event &E = F.Events[Call];
  std::string Qualified = qualifiedName(P.str(E.Callee));
  StringRef Name = P.calleeName(E);
  if (!Qualified.empty())
    Name = StringRef(Qualified).substr(StringRef(Qualified).rfind(':') + 1);
  Nonzero = C.nonzero(Name, true, Holds);
  if (!Nonzero && !empty(E.Macro))
    Nonzero = C.nonzero(P.str(E.Macro), true, Holds);
  return Nonzero.has_value();
}

/// Is IfNonzero what counts on that way out of \p Branch?
std::optional<bool> LockFlow::decided(const LockItem &L, uint32_t Branch,
                                      bool Holds) const {
  std::optional<bool> Nonzero;
  switch (L.Cond) {
  case LockItem::None:
    break;
  case LockItem::Result:
    isResult(condition(Branch), L.Of, Holds, Nonzero);
    break;
  case LockItem::Variable:
    Nonzero = condition(Branch).nonzero(P.str(Sym(L.Of)), false, Holds);
    break;
  case LockItem::Text: {
    const Event &E = F.Events[Branch];
    if (E.Kind != EventKind::Branch || !E.NumExprs)
      break;
    StringRef Then = P.str(Sym(L.Of)), Now = P.str(E.Callee);
    if (Then == Now)
      Nonzero = Holds;
    else if ((Then.consume_front("!") || Now.consume_front("!")) && Then == Now)
      Nonzero = !Holds;
    break;
  }
  }
  return Nonzero;
}

LockState LockFlow::along(uint32_t From, const Way &W, LockState S) const {
  if (W.Branch >= 0)
    for (LockItem &L : S)
      if (auto Nonzero = decided(L, W.Branch, W.Holds)) {
        L.IfNonzero = L.IfZero = *Nonzero ? L.IfNonzero : L.IfZero;
        L.flatten();
      }
  for (const LockGuard &G : Effects.Guards) {
    auto Alive = [&](uint32_t I) { return G.Declared < I && I <= G.Last; };
    // The declaration itself starts a new life.
    if (G.Locks.empty() || !Alive(From) || Alive(W.To))
      continue;
    for (LockId Id : G.Locks)
      for (size_t I = 0; I < S.size(); ++I)
        if (Locks.same(S[I].Lock, Id) && S[I].fates() & Taken) {
          if (S[I].Depth > 1)
            --S[I].Depth;
          else
            S.erase(S.begin() + I);
          break;
        }
  }
  return S;
}

} // namespace decontend
