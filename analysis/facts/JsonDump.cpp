//===- JsonDump.cpp - Facts for people to read ------------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/facts/JsonDump.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"

using namespace decontend;
using llvm::StringRef;

namespace {

struct FlagName {
  unsigned Bit;
  const char *Name;
};

constexpr FlagName ExprFlags[] = {{Expr::AddressOf, "address-of"},
                                  {Expr::Deref, "deref"},
                                  {Expr::Indexed, "indexed"},
                                  {Expr::Pointer, "pointer"}};
constexpr FlagName EventFlags[] = {{Event::InCondition, "in-condition"},
                                   {Event::ResultUsed, "result-used"},
                                   {Event::FromMacro, "from-macro"},
                                   {Event::NullTest, "null-test"},
                                   {Event::Negated, "negated"},
                                   {Event::ErrorTest, "error-test"},
                                   {Event::Unlikely, "unlikely"},
                                   {Event::Declares, "declares"},
                                   {Event::Statement, "statement"},
                                   {Event::Braced, "braced"},
                                   {Event::Static, "static"},
                                   {Event::OwnBody, "own-body"},
                                   {Event::Endless, "endless"}};
constexpr FlagName FunctionFlags[] = {
    {FunctionFacts::Static, "static"},
    {FunctionFacts::Inline, "inline"},
    {FunctionFacts::InHeader, "in-header"},
    {FunctionFacts::MacroMade, "macro-made"},
    {FunctionFacts::NoReturn, "no-return"},
    {FunctionFacts::Cxx, "c++"},
    {FunctionFacts::Method, "method"},
    {FunctionFacts::Destructor, "destructor"},
    {FunctionFacts::Constructor, "constructor"},
    {FunctionFacts::Variadic, "variadic"}};
constexpr FlagName FieldFlags[] = {
    {FieldFacts::Pointer, "pointer"},   {FieldFacts::Array, "array"},
    {FieldFacts::Flexible, "flexible"}, {FieldFacts::BitField, "bit-field"},
    {FieldFacts::Atomic, "atomic"},     {FieldFacts::InUnion, "in-union"}};
constexpr FlagName RecordFlags[] = {{RecordFacts::Packed, "packed"},
                                    {RecordFacts::Union, "union"},
                                    {RecordFacts::RandomLayout, "random"},
                                    {RecordFacts::Cxx, "c++"}};
constexpr FlagName GlobalFlags[] = {{GlobalFacts::Static, "static"},
                                    {GlobalFacts::Const, "const"},
                                    {GlobalFacts::ThreadLocal, "thread-local"},
                                    {GlobalFacts::Defined, "defined"},
                                    {GlobalFacts::Atomic, "atomic"},
                                    {GlobalFacts::Array, "array"},
                                    {GlobalFacts::Local, "local"},
                                    {GlobalFacts::Pointer, "pointer"}};
constexpr FlagName AccessFlagNames[] = {{Access::ResultUsed, "result-used"},
                                        {Access::Plus, "plus"},
                                        {Access::Minus, "minus"},
                                        {Access::InCondition, "in-condition"},
                                        {Access::FromMacro, "from-macro"},
                                        {Access::Consumed, "consumed"},
                                        {Access::Initial, "initial"},
                                        {Access::OneStep, "one-step"}};

} // namespace

static StringRef nameOf(EventKind K) {
  switch (K) {
  case EventKind::Call:
    return "call";
  case EventKind::Assign:
    return "assign";
  case EventKind::Return:
    return "return";
  case EventKind::Goto:
    return "goto";
  case EventKind::Label:
    return "label";
  case EventKind::Break:
    return "break";
  case EventKind::Continue:
    return "continue";
  case EventKind::Loop:
    return "loop";
  case EventKind::Branch:
    return "branch";
  case EventKind::Else:
    return "else";
  case EventKind::Switch:
    return "switch";
  case EventKind::Case:
    return "case";
  case EventKind::End:
    return "end";
  case EventKind::Lambda:
    return "lambda";
  case EventKind::Scope:
    return "scope";
  }
  llvm_unreachable("not an event kind");
}

static StringRef nameOf(AccessKind K) {
  switch (K) {
  case AccessKind::Read:
    return "read";
  case AccessKind::Write:
    return "write";
  case AccessKind::Update:
    return "update";
  case AccessKind::Argument:
    return "argument";
  case AccessKind::Escape:
    return "escape";
  }
  llvm_unreachable("not an access kind");
}

static StringRef nameOf(RootKind K) {
  switch (K) {
  case RootKind::Unknown:
    return "unknown";
  case RootKind::Param:
    return "param";
  case RootKind::Local:
    return "local";
  case RootKind::Global:
    return "global";
  case RootKind::Function:
    return "function";
  case RootKind::Call:
    return "call";
  case RootKind::Constant:
    return "constant";
  case RootKind::Null:
    return "null";
  }
  llvm_unreachable("not a root kind");
}

static std::string joinFlags(unsigned Flags, llvm::ArrayRef<FlagName> Names) {
  std::string Text;
  for (const FlagName &N : Names)
    if (Flags & N.Bit)
      Text += (Text.empty() ? "" : " ") + std::string(N.Name);
  return Text;
}

namespace {

class Dumper {
public:
  Dumper(const UnitFacts &Unit, llvm::raw_ostream &OS) : U(Unit), J(OS, 2) {}
  void unit();

private:
  /// Source text need not be UTF-8; JSON must be.
  void text(StringRef Name, StringRef Value) {
    if (!Value.empty())
      J.attribute(Name, llvm::json::fixUTF8(Value));
  }
  void text(StringRef Name, Sym S) { text(Name, U.str(S)); }
  void flags(unsigned Flags, llvm::ArrayRef<FlagName> Names) {
    text("flags", joinFlags(Flags, Names));
  }
  void width(int8_t Bits) {
    if (Bits)
      J.attribute("bits", static_cast<int64_t>(Bits));
  }
  void place(const Place &P) {
    if (P.Line || !empty(P.File))
      text("at", (U.str(P.File) + ":" + llvm::Twine(P.Line) + ":" +
                  llvm::Twine(P.Column))
                     .str());
  }
  void span(StringRef Name, Span S) {
    if (S != Span())
      text(Name, (llvm::Twine(S.Begin) + "-" + llvm::Twine(S.End)).str());
  }
  void texts(StringRef Name, llvm::ArrayRef<std::string> Values) {
    if (Values.empty())
      return;
    J.attributeArray(Name, [&] {
      for (const std::string &V : Values)
        J.value(llvm::json::fixUTF8(V));
    });
  }
  template <typename T, typename Write>
  void list(StringRef Name, const std::vector<T> &Elements, Write Each) {
    J.attributeArray(Name, [&] {
      for (const T &E : Elements)
        J.object([&] { Each(E); });
    });
  }

  std::string pathText(const Expr &E) const;
  std::string origin(const Expr &E) const;
  void syms(StringRef Name, const std::vector<Sym> &Values) {
    J.attributeArray(Name, [&] {
      for (Sym S : Values)
        J.value(llvm::json::fixUTF8(U.str(S)));
    });
  }
  void event(const FunctionFacts &F, const Event &E, size_t Depth);
  void events(const FunctionFacts &F);
  void access(const FunctionFacts &F, const Access &A);
  void function(const FunctionFacts &F);

  const UnitFacts &U;
  llvm::json::OStream J;
};

} // namespace

/// Something to read even where extraction kept no spelling.
std::string Dumper::pathText(const Expr &E) const {
  for (Sym S : {E.Text, E.Base, E.Field})
    if (!empty(S))
      return U.str(S).str();
  return ("<" + nameOf(E.Root) + ">").str();
}

/// Where a value is from: `param 0 ns, struct foo.list, struct list_head`.
std::string Dumper::origin(const Expr &E) const {
  std::string Text = nameOf(E.Root).str();
  if (E.Root == RootKind::Param)
    Text += " " + std::to_string(E.Index);
  if (!empty(E.Base))
    Text += " " + U.str(E.Base).str();
  if (!empty(E.Field))
    Text += ", field " + U.str(E.Field).str();
  if (!empty(E.Record))
    Text += ", of " + U.str(E.Record).str();
  if (E.Flags)
    Text += ", " + joinFlags(E.Flags, ExprFlags);
  return Text;
}

void Dumper::event(const FunctionFacts &F, const Event &E, size_t Depth) {
  J.attribute("kind", nameOf(E.Kind));
  J.attribute("depth", static_cast<int64_t>(Depth));
  text("at", (llvm::Twine(E.Line) + ":" + llvm::Twine(E.Column)).str());
  text("callee", E.Callee);
  if (E.Via != CallVia::Direct)
    text("via", E.Via == CallVia::Slot ? "slot" : "variable");
  std::vector<std::string> Args, Origins;
  for (const Expr &X : F.exprs(E)) {
    Args.push_back(pathText(X));
    Origins.push_back(origin(X));
  }
  texts("args", Args);
  texts("origins", Origins);
  flags(E.Flags, EventFlags);
  text("macro", E.Macro);
  text("comment", E.Comment);
  if (E.Link)
    J.attribute("link", static_cast<int64_t>(E.Link));
  span("text", E.Text);
}

void Dumper::events(const FunctionFacts &F) {
  std::vector<size_t> Open; // Indices of the blocks around the current event.
  J.attributeArray("events", [&] {
    for (size_t I = 0; I != F.Events.size(); ++I) {
      const Event &E = F.Events[I];
      if (E.Kind == EventKind::End && !Open.empty())
        Open.pop_back();
      J.object([&] { event(F, E, Open.size()); });
      if (E.Kind == EventKind::Loop || E.Kind == EventKind::Branch ||
          E.Kind == EventKind::Else || E.Kind == EventKind::Switch ||
          E.Kind == EventKind::Lambda || E.Kind == EventKind::Scope)
        Open.push_back(I);
    }
  });
}

void Dumper::access(const FunctionFacts &F, const Access &A) {
  const Expr &X = F.Exprs[A.Path];
  J.attribute("kind", nameOf(A.Kind));
  text("at", (llvm::Twine(A.Line) + ":" + llvm::Twine(A.Column)).str());
  text("path", pathText(X));
  text("field", X.Field);
  if (X.Root == RootKind::Global)
    text("global", X.Base);
  J.attribute("event", static_cast<int64_t>(A.At));
  if (A.Argument != Access::NoArgument)
    J.attribute("argument", static_cast<int64_t>(A.Argument));
  flags(A.Flags, AccessFlagNames);
  span("text", A.Text);
}

void Dumper::function(const FunctionFacts &F) {
  text("key", F.Key);
  text("name", F.Name);
  place(F.Where);
  J.attribute("end-line", static_cast<int64_t>(F.EndLine));
  flags(F.Flags, FunctionFlags);
  text("returns", F.ReturnType);
  text("section", F.Section);
  span("whole", F.Whole);
  span("body", F.Body);
  list("params", F.Params, [&](const ParamFacts &P) {
    text("name", P.Name);
    text("type", P.Type);
    text("record", P.Record);
  });
  events(F);
  list("accesses", F.Accesses, [&](const Access &A) { access(F, A); });
}

void Dumper::unit() {
  J.objectBegin();
  text("main-file", U.MainFile);
  list("files", U.Files, [&](const Dependency &D) {
    text("path", D.Path);
    text("digest", llvm::toHex(D.Content, /*LowerCase=*/true));
  });
  list("functions", U.Functions, [&](const FunctionFacts &F) { function(F); });
  list("records", U.Records, [&](const RecordFacts &R) {
    text("key", R.Key);
    place(R.Where);
    span("braces", R.Braces);
    flags(R.Flags, RecordFlags);
    list("fields", R.Fields, [&](const FieldFacts &F) {
      text("name", F.Name);
      text("type", F.Type);
      text("record", F.Record);
      flags(F.Flags, FieldFlags);
      width(F.Width);
      J.attribute("line", static_cast<int64_t>(F.Line));
      span("text", F.Text);
    });
  });
  list("globals", U.Globals, [&](const GlobalFacts &G) {
    text("key", G.Key);
    text("name", G.Name);
    text("type", G.Type);
    text("record", G.Record);
    text("section", G.Section);
    flags(G.Flags, GlobalFlags);
    width(G.Width);
    place(G.Where);
    span("text", G.Text);
    span("init", G.Init);
  });
  list("slots", U.Slots, [&](const SlotFill &S) {
    text("slot", S.Slot);
    text("function", S.Function);
    text("object", S.Object);
    text("within", S.Within);
    place(S.Where);
  });
  list("markers", U.Markers, [&](const MarkerFacts &M) {
    text("macro", M.Macro);
    text("argument", M.Argument);
    place(M.Where);
  });
  list("declarations", U.Decls, [&](const DeclFacts &D) {
    text("key", D.Key);
    text("name", D.Name);
    text("of", D.Function ? "function" : "variable");
    place(D.Where);
    span("text", D.Text);
  });
  list("initialisers", U.Inits, [&](const InitFacts &I) {
    text("object", I.Object);
    text("field", I.Field);
    text("address-of", I.Value);
    place(I.Where);
    span("text", I.Text);
  });
  list("inactive", U.Inactive, [&](const InactiveText &I) {
    text("file", I.File);
    J.attribute("line", static_cast<int64_t>(I.Line));
    span("text", I.Text);
    syms("words", I.Words);
  });
  syms("borrowed", U.Borrowed);
  syms("borrowed-from", U.BorrowedFrom);
  J.objectEnd();
}

void decontend::dumpJson(const UnitFacts &Unit, llvm::raw_ostream &OS) {
  Dumper(Unit, OS).unit();
  OS << '\n';
}
