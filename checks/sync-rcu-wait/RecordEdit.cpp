//===- RecordEdit.cpp - Giving a record one more member -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordEdit.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

namespace {

/// `struct rcu_head` is a macro for `struct callback_head` in the kernel.
bool sameType(llvm::StringRef Have, llvm::StringRef Want) {
  return Have == Want ||
         (Want == "struct rcu_head" && Have == "struct callback_head");
}

/// Is the text at \p At inside a union that opens behind \p Begin?
bool insideUnion(llvm::StringRef Text, uint32_t Begin, uint32_t At) {
  int Depth = 0;
  for (uint32_t I = At; I > Begin + 1; --I) {
    char C = Text[I - 1];
    if (C == '}')
      ++Depth;
    else if (C == '{' && Depth-- == 0) {
      if (Text.slice(Begin, I - 1).rtrim().ends_with("union"))
        return true;
      Depth = 0;
    }
  }
  return false;
}

/// An array without a size of its own, or as people wrote it before there were.
bool isTrailingArray(llvm::StringRef Type, const FieldFacts &F) {
  return (F.Flags & FieldFacts::Flexible) ||
         ((F.Flags & FieldFacts::Array) &&
          (Type.ends_with("[0]") || Type.ends_with("[1]")));
}

class MemberEditor {
public:
  MemberEditor(const PlanSite &S, Ledger &L, const RecordFacts &R,
               const MemberWanted &Want, llvm::StringRef Contents)
      : S(S), L(L), R(R), Want(Want), Text(Contents),
        File(S.P.str(R.Where.File)) {}

  std::optional<std::string> add() {
    std::string Name;
    for (const std::string &N : Want.Names)
      if (!hasMember(N)) {
        Name = N;
        break;
      }
    if (!require(!Name.empty(), "has members of these names already: " +
                                    llvm::join(Want.Names, ", ")))
      return std::nullopt;
    const FieldFacts *Last = nullptr;
    for (const FieldFacts &F : R.Fields)
      if (!F.Text.empty() && R.Braces.contains(F.Text) &&
          (!Last || F.Text.Begin >= Last->Text.Begin))
        Last = &F;
    if (!require(Last != nullptr, "has no member that stands in the file"))
      return std::nullopt;
    uint32_t Close = R.Braces.End - 1;
    if (!require(Text.text().slice(Text.lineBegin(Close), Close).trim().empty(),
                 "closes on the line of its last member"))
      return std::nullopt;
    uint32_t Place = Text.lineBegin(Close);
    // Members that a macro made may be a flexible array at the end.
    llvm::StringRef Tail = Text.text().slice(Last->Text.End, Place);
    if (!require(!Tail.contains("("),
                 "ends with a member that a macro declares"))
      return std::nullopt;
    if (endsFlexible(*Last)) {
      if (!require(braceDepth(Last->Text.Begin) == 1,
                   "ends with a flexible array in an inner record"))
        return std::nullopt;
      Place = Text.lineBegin(Last->Text.Begin);
      Span Comment = Text.commentAbove(Place);
      if (Comment.Begin > R.Braces.Begin)
        Place = Comment.Begin;
    }
    if (!header())
      return std::nullopt;
    std::string Line = declaration(Name, *Last);
    L.edit({File.str(), Place, Place, Line});
    document(Name);
    note(true, fmt::format("takes `{} {};` at {}:{}", Want.Type, Name,
                           File.str(), lineNumber(Place)));
    return Name;
  }

  /// Only what fails is noted: one line is proof enough that it can be edited.
  bool require(bool Holds, const std::string &What) {
    return Holds || note(false, What);
  }
  bool note(bool Holds, const std::string &What) {
    return L.require("record-editable", Holds,
                     fmt::format("{} at {}:{} {}", S.P.str(R.Key).str(),
                                 File.str(), R.Where.Line, What));
  }

private:
  bool hasMember(llvm::StringRef Name) const {
    return std::any_of(
        R.Fields.begin(), R.Fields.end(),
        [&](const FieldFacts &F) { return S.P.str(F.Name) == Name; });
  }

  bool endsFlexible(const FieldFacts &F) const {
    if (isTrailingArray(S.P.str(F.Type), F))
      return true;
    if (empty(F.Record) ||
        (F.Flags & (FieldFacts::Pointer | FieldFacts::Array)))
      return false;
    const RecordFacts *Inner = S.P.record(F.Record, S.Function.Unit);
    return Inner && !Inner->Fields.empty() && Inner != &R &&
           endsFlexible(Inner->Fields.back());
  }

  unsigned braceDepth(uint32_t At) const {
    llvm::StringRef Before = Text.text().slice(R.Braces.Begin, At);
    return Before.count('{') - Before.count('}');
  }

  unsigned lineNumber(uint32_t At) const {
    return Text.text().take_front(At).count('\n') + 1;
  }

  /// The new line, its name in the column of the names around it.
  std::string declaration(llvm::StringRef Name, const FieldFacts &Last) const {
    llvm::StringRef Line = Text.lineAt(Last.Text.Begin);
    std::string Indent = Text.indentAt(Last.Text.Begin).str();
    if (braceDepth(Last.Text.Begin) > 1) // inside an anonymous record
      for (const FieldFacts &F : R.Fields)
        if (!F.Text.empty() && R.Braces.contains(F.Text) &&
            braceDepth(F.Text.Begin) == 1)
          Indent = Text.indentAt(F.Text.Begin).str();
    // The gap before the declarator: wider than one space means columns.
    llvm::StringRef Code = Line.take_front(Line.find_first_of(";:,=")).rtrim();
    size_t Gap = Code.find_last_of(" \t");
    std::string Pad = " ";
    if (Gap != llvm::StringRef::npos && Gap > Indent.size()) {
      llvm::StringRef Head = Code.take_front(Gap + 1);
      llvm::StringRef Type = Head.rtrim();
      if (Head.size() - Type.size() > 1 || Head.ends_with("\t"))
        Pad = padding(visualWidth(Indent + Want.Type), visualWidth(Head),
                      Head.ends_with("\t"));
    }
    std::string Ending = Line.ends_with("\r\n") ? "\r\n" : "\n";
    return Indent + Want.Type + Pad + Name.str() + ";" + Ending;
  }

  /// A record with kernel-doc wants a line for every member.
  void document(llvm::StringRef Name) {
    Span Doc = Text.commentAbove(R.Where.Line ? lineStart(R.Where.Line) : 0);
    llvm::StringRef Words = Text.slice(Doc);
    if (!Words.trim().starts_with("/**"))
      return;
    size_t LastMember = Words.rfind("* @");
    if (LastMember == llvm::StringRef::npos)
      return;
    uint32_t At = Doc.Begin + LastMember;
    std::string Lead = Text.text().slice(Text.lineBegin(At), At).str();
    uint32_t Place = Text.nextLine(At);
    while (Place < Doc.End) {
      llvm::StringRef Line = Text.lineAt(Place).trim();
      if (Line == "*" || Line.ends_with("*/"))
        break;
      Place = Text.nextLine(Place);
    }
    if (Place >= Doc.End || Text.lineAt(At).contains("*/"))
      return;
    std::string What = Want.Type == "struct rcu_head"
                           ? "frees the object after a grace period"
                           : "entry in the list of objects to be freed";
    L.edit({File.str(), Place, Place,
            fmt::format("{}* @{}: {}\n", Lead, Name.str(), What)});
  }

  uint32_t lineStart(uint32_t Line) const {
    uint32_t At = 0;
    while (--Line)
      At = Text.nextLine(At);
    return At;
  }

  bool header() {
    bool Main = R.Where.File == S.Function.Unit->MainFile;
    bool Visible = Main || (Text.hasIncludes() && !Want.MustInclude) ||
                   Text.includes(Want.Header);
    if (!Visible && !Want.Header.empty()) {
      std::string Line = fmt::format("#include <{}>\n", Want.Header);
      // Among the others, else behind the include guard.
      std::optional<uint32_t> Place = Text.includePlace(Want.Header);
      size_t Guard = Text.text().find("#ifndef");
      size_t Define = Text.text().find("#define");
      if (!Place && Guard != llvm::StringRef::npos && Define > Guard &&
          Define < R.Braces.Begin) {
        Place = Text.nextLine(Define);
        Line.insert(0, "\n");
      }
      Visible = bool(Place);
      if (Place)
        L.edit({File.str(), *Place, *Place, Line});
    }
    return L.require(
        "head-type-visible", Visible,
        Main ? fmt::format("{} is declared where {} is, which uses what "
                           "declares {} too",
                           S.P.str(R.Key).str(), S.Found.Function, Want.Type)
             : fmt::format("{} {} what declares {}", File.str(),
                           Visible ? "includes" : "does not include",
                           Want.Type));
  }

  const PlanSite &S;
  Ledger &L;
  const RecordFacts &R;
  const MemberWanted &Want;
  SourceText Text;
  llvm::StringRef File;
};

} // namespace

/// A head can be queued once at a time: names another place that queues it.
static void noteOtherUse(const PlanSite &S, Ledger &L,
                         const std::string &Member) {
  Sym Field = S.P.find(Member);
  for (NodeId N = 0; N < S.P.nodes().size() && !empty(Field); ++N) {
    const FunctionFacts *F = S.P.node(N).Facts;
    if (!F)
      continue;
    for (uint32_t I = 0; I < F->Events.size(); ++I) {
      const FunctionModel *M = S.P.modelOf(F->Events[I]);
      if (!M || M->Defers.empty())
        continue;
      for (const Expr &X : F->exprs(F->Events[I]))
        if (X.Field == Field) {
          L.require("head-not-queued", N != S.Id,
                    fmt::format("{} is queued at {} as well; to be confirmed: "
                                "never for an object that comes here",
                                Member, S.where(N, I)));
          return;
        }
    }
  }
}

std::optional<std::string> memberFor(const PlanSite &S, Ledger &L, Sym Record,
                                     const MemberWanted &Want) {
  std::string Key = S.P.str(Record).str();
  const RecordFacts *R =
      empty(Record) ? nullptr : S.P.record(Record, S.Function.Unit);
  if (!L.require("record-known", R != nullptr,
                 R             ? fmt::format("the object is a {}", Key)
                 : Key.empty() ? "it is not seen of which type the freed "
                                 "object is"
                               : fmt::format("the definition of {} is not "
                                             "in the program",
                                             Key)))
    return std::nullopt;
  llvm::StringRef File = S.P.str(R->Where.File);
  const std::string *Contents = S.Files.get(File);
  static const std::string None;
  MemberEditor Editor(S, L, *R, Want, Contents ? *Contents : None);
  if (!Editor.require(Contents != nullptr,
                      "lies in a file that cannot be read"))
    return std::nullopt;
  if (Want.Reuse)
    for (const FieldFacts &F : R->Fields) {
      if (!sameType(S.P.str(F.Type), Want.Type))
        continue;
      bool Overlaid = F.Text.empty() || F.Text.Begin > Contents->size() ||
                      insideUnion(*Contents, R->Braces.Begin, F.Text.Begin);
      std::string Where =
          fmt::format("{} {} at {}:{}", Want.Type, S.P.str(F.Name).str(),
                      File.str(), F.Line);
      if (!L.require("head-not-overlaid", !Overlaid,
                     Overlaid ? Where + " may share its bytes with what "
                                        "readers still follow"
                              : Where + " is a member of its own"))
        return std::nullopt;
      noteOtherUse(S, L, Key + "." + S.P.str(F.Name).str());
      return S.P.str(F.Name).str();
    }
  struct {
    bool Bad;
    const char *Why;
  } Rules[] = {
      {R->Braces.empty() || R->Braces.End > Contents->size(),
       "is made by a macro"},
      {(R->Flags & RecordFacts::Packed) != 0, "is packed"},
      {(R->Flags & RecordFacts::Union) != 0, "is a union"},
      {(R->Flags & RecordFacts::Cxx) != 0, "is a C++ class"},
      {llvm::StringRef(Key).contains('@'), "has no name"},
      {File.contains("uapi/"), "is part of the interface to user space"},
      {File.starts_with("/") || File.starts_with("$"),
       "lies outside the source tree"},
  };
  for (auto [Bad, Why] : Rules)
    if (Bad && !Editor.require(false, Why))
      return std::nullopt;
  return Editor.add();
}

bool mayExceed(const PlanSite &S, Sym Record, uint64_t Bytes) {
  // Depth-limited sum; what is unknown counts as little, arrays by their bound.
  struct Counter {
    const PlanSite &S;
    uint64_t size(Sym Record, unsigned Depth) const {
      const RecordFacts *R = S.P.record(Record, S.Function.Unit);
      if (!R || Depth > 4)
        return 256;
      uint64_t Sum = 0;
      for (const FieldFacts &F : R->Fields) {
        llvm::StringRef Type = S.P.str(F.Type);
        if (Depth == 0 && sameType(Type, "struct rcu_head"))
          break; // what is there comes before what would be added
        bool Bytes = Type.starts_with("char") || Type.starts_with("u8") ||
                     Type.starts_with("unsigned char");
        uint64_t One = Bytes ? 1 : 8;
        if (!(F.Flags & FieldFacts::Pointer) && !empty(F.Record) &&
            !Type.contains('*'))
          One = size(F.Record, Depth + 1);
        for (size_t At = Type.find('['); At != llvm::StringRef::npos;
             At = Type.find('[', At + 1)) {
          uint64_t N = 1;
          Type.substr(At + 1).take_while(llvm::isDigit).getAsInteger(10, N);
          One *= std::max<uint64_t>(N, 1);
        }
        Sum += One;
      }
      return Sum;
    }
  };
  return Counter{S}.size(Record, 0) > Bytes;
}

} // namespace decontend
