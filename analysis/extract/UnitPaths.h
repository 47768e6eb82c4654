//===- UnitPaths.h - Pure paths ---------------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shard must not name folders of the machine it was made on. Below the source
// root a path is relative to it; below the build folder it starts with
// `$build/`; what is left (system headers) stays absolute.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_EXTRACT_UNITPATHS_H
#define DECONTEND_ANALYSIS_EXTRACT_UNITPATHS_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include <string>

namespace decontend {

class UnitPaths {
public:
  /// Both absolute and without dots. \p Build may be empty or below \p Root.
  UnitPaths(std::string Root, std::string Build)
      : Root(std::move(Root)), Build(std::move(Build)) {}

  /// Pure form of \p Path, which is absolute or relative to \p Directory.
  std::string pure(llvm::StringRef Path, llvm::StringRef Directory) const {
    llvm::SmallString<256> P(Path);
    if (!llvm::sys::path::is_absolute(P)) {
      P = Directory;
      llvm::sys::path::append(P, Path);
    }
    llvm::sys::path::remove_dots(P, /*remove_dot_dot=*/true);
    llvm::StringRef S = P.str();
    if (below(S, Root))
      return S.drop_front(Root.size() + 1).str();
    if (below(S, Build))
      return ("$build/" + S.drop_front(Build.size() + 1)).str();
    return S.str();
  }

  /// The inverse.
  std::string absolute(llvm::StringRef Pure) const {
    if (Pure.consume_front("$build/"))
      return (Build + "/" + Pure).str();
    if (llvm::sys::path::is_absolute(Pure))
      return Pure.str();
    return (Root + "/" + Pure).str();
  }

  llvm::StringRef root() const { return Root; }
  llvm::StringRef build() const { return Build; }

private:
  static bool below(llvm::StringRef Path, llvm::StringRef Folder) {
    return !Folder.empty() && Path.size() > Folder.size() + 1 &&
           Path.starts_with(Folder) && Path[Folder.size()] == '/';
  }
  std::string Root, Build;
};

} // namespace decontend

#endif
