//===- Collect.cpp - Declarations of a unit as facts ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   translation unit --> functions with bodies --> [BodyWalker] --> events
//                    --> complete records, global variables, slot fills
//
//===----------------------------------------------------------------------===//

#include "BodyWalker.h"
#include "Naming.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace decontend {

namespace {

class Collector {
public:
  Collector(ASTContext &Ctx, const ExtractOptions &O, UnitFacts &Facts)
      : N(Ctx, O, Facts), Facts(Facts) {}

  void context(const DeclContext *DC) {
    for (const Decl *D : DC->decls())
      declaration(D);
  }

  void finish() { N.finish(); }

  void mainFile() { Facts.MainFile = N.file(N.SM.getMainFileID()); }

private:
  void declaration(const Decl *D) {
    if (D->isImplicit() || D->isInvalidDecl())
      return;
    switch (D->getKind()) {
    case Decl::Function:
    case Decl::CXXMethod:
    case Decl::CXXConstructor:
    case Decl::CXXDestructor:
    case Decl::CXXConversion:
      function(cast<FunctionDecl>(D));
      break;
    case Decl::FunctionTemplate:
      function(cast<FunctionTemplateDecl>(D)->getTemplatedDecl());
      break;
    case Decl::Record:
    case Decl::CXXRecord:
      record(cast<RecordDecl>(D));
      break;
    case Decl::ClassTemplate:
      record(cast<ClassTemplateDecl>(D)->getTemplatedDecl());
      break;
    case Decl::Var:
      variable(cast<VarDecl>(D));
      break;
    case Decl::Namespace:
    case Decl::LinkageSpec:
    case Decl::ExternCContext:
      context(cast<DeclContext>(D));
      break;
    default:
      break;
    }
  }

  void function(const FunctionDecl *FD) {
    if (!FD->doesThisDeclarationHaveABody() && !isa<CXXMethodDecl>(FD))
      return prototype(FD);
    if (!FD->doesThisDeclarationHaveABody() || FD->hasSkippedBody() ||
        !FD->getBody() || FD->isDefaulted())
      return;
    bool Main = N.inMainFile(FD->getLocation());
    Place Where = N.place(FD->getLocation());
    std::string Name = FD->getNameAsString();
    if (!Main && N.known(Where, Name))
      return;
    FunctionFacts F;
    F.Key = N.functionKey(FD);
    F.Name = N.intern(Name);
    F.Where = Where;
    F.EndLine = N.place(FD->getBodyRBrace()).Line;
    F.Whole = N.span(FD->getSourceRange());
    F.Body = N.span(FD->getBody()->getSourceRange());
    if (const auto *S = FD->getAttr<SectionAttr>())
      F.Section = N.intern(S->getName());
    F.ReturnType = N.typeText(FD->getReturnType());
    auto Set = [&](bool On, uint16_t Flag) {
      if (On)
        F.Flags |= Flag;
    };
    Set(!FD->isExternallyVisible(), FunctionFacts::Static);
    Set(FD->isInlineSpecified(), FunctionFacts::Inline);
    Set(!Main, FunctionFacts::InHeader);
    Set(FD->getLocation().isMacroID() &&
            !N.SM.isMacroArgExpansion(FD->getLocation()),
        FunctionFacts::MacroMade);
    Set(FD->isNoReturn(), FunctionFacts::NoReturn);
    Set(N.Ctx.getLangOpts().CPlusPlus, FunctionFacts::Cxx);
    Set(isa<CXXMethodDecl>(FD), FunctionFacts::Method);
    Set(isa<CXXDestructorDecl>(FD), FunctionFacts::Destructor);
    Set(isa<CXXConstructorDecl>(FD), FunctionFacts::Constructor);
    Set(FD->isVariadic(), FunctionFacts::Variadic);
    for (const ParmVarDecl *P : FD->parameters())
      F.Params.push_back({N.intern(P->getName()), N.typeText(P->getType()),
                          N.recordOf(P->getType())});
    BodyWalker(N, F).walk(FD);
    Facts.Functions.push_back(std::move(F));
  }

  void prototype(const FunctionDecl *FD) {
    if (FD->getIdentifier() && !FD->getBuiltinID())
      declared(FD, Sym::None, true);
  }

  /// A declaration that defines nothing. \p Key may be left to be found out.
  void declared(const DeclaratorDecl *D, Sym Key, bool Function) {
    Place Where = N.place(D->getLocation());
    llvm::StringRef File = Facts.str(Where.File);
    if (File.empty() || llvm::sys::path::is_absolute(File))
      return;
    if (!N.inMainFile(D->getLocation()) && N.known(Where, D->getName()))
      return;
    DeclFacts Decl;
    Decl.Key = Function ? N.functionKey(cast<FunctionDecl>(D)) : Key;
    Decl.Name = N.intern(D->getName());
    Decl.Where = Where;
    Decl.Text = N.span(D->getSourceRange(), true);
    Decl.Function = Function;
    Facts.Decls.push_back(Decl);
  }

  void record(const RecordDecl *RD) {
    if (!RD->isThisDeclarationADefinition() || RD->isAnonymousStructOrUnion())
      return;
    Place Where = N.place(RD->getLocation());
    Sym Key = N.recordKey(RD);
    bool Main = N.inMainFile(RD->getLocation());
    if (const auto *Cxx = dyn_cast<CXXRecordDecl>(RD))
      context(Cxx); // methods and nested records
    if (!Main && N.known(Where, Facts.str(Key)))
      return;
    RecordFacts R;
    R.Key = Key;
    R.Where = Where;
    R.Braces = N.span(RD->getBraceRange());
    if (RD->isUnion())
      R.Flags |= RecordFacts::Union;
    if (RD->hasAttr<PackedAttr>())
      R.Flags |= RecordFacts::Packed;
    if (RD->hasAttr<RandomizeLayoutAttr>())
      R.Flags |= RecordFacts::RandomLayout;
    if (N.Ctx.getLangOpts().CPlusPlus)
      R.Flags |= RecordFacts::Cxx;
    fields(RD, R);
    // Records defined inside this one are declarations of their own in C.
    if (!isa<CXXRecordDecl>(RD))
      for (const Decl *D : RD->decls())
        if (const auto *Inner = dyn_cast<RecordDecl>(D))
          record(Inner);
    Facts.Records.push_back(std::move(R));
  }

  void fields(const RecordDecl *RD, RecordFacts &R) {
    for (const FieldDecl *FD : RD->fields()) {
      if (FD->isAnonymousStructOrUnion()) {
        if (const auto *Inner = FD->getType()->getAs<RecordType>())
          fields(Inner->getDecl(), R);
        continue;
      }
      FieldFacts F;
      F.Name = N.intern(FD->getName());
      F.Type = N.typeText(FD->getType());
      F.Record = N.recordOf(FD->getType());
      F.Line = N.place(FD->getLocation()).Line;
      F.Text = N.span(FD->getSourceRange(), true);
      if (FD->getType()->isPointerType())
        F.Flags |= FieldFacts::Pointer;
      if (FD->getType()->isArrayType())
        F.Flags |= FieldFacts::Array;
      if (FD->getType()->isIncompleteArrayType())
        F.Flags |= FieldFacts::Flexible;
      if (FD->isBitField())
        F.Flags |= FieldFacts::BitField;
      if (RD->isUnion())
        F.Flags |= FieldFacts::InUnion;
      if (FD->hasInClassInitializer())
        noteMentions(N, FD->getInClassInitializer(), N.fieldKey(FD));
      bool Atomic = false;
      F.Width = integerWidth(FD->getType(), N.Ctx, Atomic);
      if (Atomic)
        F.Flags |= FieldFacts::Atomic;
      R.Fields.push_back(F);
    }
  }

  void variable(const VarDecl *VD) {
    if (!VD->getIdentifier())
      return;
    if (VD->isThisDeclarationADefinition() == VarDecl::DeclarationOnly) {
      declared(VD, N.variableKey(VD), false);
      return;
    }
    bool Main = N.inMainFile(VD->getLocation());
    const clang::Expr *Init = VD->getInit();
    if (!Main && !Init)
      return;
    Sym Key = N.variableKey(VD);
    if (Init)
      collectSlotFills(N, Init, Key, Key, Sym::None);
    // Macros such as module_init() make variables that nobody names.
    if (VD->getLocation().isMacroID() && VD->getName().starts_with("__"))
      return;
    collectVariable(N, VD, N.span(VD->getSourceRange(), true));
  }

  Naming N;
  UnitFacts &Facts;
};

} // namespace

void collectFacts(ASTContext &Ctx, const ExtractOptions &O, UnitFacts &Facts) {
  Collector C(Ctx, O, Facts);
  C.mainFile();
  C.context(Ctx.getTranslationUnitDecl());
  C.finish();
}

} // namespace decontend
