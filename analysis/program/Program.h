//===- Program.h - All units linked -----------------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   shards --> [add]* --> [link] --> call graph      (CallGraph.cpp)
//                                --> contexts        (Contexts.cpp)
//                                --> wait summaries  (Waits.cpp)
//
// Units are added in path order; after link() the program is immutable and may
// be read from any thread. Nodes are dense numbers in order of first mention,
// so that everything computed from them is deterministic.
//
// Approximations, with their direction:
//  - A call through an operation table with one known target goes there; with
//    several, waits do not propagate through it (may miss), contexts do only
//    where no model says what the slot is (may over-report heat).
//  - A function pointer argument of unknown use is taken as called in place
//  when
//    the callee calls that parameter, else as not called (may miss).
//  - Functions with the same external name in two images (kernel, boot loader)
//    are taken as one: the first in path order (may do either).
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_PROGRAM_PROGRAM_H
#define DECONTEND_ANALYSIS_PROGRAM_PROGRAM_H

#include "analysis/facts/Facts.h"
#include "analysis/models/Models.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace decontend {

using NodeId = uint32_t;
constexpr NodeId NoNode = ~0u;

enum class EdgeKind : uint8_t {
  Direct,   ///< An ordinary call.
  InPlace,  ///< Passed as an argument and called before the call returns.
  Slot,     ///< Through an operation table with a single target.
  SlotMany, ///< Through an operation table with several targets.
};

struct Edge {
  NodeId Caller = NoNode, Callee = NoNode;
  uint32_t Event = 0; ///< In the caller's events.
  EdgeKind Kind = EdgeKind::Direct;
  bool OnErrorPath = false;
  /// How sure it is that the caller gets there: 0 always (or only guarded
  /// against null, or by a dropped last reference), else the number of
  /// conditions around it.
  uint8_t Conditions = 0;
  uint8_t Guards = 0; ///< Tests whether something optional is there.
};

/// Why a node has a context of its own: the start of a heat witness.
struct EntryPoint {
  NodeId Node = NoNode;
  uint16_t Context = CtxNone;
  std::string Why; ///< "struct file_operations.release of foo_fops".
  Place Where;
  std::string Holds;    ///< Global lock that is held on entry, or empty.
  bool Worker = false;  ///< Runs on a pool of workers.
  Sym Slot = Sym::None; ///< Slot that it was put into, if that is why.
};

/// One step towards a grace-period wait.
struct WaitSummary {
  uint16_t Distance = 0xffff; ///< Calls to the primitive; 0: is the primitive.
  uint8_t Conditions = 0xff;  ///< Conditions on the way.
  uint8_t Guards = 0xff;      ///< Optional things on the way.
  uint32_t Edge = ~0u;        ///< Next edge; ~0 for a primitive.
  WaitModel::CostKind Cost = WaitModel::Full;
  bool waits() const { return Distance != 0xffff; }
};

struct Node {
  Sym Key = Sym::None;
  Sym Name = Sym::None;
  const FunctionFacts *Facts = nullptr; ///< Null: no body in the program.
  const UnitFacts *Unit = nullptr;
  const FunctionModel *Model = nullptr;
  uint16_t Contexts = CtxNone;
  /// Those of Contexts that an entry gives which is not an administrator's.
  uint16_t Frequent = CtxNone;
  bool AddressTaken = false;
  bool Exported = false;
  WaitSummary Wait;
};

class Program {
public:
  explicit Program(const Models &M) : Knowledge(M) {}

  Symbols &names() { return Names; }
  llvm::StringRef str(Sym S) const { return Names.str(S); }
  Sym find(llvm::StringRef S) const { return Names.find(S); }
  const Models &models() const { return Knowledge; }

  /// Adds a unit whose Syms come from names(). Call in path order.
  void add(std::unique_ptr<UnitFacts> Unit);

  /// Gives all units back, to link them again with one replaced. Their Syms go
  /// on belonging to names(); of the program nothing else may be used any more.
  std::vector<std::unique_ptr<UnitFacts>> takeUnits() {
    return std::move(Units);
  }

  /// Builds graph, contexts and summaries. O(edges); no more add() afterwards.
  void link();

  llvm::ArrayRef<Node> nodes() const { return Nodes; }
  const Node &node(NodeId N) const { return Nodes[N]; }
  NodeId find(Sym Key) const {
    auto It = NodeByKey.find(Key);
    return It == NodeByKey.end() ? NoNode : It->second;
  }
  llvm::StringRef name(NodeId N) const { return str(Nodes[N].Name); }

  llvm::ArrayRef<Edge> edges() const { return Edges; }
  /// Edges out of \p N, in order of events. Indices into edges().
  llvm::ArrayRef<uint32_t> callees(NodeId N) const { return Out[N]; }
  /// Edges into \p N, in order of callers.
  llvm::ArrayRef<uint32_t> callers(NodeId N) const { return In[N]; }

  llvm::ArrayRef<EntryPoint> entries() const { return Entries; }
  llvm::ArrayRef<std::unique_ptr<UnitFacts>> units() const { return Units; }
  llvm::ArrayRef<SlotFill> slotFills() const { return AllSlots; }
  /// Functions put into a slot, each once.
  llvm::ArrayRef<NodeId> targets(Sym Slot) const;

  /// The path by which \p N is reached in context \p Bit: an entry point, then
  /// the edges from it to \p N, shortest first. Empty edges if N is the entry.
  struct HeatWitness {
    const EntryPoint *Entry = nullptr;
    std::vector<uint32_t> Edges;
  };
  HeatWitness heat(NodeId N, uint16_t Bit) const;

  /// Edges from \p N to the wait primitive, following summaries.
  std::vector<uint32_t> waitPath(NodeId N) const;

  /// Model of what event \p E of a function calls: by callee, else by macro.
  const FunctionModel *modelOf(const Event &E) const;
  /// Model of the macro whose expansion made the event, or null.
  const FunctionModel *modelOfMacro(const Event &E) const {
    size_t I = static_cast<uint32_t>(E.Macro);
    return I < ModelByName.size() ? ModelByName[I] : nullptr;
  }
  /// Name of the callee as the source spells it.
  llvm::StringRef calleeName(const Event &E) const;

  /// Definition of a record as seen from \p Unit: in its main file, else in a
  /// header; null if there is none.
  const RecordFacts *record(Sym Key, const UnitFacts *Unit) const;
  const GlobalFacts *global(Sym Key) const;

  /// Units that borrow what no unit gives, each gap once, from the first that
  /// borrows it: the body of a header function, or all the records and
  /// declarations of a header (a header of which another unit still gives a
  /// part counts as given: may miss). Ascending numbers of units().
  std::vector<size_t> unitsWithGaps() const;

  size_t functionCount() const { return Defined; }
  size_t withContext() const { return Contextual; }

private:
  NodeId nodeFor(Sym Key);
  void buildNodes();
  void buildEdges();
  void linkCallbacks();
  void computeContexts();
  void computeWaits();

  const Models &Knowledge;
  Symbols Names;
  std::vector<std::unique_ptr<UnitFacts>> Units;
  std::vector<Node> Nodes;
  llvm::DenseMap<Sym, NodeId> NodeByKey;
  std::vector<Edge> Edges;
  std::vector<std::vector<uint32_t>> Out, In;
  std::vector<SlotFill> AllSlots;
  llvm::DenseMap<Sym, std::vector<NodeId>> SlotTargets;
  std::vector<EntryPoint> Entries;
  llvm::DenseMap<Sym,
                 std::vector<std::pair<const RecordFacts *, const UnitFacts *>>>
      Records;
  llvm::DenseMap<Sym, const GlobalFacts *> Globals;
  /// Per context bit: how each node is reached (edge, or entry index with the
  /// top bit set, or ~0).
  std::vector<uint32_t> Reached[16];
  /// Model of a function or macro name, by Sym; filled in by link().
  std::vector<const FunctionModel *> ModelByName;
  size_t Defined = 0, Contextual = 0;
};

} // namespace decontend

#endif
