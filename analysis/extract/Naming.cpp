//===- Naming.cpp - Keys, places and paths of declarations ----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Naming.h"
#include "clang/Index/USRGeneration.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallString.h"

using namespace clang;

namespace decontend {

Naming::Naming(ASTContext &Ctx, const ExtractOptions &O, UnitFacts &Facts)
    : Ctx(Ctx), SM(Ctx.getSourceManager()), Options(O), Facts(Facts) {
  if (auto WD = SM.getFileManager()
                    .getVirtualFileSystem()
                    .getCurrentWorkingDirectory())
    Directory = *WD;
}

Sym Naming::file(FileID FID) {
  auto [It, New] = FileSyms.try_emplace(FID, Sym::None);
  if (New)
    if (OptionalFileEntryRef FE = SM.getFileEntryRefForID(FID))
      It->second = intern(Options.Paths->pure(FE->getName(), Directory));
  return It->second;
}

SourceLocation Naming::fileLoc(SourceLocation L) const {
  while (L.isMacroID())
    L = SM.isMacroArgExpansion(L) ? SM.getImmediateSpellingLoc(L)
                                  : SM.getImmediateExpansionRange(L).getBegin();
  return L;
}

Place Naming::place(SourceLocation L) {
  if (L.isInvalid())
    return {};
  L = SM.getExpansionLoc(fileLoc(L));
  auto [FID, Offset] = SM.getDecomposedLoc(L);
  return {file(FID), SM.getLineNumber(FID, Offset),
          SM.getColumnNumber(FID, Offset)};
}

Sym Naming::macroOf(SourceLocation L) {
  SourceLocation Outer;
  while (L.isMacroID()) {
    if (SM.isMacroArgExpansion(L)) {
      L = SM.getImmediateSpellingLoc(L);
      continue;
    }
    Outer = L;
    L = SM.getImmediateExpansionRange(L).getBegin();
  }
  if (Outer.isInvalid())
    return Sym::None;
  return intern(Lexer::getImmediateMacroName(Outer, SM, Ctx.getLangOpts()));
}

Sym Naming::functionKey(const FunctionDecl *FD) {
  if (const FunctionDecl *Pattern = FD->getTemplateInstantiationPattern())
    FD = Pattern;
  FD = FD->getCanonicalDecl();
  auto [It, New] = Keys.try_emplace(FD, Sym::None);
  if (!New)
    return It->second;
  llvm::SmallString<128> Key;
  if (Ctx.getLangOpts().CPlusPlus && !FD->isExternC()) {
    if (index::generateUSRForDecl(FD, Key))
      Key = FD->getQualifiedNameAsString();
  } else if (FD->getIdentifier()) {
    Key = FD->getName();
  }
  if (!FD->isExternallyVisible() && !isa<CXXMethodDecl>(FD)) {
    const FunctionDecl *Def = FD->getDefinition();
    const FunctionDecl *At = Def ? Def : FD;
    Key += '@';
    Key += Facts.str(place(At->getLocation()).File);
  }
  Sym S = intern(Key);
  Keys[FD] = S;
  borrow(FD, S);
  return S;
}

bool Naming::known(const Place &P, llvm::StringRef Name) {
  if (!Options.Known)
    return false;
  auto [It, New] = KnownOf.try_emplace(P.File, nullptr);
  if (New)
    It->second = Options.Known->of(Facts.str(P.File));
  if (!It->second || !It->second->contains(KnownBodies::id(Name, P.Line)))
    return false;
  BorrowedFrom.insert(P.File);
  return true;
}

void Naming::finish() {
  Facts.BorrowedFrom.assign(BorrowedFrom.begin(), BorrowedFrom.end());
  llvm::sort(Facts.BorrowedFrom,
             [this](Sym A, Sym B) { return Facts.str(A) < Facts.str(B); });
}

/// Notes a function whose body another unit has to give.
void Naming::borrow(const FunctionDecl *FD, Sym Key) {
  const FunctionDecl *Def = FD->getDefinition();
  if (!Def || !Options.Known || inMainFile(Def->getLocation()))
    return;
  if (Def->hasSkippedBody() ||
      known(place(Def->getLocation()), Def->getNameAsString()))
    Facts.Borrowed.push_back(Key);
}

Sym Naming::variableKey(const VarDecl *VD) {
  VD = VD->getCanonicalDecl();
  auto [It, New] = Keys.try_emplace(VD, Sym::None);
  if (!New)
    return It->second;
  llvm::SmallString<128> Key;
  if (Ctx.getLangOpts().CPlusPlus && !VD->isExternC())
    Key = VD->getQualifiedNameAsString();
  else if (VD->getIdentifier())
    Key = VD->getName();
  if (VD->isStaticLocal())
    if (const auto *In = dyn_cast<FunctionDecl>(VD->getDeclContext()))
      Key = llvm::SmallString<128>(
          (In->getNameAsString() + "::" + VD->getName()).str());
  if (!VD->isExternallyVisible()) {
    Key += '@';
    Key += Facts.str(place(VD->getLocation()).File);
  }
  Sym S = intern(Key);
  Keys[VD] = S;
  return S;
}

Sym Naming::recordKey(const RecordDecl *RD) {
  while (RD->isAnonymousStructOrUnion())
    if (auto *Outer = dyn_cast<RecordDecl>(RD->getDeclContext()))
      RD = Outer;
    else
      break;
  RD = cast<RecordDecl>(RD->getCanonicalDecl());
  auto [It, New] = Keys.try_emplace(RD, Sym::None);
  if (!New)
    return It->second;
  std::string Key;
  if (Ctx.getLangOpts().CPlusPlus) {
    Key = RD->getQualifiedNameAsString();
  } else if (RD->getIdentifier()) {
    Key = (RD->isUnion() ? "union " : "struct ") + RD->getNameAsString();
  } else if (const TypedefNameDecl *TD = RD->getTypedefNameForAnonDecl()) {
    Key = TD->getNameAsString();
  } else {
    // An unnamed record inside another one: called after its place.
    Place P = place(RD->getLocation());
    Key = (RD->isUnion() ? "union @" : "struct @") + Facts.str(P.File).str() +
          ":" + std::to_string(P.Line);
  }
  Sym S = intern(Key);
  Keys[RD] = S;
  return S;
}

Sym Naming::recordOf(QualType T) {
  if (T.isNull())
    return Sym::None;
  T = T.getCanonicalType();
  if (const auto *Ref = T->getAs<ReferenceType>())
    T = Ref->getPointeeType();
  while (const auto *Arr = T->getAsArrayTypeUnsafe())
    T = Arr->getElementType();
  if (const auto *Ptr = T->getAs<PointerType>())
    T = Ptr->getPointeeType();
  if (const auto *RT = T->getAs<RecordType>())
    return recordKey(RT->getDecl());
  return Sym::None;
}

Sym Naming::fieldKey(const FieldDecl *FD) {
  FD = FD->getCanonicalDecl();
  auto [It, New] = Keys.try_emplace(FD, Sym::None);
  if (!New)
    return It->second;
  Sym Owner = recordKey(FD->getParent());
  Sym S = intern((Facts.str(Owner) + "." + FD->getName()).str());
  Keys[FD] = S;
  return S;
}

Sym Naming::typeText(QualType T) {
  auto [It, New] = Types.try_emplace(T.getAsOpaquePtr(), Sym::None);
  if (New) {
    PrintingPolicy Policy(Ctx.getLangOpts());
    std::string Text = T.getAsString(Policy);
    if (Text.size() > 160)
      Text.resize(160);
    It->second = intern(Text);
  }
  return It->second;
}

bool Naming::isWait(Sym Name) {
  auto [It, New] = Waits.try_emplace(static_cast<unsigned>(Name), false);
  if (New && !empty(Name)) {
    const FunctionModel *M = Options.Knowledge->function(Facts.str(Name));
    It->second = M && M->Wait;
  }
  return It->second;
}

Span Naming::span(SourceRange Range, bool Semicolon) {
  CharSourceRange R = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Range), SM, Ctx.getLangOpts());
  if (R.isInvalid())
    return {};
  SourceLocation End = R.getEnd();
  if (Semicolon) {
    // The token at End is the first one behind the range.
    bool Invalid = false;
    auto [FID, Offset] = SM.getDecomposedLoc(End);
    llvm::StringRef Buffer = SM.getBufferData(FID, &Invalid);
    while (!Invalid && Offset < Buffer.size() &&
           (Buffer[Offset] == ' ' || Buffer[Offset] == '\t' ||
            Buffer[Offset] == '\n'))
      ++Offset;
    if (!Invalid && Offset < Buffer.size() && Buffer[Offset] == ';')
      return {SM.getFileOffset(R.getBegin()), Offset + 1};
  }
  return {SM.getFileOffset(R.getBegin()), SM.getFileOffset(End)};
}

} // namespace decontend
