//===- LockModels.cpp - What models say of locks --------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockEffects.h"

using llvm::StringRef;

namespace decontend {

bool actsOnLocks(const FunctionModel *M) {
  return M && (M->Acquires >= 0 || M->Releases >= 0 || !M->Asserts.empty());
}

static bool speaksOfLocks(const FunctionModel *M) {
  return actsOnLocks(M) || (M && (M->ReturnsArg >= 0 || M->NoReturn));
}

/// Name of a function template in a USR: behind the list of its parameters,
/// `>2#T#pTname`.
static StringRef templateName(StringRef Token) {
  unsigned Count = 0;
  if (!Token.consume_front(">") || Token.consumeInteger(10, Count))
    return "";
  for (unsigned I = 1; I <= Count; ++I) {
    if (!Token.consume_front("#"))
      return "";
    Token.consume_front("p");
    if (!Token.consume_front("T"))
      return "";
  }
  return Token.take_until([](char C) { return C == '#'; });
}

std::string qualifiedName(StringRef Key) {
  if (!Key.consume_front("c:"))
    return "";
  llvm::SmallVector<StringRef, 16> Tokens;
  Key.split(Tokens, '@');
  std::string Out;
  auto Add = [&](StringRef Name) {
    if (!Out.empty())
      Out += "::";
    Out += Name;
  };
  for (size_t I = 1; I + 1 < Tokens.size(); ++I) {
    StringRef Tag = Tokens[I], Name = Tokens[I + 1];
    if (Tag == "aN" || Tag == "Sa")
      continue;
    ++I;
    if (Tag == "N") {
      // Inline namespaces of ABI versions: std::__1, absl::lts_20240116.
      if (!Name.starts_with("_") && !Name.starts_with("lts_"))
        Add(Name);
    } else if (Tag == "S" || Tag == "U" || Tag.starts_with("ST>") ||
               Tag.starts_with("SP>")) {
      Add(Name.take_until([](char C) { return C == '#' || C == '>'; }));
    } else if (Tag == "F") {
      Add(Name.take_until([](char C) { return C == '#'; }));
      return Out;
    } else if (Tag == "FT") {
      Add(templateName(Name));
      return Out;
    } else {
      return Out;
    }
  }
  return Out;
}

LockEffects::LockEffects(const Program &P, LockTable &Locks)
    : P(P), Locks(Locks), ByNode(P.nodes().size(), nullptr) {
  for (NodeId N = 0; N < P.nodes().size(); ++N) {
    const FunctionModel *M = P.node(N).Model;
    std::string Qualified = qualifiedName(P.str(P.node(N).Key));
    // The plain name of a method says nothing about whose lock() it is.
    if (!Qualified.empty())
      M = P.models().function(Qualified);
    if (speaksOfLocks(M))
      ByNode[N] = M;
  }
  for (const Node &N : P.nodes()) {
    if (!N.Facts)
      continue;
    for (const Event &E : N.Facts->Events) {
      const FunctionModel *M = E.Kind == EventKind::Call ? modelOf(E) : nullptr;
      if (!M || M->Acquires < 0 || M->Acquires >= E.NumExprs)
        continue;
      Sym Class = N.Facts->Exprs[E.FirstExpr + M->Acquires].Field;
      if (!empty(Class))
        KindOfClass.try_emplace(Class, lockKind(M->Lock));
    }
  }
}

const FunctionModel *LockEffects::modelOf(const Event &E) const {
  if (E.Kind != EventKind::Call || E.Via != CallVia::Direct)
    return nullptr;
  NodeId N = P.find(E.Callee);
  return N == NoNode ? nullptr : ByNode[N];
}

bool LockEffects::actsItself(const FunctionFacts &F) const {
  for (const Event &E : F.Events)
    if (E.Kind == EventKind::Call) {
      if (actsOnLocks(modelOf(E)) || actsOnLocks(P.modelOfMacro(E)))
        return true;
    }
  return false;
}

const Expr *LockEffects::argument(const FunctionFacts &Caller, const Event &E,
                                  const FunctionFacts &Callee,
                                  uint16_t Index) const {
  // A method's object stands before its arguments, a constructor's nowhere.
  bool Object = Callee.is(FunctionFacts::Method) &&
                E.NumExprs == Callee.Params.size() + 1;
  size_t At = Index == 0xffff ? 0 : Index + (Object ? 1 : 0);
  if ((Index == 0xffff && !Object) || At >= E.NumExprs)
    return nullptr;
  return &Caller.Exprs[E.FirstExpr + At];
}

LockId LockEffects::globalLock(StringRef Kind) const {
  Lock L;
  L.Kind = lockKind(Kind);
  L.KindName = Locks.names().intern(Kind);
  L.Root = RootKind::Global;
  L.Text = L.KindName;
  for (const FunctionModel &M : P.models().functions())
    if (M.LockIsGlobal && M.Lock == Kind && !M.LockObject.empty()) {
      L.Base = L.Class = P.find(M.LockObject);
      L.Text = Locks.names().intern(StringRef(M.LockObject).split('@').first);
      break;
    }
  return Locks.intern(L);
}

} // namespace decontend
