//===- Facts.h - What one translation unit says -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   compile command --> [extract] --> UnitFacts --> [codec] --> shard
//                                         |
//                                         +--> [program] links many of them
//
// Plain data about one unit, without a pointer into Clang's AST. A function is
// a flat list of events in source order; blocks (loops, branches) are brackets
// in that list. This is enough to ask "what follows the wait", "is it inside a
// loop", "which object is freed" without parsing anything again, and events
// carry the byte range of their statement, so that a plan can edit the text.
//
// Names. A function with external linkage is keyed by its name (C) or by its
// USR (C++); one with internal linkage by `name@file`, so that static functions
// of the same name stay apart. Records are keyed `struct foo`, `union foo`, or
// by qualified name (C++); slots are `struct foo.member`.
//
// Paths are pure: relative to the source root, or `$build/...` below the build
// folder, else absolute (system headers). See UnitPaths in analysis/extract.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_ANALYSIS_FACTS_FACTS_H
#define DECONTEND_ANALYSIS_FACTS_FACTS_H

#include "Symbols.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <string>
#include <vector>

namespace decontend {

/// A position that a person can look up. Lines and columns start at 1; columns
/// count bytes. Line 0 means "nowhere".
struct Place {
  Sym File = Sym::None;
  uint32_t Line = 0;
  uint32_t Column = 0;
  bool operator==(const Place &) const = default;
};

/// A half-open range of byte offsets in the file of the enclosing fact.
/// Empty when the text comes from a macro body and cannot be edited there.
struct Span {
  uint32_t Begin = 0;
  uint32_t End = 0;
  bool empty() const { return Begin == End; }
  bool contains(Span O) const { return Begin <= O.Begin && O.End <= End; }
  bool operator==(const Span &) const = default;
};

/// Where the value of an expression comes from.
enum class RootKind : uint8_t {
  Unknown,
  Param,    ///< Base is the parameter's name, Index its number.
  Local,    ///< Base is the variable's name.
  Global,   ///< Base is the variable's key.
  Function, ///< Base is the function's key (its address is taken).
  Call,     ///< Base is the callee's key or slot.
  Constant, ///< A literal or enumerator; Text spells it.
  Null,     ///< NULL, nullptr, 0 as a pointer.
};

/// An access path: `&ns->mnt_llist` is {Param ns, Text "&ns->mnt_llist",
/// Field "struct ipc_namespace.mnt_llist"}.
struct Expr {
  enum : uint8_t { AddressOf = 1, Deref = 2, Indexed = 4, Pointer = 8 };
  RootKind Root = RootKind::Unknown;
  uint8_t Flags = 0;
  uint16_t Index = 0; ///< Parameter number, when Root is Param.
  Sym Base = Sym::None;
  Sym Text = Sym::None;   ///< Normalised spelling, at most 120 bytes.
  Sym Record = Sym::None; ///< Record that the value is, or points to.
  Sym Field = Sym::None;  ///< Last member named, as `struct foo.member`.
  bool operator==(const Expr &) const = default;
};

enum class EventKind : uint8_t {
  Call,   ///< Callee called; Exprs are the arguments.
  Assign, ///< Exprs are {left, right}; also initialised declarations.
  Return, ///< Exprs is {value} or empty.
  Goto,   ///< Callee is the label.
  Label,  ///< Callee is the label.
  Break,
  Continue,
  Loop,   ///< Opens a block; Callee is the macro or keyword that makes it.
  Branch, ///< Opens the "then" block of an if (or ?: && ||).
  Else,   ///< Opens the "else" block, right behind the End of its Branch.
  Switch, ///< Opens a block.
  Case,   ///< A case or default label.
  End,    ///< Closes the block opened at Link.
  Lambda, ///< Opens the body of a lambda or block; not run in place.
  Scope,  ///< Opens a bare `{}` that declares a variable with a clean-up.
};

/// How a call finds its target.
enum class CallVia : uint8_t {
  Direct,   ///< Callee is a function key.
  Slot,     ///< Callee is a slot, `struct file_operations.release`.
  Variable, ///< Callee is the text of a function pointer expression.
};

struct Event {
  enum : uint16_t {
    InCondition = 1, ///< Part of the condition of the next Branch or Loop.
    ResultUsed = 2,  ///< The value of the call is used.
    FromMacro = 4,   ///< Spelled by a macro's body (not merely an argument).
    NullTest = 8,    ///< Branch: condition tests a pointer against null.
    Negated = 16,    ///< Branch: taken when the tested value is null/zero.
    ErrorTest = 32,  ///< Branch: condition tests for an error (IS_ERR, ret<0).
    Unlikely = 64,   ///< Branch: wrapped in unlikely().
    Declares = 128,  ///< Assign: initialises a declaration.
    Statement = 256, ///< The event is a whole statement of its own.
    Braced = 512,    ///< Branch/Else/Loop: the body is a compound statement.
    Static = 1024,   ///< Assign: initialises a static local.
    OwnBody = 2048,  ///< Loop: the body stands in a file, not in a macro.
    Endless = 4096,  ///< Loop: no condition, or a constant one.
  };
  EventKind Kind = EventKind::Call;
  CallVia Via = CallVia::Direct;
  uint16_t Flags = 0;
  uint32_t Line = 0, Column = 0;
  Span Text;               ///< The statement with its `;`, else the expression.
  Sym Callee = Sym::None;  ///< Function, slot, label, loop macro, condition;
                           ///< Assign|Declares: what cleans the variable up
                           ///< (attribute cleanup, or a destructor), if any.
  Sym Macro = Sym::None;   ///< Outermost macro whose expansion made the event.
  Sym Comment = Sym::None; ///< Comment just above or beside a modelled call.
  uint32_t Link = 0;       ///< Opener: index of its End; End: of its opener.
                           ///< Call: the event that takes its value, at once
                           ///< or through arithmetic (the opener of a loop or
                           ///< branch for a condition). 0 otherwise.
  uint32_t FirstExpr = 0;  ///< Range in FunctionFacts::Exprs.
  uint16_t NumExprs = 0;
  bool is(uint16_t Flag) const { return Flags & Flag; }
  bool operator==(const Event &) const = default;
};

enum class AccessKind : uint8_t {
  Read,     ///< Its value is taken.
  Write,    ///< A value is assigned to it.
  Update,   ///< Read and written in one expression: ++, --, +=, |= ...
  Argument, ///< It is argument Argument of call At by address or reference.
  Escape,   ///< Its address goes elsewhere: kept, returned, compared, to asm;
            ///< or its offset is taken, of an integer or an atomic.
};

/// One mention of a field or of a global variable. The outermost member of an
/// access path is the one that is used: `a->b.c = 1` writes `c`, and reads
/// nothing. Fields of objects on the stack are left out.
struct Access {
  enum : uint8_t {
    ResultUsed = 1,  ///< Update: the expression's value is used.
    Plus = 2,        ///< Update: ++ or +=.
    Minus = 4,       ///< Update: -- or -=.
    InCondition = 8, ///< Part of the condition of a Branch or Loop.
    FromMacro = 16,  ///< Spelled by a macro's body.
    Consumed = 32,   ///< Read: event At takes the value.
    Initial = 64,    ///< Write: a constructor's initialiser.
    OneStep = 128,   ///< The type is _Atomic: indivisible.
  };
  AccessKind Kind = AccessKind::Read;
  uint8_t Flags = 0;
  /// Argument: its number among the call's Exprs. Consumed by a call: the
  /// argument that the value went into. NoArgument otherwise.
  uint16_t Argument = NoArgument;
  /// The call, assignment, return, branch ... that uses it when Kind is
  /// Argument, Write by `=`, or Consumed. Else the event that comes next, which
  /// may be one past the last.
  uint32_t At = 0;
  uint32_t Path = 0; ///< Index in FunctionFacts::Exprs.
  uint32_t Line = 0, Column = 0;
  Span Text; ///< Update: the whole expression; else the mention.
  static constexpr uint16_t NoArgument = 0xffff;
  bool is(uint8_t Flag) const { return Flags & Flag; }
  bool operator==(const Access &) const = default;
};

struct ParamFacts {
  Sym Name = Sym::None;
  Sym Type = Sym::None;   ///< As written, e.g. `struct ipc_namespace *`.
  Sym Record = Sym::None; ///< Record it is, or points to.
  bool operator==(const ParamFacts &) const = default;
};

struct FunctionFacts {
  enum : uint16_t {
    Static = 1,
    Inline = 2,
    InHeader = 4,  ///< Defined outside the unit's main file.
    MacroMade = 8, ///< Its name is spelled by a macro expansion.
    NoReturn = 16,
    Cxx = 32,
    Method = 64,
    Destructor = 128,
    Constructor = 256,
    Variadic = 512,
  };
  Sym Key = Sym::None;
  Sym Name = Sym::None;
  Place Where;
  uint32_t EndLine = 0;
  Span Whole;              ///< From the first declaration specifier to `}`.
  Span Body;               ///< From `{` to `}`, both included.
  Sym Section = Sym::None; ///< Section attribute, e.g. `.init.text`.
  Sym ReturnType = Sym::None;
  uint16_t Flags = 0;
  std::vector<ParamFacts> Params;
  std::vector<Event> Events;
  std::vector<Expr> Exprs;
  std::vector<Access> Accesses; ///< In source order.

  bool is(uint16_t Flag) const { return Flags & Flag; }
  llvm::ArrayRef<Expr> exprs(const Event &E) const {
    return llvm::ArrayRef<Expr>(Exprs).slice(E.FirstExpr, E.NumExprs);
  }
  bool operator==(const FunctionFacts &) const = default;
};

struct FieldFacts {
  enum : uint8_t {
    Pointer = 1,
    Array = 2,
    Flexible = 4,
    BitField = 8,
    Atomic = 16,  ///< _Atomic or std::atomic.
    InUnion = 32, ///< Shares its bytes with other members.
  };
  Sym Name = Sym::None;
  Sym Type = Sym::None;
  Sym Record = Sym::None;
  uint8_t Flags = 0;
  /// Bits of the integer that it (or an element, or an atomic's value) is;
  /// negative when signed, 0 when it is no integer.
  int8_t Width = 0;
  uint32_t Line = 0;
  Span Text; ///< The member declaration with its `;`, in the record's file.
  bool operator==(const FieldFacts &) const = default;
};

struct RecordFacts {
  enum : uint8_t { Packed = 1, Union = 2, RandomLayout = 4, Cxx = 8 };
  Sym Key = Sym::None;
  Place Where;
  Span Braces; ///< From `{` to `}`, both included; empty if made by a macro.
  uint8_t Flags = 0;
  std::vector<FieldFacts> Fields; ///< Members of anonymous structs included.
  bool operator==(const RecordFacts &) const = default;
};

struct GlobalFacts {
  enum : uint8_t {
    Static = 1,
    Const = 2,
    ThreadLocal = 4,
    Defined = 8,
    Atomic = 16, ///< _Atomic or std::atomic.
    Array = 32,
    Local = 64, ///< A static variable of a function.
    Pointer = 128,
  };
  Sym Key = Sym::None;
  Sym Name = Sym::None;
  Sym Type = Sym::None;
  Sym Record = Sym::None;
  Sym Section = Sym::None;
  uint8_t Flags = 0;
  int8_t Width = 0; ///< As FieldFacts::Width.
  Place Where;
  Span Text; ///< The declaration with its `;`, if it declares nothing else.
  Span Init; ///< The initialiser behind `=`, or empty.
  bool operator==(const GlobalFacts &) const = default;
};

/// A function put into a slot: by an initialiser (`.release = foo_release`) or
/// by an assignment (`x->release = foo_release`).
struct SlotFill {
  Sym Slot = Sym::None;     ///< `struct file_operations.release`.
  Sym Function = Sym::None; ///< Key of the function.
  Sym Object = Sym::None;   ///< Key of the initialised variable, if known.
  Sym Within = Sym::None;   ///< Key of the assigning function, if any.
  Place Where;
  bool operator==(const SlotFill &) const = default;
};

/// A declaration that does not define: a prototype, or `extern int x;`. Only
/// those below the source root.
struct DeclFacts {
  Sym Key = Sym::None;
  Sym Name = Sym::None;
  Place Where;
  Span Text; ///< With its `;`; empty when a macro makes it.
  bool Function = false;
  bool operator==(const DeclFacts &) const = default;
};

/// The initialiser of one member of a global variable: a record or an atomic
/// that a macro initialises (Value is none), the address of a variable that is
/// an integer or an atomic, or the offset of a member that is. In C++, also
/// what the default initialiser of a member names.
struct InitFacts {
  Sym Object = Sym::None; ///< Key of the variable.
  Sym Field = Sym::None;  ///< `struct foo.member`.
  Sym Value = Sym::None;  ///< Variable whose address, or member whose offset
                          ///< is kept.
  Place Where;
  Span Text; ///< The value, such as `ATOMIC_INIT(0)`.
  bool operator==(const InitFacts &) const = default;
};

/// Text below the source root that the preprocessor left out, with the two
/// directives around it.
struct InactiveText {
  Sym File = Sym::None;
  uint32_t Line = 0; ///< Of the directive that starts it.
  Span Text;
  std::vector<Sym> Words; ///< Identifiers in it, each once, in order.
  bool operator==(const InactiveText &) const = default;
};

/// A macro that the models know as a marker, expanded at file level:
/// `module_exit(foo_exit)`, `EXPORT_SYMBOL_GPL(foo)`.
struct MarkerFacts {
  Sym Macro = Sym::None;
  Sym Argument = Sym::None; ///< First argument, white space removed.
  Place Where;
  bool operator==(const MarkerFacts &) const = default;
};

/// BLAKE3 of a file's bytes, the first 16 bytes of it.
using Digest = std::array<uint8_t, 16>;

struct Dependency {
  Sym Path = Sym::None;
  Digest Content{};
  bool operator==(const Dependency &) const = default;
};

/// Everything that extraction learns from one unit.
struct UnitFacts {
  Symbols Names;
  Sym MainFile = Sym::None;
  std::vector<Dependency> Files; ///< Main file first, then in include order.
  std::vector<FunctionFacts> Functions;
  std::vector<RecordFacts> Records;
  std::vector<GlobalFacts> Globals;
  std::vector<SlotFill> Slots;
  std::vector<MarkerFacts> Markers;
  std::vector<DeclFacts> Decls;
  std::vector<InitFacts> Inits;
  std::vector<InactiveText> Inactive;
  /// Keys of header functions that this unit names and whose bodies it left to
  /// another unit: a program in which nobody gives them has a gap.
  std::vector<Sym> Borrowed;
  /// Headers of which this unit left records, declarations or inactive text to
  /// other units. Sorted by path.
  std::vector<Sym> BorrowedFrom;

  llvm::StringRef str(Sym S) const { return Names.str(S); }
};

} // namespace decontend

#endif
