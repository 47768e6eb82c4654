//===- StubText.cpp - Mentions of a function that no fact shows -----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StubText.h"
#include "analysis/rewrite/SourceText.h"
#include "llvm/ADT/StringExtras.h"

namespace decontend {

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

std::string codeOnly(llvm::StringRef Text) {
  std::string Out = Text.str();
  auto Blank = [&](size_t From, size_t To) {
    for (size_t I = From; I < To && I < Out.size(); ++I)
      if (Out[I] != '\n')
        Out[I] = ' ';
  };
  for (size_t I = 0; I < Text.size();) {
    llvm::StringRef Rest = Text.substr(I);
    size_t End;
    if (Rest.starts_with("//")) {
      End = std::min(Text.find('\n', I), Text.size());
      Blank(I, End);
    } else if (Rest.starts_with("/*")) {
      size_t Close = Text.find("*/", I + 2);
      End = Close == llvm::StringRef::npos ? Text.size() : Close + 2;
      Blank(I, End);
    } else if (Text[I] == '"' ||
               (Text[I] == '\'' && I && !isWord(Text[I - 1]))) {
      End = I + 1;
      while (End < Text.size() && Text[End] != Text[I] && Text[End] != '\n')
        End += Text[End] == '\\' ? 2 : 1;
      Blank(I + 1, End);
      End = std::min(End + 1, Text.size());
    } else {
      End = I + 1;
    }
    I = End;
  }
  return Out;
}

std::vector<uint32_t> mentionsOf(llvm::StringRef Code, llvm::StringRef Name) {
  std::vector<uint32_t> Out;
  for (size_t I = Code.find(Name); I != llvm::StringRef::npos;
       I = Code.find(Name, I + Name.size())) {
    size_t End = I + Name.size();
    if ((I == 0 || !isWord(Code[I - 1])) &&
        (End == Code.size() || !isWord(Code[End])))
      Out.push_back(I);
  }
  return Out;
}

size_t matching(llvm::StringRef Code, size_t Open) {
  char From = Code[Open], To = From == '(' ? ')' : From == '{' ? '}' : ']';
  unsigned Depth = 0;
  for (size_t I = Open; I < Code.size(); ++I) {
    if (Code[I] == From)
      ++Depth;
    else if (Code[I] == To && --Depth == 0)
      return I + 1;
  }
  return llvm::StringRef::npos;
}

/// Start of the declaration that \p At is part of: behind the last `;`, brace
/// or preprocessor line.
static size_t declarationBegin(llvm::StringRef Code, size_t At) {
  SourceText Lines(Code);
  size_t I = At;
  while (I > 0 && Code[I - 1] != ';' && Code[I - 1] != '}' &&
         Code[I - 1] != '{')
    --I;
  for (size_t L = Lines.lineBegin(At); L > I; L = Lines.lineBegin(L - 1))
    if (Code.slice(L, At).ltrim(" \t").starts_with("#"))
      return Lines.nextLine(L);
  if (Code.slice(Lines.lineBegin(I), At).ltrim(" \t").starts_with("#"))
    return Lines.nextLine(I);
  return I;
}

size_t voidBefore(llvm::StringRef Code, uint32_t Name) {
  size_t Begin = declarationBegin(Code, Name);
  llvm::StringRef Head = Code.slice(Begin, Name);
  std::vector<uint32_t> Words = mentionsOf(Head, "void");
  if (Words.size() != 1 || Head.contains('*') || Head.contains('='))
    return llvm::StringRef::npos;
  return Begin + Words[0];
}

std::vector<Edit> returnZero(llvm::StringRef File, llvm::StringRef Text,
                             llvm::StringRef Code, uint32_t Begin,
                             uint32_t End) {
  std::vector<Edit> Out;
  auto Replace = [&](size_t From, size_t To, std::string New) {
    Out.push_back({File.str(), uint32_t(From), uint32_t(To), std::move(New)});
  };
  llvm::StringRef Body = Code.slice(Begin, End);
  bool LeavesLast = false;
  for (uint32_t At : mentionsOf(Body, "return")) {
    llvm::StringRef Rest = Body.substr(At + 6).ltrim();
    if (!Rest.starts_with(";"))
      continue;
    Replace(Begin + At, Begin + At + 6, "return 0");
    // Nothing but the brace behind it, and nothing that governs it: the end is
    // not reached another way unless a label or a condition leads there.
    llvm::StringRef Before = Body.take_front(At).rtrim();
    bool Plain = Before.ends_with(";") || Before.ends_with("{");
    LeavesLast |= Rest.drop_front().trim() == "}" && Plain;
  }
  if (LeavesLast)
    return Out;
  SourceText Source(Text);
  uint32_t Brace = End - 1;
  llvm::StringRef Before = Text.slice(Source.lineBegin(Brace), Brace);
  if (Before.trim().empty() && Source.lineBegin(Brace) > Begin) {
    std::string Indent = Before.str() + "\t";
    for (uint32_t L = Source.nextLine(Begin); L < Source.lineBegin(Brace);
         L = Source.nextLine(L))
      if (!Source.lineAt(L).trim().empty() &&
          !Source.lineAt(L).starts_with("#") && !Source.indentAt(L).empty()) {
        Indent = Source.indentAt(L).str();
        break;
      }
    Replace(Source.lineBegin(Brace), Source.lineBegin(Brace),
            Indent + "return 0;\n");
    return Out;
  }
  // `{ }` and `{ foo(x); }` on one line.
  llvm::StringRef Inside = Text.slice(Begin + 1, Brace);
  if (Inside.trim().empty())
    Replace(Begin, End, "{ return 0; }");
  else
    Replace(Begin + 1 + Inside.rtrim().size(), Brace, " return 0; ");
  return Out;
}

/// `#define f(x) do { } while (0)`: with nothing inside, an expression that
/// still names its arguments takes its place.
static Mention readMacro(llvm::StringRef File, llvm::StringRef Code,
                         uint32_t At, llvm::StringRef Name) {
  Mention M;
  M.Kind = MentionKind::Macro;
  size_t Open = At + Name.size();
  size_t End = Code.find('\n', Open);
  while (End != llvm::StringRef::npos && Code.slice(0, End).ends_with("\\"))
    End = Code.find('\n', End + 1);
  End = std::min(End, Code.size());
  if (Open >= Code.size() || Code[Open] != '(') {
    M.Trouble = "a macro gives the name to something else";
    return M;
  }
  size_t Close = matching(Code, Open);
  if (Close == llvm::StringRef::npos || Close > End) {
    M.Trouble = "a macro whose parameters do not end";
    return M;
  }
  std::string Body;
  for (char C : Code.slice(Close, End))
    if (!llvm::isSpace(C) && C != '\\')
      Body += C;
  llvm::SmallVector<llvm::StringRef, 4> Params;
  Code.slice(Open + 1, Close - 1).split(Params, ',');
  std::string Value, Ignored;
  for (llvm::StringRef P : Params)
    if (!P.trim().empty()) {
      Value += ("(void)(" + P.trim() + "), ").str();
      Ignored += ("(void)(" + P.trim() + ")").str();
    }
  bool Empty = Body.empty() || Body == "do{}while(0)" || Body == "((void)0)" ||
               Body == "(void)0" || Body == "({})" || Body == Ignored ||
               Body == "(" + Ignored + ")";
  if (!Empty || llvm::StringRef(Value).contains("..."))
    M.Trouble = "a macro that does something";
  M.Void = Empty;
  M.ToInt.push_back({File.str(), uint32_t(Close), uint32_t(End),
                     Value.empty() ? " (0)" : " (" + Value + "0)"});
  return M;
}

Mention readMention(llvm::StringRef File, llvm::StringRef Text,
                    llvm::StringRef Code, uint32_t At, llvm::StringRef Name) {
  Mention M;
  SourceText Lines(Code);
  llvm::StringRef Line = Code.slice(Lines.lineBegin(At), At).ltrim(" \t");
  llvm::StringRef Before = Code.take_front(At).rtrim();
  llvm::StringRef After = Code.substr(At + Name.size());
  if (Line.starts_with("#")) {
    if (Line.drop_front().ltrim(" \t").starts_with("define") &&
        Line.drop_front().ltrim(" \t").drop_front(6).trim().empty())
      return readMacro(File, Code, At, Name);
    M.Trouble = "a preprocessor line uses the name";
    return M;
  }
  uint32_t LineBegin = Lines.lineBegin(At);
  if (LineBegin > 0 && Code.take_front(LineBegin - 1).ends_with("\\")) {
    M.Trouble = "the body of a macro uses it";
    return M;
  }
  if (Before.ends_with(".") || Before.ends_with("->")) {
    M.Kind = MentionKind::Member;
    return M;
  }
  size_t Begin = declarationBegin(Code, At);
  llvm::StringRef Head = Code.slice(Begin, At).trim();
  if (After.ltrim().starts_with(")") && Head.ends_with("(") &&
      Lines.indentAt(At).empty() && llvm::all_of(Head.drop_back(), isWord)) {
    M.Kind = MentionKind::Marker;
    return M;
  }
  // A declaration has its type before its name; a call has not.
  bool Typed = !Head.empty() && llvm::all_of(Head, [](char C) {
    return isWord(C) || llvm::isSpace(C) || C == '*' || C == '(' || C == ')';
  });
  size_t Open = Code.find_first_not_of(" \t\n", At + Name.size());
  size_t Close = llvm::StringRef::npos;
  if (Open != llvm::StringRef::npos && Code[Open] == '(')
    Close = matching(Code, Open);
  for (llvm::StringRef Keyword : {"return", "else", "do", "if", "while", "for"})
    Typed &= mentionsOf(Head, Keyword).empty();
  if (!Typed || Close == llvm::StringRef::npos) {
    M.Trouble = "text that is not compiled here uses it";
    return M;
  }
  size_t Void = voidBefore(Code, At);
  M.Void = Void != llvm::StringRef::npos;
  if (M.Void)
    M.ToInt.push_back({File.str(), uint32_t(Void), uint32_t(Void + 4), "int"});
  // Attributes may follow the parameters.
  size_t Next = Close;
  while (Next < Code.size() && Code[Next] != ';' && Code[Next] != '{')
    ++Next;
  llvm::StringRef Between = Code.slice(Close, Next).trim();
  if (Next == Code.size() || !llvm::all_of(Between, [](char C) {
        return isWord(C) || llvm::isSpace(C) || C == '(' || C == ')';
      })) {
    M.Trouble = "the declaration does not end plainly";
    return M;
  }
  if (Code[Next] == ';') {
    M.Kind = MentionKind::Prototype;
    return M;
  }
  M.Kind = MentionKind::Definition;
  size_t End = matching(Code, Next);
  if (End == llvm::StringRef::npos) {
    M.Trouble = "its body does not end";
    return M;
  }
  if (Code.slice(Next, End).contains("\n#")) {
    M.Trouble = "its body depends on the configuration";
    return M;
  }
  if (M.Void)
    for (Edit &E : returnZero(File, Text, Code, Next, End))
      M.ToInt.push_back(std::move(E));
  return M;
}

} // namespace decontend
