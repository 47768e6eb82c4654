//===- Models.h - Knowledge of APIs as data ---------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   linux.yaml, atomics.yaml, ... (embedded) ----+
//                                                +--> [loadModels] --> Models
//   --models mine.yaml (adds, removes) ----------+
//
// What `synchronize_rcu`, `kfree` or the slot `file_operations.release` mean is
// data, not code. The format is described in docs/models.md. Names may contain
// `*` (glob); an exact name wins over a glob, a later file over an earlier one.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_MODELS_MODELS_H
#define DECONTEND_ANALYSIS_MODELS_MODELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decontend {

/// How a function is reached. A bit set: a function can be reached many ways.
enum Context : uint16_t {
  CtxNone = 0,
  CtxInit = 1,     ///< Boot, module load, start of the program.
  CtxExit = 2,     ///< Module unload, end of the program.
  CtxSetup = 4,    ///< Once per object, when it is made.
  CtxTeardown = 8, ///< Once per object, when it dies.
  CtxHot = 16,     ///< System call, packet, I/O: often and by anyone.
  CtxAsync = 32,   ///< Work queue, thread, timer, RCU callback.
  CtxAdmin = 64,   ///< Configuration by an administrator, hot-plug: rare.
  CtxReport = 128, ///< Shows figures to people: /proc, sysfs, dumps. Rare.
};

/// Spells one bit: "init", "exit", "setup", "teardown", "hot", "async",
/// "admin", "report"; "" for anything else.
llvm::StringRef contextName(uint16_t Bit);

/// The bit for a name, or CtxNone.
uint16_t contextFromName(llvm::StringRef Name);

/// A call that waits for a grace period.
struct WaitModel {
  enum CostKind : uint8_t {
    Full,      ///< A whole grace period, milliseconds.
    Expedited, ///< Interrupts all CPUs instead of waiting: the author has paid.
    Adaptive,  ///< Expedited in some contexts (synchronize_net under RTNL).
    Barrier,   ///< Waits for callbacks that are already queued.
  };
  std::string Flavour; ///< "rcu", "srcu", "rcu-tasks", "urcu-memb", ...
  CostKind Cost = Full;
  int DomainArg = -1; ///< Argument that names the domain (srcu_struct), or -1.
  std::string Deferred;    ///< Asynchronous form: "call_rcu", "call_srcu".
  std::string BarrierCall; ///< Waits for the deferred ones: "rcu_barrier".
  std::string HeadType;    ///< "struct rcu_head".
  std::string FreeMacro;   ///< "kfree_rcu", or empty.
  std::string Expedite;    ///< Cheaper form to advise: "synchronize_net" or so.
};

/// A function pointer argument, and how it will be called.
struct CallbackModel {
  int Arg = 0;
  uint16_t Context = CtxNone;
  bool Inline = false; ///< Called before the function returns (kref_put).
  std::string Holds;   ///< Kind of a global lock that is held meanwhile.
};

/// How often what is hot runs. In order: what is worse wins.
enum class Pace : uint8_t {
  Work,    ///< For each unit of work, on as many cores as there are.
  Remote,  ///< For each unit of work, which waits for another machine.
  Serial,  ///< For each unit of work, but on one core at a time per object.
  Control, ///< By control calls: whenever users wish, not for each unit of
           ///< work.
};

/// The pace of a slot, or of a function that is an entry point.
struct PaceModel {
  std::string Pattern; ///< Slot, function, or reason of an entry; or a glob.
  Pace At = Pace::Work;
};

/// What a call does to the atomic integer that one of its arguments points to.
struct AtomicModel {
  enum OpKind : uint8_t {
    Read,
    Set,      ///< Also initialisation.
    Add,      ///< Adds argument By.
    Sub,      ///< Subtracts argument By.
    Inc,      ///< Adds one.
    Dec,      ///< Subtracts one.
    Exchange, ///< Replaces the value: xchg, cmpxchg.
    Bits,     ///< and, or, xor: a set of flags, no count.
  };
  OpKind Op = Read;
  int On = 0;           ///< Argument that is (or points to) the integer.
  int By = -1;          ///< Amount: always for Add and Sub, may be for Set.
  bool Returns = false; ///< Yields the old or the new value, or a test of it;
                        ///< always for Read.
  bool Tests = false; ///< What it does depends on the value (inc_not_zero), or
                      ///< its result is a test (dec_and_test): reference
                      ///< counts and states do that, statistics do not.
};

/// A type whose objects are counters.
struct CounterTypeModel {
  enum KindT : uint8_t {
    Plain,     ///< An atomic integer: atomic_t.
    Reference, ///< Counts references by its type: refcount_t, struct kref.
    Spread,    ///< Spread over CPUs already: struct percpu_counter.
  };
  std::string Type;
  KindT Kind = Plain;
  int Width = 0; ///< Bits, negative when signed; 0: not an integer.
};

/// How many objects of a record there are, and who uses one.
struct RecordModel {
  enum SharingT : uint8_t {
    Wide,  ///< Few, long-lived, used by many cores: a namespace, a super block.
    Many,  ///< As many as users make, or short-lived: an inode, a packet.
    Owner, ///< Used by one owner at a time: a task, a CPU, a request.
  };
  std::string Record; ///< `struct inode`; may be a glob.
  SharingT Sharing = Wide;
  std::string Why;
};

/// A counter that is spread over CPUs, as text for a plan. In all forms `{c}`
/// stands for the counter (an expression that is its address), `{o}` for the
/// counter itself (an expression that is the object), `{n}` for an amount,
/// `{b}` for the batch, `{v}` for a value, `{t}` for a type, `{name}` for a
/// variable's name. A form that an API lacks is empty. Amounts stand where an
/// argument or a right side does: they need no parentheses.
struct CounterRemedy {
  std::string Id;               ///< "linux-percpu-counter".
  std::vector<std::string> For; ///< Types it replaces (globs).
  std::string Language;         ///< "c", "c++", or empty for both.
  std::string Type;             ///< "struct percpu_counter".
  std::string Header;           ///< "linux/percpu_counter.h".
  std::string Needs; ///< A function that must be seen in the program for this
                     ///< remedy to exist there, or empty.
  std::string Init;  ///< Fails with a value other than 0 if InitFails.
  bool InitFails = false;
  std::string Destroy;
  std::string Inc, Dec, Add, Sub;
  std::string AddBatch;           ///< With `{b}`.
  std::string AddLocal, SubLocal; ///< Never folded: only without cheap reads.
  std::string LocalNeeds;         ///< Function that must be seen for AddLocal.
  std::string Set;
  std::string Read, ReadPositive; ///< Cheap and approximate.
  std::string Sum, SumPositive; ///< Exact once writers stop; may sleep or lock.
  std::string SumLocks;  ///< Why Sum must not stand in a hot or atomic place.
  bool Variable = false; ///< For variables of static storage without Init.
  std::string Define, DefineStatic, Declare; ///< Of such a variable.
  std::string EachCpu; ///< Without Sum: head of the loop that visits all parts,
                       ///< with `{v}` for its variable, an int.
  std::string OfCpu;   ///< The part of CPU `{v}`, as an lvalue.
  std::string InitHeader;  ///< Header for what Init names beyond Header.
  std::string BootFailure; ///< Statement, without `;`, for boot code that can
                           ///< tell nobody when Init fails: "panic(...)".
};

/// What one function of an API does. Argument numbers start at 0; -1: none.
struct FunctionModel {
  std::string Name;
  std::optional<WaitModel> Wait;
  int Frees = -1;        ///< Frees the memory that this argument points to.
  std::string FreeByRcu; ///< Deferred form for a free: "kfree_rcu".
  int CacheArg = -1;     ///< Frees into this kmem_cache.
  int Unlinks = -1;      ///< Makes this object unreachable for new readers.
  bool UnlinksIfNull = false; ///< ... only if argument 1 is null.
  int DropsRef = -1;          ///< Drops a reference; true when it was the last.
  int TakesRef = -1;
  int Acquires = -1, Releases = -1; ///< Lock arguments.
  std::string Lock;          ///< Kind: spinlock, mutex, rwsem, rcu, rtnl, ...
  bool LockIsGlobal = false; ///< No argument: rtnl_lock().
  enum LockModeT : uint8_t { Exclusive, Read, Write } LockMode = Exclusive;
  /// It is taken always, or only when the result is not zero (null, false), or
  /// only when it is.
  enum LockOutcome : uint8_t { Always, Nonzero, Zero } LockOn = Always;
  std::string LockObject; ///< Which lock it is, if the argument only leads to
                          ///< it: "struct inode.i_rwsem", or a global's key.
  std::vector<std::string> LockWith; ///< Taken along: "irq", "bh", "preempt".
  bool LockRest = false; ///< All arguments from Acquires on are locks.
  /// Records of arguments that make it uncertain whether the lock is taken.
  std::vector<std::string> LockUnless;
  bool Allocates = false;
  bool Sleeps = false;
  bool Inert = false;       ///< Logging, assertions, hints: order is free.
  bool StopsDevice = false; ///< Touches hardware; what follows may need order.
  bool DestroysDomain = false; ///< kmem_cache_destroy, cleanup_srcu_struct.
  bool WaitsForWork = false;   ///< flush_work, cancel_work_sync, kthread_stop.
  bool Opaque = false;   ///< Do not look into its body for waits, nor pass
                         ///< contexts through it.
  std::string Asserts;   ///< Kind of a lock that it says is held: "rtnl".
  int AssertsArg = -1;   ///< The lock that it says is held, if no global one.
  int ReturnsArg = -1;   ///< Its value is this argument: spinlock_check().
  bool NoReturn = false; ///< Nothing behind the call runs: abort().
  std::optional<AtomicModel> Atomic;
  bool Reports = false; ///< Shows the values of its arguments to people, or
                        ///< traces them: seq_printf, printk, nla_put_u32.
  bool Clock = false;   ///< Tells the time: ktime_get.
  std::string Defers;   ///< Flavour whose grace period it lets pass before
                        ///< it acts: call_rcu and kfree_rcu say "rcu".
  std::vector<CallbackModel> Callbacks;
};

/// What a slot of an operation table means.
struct SlotModel {
  std::string Slot; ///< "struct file_operations.release".
  uint16_t Context = CtxNone;
  std::string Why;     ///< "close of a file", shown in traces.
  std::string Holds;   ///< Kind of a global lock that callers hold: "rtnl".
  bool Worker = false; ///< Runs on a pool of workers that others need too.
};

/// A name (or section, or marker macro) that fixes a context.
struct EntryModel {
  /// File: adds a context to all slots and callbacks that are given there.
  enum KindT : uint8_t { Name, Section, Marker, File } Kind = Name;
  std::string Pattern;
  uint16_t Context = CtxNone;
  bool Exports = false; ///< EXPORT_SYMBOL: callable from outside the program.
  std::string Why;
};

/// All models in force. Immutable once loaded; safe to read from any thread.
class Models {
public:
  /// Model of the function called \p Name (not its key), or null. O(1) for
  /// exact names, else a scan of the globs (memoise in hot loops).
  const FunctionModel *function(llvm::StringRef Name) const;

  /// Model of the slot, or null. Tries `struct foo.member` exactly, then globs.
  const SlotModel *slot(llvm::StringRef Slot) const;

  /// Context fixed by a function's name, by its section, or by a marker macro.
  const EntryModel *entry(EntryModel::KindT Kind, llvm::StringRef Text) const;

  /// Names of all marker macros, sorted (extraction listens to these only).
  std::vector<std::string> markers() const;

  /// Hex BLAKE3 over all that is in force; part of every shard's key.
  llvm::StringRef digest() const { return DigestHex; }

  llvm::ArrayRef<FunctionModel> functions() const { return Functions; }
  llvm::ArrayRef<SlotModel> slots() const { return Slots; }

  /// Counter type by its spelling (`atomic_t`, without qualifiers and array
  /// bounds), or null.
  const CounterTypeModel *counterType(llvm::StringRef Type) const;

  /// Sharing of a record, or null when no model says. Exact names, then globs.
  const RecordModel *record(llvm::StringRef Record) const;

  /// Pace of a slot or an entry function by its name, or of an entry by its
  /// reason ("passed to request_irq()"); Work if no model says.
  Pace pace(llvm::StringRef Name) const;

  /// Does the function tell the time?
  bool isClock(llvm::StringRef Name) const {
    const FunctionModel *M = function(Name);
    return M && M->Clock;
  }

  /// Remedies that replace a counter of type \p Type, in order of declaration;
  /// a later file's come first. Linear in the remedies, which are few.
  std::vector<const CounterRemedy *> remediesFor(llvm::StringRef Type) const;

private:
  friend class ModelsBuilder;
  void computeDigest();
  std::vector<FunctionModel> Functions;
  std::vector<SlotModel> Slots;
  std::vector<EntryModel> Entries;
  std::vector<CounterTypeModel> CounterTypes;
  std::vector<RecordModel> Records;
  std::vector<CounterRemedy> Remedies;
  std::vector<PaceModel> Paces;
  llvm::StringMap<size_t> FunctionByName, SlotByName, CounterByType,
      RecordByName, PaceByName;
  using Globs = std::vector<std::pair<llvm::GlobPattern, size_t>>;
  Globs FunctionGlobs, SlotGlobs, EntryGlobs, CounterGlobs, RecordGlobs,
      PaceGlobs;
  Globs RemedyTypes; ///< All types of all remedies, globs or not.
  llvm::StringMap<size_t> EntryByText[4];
  /// Globs refer to their text, so it is kept where copies can share it.
  std::shared_ptr<const std::vector<std::string>> GlobTexts;
  std::string DigestHex;
};

/// Loads the embedded models and then each of \p Files (paths of YAML files).
/// The error names file, line and what was expected. Reads files; blocks.
llvm::Expected<Models> loadModels(llvm::ArrayRef<std::string> Files = {});

/// Loads from memory only, for tests: {name shown in errors, text} pairs.
llvm::Expected<Models>
loadModelsFromText(llvm::ArrayRef<std::pair<std::string, std::string>> Texts);

} // namespace decontend

#endif
