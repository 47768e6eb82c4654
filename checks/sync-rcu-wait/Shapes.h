//===- Shapes.h - The shapes of a wait per object ---------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A site is a call, in one function, that waits for a grace period itself or
// through callees. The shape says in which way the wait is paid per object.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_CHECKS_SYNC_RCU_WAIT_SHAPES_H
#define DECONTEND_CHECKS_SYNC_RCU_WAIT_SHAPES_H

#include "Aftermath.h"
#include "analysis/program/HeldLocks.h"
#include <optional>

namespace decontend {

enum class WaitShape : uint8_t {
  InLoop,     ///< Once per element of a loop.
  ThenFree,   ///< Only memory is released behind it.
  OnLastPut,  ///< Dropping the last reference waits.
  InWork,     ///< A work item that waits for its own object.
  InTeardown, ///< The end of each object waits.
  InSetup,    ///< The making of each object waits.
  InHotPath,  ///< A system call or the like waits.
  Repeated,   ///< Two grace periods where one would do.
  UnderRtnl,  ///< A full wait while RTNL is held.
};

/// "wait-in-loop", "wait-then-free", ...
llvm::StringRef shapeId(WaitShape S);

struct WaitSite {
  NodeId Function = NoNode;
  uint32_t Event = 0; ///< The call in Function.
  WaitShape Shape = WaitShape::InLoop;
  const WaitModel *Wait = nullptr; ///< Of the primitive that is reached.
  std::vector<uint32_t> Path;      ///< Edges behind the call; empty if direct.
  unsigned Conditions = 0;         ///< On the way from Function to the wait.
  unsigned Guards = 0;             ///< Optional things on that way.
  int Loop = -1;                   ///< Event of the loop, for InLoop.
  int Drop = -1;                   ///< Event that drops the reference.
  int Unlink = -1;                 ///< Event that unlinks the freed object.
  bool OwnDomain = false; ///< The SRCU domain may be the element's own.
  Aftermath After;        ///< For direct sites.
  Sym Object = Sym::None; ///< Record of the object that pays.
  bool direct() const { return Path.empty(); }
};

/// Finds the sites of a program, function by function. Sites that only
/// start-up, shutdown or error handling reach are left out.
class ShapeFinder {
public:
  explicit ShapeFinder(const Program &P);

  /// Sites of \p N in source order, at most one per call.
  std::vector<WaitSite> sitesOf(NodeId N) const;

private:
  std::optional<WaitSite> direct(NodeId N, const Flow &F, uint32_t Event,
                                 const FunctionModel &M) const;
  std::optional<WaitSite> through(NodeId N, const Flow &F, const Edge &E) const;
  Sym objectOf(NodeId N, uint32_t Event) const;
  bool ownDomain(const FunctionFacts &F, uint32_t Wait) const;
  Sym droppedObject(const FunctionFacts &F, uint32_t Drop) const;
  bool startsAs(NodeId N, uint16_t Bit) const;
  bool isWorkItem(NodeId N) const;
  bool answeredBelow(llvm::ArrayRef<uint32_t> Path) const;
  bool reportedBelow(llvm::ArrayRef<uint32_t> Path) const;

  const Program &P;
  HeldLocks Rtnl;
  llvm::DenseMap<NodeId, uint16_t> EntryContexts;
  llvm::DenseMap<NodeId, bool> WorkItems;
};

} // namespace decontend

#endif
