//===- FileDigests.h - What is in a file, asked once ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pure path --> [resolver] --> stat --same as in the index--> stored digest
//                                  |
//                                  +--else--> read, BLAKE3
//
// Each file is looked at once per run, and its answer is the same for the whole
// run. A file that was changed less than two seconds before it was hashed may
// be changed again without a new time stamp, so its stat is not believed the
// next time (the "racy" case of version control systems).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_FILEDIGESTS_H
#define DECONTEND_ANALYSIS_PROGRAM_FILEDIGESTS_H

#include "analysis/facts/Facts.h"
#include "llvm/ADT/StringMap.h"
#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

namespace decontend {

/// A file as it was when its content was hashed.
struct FileState {
  /// The time of a file whose stat proves nothing.
  static constexpr int64_t Untrusted = -1;

  uint64_t Size = 0;
  int64_t MtimeNs = Untrusted;
  uint64_t Inode = 0;
  Digest Content{};

  bool sameStat(const FileState &O) const {
    return Size == O.Size && MtimeNs == O.MtimeNs && Inode == O.Inode;
  }
  bool operator==(const FileState &) const = default;
};

/// Digests by pure path. Safe to use from several threads, except restore().
class FileDigests {
public:
  /// Maps a pure path to one that can be opened; called from any thread.
  using Resolver = std::function<std::string(llvm::StringRef Pure)>;

  explicit FileDigests(Resolver ToAbsolute);

  /// Digest of the file's content, or none if it cannot be read. Costs a stat,
  /// and a read when that does not match, at the first call for a path.
  std::optional<Digest> digest(llvm::StringRef Pure);

  //===--- For the store: files by number ---------------------------------===//

  /// Adds a file that an index knows. Only before any other thread is there.
  uint32_t restore(llvm::StringRef Pure, const FileState &Known, int64_t Row);

  /// The number of a path, for good. Does not look at the file.
  uint32_t number(llvm::StringRef Pure);

  /// Looks at the file, so that the next flush of an index knows it.
  void observe(uint32_t Number);

  /// Appends stamp(path, current content) of each file to \p Out. False as soon
  /// as one cannot be read.
  bool stamps(llvm::ArrayRef<uint32_t> Numbers,
              llvm::SmallVectorImpl<char> &Out);

  /// Digest of a path together with a content.
  static Digest stamp(llvm::StringRef Pure, const Digest &Content);

  /// Whether the file still has the stat that it had when it was looked at.
  bool unchanged(uint32_t Number);

  /// Calls \p Write for each file that the index does not know as it is, until
  /// it returns false. Write sets the row, which rowOf() then returns.
  bool save(llvm::function_ref<bool(llvm::StringRef Pure, const FileState &,
                                    int64_t &Row)>
                Write);
  bool needsSaving();
  int64_t rowOf(uint32_t Number);

private:
  enum class Seen : uint8_t { No, Present, Missing };
  struct Entry {
    llvm::StringRef Pure; ///< Owned by Numbers.
    FileState Known;      ///< From the index.
    FileState Now;        ///< Set before Status leaves No.
    FileState ToSave;     ///< Now, distrusted if need be.
    Digest Stamp{};
    int64_t Row = 0;
    uint32_t Number = 0;
    std::atomic<Seen> Status{Seen::No};
  };

  Entry &at(uint32_t Number);
  uint32_t add(llvm::StringRef Pure);
  bool present(Entry &E);
  Seen look(Entry &E);

  Resolver ToAbsolute;
  std::shared_mutex TableLock; ///< Guards Numbers and the shape of Entries.
  llvm::StringMap<uint32_t> Numbers;
  std::deque<Entry> Entries; ///< By number; entries never move.
  std::array<std::mutex, 64> LookLocks;
  std::mutex UnsavedLock;
  std::vector<Entry *> Unsaved;
};

} // namespace decontend

#endif
