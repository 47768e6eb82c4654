//===- Exprs.cpp - Expressions as access paths ----------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exprs.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

llvm::StringRef atomicBuiltinName(const clang::AtomicExpr *E) {
  switch (E->getOp()) {
#define BUILTIN(ID, TYPE, ATTRS)
#define ATOMIC_BUILTIN(ID, TYPE, ATTRS)                                        \
  case clang::AtomicExpr::AO##ID:                                              \
    return #ID;
#include "clang/Basic/Builtins.inc"
  }
  llvm_unreachable("not an atomic builtin");
}

namespace {

/// An expression while it is being described: text is built as a string.
struct Path {
  Expr E;
  std::string Text;
};

class Describer {
public:
  explicit Describer(Naming &N) : N(N) {}

  Path visit(const clang::Expr *E, unsigned Depth) {
    Path P;
    if (!E || Depth > 16)
      return P;
    E = E->IgnoreParens();
    if (const auto *Cast = llvm::dyn_cast<clang::CastExpr>(E)) {
      if (Cast->getCastKind() == clang::CK_NullToPointer) {
        P.E.Root = RootKind::Null;
        P.Text = "NULL";
        return P;
      }
      return visit(Cast->getSubExpr(), Depth);
    }
    if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(E))
      return reference(Ref, Depth);
    if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(E))
      return member(Member, Depth);
    if (const auto *Unary = llvm::dyn_cast<clang::UnaryOperator>(E))
      return unary(Unary, Depth);
    if (const auto *Sub = llvm::dyn_cast<clang::ArraySubscriptExpr>(E)) {
      P = visit(Sub->getBase(), Depth + 1);
      Path I = visit(Sub->getIdx(), Depth + 1);
      P.Text += "[" + I.Text + "]";
      P.E.Flags |= Expr::Indexed;
      return P;
    }
    if (const auto *Atomic = llvm::dyn_cast<clang::AtomicExpr>(E)) {
      P.E.Root = RootKind::Call;
      P.E.Base = N.intern(atomicBuiltinName(Atomic));
      P.Text = N.Facts.str(P.E.Base).str() + "()";
      return P;
    }
    if (const auto *Call = llvm::dyn_cast<clang::CallExpr>(E)) {
      CalleeName C = calleeOf(N, Call);
      P.E.Root = RootKind::Call;
      P.E.Base = C.Name;
      P.Text =
          (C.Function && C.Function->getIdentifier() ? C.Function->getName()
                                                     : N.Facts.str(C.Name))
              .str() +
          "()";
      return P;
    }
    if (const auto *Stmts = llvm::dyn_cast<clang::StmtExpr>(E))
      return statements(Stmts, Depth);
    if (const auto *Choose = llvm::dyn_cast<clang::ChooseExpr>(E))
      return Choose->isConditionDependent()
                 ? P
                 : visit(Choose->getChosenSubExpr(), Depth + 1);
    if (const auto *Generic = llvm::dyn_cast<clang::GenericSelectionExpr>(E))
      return Generic->isResultDependent()
                 ? P
                 : visit(Generic->getResultExpr(), Depth + 1);
    if (const auto *Bin = llvm::dyn_cast<clang::BinaryOperator>(E))
      return binary(Bin, Depth);
    if (llvm::isa<clang::CXXThisExpr>(E)) {
      P.E.Root = RootKind::Param;
      P.E.Index = 0xffff;
      P.E.Base = N.intern("this");
      P.Text = "this";
      return P;
    }
    if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(E)) {
      P.E.Root = RootKind::Null;
      P.Text = "NULL";
      return P;
    }
    if (const auto *Int = llvm::dyn_cast<clang::IntegerLiteral>(E)) {
      P.E.Root = RootKind::Constant;
      P.Text = llvm::toString(Int->getValue(), 10, false);
      return P;
    }
    if (llvm::isa<clang::StringLiteral>(E)) {
      P.E.Root = RootKind::Constant;
      P.Text = "\"...\"";
      return P;
    }
    if (llvm::isa<clang::CharacterLiteral, clang::FloatingLiteral,
                  clang::UnaryExprOrTypeTraitExpr, clang::OffsetOfExpr,
                  clang::CXXBoolLiteralExpr>(E)) {
      P.E.Root = RootKind::Constant;
      P.Text = "const";
      return P;
    }
    if (const auto *Temp = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(E))
      return visit(Temp->getSubExpr(), Depth + 1);
    if (const auto *Full = llvm::dyn_cast<clang::FullExpr>(E))
      return visit(Full->getSubExpr(), Depth + 1);
    return P;
  }

private:
  Path reference(const clang::DeclRefExpr *Ref, unsigned Depth) {
    Path P;
    const clang::ValueDecl *D = Ref->getDecl();
    if (const auto *Param = llvm::dyn_cast<clang::ParmVarDecl>(D)) {
      P.E.Root = RootKind::Param;
      P.E.Index = Param->getFunctionScopeIndex();
      P.E.Base = N.intern(Param->getName());
      P.Text = Param->getName();
    } else if (const auto *Var = llvm::dyn_cast<clang::VarDecl>(D)) {
      if (Var->hasGlobalStorage()) {
        P.E.Root = RootKind::Global;
        P.E.Base = N.variableKey(Var);
      } else {
        // A temporary of READ_ONCE() or rcu_dereference() stands for its value.
        if (Inside && Var->getInit() && Var->getLocation().isMacroID())
          return visit(Var->getInit(), Depth + 1);
        P.E.Root = RootKind::Local;
        P.E.Base = N.intern(Var->getName());
      }
      P.Text = Var->getName();
    } else if (const auto *Fn = llvm::dyn_cast<clang::FunctionDecl>(D)) {
      P.E.Root = RootKind::Function;
      P.E.Base = N.functionKey(Fn);
      P.Text = Fn->getNameAsString();
    } else if (const auto *Const = llvm::dyn_cast<clang::EnumConstantDecl>(D)) {
      P.E.Root = RootKind::Constant;
      P.Text = Const->getName();
    }
    return P;
  }

  Path member(const clang::MemberExpr *Member, unsigned Depth) {
    Path P = visit(Member->getBase(), Depth + 1);
    const auto *Field =
        llvm::dyn_cast<clang::FieldDecl>(Member->getMemberDecl());
    if (!Field)
      return P;
    if (Field->isAnonymousStructOrUnion())
      return P;
    if (P.E.Flags & Expr::AddressOf && Member->isArrow()) {
      P.Text = llvm::StringRef(P.Text).drop_front().str();
      P.Text += ".";
    } else {
      P.Text += Member->isArrow() ? "->" : ".";
    }
    P.E.Flags &= ~(Expr::AddressOf | Expr::Deref);
    P.Text += Field->getName();
    P.E.Field = N.fieldKey(Field);
    return P;
  }

  Path unary(const clang::UnaryOperator *U, unsigned Depth) {
    Path P = visit(U->getSubExpr(), Depth + 1);
    if (U->getOpcode() == clang::UO_AddrOf) {
      if (P.E.Flags & Expr::Deref && llvm::StringRef(P.Text).starts_with("*")) {
        P.Text.erase(0, 1);
        P.E.Flags &= ~Expr::Deref;
      } else if (P.E.Root != RootKind::Function) {
        P.Text.insert(0, "&");
        P.E.Flags |= Expr::AddressOf;
      }
    } else if (U->getOpcode() == clang::UO_Deref) {
      if (P.E.Flags & Expr::AddressOf) {
        P.Text.erase(0, 1);
        P.E.Flags &= ~Expr::AddressOf;
      } else if (P.E.Root != RootKind::Function) {
        P.Text.insert(0, "*");
        P.E.Flags |= Expr::Deref;
      }
    } else if (U->isIncrementDecrementOp() ||
               U->getOpcode() == clang::UO_Extension) {
      return P;
    } else if (P.E.Root != RootKind::Constant) {
      P.Text.insert(0,
                    clang::UnaryOperator::getOpcodeStr(U->getOpcode()).str());
      P.E.Root = RootKind::Unknown;
    }
    return P;
  }

  Path binary(const clang::BinaryOperator *Bin, unsigned Depth) {
    if (Bin->getOpcode() == clang::BO_Comma || Bin->isAssignmentOp())
      return visit(Bin->getRHS(), Depth + 1);
    Path L = visit(Bin->getLHS(), Depth + 1);
    // container_of() subtracts an offset from a pointer to a member.
    bool Pointer = !Bin->getType().isNull() && Bin->getType()->isPointerType();
    if (Bin->getOpcode() == clang::BO_Sub && Pointer) {
      L.Text = "container_of(" + L.Text + ")";
      L.E.Flags &= ~Expr::AddressOf;
      return L;
    }
    Path R = visit(Bin->getRHS(), Depth + 1);
    Path P;
    if (L.E.Root == RootKind::Constant && R.E.Root == RootKind::Constant)
      P.E.Root = RootKind::Constant;
    if (Bin->getOpcode() == clang::BO_Add && Pointer) {
      P.E = L.E;
      P.E.Flags |= Expr::Indexed;
    }
    P.Text = L.Text + " " + Bin->getOpcodeStr().str() + " " + R.Text;
    return P;
  }

  Path statements(const clang::StmtExpr *E, unsigned Depth) {
    const clang::CompoundStmt *Body = E->getSubStmt();
    Path P;
    if (Body->body_empty())
      return P;
    if (const auto *Last = llvm::dyn_cast<clang::Expr>(Body->body_back())) {
      ++Inside;
      P = visit(Last, Depth + 1);
      --Inside;
    }
    return P;
  }

  Naming &N;
  unsigned Inside = 0; ///< Depth of enclosing statement expressions.
};

} // namespace

Expr describe(Naming &N, const clang::Expr *E) {
  Path P = Describer(N).visit(E, 0);
  // In templates, some expressions have no type yet.
  if (E && !E->IgnoreParenImpCasts()->getType().isNull()) {
    const clang::Expr *Bare = E->IgnoreParenImpCasts();
    // `(struct foo *)p` is a foo, whatever p is; `void *` is what p was.
    P.E.Record = N.recordOf(Bare->getType());
    if (empty(P.E.Record))
      P.E.Record = N.recordOf(Bare->IgnoreParenCasts()->getType());
    if (Bare->getType()->isPointerType())
      P.E.Flags |= Expr::Pointer;
  }
  if (P.Text.size() > 120)
    P.Text.resize(120);
  P.E.Text = N.intern(P.Text);
  return P.E;
}

const clang::FunctionDecl *functionValue(const clang::Expr *E) {
  if (!E)
    return nullptr;
  E = E->IgnoreParenCasts();
  if (const auto *U = llvm::dyn_cast<clang::UnaryOperator>(E))
    if (U->getOpcode() == clang::UO_AddrOf)
      E = U->getSubExpr()->IgnoreParenCasts();
  if (const auto *Choose = llvm::dyn_cast<clang::ConditionalOperator>(E)) {
    const clang::FunctionDecl *F = functionValue(Choose->getTrueExpr());
    return F ? F : functionValue(Choose->getFalseExpr());
  }
  if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(E))
    return llvm::dyn_cast<clang::FunctionDecl>(Ref->getDecl());
  return nullptr;
}

CalleeName calleeOf(Naming &N, const clang::CallExpr *Call) {
  CalleeName C;
  if (const clang::FunctionDecl *FD = Call->getDirectCallee()) {
    C.Via = CallVia::Direct;
    C.Function = FD;
    C.Name = N.functionKey(FD);
    return C;
  }
  const clang::Expr *E = Call->getCallee()->IgnoreParenCasts();
  while (const auto *U = llvm::dyn_cast<clang::UnaryOperator>(E)) {
    if (U->getOpcode() != clang::UO_Deref && U->getOpcode() != clang::UO_AddrOf)
      break;
    E = U->getSubExpr()->IgnoreParenCasts();
  }
  if (const auto *Sub = llvm::dyn_cast<clang::ArraySubscriptExpr>(E))
    E = Sub->getBase()->IgnoreParenCasts();
  if (const clang::FunctionDecl *FD = functionValue(E)) {
    C.Via = CallVia::Direct;
    C.Function = FD;
    C.Name = N.functionKey(FD);
    return C;
  }
  if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(E))
    if (const auto *F =
            llvm::dyn_cast<clang::FieldDecl>(Member->getMemberDecl())) {
      C.Via = CallVia::Slot;
      C.Name = N.fieldKey(F);
      return C;
    }
  if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(E))
    if (const auto *Var = llvm::dyn_cast<clang::VarDecl>(Ref->getDecl()))
      if (Var->hasGlobalStorage() && !llvm::isa<clang::ParmVarDecl>(Var)) {
        C.Via = CallVia::Slot;
        C.Name = N.variableKey(Var);
        return C;
      }
  if (const auto *Lookup = llvm::dyn_cast<clang::OverloadExpr>(E)) {
    C.Name = N.intern(Lookup->getName().getAsString());
    return C;
  }
  if (const auto *Dependent =
          llvm::dyn_cast<clang::CXXDependentScopeMemberExpr>(E)) {
    C.Name = N.intern(Dependent->getMember().getAsString());
    return C;
  }
  C.Name = Describer(N).visit(E, 0).E.Base;
  return C;
}

} // namespace decontend
