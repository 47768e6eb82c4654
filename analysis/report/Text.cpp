//===- Text.cpp - Findings for people -------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

namespace decontend {
namespace {

using llvm::raw_ostream;

/// Text from sources and paths must not steer the terminal. Bytes are replaced
/// one by one, so that columns stay right.
std::string plain(llvm::StringRef Text) {
  std::string Result = Text.str();
  for (char &C : Result)
    if (llvm::isASCII(C) && !llvm::isPrint(C) && C != '\t')
      C = C == '\n' ? ' ' : '?';
  return Result;
}

/// Blanks as wide as \p Before, tabs kept, so that a caret stands under the
/// character that follows it whatever the width of a tab.
std::string blanksFor(llvm::StringRef Before) {
  std::string Result;
  llvm::SmallVector<llvm::StringRef, 4> Pieces;
  Before.split(Pieces, '\t');
  for (auto [I, Piece] : llvm::enumerate(Pieces)) {
    if (I != 0)
      Result += '\t';
    int Width = llvm::sys::unicode::columnWidthUTF8(Piece);
    Result.append(Width < 0 ? Piece.size() : static_cast<size_t>(Width), ' ');
  }
  return Result;
}

class TextReport {
public:
  TextReport(Sources &Files, const ReportOptions &O, raw_ostream &OS)
      : Files(Files), O(O), OS(OS), HadColours(OS.colors_enabled()) {
    // Colour calls do nothing unless the stream allows them.
    OS.enable_colors(O.Colour);
  }
  ~TextReport() { OS.enable_colors(HadColours); }

  void finding(const ReportedFinding &R);
  void hint(llvm::ArrayRef<ReportedFinding> Findings);
  void coverage(const Coverage &C, llvm::ArrayRef<ReportedFinding> Findings);

private:
  Sources &Files;
  const ReportOptions &O;
  raw_ostream &OS;
  const bool HadColours;

  void coloured(raw_ostream::Colors Colour, bool Bold, llvm::StringRef Text) {
    OS.changeColor(Colour, Bold);
    OS << Text;
    OS.resetColor();
  }
  void label(llvm::StringRef Name) {
    coloured(raw_ostream::CYAN, false, ("  " + Name + ":").str());
  }
  void row(llvm::StringRef Name, llvm::StringRef Value) {
    // As wide as the longest of the names, "confidence".
    constexpr size_t Width = 10;
    if (Value.empty())
      return;
    label(Name);
    OS.indent(Width - std::min(Name.size(), Width) + 1) << plain(Value) << '\n';
  }
  void source(const Finding &F);
  void trace(llvm::ArrayRef<TraceStep> Steps);
  void plan(const Plan &P);
};

void TextReport::source(const Finding &F) {
  llvm::StringRef Line = Files.line(F.File, F.Line);
  if (Line.empty())
    return;
  const std::string Number = std::to_string(F.Line);
  const std::string Shown = plain(Line);
  OS << ' ' << Number << " | " << Shown << '\n';
  if (F.Column == 0 || F.Column > Shown.size())
    return;
  OS.indent(Number.size() + 1)
      << " | " << blanksFor(llvm::StringRef(Shown).take_front(F.Column - 1));
  coloured(raw_ostream::GREEN, true, "^");
  OS << '\n';
}

void TextReport::trace(llvm::ArrayRef<TraceStep> Steps) {
  if (Steps.empty())
    return;
  label("trace");
  OS << '\n';
  for (auto [I, S] : llvm::enumerate(Steps)) {
    OS << "    " << I + 1 << ". " << plain(S.File) << ':' << S.Line;
    if (!S.Function.empty())
      OS << " in " << plain(S.Function);
    OS << ": " << plain(S.Note) << '\n';
  }
}

void TextReport::plan(const Plan &P) {
  if (!P.available()) {
    coloured(raw_ostream::YELLOW, true, "  no fix:");
    OS << ' '
       << (P.Refusal.empty() ? "the rule offers no edits here"
                             : plain(P.Refusal))
       << '\n';
    return;
  }
  coloured(raw_ostream::GREEN, true, "  fix:");
  OS << ' ' << plain(P.Title) << " (" << tierName(P.Level) << ")\n";
  if (!O.ShowDiff) {
    OS << "    " << P.Guards.size()
       << (P.Guards.size() == 1 ? " guard holds" : " guards hold")
       << ", see them and the patch with --diff\n";
    return;
  }
  for (const Guard &G : P.Guards) {
    OS << "    " << plain(G.Name) << ' ';
    coloured(G.Holds ? raw_ostream::GREEN : raw_ostream::RED, false,
             G.Holds ? "holds" : "fails");
    if (!G.Why.empty())
      OS << ": " << plain(G.Why);
    OS << '\n';
  }
  llvm::Expected<std::string> Diff = planDiff(P, Files);
  if (Diff) {
    // Not indented: it is meant to be piped or copied into patch(1).
    OS << *Diff;
    return;
  }
  coloured(raw_ostream::RED, true, "  no diff:");
  OS << ' ' << plain(llvm::toString(Diff.takeError())) << '\n';
}

void TextReport::finding(const ReportedFinding &R) {
  const Finding &F = R.F;
  OS.changeColor(raw_ostream::SAVEDCOLOR, true);
  OS << plain(F.File) << ':' << F.Line << ':' << F.Column << ':';
  OS.resetColor();
  OS << ' ';
  coloured(raw_ostream::MAGENTA, true, "warning:");
  OS << ' ' << plain(F.Message) << " [contention-" << plain(F.Rule) << "]\n";
  source(F);
  row("shape", F.Why.Shape);
  row("sharing", F.Why.Sharing);
  row("heat", F.Why.Heat);
  row("remedy", F.Why.Remedy);
  std::string Level = confidenceName(F.Level).str();
  if (F.Level != Confidence::High && !F.Doubts.empty())
    Level += " (why not higher: " + llvm::join(F.Doubts, "; ") + ")";
  row("confidence", Level);
  row("context", F.Context);
  if (O.ShowTrace)
    trace(F.Trace);
  plan(R.P);
  OS << '\n';
}

void TextReport::hint(llvm::ArrayRef<ReportedFinding> Findings) {
  std::vector<llvm::StringRef> Rules;
  for (const ReportedFinding &R : Findings)
    if (!llvm::is_contained(Rules, R.F.Rule))
      Rules.push_back(R.F.Rule);
  if (Rules.empty())
    return;
  OS << "hint: decontend explain ";
  if (Rules.size() == 1)
    OS << plain(Rules.front());
  else
    OS << "<rule>, with one of " << plain(llvm::join(Rules, ", "));
  OS << '\n';
}

std::string counted(size_t Count, llvm::StringRef One) {
  return (llvm::Twine(Count) + " " + One + (Count == 1 ? "" : "s")).str();
}

void TextReport::coverage(const Coverage &C,
                          llvm::ArrayRef<ReportedFinding> Findings) {
  if (!C.Failed.empty())
    OS << "failed units:\n";
  for (const FailedUnit &U : C.Failed)
    OS << "  " << plain(U.File) << ": " << plain(U.Reason) << '\n';
  if (!C.CouldNotJudge.empty())
    OS << "could not judge:\n";
  for (const std::string &Reason : C.CouldNotJudge)
    OS << "  " << plain(Reason) << '\n';

  OS << "decontend: " << counted(C.Units, "unit") << " (" << C.Cached
     << " cached, " << C.Failed.size() << " failed";
  if (size_t Seen = C.Analysed + C.Failed.size(); Seen < C.Units)
    OS << ", " << C.Units - Seen << " not analysed";
  if (C.Repeated)
    OS << ", " << counted(C.Repeated, "further command")
       << " for them left out";
  OS << "), " << counted(C.Functions, "function") << ", "
     << counted(C.EntryPoints, "entry point");
  // Rounded down: 100% is said only of all.
  if (C.Functions != 0)
    OS << ", context known for " << C.WithContext * 100 / C.Functions
       << "% of the functions";
  OS << "; " << counted(Findings.size(), "finding");
  std::vector<std::string> Levels;
  for (Confidence Level :
       {Confidence::High, Confidence::Medium, Confidence::Low}) {
    size_t Count = llvm::count_if(
        Findings, [&](const ReportedFinding &R) { return R.F.Level == Level; });
    if (Count != 0)
      Levels.push_back(
          (llvm::Twine(Count) + " " + confidenceName(Level)).str());
  }
  if (!Levels.empty())
    OS << " (" << llvm::join(Levels, ", ") << ')';
  OS << '\n';
}

} // namespace

void renderText(llvm::ArrayRef<ReportedFinding> Findings, const Coverage &C,
                Sources &Files, const ReportOptions &O, raw_ostream &OS) {
  TextReport Report(Files, O, OS);
  for (const ReportedFinding &R : Findings)
    Report.finding(R);
  Report.hint(Findings);
  Report.coverage(C, Findings);
}

} // namespace decontend
