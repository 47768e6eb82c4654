//===- Json.cpp - The JSON contract of docs/json.md -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "llvm/Support/JSON.h"
#include "analysis/report/Report.h"

namespace decontend {
namespace {

using llvm::json::OStream;

/// Paths and source text need not be UTF-8, JSON must be.
void text(OStream &J, llvm::StringRef Key, llvm::StringRef Value) {
  J.attribute(Key, llvm::json::fixUTF8(Value));
}

void strings(OStream &J, llvm::StringRef Key,
             llvm::ArrayRef<std::string> Values) {
  J.attributeArray(Key, [&] {
    for (const std::string &Value : Values)
      J.value(llvm::json::fixUTF8(Value));
  });
}

void number(OStream &J, llvm::StringRef Key, size_t Value) {
  J.attribute(Key, static_cast<int64_t>(Value));
}

void units(OStream &J, const Coverage &C) {
  number(J, "total", C.Units);
  number(J, "analysed", C.Analysed);
  number(J, "cached", C.Cached);
  J.attributeArray("failed", [&] {
    for (const FailedUnit &U : C.Failed)
      J.object([&] {
        text(J, "file", U.File);
        text(J, "reason", U.Reason);
      });
  });
}

void coverage(OStream &J, const Coverage &C) {
  number(J, "functions", C.Functions);
  number(J, "entryPoints", C.EntryPoints);
  number(J, "withContext", C.WithContext);
  number(J, "repeatedCommands", C.Repeated);
  strings(J, "couldNotJudge", C.CouldNotJudge);
}

void evidence(OStream &J, const Evidence &E) {
  text(J, "shape", E.Shape);
  text(J, "sharing", E.Sharing);
  text(J, "heat", E.Heat);
  text(J, "remedy", E.Remedy);
}

void traceStep(OStream &J, const TraceStep &S) {
  text(J, "file", S.File);
  number(J, "line", S.Line);
  number(J, "column", S.Column);
  text(J, "function", S.Function);
  text(J, "note", S.Note);
}

void guard(OStream &J, const Guard &G) {
  text(J, "name", G.Name);
  J.attribute("holds", G.Holds);
  text(J, "why", G.Why);
}

void diff(OStream &J, const Plan &P, Sources &Files) {
  if (!P.available())
    return J.attribute("diff", nullptr);
  llvm::Expected<std::string> Diff = planDiff(P, Files);
  if (Diff)
    return text(J, "diff", *Diff);
  llvm::consumeError(Diff.takeError());
  J.attribute("diff", nullptr);
}

void finding(OStream &J, const ReportedFinding &R, Sources &Files,
             const ReportOptions &O) {
  const Finding &F = R.F;
  const Plan &P = R.P;
  text(J, "rule", F.Rule);
  text(J, "shape", F.Shape);
  text(J, "file", F.File);
  number(J, "line", F.Line);
  number(J, "column", F.Column);
  text(J, "function", F.Function);
  text(J, "subject", F.Subject);
  text(J, "message", F.Message);
  text(J, "confidence", confidenceName(F.Level));
  text(J, "context", F.Context);
  text(J, "tier", tierName(P.Level));
  text(J, "fingerprint", F.Fingerprint);
  J.attributeObject("evidence", [&] { evidence(J, F.Why); });
  strings(J, "doubts", F.Doubts);
  J.attributeArray("trace", [&] {
    for (const TraceStep &S : F.Trace)
      J.object([&] { traceStep(J, S); });
  });
  J.attributeArray("guards", [&] {
    for (const Guard &G : P.Guards)
      J.object([&] { guard(J, G); });
  });
  J.attributeObject("fix", [&] {
    J.attribute("available", P.available());
    text(J, "title", P.Title);
    strings(J, "files", P.files());
    if (O.ShowDiff)
      diff(J, P, Files);
  });
  if (P.available())
    J.attribute("refusal", nullptr);
  else
    text(J, "refusal", P.Refusal);
}

} // namespace

void renderJson(llvm::ArrayRef<ReportedFinding> Findings, const Coverage &C,
                Sources &Files, const ReportOptions &O, llvm::raw_ostream &OS) {
  OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attributeObject("tool", [&] {
      text(J, "name", "decontend");
      text(J, "version", O.Version);
    });
    J.attributeObject("units", [&] { units(J, C); });
    J.attributeObject("coverage", [&] { coverage(J, C); });
    J.attributeArray("findings", [&] {
      for (const ReportedFinding &R : Findings)
        J.object([&] { finding(J, R, Files, O); });
    });
  });
  J.flush();
  OS << '\n';
}

} // namespace decontend
