//===- Plan.h - Edits with their proof, or a refusal ------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   finding --> [rule's plan()] --> Plan --> [unifiedDiff] --> text
//                                    |
//                                    +--> [applyEdits] --> new contents
//
// A plan states each guard with its proof. One guard that fails turns it into a
// refusal that names the guard; then it has no edits.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_REWRITE_PLAN_H
#define DECONTEND_ANALYSIS_REWRITE_PLAN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace decontend {

/// Replaces the bytes [Begin, End) of a file. Begin == End inserts.
struct Edit {
  std::string File; ///< Relative to the root, like a finding's file.
  uint32_t Begin = 0, End = 0;
  std::string Text;
  bool operator==(const Edit &) const = default;
};

/// One condition under which the rewrite is right.
struct Guard {
  std::string Name; ///< Kebab-case: "nothing-after-needs-the-wait".
  bool Holds = false;
  std::string Why; ///< The proof, or what stands against it, with the place.
  bool operator==(const Guard &) const = default;
};

enum class Tier : uint8_t {
  None,   ///< No edits: a refusal, or advice only.
  Safe,   ///< Keeps behaviour by what was proved.
  Review, ///< All guards hold, but a person must confirm an assumption.
};

/// "none", "safe", "review".
llvm::StringRef tierName(Tier T);

struct Plan {
  Tier Level = Tier::None;
  std::string Title; ///< "free struct hsr_port with kfree_rcu()".
  std::vector<Guard> Guards;
  std::vector<Edit> Edits; ///< Any order; no two overlap.
  std::string Refusal;     ///< Why there are no edits; empty if there are.

  bool available() const { return !Edits.empty(); }
  /// Files that the edits touch, sorted, each once.
  std::vector<std::string> files() const;
};

/// Applies the edits of one file to its contents; those of other files are left
/// out, so that a whole plan can be passed. Equal edits are made once; two
/// insertions at one place keep their order; overlaps and ranges outside the
/// file are an error that names file and offset.
llvm::Expected<std::string> applyEdits(llvm::StringRef File,
                                       llvm::StringRef Contents,
                                       std::vector<Edit> Edits);

/// Unified diff of one file, three lines of context, `--- a/F` and `+++ b/F`
/// headers as git and patch(1) take them ("\ No newline at end of file"
/// included). Empty if there is no change. O(lines * changes).
std::string unifiedDiff(llvm::StringRef File, llvm::StringRef Before,
                        llvm::StringRef After);

/// Reads files below a root, for plans and for reports. Keeps what it read, so
/// that all users of one run see the same bytes. Not thread-safe.
class Sources {
public:
  /// \p Root is the folder that relative paths start at; \p Build replaces a
  /// leading `$build`.
  Sources(std::string Root, std::string Build = "")
      : Root(std::move(Root)), Build(std::move(Build)) {}
  /// Lets tests (and a live editor buffer) stand in for a file.
  void set(llvm::StringRef File, std::string Contents);
  /// Contents of \p File, or null if it cannot be read (kept as unreadable).
  const std::string *get(llvm::StringRef File);
  /// The whole line, without its end; empty if there is none. Lines from 1.
  llvm::StringRef line(llvm::StringRef File, uint32_t Line);
  /// Absolute path of a relative one.
  std::string absolute(llvm::StringRef File) const;

private:
  std::string Root, Build;
  std::map<std::string, std::string, std::less<>> Loaded;
  std::map<std::string, std::vector<uint32_t>, std::less<>> LineStarts;
  std::map<std::string, bool, std::less<>> Missing;
};

/// Diff of a whole plan: each file's unified diff in path order.
llvm::Expected<std::string> planDiff(const Plan &P, Sources &Files);

} // namespace decontend

#endif
