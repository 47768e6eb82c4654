//===- FailingCalls.h - A function whose calls can fail now -----*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   function + failing calls --> what stands before them, since the last exit
//                            --> how that is undone, or out of whose way the
//                                call can move                 (FailingCalls)
//                            --> checks, labels, results    (FailingCallEdits)
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_FAILINGCALLS_H
#define DECONTEND_CHECKS_HOT_ATOMIC_COUNTER_FAILINGCALLS_H

#include "Conversion.h"
#include "Counterparts.h"
#include <map>

namespace decontend {

/// A statement that can fail now.
struct FailPoint {
  uint32_t Event = 0;   ///< It, or the statement that it follows.
  bool Replaces = true; ///< False: it follows.
  std::string Call;     ///< Without `;`.
  std::string Name;     ///< For a label: `msg_bytes`.
  /// What undoes it, as statements without `;`, in the order to be made.
  std::vector<std::string> Undo;
};

/// What was found out about one function.
struct FailingFunction {
  bool BecomesInt = false; ///< It was void.
  std::vector<Edit> Edits;
  std::string Unwinds; ///< How it leaves, with places.
  std::string Order;   ///< What moved, and why it may; empty: nothing.
  std::string Refusal; ///< Why it cannot be done; empty if it can.
  std::string Guard;   ///< That the refusal is about.
};

class FailingCalls {
public:
  /// \p Points in order of events. \p Object and \p Record as in Counterparts.
  /// With \p MayMove, a call may be made earlier. All must outlive it.
  FailingCalls(Conversion &C, NodeId N, std::vector<FailPoint> Points,
               Sym Object, Sym Record, TouchFinder &Finder,
               llvm::StringRef Contents, bool MayMove);

  FailingFunction run();

private:
  bool refuse(llvm::StringRef Guard, std::string Why);
  bool editable();
  bool pending();
  bool tryMove(uint32_t To);
  bool halfDone();
  bool chooseLeave();
  bool chooseStatus();
  bool laterExits();
  bool anchor();
  bool nameLabels(int Own, bool Falls);
  bool namesUndone() const;
  int startOfUndo(const ErrorExit &Next, size_t Below) const;
  std::string leaveLike(const ErrorExit *X, bool &NeedsStatus) const;
  bool clobbers() const;
  bool coveredBy(const ErrorExit &X);
  bool tearsDown(uint32_t Event) const;
  bool sameLevel(uint32_t Down, uint32_t Up) const;
  std::string labelFor(llvm::StringRef Undo, llvm::StringRef Fallback);
  std::string unusedLabel(std::string Name);

  void write();
  std::string check(size_t Point, const std::string &Indent) const;
  void writePoints();
  void writeLadder();
  void writeInlineUndo(const ErrorExit &X);
  void declareStatus();
  void becomeInt();
  std::string gaps();
  std::vector<std::string> undoAll() const;

  void edit(uint32_t Begin, uint32_t End, std::string New) {
    Out.Edits.push_back({File, Begin, End, std::move(New)});
  }

  Conversion &C;
  const Program &P;
  TouchFinder &Finder;
  std::string File;
  SourceText Text;
  ErrorPaths Paths;
  const FunctionFacts &F;
  Counterparts Undoes;
  std::vector<FailPoint> Points;
  Sym Object;
  bool MayMove;
  FailingFunction Out;

  const ErrorExit *Before = nullptr; ///< The exit that our own continues.
  int MoveTo = -1;                   ///< Event in front of which the call goes.
  std::vector<Undoing> Undo;   ///< Before Before's own, in order to be made.
  std::string Leave;           ///< `goto fail_mq` or `return err`.
  std::string Status;          ///< Variable that takes the result, or empty.
  bool NewStatus = false;      ///< To be declared.
  bool Tail = false;           ///< `return f(x);` is all.
  bool UseLadder = false;      ///< Labels, not undo calls in each branch.
  int Anchor = -1;             ///< Offset above which labels are added.
  bool OwnLabelExists = false; ///< At Anchor.
  bool UndoExists = false;     ///< Below Anchor, the label is missing.
  std::vector<std::string> Labels;      ///< Of points; empty: Leave.
  std::vector<const ErrorExit *> Later; ///< That have to undo the points too.
  std::string Unit;
  std::string Prefix;
  std::set<std::string> Taken;
};

} // namespace decontend

#endif
