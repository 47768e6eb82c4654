//===- main.cpp - The command line ----------------------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace decontend {

void printError(const Twine &Text) {
  WithColor::error(errs(), "decontend") << Text << "\n";
}

namespace {

cl::OptionCategory Category("decontend options");
cl::SubCommand CheckCmd("check", "find places that stop the program scaling");
cl::SubCommand ExplainCmd("explain", "show the page of a rule");
cl::SubCommand FactsCmd("facts", "show what one unit says, as JSON");
cl::SubCommand QueryCmd("query", "ask the linked program in SQL");

#define IN_LOADING cl::sub(CheckCmd), cl::sub(FactsCmd), cl::sub(QueryCmd)

cl::opt<std::string> BuildPath(
    "p",
    cl::desc("Folder of compile_commands.json (default: here, then ./build)"),
    cl::value_desc("folder"), cl::cat(Category), IN_LOADING);
cl::opt<std::string>
    Root("root",
         cl::desc("Source root; findings are relative to it (default: git's "
                  "top level, or the folder common to all units)"),
         cl::value_desc("folder"), cl::cat(Category), IN_LOADING);
cl::opt<std::string>
    CacheDir("cache-dir",
             cl::desc("Folder of the cache (default: $DECONTEND_CACHE/facts, "
                      "or decontend/facts in the user's cache folder)"),
             cl::value_desc("folder"), cl::cat(Category), IN_LOADING);
cl::opt<bool> NoCache("no-cache", cl::desc("Neither read nor write a cache"),
                      cl::cat(Category), IN_LOADING);
cl::opt<bool>
    NoSkipBodies("no-skip-bodies",
                 cl::desc("Parse the bodies of header functions in every unit"),
                 cl::cat(Category), IN_LOADING);
cl::list<std::string> ModelFiles(
    "models",
    cl::desc("Further models of APIs (YAML); may be given more than once"),
    cl::value_desc("file"), cl::cat(Category), IN_LOADING);
cl::opt<unsigned>
    Jobs("j", cl::Prefix,
         cl::desc("Units to parse at a time (default: one per core)"),
         cl::init(0), cl::cat(Category), IN_LOADING);
cl::alias JobsLong("jobs", cl::desc("Alias for -j"), cl::aliasopt(Jobs));
cl::opt<bool> Quiet("quiet", cl::desc("No progress on the terminal"),
                    cl::cat(Category), IN_LOADING);

enum class FormatKind { Text, Json };
cl::opt<FormatKind>
    Format("format", cl::desc("How to print"), cl::init(FormatKind::Text),
           cl::cat(Category),
           cl::values(clEnumValN(FormatKind::Text, "text", "for people"),
                      clEnumValN(FormatKind::Json, "json", "for programs")),
           cl::sub(CheckCmd), cl::sub(QueryCmd));
cl::opt<std::string>
    Checks("checks",
           cl::desc("Rules to apply: globs, comma separated, -x to leave out"),
           cl::init("*"), cl::cat(Category), cl::sub(CheckCmd));
enum class FailKind { Low, Medium, High, Never };
cl::opt<FailKind>
    FailOn("fail-on",
           cl::desc("Exit with 1 for findings of at least this confidence"),
           cl::init(FailKind::Medium), cl::cat(Category),
           cl::values(clEnumValN(FailKind::Low, "low", ""),
                      clEnumValN(FailKind::Medium, "medium", "(default)"),
                      clEnumValN(FailKind::High, "high", ""),
                      clEnumValN(FailKind::Never, "never",
                                 "exit with 0 in spite of findings")),
           cl::sub(CheckCmd));
cl::opt<Confidence>
    Least("min-confidence",
          cl::desc("Show findings of at least this confidence"),
          cl::init(Confidence::Medium), cl::cat(Category),
          cl::values(clEnumValN(Confidence::Low, "low", ""),
                     clEnumValN(Confidence::Medium, "medium", "(default)"),
                     clEnumValN(Confidence::High, "high", "")),
          cl::sub(CheckCmd));
cl::opt<bool> Diff("diff", cl::desc("Show each plan as a unified diff"),
                   cl::cat(Category), cl::sub(CheckCmd));
cl::opt<bool> RacyCounters(
    "racy-counters",
    cl::desc("hot-atomic-counter: also statistics that a plain ++ bumps"),
    cl::cat(Category), cl::sub(CheckCmd));
cl::opt<std::string>
    UnitsFrom("units-from",
              cl::desc("Judge only the files listed in this file, one a line "
                       "(- for standard input)"),
              cl::value_desc("file"), cl::cat(Category), cl::sub(CheckCmd));
cl::list<std::string> Paths(cl::Positional, cl::desc("[PATH...]"),
                            cl::cat(Category), cl::sub(CheckCmd));
cl::opt<std::string> RuleName(cl::Positional, cl::desc("[RULE]"),
                              cl::cat(Category), cl::sub(ExplainCmd));
cl::opt<std::string> FactsFile(cl::Positional, cl::desc("FILE"), cl::Required,
                               cl::cat(Category), cl::sub(FactsCmd));
cl::opt<std::string> Sql(cl::Positional, cl::desc("[SQL]"), cl::cat(Category),
                         cl::sub(QueryCmd));

EngineOptions loadOptions() {
  EngineOptions O;
  O.BuildPath = BuildPath;
  if (O.BuildPath.empty())
    O.BuildPath = !sys::fs::exists("compile_commands.json") &&
                          sys::fs::exists("build/compile_commands.json")
                      ? "build"
                      : ".";
  O.Root = Root;
  O.CacheDir = NoCache ? "" : !CacheDir.empty() ? CacheDir : defaultCacheDir();
  O.ModelFiles = {ModelFiles.begin(), ModelFiles.end()};
  O.Jobs = Jobs;
  O.SkipBodies = !NoSkipBodies;
  O.Progress = !Quiet && isatty(STDERR_FILENO);
  O.Warn = [](const std::string &Text) {
    WithColor::warning(errs(), "decontend") << Text << "\n";
  };
  return O;
}

/// The first signal lets the units under way finish, so that nothing is lost;
/// the second one ends the process at once (files appear by rename only).
void onSignal(int) {
  if (StopRequested.exchange(true))
    _exit(ExitIncomplete);
}

void printVersion(raw_ostream &OS) {
  OS << "decontend " DECONTEND_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

} // namespace
} // namespace decontend

using namespace decontend;

int main(int argc, char **argv) {
  cl::SetVersionPrinter(printVersion);
  for (cl::SubCommand *S : {&CheckCmd, &ExplainCmd, &FactsCmd, &QueryCmd})
    cl::HideUnrelatedOptions(Category, *S);
  // Without a command, the options are LLVM's own.
  cl::HideUnrelatedOptions(Category);
  std::string Message;
  raw_string_ostream Errors(Message);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "decontend: finds what stops C and C++ programs scaling over cores\n",
          &Errors)) {
    errs() << Errors.str();
    return ExitUsage;
  }
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
  std::signal(SIGPIPE, SIG_IGN);

  if (CheckCmd) {
    CheckOptions O;
    O.Load = loadOptions();
    O.Paths = {Paths.begin(), Paths.end()};
    O.UnitsFrom = UnitsFrom;
    O.Format = Format == FormatKind::Json ? "json" : "text";
    O.Checks = Checks;
    O.Least = Least;
    O.NeverFail = FailOn == FailKind::Never;
    O.FailOn = FailOn == FailKind::Low    ? Confidence::Low
               : FailOn == FailKind::High ? Confidence::High
                                          : Confidence::Medium;
    O.Diff = Diff;
    O.RacyCounters = RacyCounters;
    O.Colour = isatty(STDOUT_FILENO) && !sys::Process::GetEnv("NO_COLOR");
    return runCheck(O);
  }
  if (ExplainCmd)
    return runExplain(RuleName);
  if (FactsCmd)
    return runFacts(loadOptions(), FactsFile);
  if (QueryCmd)
    return runQuery(loadOptions(), Sql, Format == FormatKind::Json);
  errs() << "decontend: error: no command given; see 'decontend --help'\n";
  return ExitUsage;
}
