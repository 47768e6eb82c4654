//===- YamlTree.h - A YAML document with its places -------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::yaml gives nodes once, in order, and forgets them. Models are checked
// in another order (removals first, duplicates against what came before), so
// the document is first copied into this small tree.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_MODELS_YAMLTREE_H
#define DECONTEND_ANALYSIS_MODELS_YAMLTREE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace decontend {

/// One node. Lines and columns start at 1.
struct YamlNode {
  enum KindT : uint8_t { Null, Scalar, List, Map } Kind = Null;
  unsigned Line = 1, Column = 1;
  std::string Text;            ///< Of a scalar, without quotes.
  std::vector<YamlNode> Keys;  ///< Of a map: scalars, as many as Items.
  std::vector<YamlNode> Items; ///< Elements of a list or values of a map.
};

/// Parses one document. \p Name is the file's name in errors, which read
/// `Name:line:column: expected ..., found ...`. An empty text gives Null.
llvm::Expected<YamlNode> parseYaml(llvm::StringRef Name, llvm::StringRef Text);

/// Says what a node is: "'text'", "a list", "a mapping", "nothing".
std::string describe(const YamlNode &N);

/// `Name:line:column: expected Want, found Got`.
std::string mismatch(llvm::StringRef Name, const YamlNode &N,
                     const llvm::Twine &Want, const llvm::Twine &Got);

} // namespace decontend

#endif
