//===- ModelFields.h - Fields of a mapping, read and checked ----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   YamlNode --> [map: a table of keys] --> one reader for each value
//
// What the readers of all sections share. Every read function returns false
// once something is wrong; the first mismatch is kept in Failure, and nobody
// goes on behind it.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_MODELS_MODELFIELDS_H
#define DECONTEND_ANALYSIS_MODELS_MODELFIELDS_H

#include "analysis/models/YamlTree.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <string>
#include <vector>

namespace decontend {

class FieldReader {
public:
  using Value = const YamlNode &;
  using ReadValue = std::function<bool(Value)>;
  struct Key {
    llvm::StringRef Name;
    ReadValue Read;
  };

  /// \p Name is the file's name in errors; it must outlive the reader.
  explicit FieldReader(llvm::StringRef Name) : Name(Name) {}

  /// `Name:line:column: expected ..., found ...`; empty while all is well.
  std::string Failure;

  /// Keeps the first mismatch. Always false.
  bool fail(Value N, const llvm::Twine &Want, const llvm::Twine &Got);
  bool fail(Value N, const llvm::Twine &Want) {
    return fail(N, Want, describe(N));
  }

  bool map(Value N, llvm::StringRef What, llvm::ArrayRef<Key> Keys);
  bool list(Value N, llvm::StringRef What, const ReadValue &Item);
  bool text(Value N, llvm::StringRef What, std::string &To);
  bool oneOrMore(Value N, llvm::StringRef What, std::vector<std::string> &To);
  bool context(Value N, uint16_t &To);

  /// Each name of a kind is declared once in a file.
  bool once(Value At, llvm::StringRef Kind, llvm::StringRef Text);

  // Readers of a single field, for tables of keys. What they are given must
  // live as long as the table.
  ReadValue toText(llvm::StringRef What, std::string &To) {
    return [this, What, &To](Value N) { return text(N, What, To); };
  }
  ReadValue toNames(llvm::StringRef What, std::vector<std::string> &To) {
    return [this, What, &To](Value N) { return oneOrMore(N, What, To); };
  }
  ReadValue toContext(uint16_t &To) {
    return [this, &To](Value N) { return context(N, To); };
  }
  ReadValue toFlag(bool &To);
  ReadValue toArg(int &To);
  /// \p Words are the spellings of the values 0, 1, ... of \p To.
  template <typename T>
  ReadValue toChoice(llvm::StringRef What,
                     llvm::ArrayRef<llvm::StringRef> Words, T &To) {
    return [this, What, Words, &To](Value N) {
      const llvm::StringRef *It = llvm::find(Words, llvm::StringRef(N.Text));
      if (N.Kind != YamlNode::Scalar || It == Words.end())
        return fail(N, What + " (" + llvm::join(Words, ", ") + ")");
      To = static_cast<T>(It - Words.begin());
      return true;
    };
  }

private:
  llvm::StringRef Name;
  llvm::StringMap<unsigned> FirstLine; ///< Kind and name of what was declared.
};

} // namespace decontend

#endif
