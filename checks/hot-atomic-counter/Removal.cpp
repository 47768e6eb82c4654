//===- Removal.cpp - Taking statements out of a text ----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Removal.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <set>

namespace decontend {

static bool isWord(char C) { return llvm::isAlnum(C) || C == '_'; }

/// The identifier that \p Code ends with.
static llvm::StringRef lastWord(llvm::StringRef Code) {
  size_t Begin = Code.size();
  while (Begin > 0 && isWord(Code[Begin - 1]))
    --Begin;
  return Code.substr(Begin);
}

/// The bracket that the one in front of \p End closes; npos if there is none.
static size_t opening(llvm::StringRef Code, size_t End) {
  unsigned Depth = 0;
  for (size_t I = End; I-- > 0;) {
    if (Code[I] == ')')
      ++Depth;
    else if (Code[I] == '(' && --Depth == 0)
      return I;
  }
  return llvm::StringRef::npos;
}

void Removal::fail(llvm::StringRef Name, uint32_t At, const std::string &What) {
  if (!Trouble.empty())
    return;
  Guard = Name.str();
  Trouble =
      fmt::format("{}:{} {}", File, Code.take_front(At).count('\n') + 1, What);
}

void Removal::blank(Span S) {
  for (uint32_t I = S.Begin; I < S.End; ++I)
    if (Left[I] != '\n')
      Left[I] = ' ';
}

void Removal::statement(const FunctionFacts &F, Span S) {
  if (!pure(F, S))
    fail("nothing-else-lost", S.Begin,
         "computes something that may be needed for itself");
  blank(S);
  All.push_back({&F, S, {}, false});
}

void Removal::declaration(Span S, llvm::StringRef Name) {
  blank(S);
  All.push_back({nullptr, S, Name, false});
}

void Removal::element(Span S) {
  // With the comma behind it, or else the one (or the colon) in front.
  llvm::StringRef Rest = Code.substr(S.End);
  size_t Next = S.End + (Rest.size() - Rest.ltrim().size());
  llvm::StringRef Before = Code.take_front(S.Begin).rtrim();
  if (Next < Code.size() && Code[Next] == ',') {
    S.End = Next + 1;
  } else if (Before.ends_with(",") ||
             (Before.ends_with(":") && !Before.ends_with("::"))) {
    S.Begin = Before.size() - 1;
  }
  blank(S);
  All.push_back({nullptr, S, {}, true});
}

/// Does code in \p S do nothing but its one update, or nothing at all?
bool Removal::pure(const FunctionFacts &F, Span S) const {
  unsigned Calls = 0, Writes = 0;
  for (const Event &E : F.Events)
    if (E.Kind == EventKind::Call && S.contains(E.Text) && !E.Text.empty())
      ++Calls;
  for (const Access &A : F.Accesses)
    if (S.contains(A.Text) && !A.Text.empty())
      Writes += A.Kind == AccessKind::Update;
  llvm::StringRef In = Code.slice(S.Begin, S.End);
  bool Statement = In.ends_with(";");
  if (Calls + Writes > (Statement ? 1 : 0))
    return false;
  // Local variables have no accesses. The update's own sign stands outside of
  // all brackets.
  unsigned Depth = 0, Signs = 0;
  for (size_t I = 0; I < In.size(); ++I) {
    char X = In[I];
    if (X == '(' || X == '[' || X == '{')
      ++Depth;
    else if (X == ')' || X == ']' || X == '}')
      --Depth;
    bool Step = (X == '+' || X == '-') && I + 1 < In.size() && In[I + 1] == X;
    bool Sets = X == '=' && (I + 1 == In.size() || In[I + 1] != '=') &&
                (I == 0 || llvm::StringRef("=!<>").find(In[I - 1]) ==
                               llvm::StringRef::npos);
    if (!Step && !Sets)
      continue;
    if (Depth)
      return false;
    ++Signs;
    I += Step;
  }
  return Signs <= (Statement ? 1u : 0u);
}

/// Widens to what would be left without a body. False: nothing to widen.
bool Removal::widen(Taken &T) {
  llvm::StringRef Rest(Left);
  llvm::StringRef Before = Rest.take_front(T.S.Begin).rtrim();
  uint32_t Next = T.S.End;
  while (Next < Rest.size() && llvm::isSpace(Rest[Next]))
    ++Next;
  Span Body = T.S;
  bool Braced = false;
  if (Before.ends_with("{") && Next < Rest.size() && Rest[Next] == '}') {
    if (Before.size() - 1 <= T.F->Body.Begin)
      return false; // a function may be empty
    Body = {uint32_t(Before.size() - 1), Next + 1};
    Before = Before.drop_back().rtrim();
    Braced = true;
  }
  if (Before.ends_with(":") && Next < Rest.size() && Rest[Next] == '}') {
    fail("no-empty-body", T.S.Begin, "is all that a label has behind it");
    return false;
  }
  llvm::StringRef Word = lastWord(Before);
  if (Word == "else") {
    T.S = {uint32_t(Before.size() - Word.size()), Body.End};
    blank(T.S);
    return true;
  }
  if (Word == "do") {
    fail("no-empty-body", T.S.Begin, "is all that a loop does");
    return false;
  }
  if (!Before.ends_with(")")) {
    if (!Braced)
      return false;
    T.S = Body;
    blank(T.S);
    return true;
  }
  size_t Open = opening(Before, Before.size());
  if (Open == llvm::StringRef::npos)
    return false;
  llvm::StringRef Head = Before.take_front(Open).rtrim();
  Word = lastWord(Head);
  // `WARN_ON(x) ...`: a macro that ends without a `;` opens a body, too.
  if (Word != "if") {
    // A lambda's or an inner function's body.
    if (Braced && Word != "for" && Word != "while" && Word != "switch" &&
        Head.ends_with("]"))
      return false;
    fail("no-empty-body", T.S.Begin,
         "is all that a loop, or something like one, does");
    return false;
  }
  uint32_t Behind = Body.End;
  while (Behind < Rest.size() && llvm::isSpace(Rest[Behind]))
    ++Behind;
  llvm::StringRef Follows = Rest.substr(Behind).take_while(isWord);
  if (Follows == "else") {
    fail("no-empty-body", T.S.Begin, "is all that an `if` with an `else` does");
    return false;
  }
  if (!pure(*T.F, {uint32_t(Open), uint32_t(Before.size())})) {
    fail("no-empty-body", T.S.Begin,
         "is all that stands behind a condition that does something itself");
    return false;
  }
  Head = Head.drop_back(Word.size()).rtrim();
  uint32_t Begin = Rest.take_front(Open).rtrim().size() - Word.size();
  if (lastWord(Head) == "else")
    Begin = Head.size() - 4;
  T.S = {Begin, Body.End};
  blank(T.S);
  return true;
}

/// Local variables that nothing mentions any more would be warned about.
void Removal::orphans(const Taken &T) {
  std::set<llvm::StringRef> Words;
  llvm::StringRef In = Code.slice(T.S.Begin, T.S.End);
  for (size_t I = 0; I < In.size();) {
    if (!isWord(In[I])) {
      ++I;
      continue;
    }
    llvm::StringRef Word = In.substr(I).take_while(isWord);
    Words.insert(Word);
    I += Word.size();
  }
  llvm::StringRef Body =
      llvm::StringRef(Left).slice(T.F->Body.Begin, T.F->Body.End);
  for (llvm::StringRef Word : Words) {
    Sym Name = P.find(Word);
    bool Local =
        std::any_of(T.F->Exprs.begin(), T.F->Exprs.end(), [&](const Expr &X) {
          return X.Root == RootKind::Local && X.Base == Name && !empty(Name);
        });
    if (Local && mentionsOf(Body, Word).size() == 1)
      fail("nothing-left-unused", T.S.Begin,
           fmt::format("is the only use of the variable {}", Word.str()));
  }
}

Span Removal::lines(const Taken &T) const {
  std::optional<Span> Whole = Text.wholeLines(T.S);
  if (!Whole) {
    Span S = T.S;
    // One of the two gaps around it stays.
    llvm::StringRef All = Text.text();
    bool Spaced = S.Begin > 0 && llvm::isSpace(All[S.Begin - 1]);
    if (T.Element && !Spaced)
      return S;
    if (Spaced && All.slice(Text.lineBegin(S.Begin), S.Begin).trim().empty()) {
      while (S.End < All.size() && (All[S.End] == ' ' || All[S.End] == '\t'))
        ++S.End;
    } else {
      while (S.Begin > 0 &&
             (All[S.Begin - 1] == ' ' || All[S.Begin - 1] == '\t'))
        --S.Begin;
      llvm::StringRef Tail = All.slice(S.End, Text.nextLine(S.End));
      if (Tail.trim().empty() && T.Element)
        return S;
    }
    return S;
  }
  if (T.Element)
    return *Whole;
  Span Comment = Text.commentAbove(Whole->Begin);
  if (!Comment.empty()) {
    llvm::StringRef Next = Whole->End < Text.text().size()
                               ? Text.lineAt(Whole->End).trim()
                               : llvm::StringRef();
    llvm::StringRef Words = Text.slice(Comment);
    bool Alone = Next.empty() || Next.starts_with("}") ||
                 Next.starts_with("/*") || Next.starts_with("//");
    // A file's first comment is its header.
    bool Header = Comment.Begin == 0;
    bool Named = !T.Name.empty() && !mentionsOf(Words, T.Name).empty();
    if (!Header && (Alone || Named))
      Whole->Begin = Comment.Begin;
  }
  return Text.withSpareBlank(*Whole);
}

std::vector<Edit> Removal::finish() {
  for (Taken &T : All)
    if (T.F)
      while (Trouble.empty() && widen(T)) {
      }
  for (const Taken &T : All)
    if (T.F && Trouble.empty())
      orphans(T);
  std::vector<Span> Spans;
  for (const Taken &T : All)
    Spans.push_back(lines(T));
  std::sort(Spans.begin(), Spans.end(),
            [](Span A, Span B) { return A.Begin < B.Begin; });
  std::vector<Edit> Out;
  for (Span S : Spans) {
    // Statements of one `if` that goes as a whole.
    if (!Out.empty() && S.Begin <= Out.back().End) {
      Out.back().End = std::max(Out.back().End, S.End);
      continue;
    }
    Out.push_back({File, S.Begin, S.End, ""});
  }
  return Out;
}

} // namespace decontend
