//===- Mentions.cpp - What else mentions a counter ------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Mentions.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace decontend {

std::string MentionSearch::proof() const {
  std::string Out =
      fmt::format("no other mention in {} file{} that see{} its declaration",
                  Files, Files == 1 ? "" : "s", Files == 1 ? "s" : "");
  if (Folders)
    Out += fmt::format(", nor in other source files of {}",
                       Folders == 1 ? "their folder"
                                    : fmt::format("their {} folders", Folders));
  return Out;
}

namespace {

class MentionFinder {
public:
  explicit MentionFinder(const UsePlaces &Places)
      : Places(Places), P(Places.program()), C(Places.counter()) {}

  MentionSearch run() {
    MentionSearch Out;
    std::set<Sym> In = files();
    for (const UsePlace &U : Places.uses())
      Known[U.File].push_back(U.Mention);
    for (const DeclarationPlace &D : Places.declarations())
      Known[D.File].push_back(D.Text);
    // Only files with the name in them are worth gathering facts of.
    std::set<std::string> Names;
    std::set<Sym> Naming;
    for (Sym File : In) {
      const std::string *Text = Places.text(P.str(File));
      if (!Text)
        continue;
      ++Out.Files;
      if (!llvm::StringRef(*Text).contains(Places.name()))
        continue;
      Names.insert(P.str(File).str());
      Naming.insert(File);
    }
    collect(Naming);
    for (const std::string &File : Names) {
      llvm::StringRef Code = Places.code(File);
      for (uint32_t At : mentionsOf(Code, Places.name())) {
        std::string What = trouble(File, Code, At);
        if (What.empty())
          continue;
        Out.Trouble = fmt::format("{}:{} {}", File,
                                  Code.take_front(At).count('\n') + 1, What);
        return Out;
      }
    }
    Out.Trouble = outside(Out.Folders);
    return Out;
  }

private:
  /// Source files beside those that mention it, which no unit is made of: other
  /// configurations, or other programs.
  std::string outside(size_t &Folders) const {
    // A static variable of a source file is not seen there.
    if (C.Variable && (C.Variable->Flags & GlobalFacts::Static))
      return "";
    std::set<Sym> Own;
    for (const auto &U : P.units())
      for (const Dependency &D : U->Files)
        Own.insert(D.Path);
    std::set<std::string> In;
    for (const auto &[File, Spans] : Known)
      In.insert(llvm::sys::path::parent_path(File).str());
    Folders = In.size();
    for (const std::string &Folder : In)
      for (const std::string &File : filesIn(Folder)) {
        const std::string *Text =
            empty(P.find(File)) || !Own.count(P.find(File)) ? Places.text(File)
                                                            : nullptr;
        if (!Text || !llvm::StringRef(*Text).contains(Places.name()) ||
            !related(*Text))
          continue;
        llvm::StringRef Code = Places.code(File);
        for (uint32_t At : mentionsOf(Code, Places.name()))
          if (mayBeIt(Code, At))
            return fmt::format("{}:{} mentions it, and is no part of this "
                               "program",
                               File, Code.take_front(At).count('\n') + 1);
      }
    return "";
  }

  std::set<std::string> filesIn(const std::string &Folder) const {
    static constexpr llvm::StringRef Endings[] = {".c", ".cc", ".cpp", ".cxx",
                                                  ".h", ".hh", ".hpp", ".hxx"};
    std::set<std::string> Out;
    // The root itself is the folder of a file that it holds.
    std::string Any = (Folder.empty() ? "" : Folder + "/") + ".";
    std::error_code Error;
    llvm::sys::fs::directory_iterator It(
        llvm::sys::path::parent_path(Places.sources().absolute(Any)), Error);
    for (; !Error && It != llvm::sys::fs::directory_iterator();
         It.increment(Error)) {
      llvm::StringRef Name = llvm::sys::path::filename(It->path());
      if (llvm::is_contained(Endings, llvm::sys::path::extension(Name)))
        Out.insert((Folder.empty() ? "" : Folder + "/") + Name.str());
    }
    return Out;
  }

  /// Does a file know the record, or the header that declares the variable?
  bool related(llvm::StringRef Text) const {
    if (C.Field) {
      llvm::StringRef Tag = P.str(C.Record);
      Tag = Tag.substr(Tag.find_last_of(" :") + 1);
      return Text.contains(Tag);
    }
    for (const DeclarationPlace &D : Places.declarations())
      if (Text.contains(llvm::sys::path::filename(D.File)))
        return true;
    return Text.contains("extern");
  }

  bool mayBeIt(llvm::StringRef Code, uint32_t At) const {
    llvm::StringRef Before = Code.take_front(At).rtrim();
    bool Member = Before.ends_with("->") || Before.ends_with(".");
    bool Cxx = C.Field && (C.InRecord->Flags & RecordFacts::Cxx);
    return Cxx || Member == bool(C.Field);
  }

  /// Files of the units that see a declaration. A static variable of a source
  /// file is not seen elsewhere.
  std::set<Sym> files() const {
    std::set<Sym> Declaring, Out;
    for (const DeclarationPlace &D : Places.declarations())
      Declaring.insert(P.find(D.File));
    bool Own = C.Variable && (C.Variable->Flags & GlobalFacts::Static);
    for (const auto &U : P.units()) {
      if (Own && U->MainFile == C.Variable->Where.File)
        return {U->MainFile};
      bool Sees = false;
      for (const Dependency &D : U->Files)
        Sees |= Declaring.count(D.Path) != 0;
      if (Sees)
        for (const Dependency &D : U->Files)
          Out.insert(D.Path);
    }
    return Out;
  }

  /// Spans of the facts of \p In, by file.
  void collect(const std::set<Sym> &In) {
    for (const Node &N : P.nodes()) {
      if (!N.Facts || !In.count(N.Facts->Where.File))
        continue;
      std::string File = P.str(N.Facts->Where.File).str();
      Functions[File].push_back(N.Facts);
      for (const Access &A : N.Facts->Accesses)
        if (!A.Text.empty())
          Accessed[File].push_back(A.Text);
    }
    for (const auto &U : P.units()) {
      for (const InactiveText &I : U->Inactive)
        if (In.count(I.File))
          LeftOut[P.str(I.File).str()].push_back(I.Text);
      for (const DeclFacts &D : U->Decls)
        if (D.Function && In.count(D.Where.File))
          Prototypes[P.str(D.Where.File).str()].push_back(D.Text);
      for (const RecordFacts &R : U->Records)
        if (In.count(R.Where.File))
          Records[P.str(R.Where.File).str()].push_back(R.Braces);
      for (const GlobalFacts &G : U->Globals)
        if (In.count(G.Where.File))
          Globals[P.str(G.Where.File).str()].push_back(&G);
      for (const InitFacts &I : U->Inits)
        if (In.count(I.Where.File) && I.Field == C.Key)
          Initialised[P.str(I.Where.File).str()].push_back(I.Text);
    }
  }

  using Spans = std::map<std::string, std::vector<Span>, std::less<>>;

  static bool within(const Spans &In, llvm::StringRef File, uint32_t At) {
    auto It = In.find(File);
    if (It == In.end())
      return false;
    for (Span S : It->second)
      if (S.Begin <= At && At < S.End)
        return true;
    return false;
  }

  /// Is it in a preprocessor line, with the lines that it continues?
  static bool inDirective(llvm::StringRef Code, uint32_t At) {
    SourceText Text(Code);
    uint32_t Line = Text.lineBegin(At);
    while (Line > 0 && Code.take_front(Line - 1).rtrim("\r").ends_with("\\"))
      Line = Text.lineBegin(Line - 1);
    return Text.lineAt(Line).ltrim().starts_with("#");
  }

  const FunctionFacts *functionAt(llvm::StringRef File, uint32_t At) const {
    auto It = Functions.find(File);
    if (It != Functions.end())
      for (const FunctionFacts *F : It->second)
        if (F->Whole.Begin <= At && At < F->Whole.End)
          return F;
    return nullptr;
  }

  std::string trouble(llvm::StringRef File, llvm::StringRef Code,
                      uint32_t At) const {
    if (within(Known, File, At))
      return "";
    llvm::StringRef Before = Code.take_front(At).rtrim();
    bool Arrow = Before.ends_with("->");
    bool Member = Arrow || Before.ends_with(".");
    // The facts do not have `object.hits` for a static member.
    bool Static = C.Variable && P.str(C.Key).contains("::");
    if (Member && Static && !within(Accessed, File, At))
      return "may mention it as a member of an object";
    if (C.Field && !Member && inOwnRecord(File, Code, At, Before))
      return "mentions it in its record, outside of all functions";
    if (Member != bool(C.Field) && !offsetOf(Code, At))
      return ""; // another thing of that name
    if (within(LeftOut, File, At))
      return "mentions it in text that this configuration leaves out";
    if (inDirective(Code, At))
      return "mentions it in a macro";
    return C.Field ? memberTrouble(File, Code, At, Before, Arrow)
                   : variableTrouble(File, Code, At);
  }

  /// In the initialiser of another member: `const long *shown = &hits;`. What
  /// stands behind a word is the name of something that is declared.
  bool inOwnRecord(llvm::StringRef File, llvm::StringRef Code, uint32_t At,
                   llvm::StringRef Before) const {
    const RecordFacts &R = *C.InRecord;
    if (!(R.Flags & RecordFacts::Cxx) || P.str(R.Where.File) != File ||
        At < R.Braces.Begin || At >= R.Braces.End || functionAt(File, At))
      return false;
    Before.consume_back("&");
    Before = Before.rtrim(" \t\n*&");
    return !Before.empty() && !llvm::isAlnum(Before.back()) &&
           Before.back() != '_' && Before.back() != '>';
  }

  /// The last argument of something: `offsetof(struct s, hits)`.
  bool offsetOf(llvm::StringRef Code, uint32_t At) const {
    return C.Field && Code.take_front(At).rtrim().ends_with(",") &&
           Code.substr(At + Places.name().size()).ltrim().starts_with(")") &&
           Code.slice(SourceText(Code).lineBegin(At), At)
               .contains(P.str(C.Record));
  }

  std::string memberTrouble(llvm::StringRef File, llvm::StringRef Code,
                            uint32_t At, llvm::StringRef Before,
                            bool Arrow) const {
    if (within(Accessed, File, At))
      return ""; // a member of another record
    Before = Before.drop_back(Arrow ? 2 : 1).rtrim();
    bool Designator = !Arrow && (Before.empty() || Before.ends_with("{") ||
                                 Before.ends_with(","));
    if (!Designator)
      return "mentions it where no use is seen: an object on the stack, a "
             "template, or something that is not evaluated";
    // `.hits = ATOMIC_INIT(0)`: the facts have the value.
    size_t Value = Code.find('=', At);
    if (Value != llvm::StringRef::npos) {
      while (++Value < Code.size() && llvm::isSpace(Code[Value])) {
      }
      if (within(Initialised, File, Value))
        return "";
    }
    auto It = Globals.find(File);
    if (It != Globals.end())
      for (const GlobalFacts *G : It->second)
        if (G->Text.Begin <= At && At < G->Text.End && othersMember(*G))
          return "";
    return "initialises a member of that name";
  }

  /// Is it a variable of another record that has such a member itself?
  bool othersMember(const GlobalFacts &G) const {
    if (G.Record == C.Record)
      return false;
    const RecordFacts *R = P.record(G.Record, nullptr);
    if (R)
      for (const FieldFacts &F : R->Fields)
        if (F.Name == C.Field->Name)
          return true;
    return false;
  }

  std::string variableTrouble(llvm::StringRef File, llvm::StringRef Code,
                              uint32_t At) const {
    if (const FunctionFacts *F = functionAt(File, At)) {
      // Uses were seen; what is left is a local name, or a declaration.
      llvm::StringRef Body = Code.slice(F->Whole.Begin, At);
      size_t Begin = Body.find_last_of(";{}");
      llvm::StringRef Head =
          Begin == llvm::StringRef::npos ? Body : Body.substr(Begin + 1);
      return Head.ltrim().starts_with("extern")
                 ? "declares it inside a function"
                 : "";
    }
    if (within(Prototypes, File, At) || within(Records, File, At))
      return "";
    auto It = Globals.find(File);
    if (It != Globals.end())
      for (const GlobalFacts *G : It->second)
        if (G->Text.Begin <= At && At < G->Text.End)
          return ""; // its address would be a fact
    return "mentions it outside of all functions";
  }

  const UsePlaces &Places;
  const Program &P;
  const Counter &C;
  Spans Known, Accessed, LeftOut, Prototypes, Records, Initialised;
  std::map<std::string, std::vector<const FunctionFacts *>, std::less<>>
      Functions;
  std::map<std::string, std::vector<const GlobalFacts *>, std::less<>> Globals;
};

} // namespace

MentionSearch searchMentions(const UsePlaces &Places) {
  return MentionFinder(Places).run();
}

} // namespace decontend
