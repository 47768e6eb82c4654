//===- Initialisers.cpp - Initialisers of variables as facts --------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "clang/AST/Attr.h"

using namespace clang;

namespace decontend {

int8_t integerWidth(QualType T, const ASTContext &Ctx, bool &Atomic) {
  Atomic = false;
  if (T.isNull() || T->isDependentType())
    return 0;
  T = T.getCanonicalType();
  while (const ArrayType *Array = Ctx.getAsArrayType(T))
    T = Array->getElementType().getCanonicalType();
  if (const auto *A = T->getAs<AtomicType>()) {
    Atomic = true;
    T = A->getValueType().getCanonicalType();
  } else if (const auto *Special =
                 dyn_cast_or_null<ClassTemplateSpecializationDecl>(
                     T->getAsCXXRecordDecl())) {
    if (Special->getName() != "atomic" || !Special->isInStdNamespace() ||
        Special->getTemplateArgs().size() == 0)
      return 0;
    const TemplateArgument &Value = Special->getTemplateArgs()[0];
    if (Value.getKind() != TemplateArgument::Type)
      return 0;
    Atomic = true;
    T = Value.getAsType().getCanonicalType();
  }
  if (T->isDependentType() || !T->isIntegerType() || T->isBooleanType() ||
      T->isEnumeralType())
    return 0;
  uint64_t Bits = Ctx.getTypeSize(T);
  if (Bits > 64)
    return 0;
  return T->isSignedIntegerType() ? -static_cast<int8_t>(Bits)
                                  : static_cast<int8_t>(Bits);
}

/// Only records and atomics that a macro initialises, as ATOMIC_INIT(0) and
/// __MUTEX_INITIALIZER(x) do: a plan that changes the member's type has to
/// change these.
static void noteInitialiser(Naming &N, const FieldDecl *Field,
                            const clang::Expr *Init, Sym Object) {
  if (empty(Object) || !Init->getBeginLoc().isMacroID() ||
      !(Field->getType()->isRecordType() || Field->getType()->isAtomicType()))
    return;
  Span Text = N.span(Init->getSourceRange());
  if (Text.empty())
    return;
  InitFacts I;
  I.Object = Object;
  I.Field = N.fieldKey(Field);
  I.Where = N.place(Init->getBeginLoc());
  I.Text = Text;
  N.Facts.Inits.push_back(I);
}

bool isCounting(QualType T, const ASTContext &Ctx) {
  bool Atomic = false;
  const auto *Record = T->getAs<RecordType>();
  return (Record && !Record->getDecl()->getIdentifier()) ||
         integerWidth(T, Ctx, Atomic) != 0;
}

const FieldDecl *offsetField(const OffsetOfExpr *E) {
  for (unsigned I = E->getNumComponents(); I-- > 0;)
    if (E->getComponent(I).getKind() == OffsetOfNode::Field)
      return E->getComponent(I).getField();
  return nullptr;
}

/// Notes that an initialiser keeps the address, or the offset, of an integer or
/// an atomic.
static void noteAddress(Naming &N, const clang::Expr *Init, Sym Slot,
                        Sym Object) {
  InitFacts I;
  if (const auto *Offset = dyn_cast<OffsetOfExpr>(Init)) {
    const FieldDecl *Field = offsetField(Offset);
    if (!Field || !isCounting(Field->getType(), N.Ctx))
      return;
    I.Value = N.fieldKey(Field);
  } else {
    const auto *Ref = dyn_cast<DeclRefExpr>(Init);
    if (const auto *U = dyn_cast<UnaryOperator>(Init))
      if (U->getOpcode() == UO_AddrOf)
        Ref = dyn_cast<DeclRefExpr>(U->getSubExpr()->IgnoreParenCasts());
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Var || !Var->hasGlobalStorage() ||
        (Ref == Init && !Var->getType()->isArrayType()) ||
        !isCounting(Var->getType(), N.Ctx))
      return;
    I.Value = N.variableKey(Var);
  }
  I.Object = Object;
  I.Field = Slot;
  I.Where = N.place(Init->getExprLoc());
  I.Text = N.span(Init->getSourceRange());
  N.Facts.Inits.push_back(I);
}

void noteMentions(Naming &N, const clang::Expr *Init, Sym Within) {
  if (!Init)
    return;
  const ValueDecl *Named = nullptr;
  if (const auto *Member = dyn_cast<MemberExpr>(Init))
    Named = Member->getMemberDecl();
  else if (const auto *Ref = dyn_cast<DeclRefExpr>(Init))
    Named = Ref->getDecl();
  bool Atomic = false;
  const auto *Field = dyn_cast_or_null<FieldDecl>(Named);
  const auto *Var = dyn_cast_or_null<VarDecl>(Named);
  if ((Field || (Var && Var->hasGlobalStorage())) &&
      integerWidth(Named->getType(), N.Ctx, Atomic)) {
    InitFacts I;
    I.Field = Within;
    I.Value = Field ? N.fieldKey(Field) : N.variableKey(Var);
    I.Where = N.place(Init->getExprLoc());
    I.Text = N.span(Init->getSourceRange());
    N.Facts.Inits.push_back(I);
  }
  for (const Stmt *Child : Init->children())
    if (const auto *E = dyn_cast_or_null<clang::Expr>(Child))
      noteMentions(N, E, Within);
}

void collectSlotFills(Naming &N, const clang::Expr *Init, Sym Slot, Sym Object,
                      Sym Within) {
  if (!Init)
    return;
  Init = Init->IgnoreParenCasts();
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Init))
    return collectSlotFills(N, Literal->getInitializer(), Slot, Object, Within);
  if (const auto *U = dyn_cast<UnaryOperator>(Init))
    if (U->getOpcode() == UO_AddrOf)
      if (const auto *Literal =
              dyn_cast<CompoundLiteralExpr>(U->getSubExpr()->IgnoreParens()))
        return collectSlotFills(N, Literal->getInitializer(), Sym::None, Object,
                                Within);
  if (const auto *List = dyn_cast<InitListExpr>(Init)) {
    if (const InitListExpr *Semantic = List->getSemanticForm())
      List = Semantic;
    const auto *Record = List->getType().isNull()
                             ? nullptr
                             : List->getType()->getAs<RecordType>();
    if (!Record) {
      for (const clang::Expr *E : List->inits())
        collectSlotFills(N, E, Slot, Object, Within);
      return;
    }
    if (const FieldDecl *Only = List->getInitializedFieldInUnion()) {
      for (const clang::Expr *E : List->inits())
        collectSlotFills(N, E, N.fieldKey(Only), Object, Within);
      return;
    }
    auto Field = Record->getDecl()->field_begin();
    auto End = Record->getDecl()->field_end();
    for (const clang::Expr *E : List->inits()) {
      while (Field != End && Field->isUnnamedBitField())
        ++Field;
      if (Field == End)
        break;
      if (!isa<ImplicitValueInitExpr>(E)) {
        noteInitialiser(N, *Field, E, Object);
        collectSlotFills(N, E, N.fieldKey(*Field), Object, Within);
      }
      ++Field;
    }
    return;
  }
  const FunctionDecl *Fn = functionValue(Init);
  if (!Fn)
    noteAddress(N, Init, Slot, Object);
  if (!Fn || empty(Slot))
    return;
  SlotFill Fill;
  Fill.Slot = Slot;
  Fill.Function = N.functionKey(Fn);
  Fill.Object = Object;
  Fill.Within = Within;
  Fill.Where = N.place(Init->getExprLoc());
  N.Facts.Slots.push_back(Fill);
}

void collectVariable(Naming &N, const VarDecl *VD, Span Text) {
  GlobalFacts G;
  G.Key = N.variableKey(VD);
  G.Name = N.intern(VD->getName());
  G.Type = N.typeText(VD->getType());
  G.Record = N.recordOf(VD->getType());
  if (const auto *S = VD->getAttr<SectionAttr>())
    G.Section = N.intern(S->getName());
  bool Atomic = false;
  G.Width = integerWidth(VD->getType(), N.Ctx, Atomic);
  auto Set = [&](bool On, uint8_t Flag) {
    if (On)
      G.Flags |= Flag;
  };
  Set(true, GlobalFacts::Defined);
  Set(!VD->isExternallyVisible(), GlobalFacts::Static);
  Set(VD->getType().isConstQualified(), GlobalFacts::Const);
  Set(VD->getTLSKind() != VarDecl::TLS_None, GlobalFacts::ThreadLocal);
  Set(Atomic, GlobalFacts::Atomic);
  Set(VD->getType()->isArrayType(), GlobalFacts::Array);
  Set(VD->getType()->isPointerType(), GlobalFacts::Pointer);
  Set(VD->isStaticLocal(), GlobalFacts::Local);
  G.Where = N.place(VD->getLocation());
  G.Text = Text;
  if (const clang::Expr *Init = VD->getInit())
    if (VD->getInitStyle() == VarDecl::CInit)
      G.Init = N.span(Init->getSourceRange());
  N.Facts.Globals.push_back(G);
}

} // namespace decontend
