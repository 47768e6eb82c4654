//===- Naming.h - Keys, places and paths of declarations --------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns Clang's declarations and locations into the names that facts use (see
// Facts.h). One Naming per unit; it remembers what it was asked.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_NAMING_H
#define DECONTEND_ANALYSIS_EXTRACT_NAMING_H

#include "Extract.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

namespace decontend {

class Naming {
public:
  Naming(clang::ASTContext &Ctx, const ExtractOptions &O, UnitFacts &Facts);

  Sym intern(llvm::StringRef S) { return Facts.Names.intern(S); }

  /// Pure path of a file; Sym::None for built-in buffers.
  Sym file(clang::FileID FID);
  /// File location of \p L: macro bodies map to the place of the expansion.
  clang::SourceLocation fileLoc(clang::SourceLocation L) const;
  Place place(clang::SourceLocation L);
  /// Outermost macro whose body spelled \p L, or Sym::None when the text stands
  /// in a file (possibly as a macro's argument).
  Sym macroOf(clang::SourceLocation L);

  Sym functionKey(const clang::FunctionDecl *FD);
  Sym variableKey(const clang::VarDecl *VD);
  /// `struct foo`, `union foo`, typedef name or qualified name.
  Sym recordKey(const clang::RecordDecl *RD);
  /// Record that \p T is, or points to (one level); Sym::None otherwise.
  Sym recordOf(clang::QualType T);
  /// `struct foo.member`; members of anonymous records belong to the outer one.
  Sym fieldKey(const clang::FieldDecl *FD);
  Sym typeText(clang::QualType T);

  /// Byte range of [Range] in the file of its start when all of it stands in
  /// one file; with \p Semicolon it extends over a following `;`.
  Span span(clang::SourceRange Range, bool Semicolon = false);

  /// Do the models say that a function or macro of this name waits for a grace
  /// period? Remembers its answers, since a look-up may try many patterns.
  bool isWait(Sym Name);

  /// Has another unit already given what is called \p Name at \p P? If so,
  /// notes that this unit relies on it.
  bool known(const Place &P, llvm::StringRef Name);

  /// Call when all facts are collected: completes Facts.BorrowedFrom.
  void finish();

  bool inMainFile(clang::SourceLocation L) const {
    return SM.isInMainFile(fileLoc(L));
  }

  clang::ASTContext &Ctx;
  const clang::SourceManager &SM;
  const ExtractOptions &Options;
  UnitFacts &Facts;

private:
  void borrow(const clang::FunctionDecl *FD, Sym Key);

  std::string Directory;
  llvm::DenseMap<clang::FileID, Sym> FileSyms;
  llvm::DenseMap<const clang::Decl *, Sym> Keys;
  llvm::DenseMap<const void *, Sym> Types;
  llvm::DenseMap<unsigned, bool> Waits;
  llvm::DenseMap<Sym, const KnownBodies::Set *> KnownOf;
  llvm::DenseSet<Sym> BorrowedFrom;
};

} // namespace decontend

#endif
