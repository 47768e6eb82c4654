//===- Sources.cpp - The bytes that one run works on ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/rewrite/Plan.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <limits>

namespace decontend {

void Sources::set(llvm::StringRef File, std::string Contents) {
  Missing.erase(File.str());
  LineStarts.erase(File.str());
  Loaded[File.str()] = std::move(Contents);
}

std::string Sources::absolute(llvm::StringRef File) const {
  if (llvm::sys::path::is_absolute(File))
    return File.str();
  llvm::SmallString<256> Path(Root);
  llvm::StringRef Rest = File;
  if (!Build.empty() && Rest.consume_front("$build") &&
      (Rest.empty() || Rest.consume_front("/"))) {
    Path = Build;
    File = Rest;
  }
  llvm::sys::path::append(Path, File);
  return Path.str().str();
}

const std::string *Sources::get(llvm::StringRef File) {
  if (auto It = Loaded.find(File); It != Loaded.end())
    return &It->second;
  if (Missing.find(File) != Missing.end())
    return nullptr;
  auto Buffer = llvm::MemoryBuffer::getFile(absolute(File), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  // Offsets of facts and edits have 32 bits; a larger file cannot be edited.
  if (!Buffer ||
      (*Buffer)->getBufferSize() > std::numeric_limits<uint32_t>::max()) {
    Missing.emplace(File.str(), true);
    return nullptr;
  }
  // A copy, not the mapping: another program may write the file meanwhile.
  return &Loaded.emplace(File.str(), (*Buffer)->getBuffer().str())
              .first->second;
}

/// Offsets of lines as Clang counts them, since places come from it: a line
/// ends with LF, CR LF or CR, and text must follow for another one to start.
static std::vector<uint32_t> findLines(llvm::StringRef Text) {
  std::vector<uint32_t> Starts;
  for (size_t Begin = 0; Begin < Text.size();) {
    Starts.push_back(Begin);
    size_t End = Text.find_first_of("\r\n", Begin);
    if (End == llvm::StringRef::npos)
      break;
    Begin = End + (Text.substr(End).starts_with("\r\n") ? 2 : 1);
  }
  return Starts;
}

llvm::StringRef Sources::line(llvm::StringRef File, uint32_t Line) {
  const std::string *Contents = get(File);
  if (!Contents || Line == 0)
    return {};
  llvm::StringRef Text = *Contents;
  auto It = LineStarts.find(File);
  if (It == LineStarts.end())
    It = LineStarts.emplace(File.str(), findLines(Text)).first;
  const std::vector<uint32_t> &Starts = It->second;
  if (Line > Starts.size())
    return {};
  size_t Begin = Starts[Line - 1];
  return Text.slice(Begin, Text.find_first_of("\r\n", Begin));
}

} // namespace decontend
