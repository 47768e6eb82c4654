//===- ReportTest.cpp - Fingerprints, text and JSON -----------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "analysis/report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace decontend;

namespace {

Finding at(uint32_t Line, std::string Subject = "struct port",
           std::string Function = "port_del") {
  Finding F;
  F.Rule = "sync-rcu-wait";
  F.Shape = "wait-then-free";
  F.File = "net/port.c";
  F.Line = Line;
  F.Column = 2;
  F.Function = std::move(Function);
  F.Subject = std::move(Subject);
  F.Message = "waits for a grace period to free " + F.Subject;
  return F;
}

TEST(Finding, ConfidenceNames) {
  for (Confidence C : {Confidence::Low, Confidence::Medium, Confidence::High}) {
    Confidence Parsed;
    ASSERT_TRUE(parseConfidence(confidenceName(C), Parsed));
    EXPECT_EQ(Parsed, C);
  }
  Confidence Kept = Confidence::High;
  EXPECT_FALSE(parseConfidence("High", Kept));
  EXPECT_FALSE(parseConfidence("", Kept));
  EXPECT_EQ(Kept, Confidence::High);
}

TEST(Finding, SortedByPlaceWhateverTheInput) {
  std::vector<Finding> L = {at(30), at(10), at(20, "struct b"),
                            at(20, "struct a")};
  L[0].File = "a.c";
  std::vector<Finding> R(L.rbegin(), L.rend());
  finishFindings(L);
  finishFindings(R);
  ASSERT_EQ(L.size(), R.size());
  for (auto [A, B] : llvm::zip(L, R)) {
    EXPECT_EQ(A.Line, B.Line);
    EXPECT_EQ(A.Subject, B.Subject);
    EXPECT_EQ(A.Fingerprint, B.Fingerprint);
  }
  EXPECT_EQ(L[0].File, "a.c");
  EXPECT_EQ(L[1].Line, 10u);
  EXPECT_EQ(L[2].Subject, "struct a");
}

TEST(Finding, FingerprintKeepsWhileLinesMove) {
  std::vector<Finding> Before = {at(10), at(40)}, After = {at(95), at(151)};
  After[0].Column = 9;
  After[0].Message = "worded otherwise";
  finishFindings(Before);
  finishFindings(After);
  EXPECT_EQ(Before[0].Fingerprint, After[0].Fingerprint);
  EXPECT_EQ(Before[1].Fingerprint, After[1].Fingerprint);
  EXPECT_EQ(Before[0].Fingerprint.size(), 16u);
  EXPECT_EQ(Before[0].Fingerprint.find_first_not_of("0123456789abcdef"),
            std::string::npos);
  // b3sum of the parts as docs/json.md joins them; baselines rely on it.
  EXPECT_EQ(Before[0].Fingerprint, "eaef34f029814ceb");
}

TEST(Finding, OrdinalsTellEqualOnesApart) {
  std::vector<Finding> Two = {at(10), at(20)};
  std::vector<Finding> More = {at(10), at(15, "struct x"),
                               at(16, "struct port", "other"), at(20)};
  finishFindings(Two);
  finishFindings(More);
  EXPECT_NE(Two[0].Fingerprint, Two[1].Fingerprint);
  // Findings about other things in between do not count.
  EXPECT_EQ(Two[0].Fingerprint, More[0].Fingerprint);
  EXPECT_EQ(Two[1].Fingerprint, More[3].Fingerprint);
  // Neither do parts that only join to the same text.
  std::vector<Finding> Split = {at(1, "bc", "a"), at(2, "c", "ab")};
  finishFindings(Split);
  EXPECT_NE(Split[0].Fingerprint, Split[1].Fingerprint);
}

struct Report : testing::Test {
  Sources Files{"/nowhere"};
  Coverage C;
  ReportOptions O;
  std::vector<ReportedFinding> Findings;

  Report() {
    Files.set("net/port.c",
              "void port_del(struct port *p)\n{\n\tsynchronize_rcu();\n"
              "\tkfree(p);\n}\n");
    C.Units = 2710;
    C.Analysed = C.Cached = 2698;
    C.Functions = 104233;
    C.EntryPoints = 18321;
    C.WithContext = 91000;
    O.Version = "0.1.0";

    Finding F = at(3);
    F.Context = "teardown";
    F.Why = {"waits, then frees", "any core may read it",
             "once per removed port", "kfree_rcu()"};
    F.Trace = {{"net/dev.c", 90, 3, "dellink", "removes the port"},
               {"net/port.c", 3, 2, "port_del", "waits"}};
    F.Doubts = {"heat is a guess", "no profile"};
    Plan P;
    P.Level = Tier::Safe;
    P.Title = "free struct port with kfree_rcu()";
    P.Guards = {{"nothing-after-needs-the-wait", true, "only kfree() follows"}};
    P.Edits = {{"net/port.c", 32, 52, ""},
               {"net/port.c", 52, 63, "\tkfree_rcu(p, rcu);\n"}};
    Findings.push_back({F, P});

    Finding G = at(4, "struct other");
    G.Level = Confidence::High;
    Plan Refused;
    Refused.Guards = {{"no-callback", false, "calls out"}};
    Refused.Refusal = "no-callback: calls out";
    Findings.push_back({G, Refused});
    std::vector<Finding> Both = {Findings[0].F, Findings[1].F};
    finishFindings(Both);
    Findings[0].F = Both[0];
    Findings[1].F = Both[1];
  }

  std::string text() {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    renderText(Findings, C, Files, O, OS);
    return OS.str();
  }
  std::string json() {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    renderJson(Findings, C, Files, O, OS);
    return OS.str();
  }
};

TEST_F(Report, TextGolden) {
  EXPECT_EQ(
      text(),
      R"(net/port.c:3:2: warning: waits for a grace period to free struct port [contention-sync-rcu-wait]
 3 | )"
      "\t"
      R"(synchronize_rcu();
   | )"
      "\t"
      R"(^
  shape:      waits, then frees
  sharing:    any core may read it
  heat:       once per removed port
  remedy:     kfree_rcu()
  confidence: medium (why not higher: heat is a guess; no profile)
  context:    teardown
  trace:
    1. net/dev.c:90 in dellink: removes the port
    2. net/port.c:3 in port_del: waits
  fix: free struct port with kfree_rcu() (safe)
    1 guard holds, see them and the patch with --diff

net/port.c:4:2: warning: waits for a grace period to free struct other [contention-sync-rcu-wait]
 4 | )"
      "\t"
      R"(kfree(p);
   | )"
      "\t"
      R"(^
  confidence: high
  no fix: no-callback: calls out

hint: decontend explain sync-rcu-wait
decontend: 2710 units (2698 cached, 0 failed, 12 not analysed), 104233 functions, 18321 entry points, context known for 87% of the functions; 2 findings (1 high, 1 medium)
)");
}

TEST_F(Report, TextIsQuietWithoutFindings) {
  Findings.clear();
  C = {};
  C.Units = C.Analysed = 1;
  C.Functions = C.WithContext = 1;
  EXPECT_EQ(text(), "decontend: 1 unit (0 cached, 0 failed), 1 function, 0 "
                    "entry points, context known for 100% of the functions; 0 "
                    "findings\n");
}

TEST_F(Report, TextSaysWhatWasNotSeen) {
  Findings.clear();
  C = {};
  C.Units = 1;
  C.Failed = {{"bad.c", "no such\nheader"}};
  C.CouldNotJudge = {"sync-rcu-wait: no model"};
  EXPECT_EQ(text(), "failed units:\n  bad.c: no such header\n"
                    "could not judge:\n  sync-rcu-wait: no model\n"
                    "decontend: 1 unit (0 cached, 1 failed), 0 functions, 0 "
                    "entry points; 0 findings\n");
}

TEST_F(Report, TextShowsTheDiff) {
  O.ShowDiff = true;
  O.ShowTrace = false;
  llvm::StringRef Text;
  const std::string Whole = text();
  Text = Whole;
  EXPECT_TRUE(Text.contains("\n--- a/net/port.c\n+++ b/net/port.c\n"
                            "@@ -1,5 +1,4 @@\n"
                            " void port_del(struct port *p)\n {\n"
                            "-\tsynchronize_rcu();\n-\tkfree(p);\n"
                            "+\tkfree_rcu(p, rcu);\n }\n"))
      << Whole;
  EXPECT_FALSE(Text.contains("trace:"));
  Findings[0].P.Edits[0].End = 9999;
  EXPECT_TRUE(llvm::StringRef(text()).contains(
      "  no diff: net/port.c: edit of bytes 32 to 9999 is outside"));
}

TEST_F(Report, ColourOnlyWhenAsked) {
  EXPECT_EQ(text().find('\x1b'), std::string::npos);
  O.Colour = true;
  EXPECT_NE(text().find('\x1b'), std::string::npos);
}

TEST_F(Report, SourceCannotSteerTheTerminal) {
  Files.set("net/port.c", "\n\n\t\x1b[2J\xc3\xa9 wait();\n");
  Findings.resize(1);
  Findings[0].F.Column = 9;
  const std::string Whole = text();
  EXPECT_EQ(Whole.find('\x1b'), std::string::npos);
  EXPECT_NE(Whole.find(" 3 | \t?[2J\xc3\xa9 wait();\n   | \t      ^\n"),
            std::string::npos)
      << Whole;
}

/// Keys of an object's text in the order they are printed at one depth.
std::vector<std::string> keys(llvm::StringRef Text, unsigned Indent) {
  std::vector<std::string> Keys;
  llvm::SmallVector<llvm::StringRef> Lines;
  Text.split(Lines, '\n');
  for (llvm::StringRef L : Lines) {
    llvm::StringRef Trimmed = L.ltrim(' ');
    if (L.size() - Trimmed.size() == Indent && Trimmed.contains("\": "))
      Keys.push_back(Trimmed.drop_front().split('"').first.str());
  }
  return Keys;
}

using Keys = std::vector<std::string>;

TEST_F(Report, JsonKeysInOrder) {
  Findings.resize(1);
  C.Failed = {{"bad.c", "why"}};
  const std::string Text = json();
  EXPECT_EQ(keys(Text, 2), (Keys{"tool", "units", "coverage", "findings"}));
  EXPECT_EQ(keys(Text, 4),
            (Keys{"name", "version", "total", "analysed", "cached", "failed",
                  "functions", "entryPoints", "withContext", "repeatedCommands",
                  "couldNotJudge"}));
  EXPECT_EQ(
      keys(Text, 6),
      (Keys{"rule", "shape", "file", "line", "column", "function", "subject",
            "message", "confidence", "context", "tier", "fingerprint",
            "evidence", "doubts", "trace", "guards", "fix", "refusal"}));
  EXPECT_EQ(keys(Text, 8), (Keys{"file", "reason", "shape", "sharing", "heat",
                                 "remedy", "available", "title", "files"}));
  EXPECT_EQ(keys(Text, 10),
            (Keys{"file", "line", "column", "function", "note", "file", "line",
                  "column", "function", "note", "name", "holds", "why"}));
  EXPECT_TRUE(llvm::StringRef(Text).ends_with("}\n"));
  O.ShowDiff = true;
  EXPECT_EQ(keys(json(), 8),
            (Keys{"file", "reason", "shape", "sharing", "heat", "remedy",
                  "available", "title", "files", "diff"}));
}

TEST_F(Report, JsonValues) {
  O.ShowDiff = true;
  Findings[0].F.Message = "bad \xff byte";
  llvm::Expected<llvm::json::Value> Parsed = llvm::json::parse(json());
  ASSERT_TRUE(bool(Parsed)) << llvm::toString(Parsed.takeError());
  const llvm::json::Object *Top = Parsed->getAsObject();
  EXPECT_EQ(Top->getObject("tool")->getString("version"), "0.1.0");
  EXPECT_EQ(Top->getObject("units")->getInteger("total"), 2710);
  const llvm::json::Array &List = *Top->getArray("findings");
  ASSERT_EQ(List.size(), 2u);
  const llvm::json::Object &First = *List[0].getAsObject();
  EXPECT_EQ(First.getString("message"), "bad \xef\xbf\xbd byte");
  EXPECT_EQ(First.getString("tier"), "safe");
  EXPECT_TRUE(First.getNull("refusal").has_value());
  EXPECT_EQ(First.getString("fingerprint"), Findings[0].F.Fingerprint);
  EXPECT_EQ(First.getObject("fix")->getBoolean("available"), true);
  EXPECT_TRUE(First.getObject("fix")->getString("diff")->starts_with(
      "--- a/net/port.c\n"));
  const llvm::json::Object &Second = *List[1].getAsObject();
  EXPECT_EQ(Second.getString("refusal"), "no-callback: calls out");
  EXPECT_EQ(Second.getString("tier"), "none");
  EXPECT_EQ(Second.getObject("fix")->getBoolean("available"), false);
  EXPECT_TRUE(Second.getObject("fix")->getNull("diff").has_value());
  EXPECT_EQ(Second.getArray("guards")->size(), 1u);
  // The same input gives the same bytes.
  EXPECT_EQ(json(), json());
}

} // namespace
