//===- FailingCallLabels.cpp - Labels that undo in reverse order ----------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FailingCalls.h"
#include "StubText.h"
#include "fmt/format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace decontend {

/// `fail_` of `fail_mq` and `fail_put`; what the file uses, if the function has
/// no labels.
static std::string labelPrefix(const ErrorPaths &Paths) {
  std::map<std::string, unsigned> Votes;
  auto Vote = [&](llvm::StringRef Name) {
    for (llvm::StringRef Word : {"err", "error", "fail", "free", "undo", "bad"})
      if (Name.starts_with((Word + "_").str()))
        ++Votes[Word.str() + "_"];
  };
  for (const ChainLabel &L : Paths.Labels)
    Vote(Paths.P.str(L.Name));
  if (Votes.empty()) {
    std::string Code = codeOnly(Paths.Text.text());
    for (uint32_t At : mentionsOf(Code, "goto"))
      Vote(llvm::StringRef(Code).substr(At + 4).ltrim());
  }
  std::string Best = "fail_";
  unsigned Most = 0;
  for (const auto &[Word, N] : Votes)
    if (N > Most) {
      Most = N;
      Best = Word;
    }
  return Best;
}

static llvm::SmallVector<llvm::StringRef, 8> words(llvm::StringRef Name) {
  llvm::SmallVector<llvm::StringRef, 8> Out;
  Name.split(Out, '_');
  return Out;
}

static llvm::StringRef calledName(llvm::StringRef Call) {
  return Call.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
}

std::string FailingCalls::unusedLabel(std::string Name) {
  std::string Code = codeOnly(Text.slice(F.Whole));
  std::string Try = Name;
  for (unsigned N = 2; Taken.count(Try) || !mentionsOf(Code, Try).empty(); ++N)
    Try = fmt::format("{}{}", Name, N);
  Taken.insert(Try);
  return Try;
}

/// A name as the author would give it: if `fail_mq` undoes retire_mq_sysctls(),
/// then `fail_ipc` undoes retire_ipc_sysctls().
std::string FailingCalls::labelFor(llvm::StringRef Undo,
                                   llvm::StringRef Fallback) {
  auto Mine = words(calledName(Undo));
  for (const ChainLabel &L : Paths.Labels) {
    llvm::StringRef Word = P.str(L.Name);
    if (!Word.consume_front(Prefix) || L.Event + 1 >= F.Events.size() ||
        F.Events[L.Event + 1].Kind != EventKind::Call)
      continue;
    auto Theirs = words(P.calleeName(F.Events[L.Event + 1]));
    if (Theirs.size() != Mine.size())
      continue;
    for (size_t I = 0; I < Theirs.size(); ++I)
      if (Theirs[I] == Word && Mine[I] != Word)
        return unusedLabel(Prefix + Mine[I].str());
  }
  return unusedLabel(Prefix + Fallback.str());
}

/// Are labels named after what they undo, and not after what has failed?
bool FailingCalls::namesUndone() const {
  for (const ChainLabel &L : Paths.Labels) {
    llvm::StringRef Word = P.str(L.Name);
    if (Word.consume_front(Prefix) && L.Event + 1 < F.Events.size() &&
        F.Events[L.Event + 1].Kind == EventKind::Call &&
        llvm::StringRef(Paths.source(L.Event + 1)).contains(Word))
      return true;
  }
  return false;
}

/// The labels of later failures undo what ours has to, and then what \p Below
/// undoes: where ours begins among them, or -1.
int FailingCalls::startOfUndo(const ErrorExit &Next, size_t Below) const {
  std::vector<uint32_t> Theirs = Paths.chain(Next.Label);
  if (Theirs.size() < Undo.size() + Below)
    return -1;
  size_t Start = Theirs.size() - Below - Undo.size();
  for (size_t I = 0; I < Undo.size(); ++I)
    if (Paths.source(Theirs[Start + I]) != Undo[I].Text)
      return -1;
  return int(Theirs[Start]);
}

/// Where in the labels our own way out begins, and how the labels are called.
bool FailingCalls::anchor() {
  Prefix = labelPrefix(Paths);
  Labels.assign(Points.size() + 1, "");
  bool EndsPlainly =
      Paths.Result == ResultKind::Void ||
      (!F.Events.empty() && F.Events.back().Kind == EventKind::Return &&
       Paths.Shape.parent(F.Events.size() - 1) == -1);
  if (Paths.Labels.empty()) {
    UseLadder = Points.size() > 1 && EndsPlainly;
    if (UseLadder)
      nameLabels(-1, false);
    return true;
  }
  bool Falls = Before && !empty(Before->Label);
  const ErrorExit *Next = nullptr;
  for (const ErrorExit *X : Paths.behind(Points.front().Event))
    if (!Next && !empty(X->Label))
      Next = X;
  size_t Below = Falls ? Paths.chain(Before->Label).size() : 0;
  int Start =
      UseLadder && Next && !Undo.empty() ? startOfUndo(*Next, Below) : -1;
  // A way out of its own can use the labels of others only if they do the same.
  bool SameResult =
      Paths.Final >= 0 &&
      (Status.empty() || Paths.returnText(nullptr).contains(Status));
  if (!UseLadder || (!Falls && !(Start >= 0 && SameResult &&
                                 (!Before || Before->Undo.empty())))) {
    UseLadder = false;
    return true;
  }
  auto LineOf = [&](uint32_t Event) {
    return int(Text.lineBegin(Paths.offsetOf(F.Events[Event].Line)));
  };
  int Own = Falls ? Paths.labelIndex(Before->Label) : -1;
  if (Falls)
    Anchor = LineOf(Paths.Labels[Own].Event);
  if (!Undo.empty() && Next) {
    if (Start < 0)
      return refuse("callers-unwind",
                    fmt::format("the failure at {} does not undo {} in the "
                                "order in which that at {} would have to",
                                Paths.at(Next->Branch), Undo.front().Text,
                                Paths.at(Points.front().Event)));
    UndoExists = true;
    Anchor = LineOf(uint32_t(Start));
    Own = -1;
    if (F.Events[Start - 1].Kind == EventKind::Label) {
      OwnLabelExists = true;
      Labels[0] = P.str(F.Events[Start - 1].Callee).str();
      Own = Paths.labelIndex(F.Events[Start - 1].Callee);
      Anchor = LineOf(uint32_t(Start - 1));
    }
  }
  if (!Undo.empty() && Labels[0].empty())
    Labels[0] = labelFor(Undo.front().Text, calledName(Undo.front().Text));
  return nameLabels(Own, Falls || UndoExists);
}

/// Names the labels that are added, and leads later failures to them: \p Own
/// is the number of the label that is there already for our own.
bool FailingCalls::nameLabels(int Own, bool Falls) {
  bool Undone = namesUndone();
  for (size_t I = 1; I < Points.size(); ++I)
    Labels[I] = unusedLabel(Prefix + Points[Undone ? I - 1 : I].Name);
  std::string &Post = Labels[Points.size()];
  for (const ErrorExit *X : Later) {
    if (empty(X->Label)) {
      writeInlineUndo(*X);
      continue;
    }
    int Index = Paths.labelIndex(X->Label);
    if (!Falls || (Own >= 0 && Index > Own))
      return refuse("callers-unwind",
                    fmt::format("the failure at {} undoes less than one before "
                                "it",
                                Paths.at(X->Branch)));
    if (Index != Own)
      continue; // falls through what is added
    if (Post.empty())
      Post = unusedLabel(Prefix + Points.back().Name);
    const Event &G = F.Events[X->Leave];
    if (G.Text.empty())
      return refuse("callers-unwind",
                    fmt::format("a macro jumps at {}", Paths.at(X->Leave)));
    edit(G.Text.Begin, G.Text.End, fmt::format("goto {};", Post));
  }
  return true;
}

void FailingCalls::writeLadder() {
  std::string Rungs;
  auto Add = [&](const std::string &Label, const std::vector<std::string> &Do) {
    if (!Label.empty())
      Rungs += Label + ":\n";
    for (const std::string &Call : Do)
      Rungs += fmt::format("{}{};\n", Unit, Call);
  };
  size_t N = Points.size();
  bool Through =
      std::any_of(Later.begin(), Later.end(),
                  [](const ErrorExit *X) { return !empty(X->Label); });
  if (Through)
    Add(Labels[N], Points[N - 1].Undo);
  for (size_t I = N - 1; I > 0; --I)
    Add(Labels[I], Points[I - 1].Undo);
  if (!Undo.empty() && !OwnLabelExists) {
    std::vector<std::string> Calls;
    if (!UndoExists)
      for (const Undoing &U : Undo)
        Calls.push_back(U.Text);
    Add(Labels[0], Calls);
  }
  if (Rungs.empty())
    return;
  if (Anchor >= 0) {
    edit(Anchor, Anchor, Rungs);
    return;
  }
  if (Before)
    for (uint32_t I : Before->Undo)
      Rungs += fmt::format("{}{};\n", Unit, Paths.source(I));
  uint32_t Brace = Text.lineBegin(F.Body.End - 1);
  edit(Brace, Brace, fmt::format("\n{}{}{};\n", Rungs, Unit, Leave));
}

} // namespace decontend
