//===- Flow.cpp - Where an event stands in its function -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

namespace decontend {

static bool opens(EventKind K) {
  return K == EventKind::Loop || K == EventKind::Branch ||
         K == EventKind::Else || K == EventKind::Switch ||
         K == EventKind::Lambda;
}

Flow::Flow(const Program &P, const FunctionFacts &F) : P(P), F(F) {
  Parents.resize(F.Events.size(), -1);
  OnError.resize(F.Events.size(), false);
  std::vector<int> Stack;
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::End && !Stack.empty())
      Stack.pop_back();
    Parents[I] = Stack.empty() ? -1 : Stack.back();
    if (opens(E.Kind))
      Stack.push_back(I);
  }
  markErrors();
}

bool Flow::isErrorBranch(uint32_t I) const {
  const Event &E = F.Events[I];
  if (E.Kind == EventKind::Branch) {
    if (E.is(Event::ErrorTest))
      return !E.is(Event::Negated);
    // `if (!p) {...}` after an allocation.
    return E.is(Event::NullTest) && E.is(Event::Negated);
  }
  return false;
}

void Flow::markErrors() {
  // Blocks that test for an error.
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    int Up = Parents[I];
    if (Up >= 0 && (OnError[Up] || isErrorBranch(Up)))
      OnError[I] = true;
  }
  // Sections that only a goto reaches.
  int Section = -1;
  bool SectionError = false;
  for (uint32_t I = 0; I < F.Events.size(); ++I) {
    const Event &E = F.Events[I];
    if (E.Kind == EventKind::Label && Parents[I] == -1) {
      bool OnlyGoto = false;
      for (int J = int(I) - 1; J >= 0; --J) {
        if (Parents[J] != -1 || F.Events[J].Kind == EventKind::End)
          break;
        if (F.Events[J].Kind == EventKind::Call ||
            F.Events[J].Kind == EventKind::Assign)
          break;
        if (F.Events[J].Kind == EventKind::Label)
          continue;
        OnlyGoto = F.Events[J].Kind == EventKind::Return ||
                   F.Events[J].Kind == EventKind::Goto;
        break;
      }
      if (OnlyGoto || (Section >= 0 && SectionError)) {
        unsigned Jumps = 0, ErrorJumps = 0;
        for (uint32_t J = 0; J < F.Events.size(); ++J) {
          const Event &G = F.Events[J];
          if (G.Kind != EventKind::Goto || G.Callee != E.Callee)
            continue;
          ++Jumps;
          int Up = Parents[J];
          if (OnError[J] || (Up >= 0 && F.Events[Up].is(Event::Unlikely)))
            ++ErrorJumps;
        }
        llvm::StringRef Name = P.str(E.Callee);
        bool Named = Name.contains("err") || Name.contains("fail") ||
                     Name.contains("unwind") || Name.contains("undo") ||
                     Name.contains("abort") || Name.contains("cleanup") ||
                     Name.contains("free") || Name.contains("bad");
        // A label inside an error section continues it unless code jumps there
        // on a normal way.
        if (OnlyGoto)
          SectionError = Jumps > 0 && (ErrorJumps == Jumps || Named);
        else if (Jumps > 0 && ErrorJumps < Jumps && !Named)
          SectionError = false;
        Section = I;
      }
    }
    if (Section >= 0 && SectionError)
      OnError[I] = true;
    if (Section >= 0 && Parents[I] == -1 && E.Kind == EventKind::Return &&
        I + 1 < F.Events.size() && F.Events[I + 1].Kind != EventKind::Label) {
      Section = -1;
      SectionError = false;
    }
  }
}

static bool isElementLoop(const Event &E) {
  return E.Kind == EventKind::Loop && E.is(Event::OwnBody) &&
         !E.is(Event::Endless);
}

int Flow::elementLoop(uint32_t I) const {
  for (int Up = Parents[I]; Up >= 0; Up = Parents[Up]) {
    if (F.Events[Up].Kind == EventKind::Lambda)
      return -1;
    if (isElementLoop(F.Events[Up]))
      return Up;
  }
  return -1;
}

bool Flow::loopsOverElements(uint32_t I) const {
  return isElementLoop(F.Events[I]);
}

/// Is the local variable \p Name set to the result of call \p I?
bool Flow::setBy(Sym Name, uint32_t I) const {
  for (uint32_t J = I + 1; J < F.Events.size() && J < I + 3; ++J)
    if (F.Events[J].Kind == EventKind::Assign) {
      auto V = F.exprs(F.Events[J]);
      return V[0].Root == RootKind::Local && V[0].Base == Name &&
             V[1].Root == RootKind::Call && V[1].Base == F.Events[I].Callee;
    }
  return false;
}

/// Does event \p J, a break, return or goto, leave the loop at \p Loop?
bool Flow::jumpLeaves(uint32_t J, int Loop) const {
  const Event &E = F.Events[J];
  switch (E.Kind) {
  case EventKind::Return:
    return true;
  case EventKind::Goto:
    // To a label inside it is a continue, to one before it a fresh start.
    for (uint32_t K = 0; K < F.Events[Loop].Link; ++K)
      if (F.Events[K].Kind == EventKind::Label &&
          F.Events[K].Callee == E.Callee)
        return false;
    return true;
  case EventKind::Break: {
    int Up = Parents[J];
    while (Up > Loop && F.Events[Up].Kind != EventKind::Loop &&
           F.Events[Up].Kind != EventKind::Switch)
      Up = Parents[Up];
    return Up == Loop;
  }
  default:
    return false;
  }
}

bool Flow::leaves(uint32_t I, int Loop) const {
  for (uint32_t J : following(I)) {
    const Event &E = F.Events[J];
    if (Parents[J] > int(I))
      continue; // not on the straight way
    if (jumpLeaves(J, Loop))
      return true;
    // `if (!error) break;`: it tries until one works.
    if (E.Kind == EventKind::Branch && E.is(Event::Negated) &&
        !E.is(Event::NullTest) && E.NumExprs &&
        F.exprs(E)[0].Root == RootKind::Local && setBy(F.exprs(E)[0].Base, I))
      for (uint32_t K = J + 1; K < E.Link; ++K)
        if (Parents[K] == int(J) && jumpLeaves(K, Loop))
          return true;
  }
  return false;
}

bool Flow::leavesLoop(uint32_t I) const {
  int Loop = elementLoop(I);
  return Loop >= 0 && leaves(I, Loop);
}

int Flow::payingLoop(uint32_t I) const {
  int Loop = elementLoop(I);
  while (Loop >= 0 && leaves(I, Loop))
    Loop = elementLoop(Loop);
  return Loop;
}

bool Flow::isNullGuard(uint32_t I) const {
  const Event &E = F.Events[I];
  if (E.Kind != EventKind::Branch)
    return false;
  // `if (!IS_ERR(p))`, or `if (p)`.
  return E.is(Event::ErrorTest)
             ? E.is(Event::Negated)
             : E.is(Event::NullTest) && !E.is(Event::Negated);
}

int Flow::dropInCondition(uint32_t I) const {
  // The events of a condition stand right before the branch.
  for (int J = int(I) - 1; J >= 0; --J) {
    const Event &E = F.Events[J];
    if (!E.is(Event::InCondition) || Parents[J] != Parents[I])
      break;
    if (E.Kind != EventKind::Call)
      continue;
    const FunctionModel *M = P.modelOf(E);
    if (M && M->DropsRef >= 0)
      return J;
  }
  return -1;
}

unsigned Flow::conditions(uint32_t I) const {
  unsigned N = 0;
  for (int Up = Parents[I]; Up >= 0; Up = Parents[Up]) {
    const Event &E = F.Events[Up];
    switch (E.Kind) {
    case EventKind::Branch:
      if (!isNullGuard(Up) && dropInCondition(Up) < 0)
        ++N;
      break;
    case EventKind::Else:
    case EventKind::Switch:
    case EventKind::Lambda:
      ++N;
      break;
    case EventKind::Loop:
      if (!isElementLoop(E))
        ++N;
      break;
    default:
      break;
    }
  }
  return N;
}

int Flow::lastReferenceDrop(uint32_t I) const {
  for (int Up = Parents[I]; Up >= 0; Up = Parents[Up])
    if (F.Events[Up].Kind == EventKind::Branch &&
        !F.Events[Up].is(Event::Negated)) {
      int Drop = dropInCondition(Up);
      if (Drop >= 0)
        return Drop;
    }
  // `if (!dec_and_test(...)) return;` earlier in a block around the event.
  for (int J = int(I) - 1; J >= 0; --J)
    if (F.Events[J].is(Event::Negated) && leavesBefore(J, I)) {
      int Drop = dropInCondition(J);
      if (Drop >= 0)
        return Drop;
    }
  return -1;
}

/// Is \p J a branch in a block around \p I, closed before it, that leaves?
bool Flow::leavesBefore(uint32_t J, uint32_t I) const {
  const Event &E = F.Events[J];
  if (E.Kind != EventKind::Branch || E.Link > I)
    return false;
  bool Around = Parents[J] == -1;
  for (int Up = Parents[I]; Up >= 0 && !Around; Up = Parents[Up])
    Around = Up == Parents[J];
  return Around && bodyLeaves(J);
}

bool Flow::bodyLeaves(uint32_t Branch) const {
  for (uint32_t K = Branch + 1; K < F.Events[Branch].Link; ++K) {
    EventKind Kind = F.Events[K].Kind;
    if (Parents[K] == int(Branch) &&
        (Kind == EventKind::Return || Kind == EventKind::Goto ||
         Kind == EventKind::Break || Kind == EventKind::Continue))
      return true;
  }
  return false;
}

unsigned Flow::earlyLeaves(uint32_t I) const {
  unsigned Count = 0;
  for (uint32_t J = 0; J < I; ++J) {
    const Event &B = F.Events[J];
    if (B.Kind != EventKind::Branch || !B.Link || B.Link > I ||
        B.is(Event::Unlikely) || B.is(Event::ErrorTest) ||
        B.is(Event::NullTest) || B.Link < J + 2)
      continue;
    const Event &Last = F.Events[B.Link - 1];
    if (Last.Kind != EventKind::Return)
      continue;
    // What an error returns is negative, a variable, or null.
    if (Last.NumExprs) {
      const Expr &Value = F.Exprs[Last.FirstExpr];
      if (Value.Root != RootKind::Constant || P.str(Value.Text) != "0")
        continue;
    }
    // Only what stands in a block around I is passed on the way.
    int Block = Parents[J], Up = Parents[I];
    while (Up >= 0 && Up != Block)
      Up = Parents[Up];
    Count += Up == Block;
  }
  return Count;
}

unsigned Flow::skips(uint32_t I) const {
  int Loop = elementLoop(I);
  unsigned N = 0;
  for (uint32_t J = Loop < 0 ? I : Loop + 1; J < I; ++J) {
    // Tests against null are guards().
    if (F.Events[J].Kind != EventKind::Branch ||
        F.Events[J].is(Event::NullTest) || !leavesBefore(J, I))
      continue;
    for (uint32_t K = J + 1; K < F.Events[J].Link; ++K)
      if (Parents[K] == int(J) && F.Events[K].Kind == EventKind::Continue) {
        ++N;
        break;
      }
  }
  return N;
}

unsigned Flow::guards(uint32_t I) const {
  // A parameter that is tested only guards against misuse.
  auto Optional = [&](uint32_t Branch) {
    const Event &E = F.Events[Branch];
    if (!E.NumExprs)
      return false;
    const Expr &X = F.exprs(E).back();
    return X.Root != RootKind::Param || !empty(X.Field);
  };
  unsigned N = 0;
  for (int Up = Parents[I]; Up >= 0; Up = Parents[Up])
    N += isNullGuard(Up) && Optional(Up);
  for (uint32_t J = 0; J < I; ++J) {
    const Event &E = F.Events[J];
    bool Absent = E.is(Event::ErrorTest)
                      ? false
                      : E.is(Event::NullTest) && E.is(Event::Negated);
    N += Absent && leavesBefore(J, I) && Optional(J);
  }
  return N;
}

std::vector<uint32_t> Flow::following(uint32_t I) const {
  std::vector<uint32_t> Out;
  int Block = Parents[I];
  uint32_t J = I + 1;
  while (J < F.Events.size()) {
    const Event &E = F.Events[J];
    if (E.Kind == EventKind::End && int(E.Link) == Block) {
      if (Block >= 0 && F.Events[Block].Kind == EventKind::Loop)
        break;
      Block = Block >= 0 ? Parents[Block] : -1;
      ++J;
      // The else branch of a branch that was taken does not run.
      if (J < F.Events.size() && F.Events[J].Kind == EventKind::Else &&
          Parents[J] == Block)
        J = F.Events[J].Link + 1;
      continue;
    }
    Out.push_back(J);
    if (Parents[J] == Block &&
        (E.Kind == EventKind::Return || E.Kind == EventKind::Goto ||
         E.Kind == EventKind::Break || E.Kind == EventKind::Continue))
      break;
    ++J;
  }
  return Out;
}

} // namespace decontend
