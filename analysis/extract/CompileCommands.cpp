//===- CompileCommands.cpp - compile_commands.json ------------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileCommands.h"
#include "clang/Driver/Options.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <algorithm>

using namespace llvm;

namespace decontend {

static std::string absoluteIn(StringRef Path, StringRef Directory) {
  SmallString<256> P(Path);
  if (!sys::path::is_absolute(P)) {
    P = Directory;
    sys::path::append(P, Path);
  }
  sys::path::remove_dots(P, /*remove_dot_dot=*/true);
  return std::string(P);
}

static Error databaseError(StringRef Path, const Twine &What) {
  return createStringError(
      inconvertibleErrorCode(),
      Path + ": " + What +
          "; make one with CMAKE_EXPORT_COMPILE_COMMANDS=ON, `bear -- make`, "
          "or "
          "the kernel's `make compile_commands.json`, and name its folder with "
          "-p");
}

Expected<std::vector<CompileCommand>> loadCompileCommands(StringRef Folder,
                                                          size_t *Repeated) {
  SmallString<256> Path(Folder);
  if (sys::fs::is_directory(Path))
    sys::path::append(Path, "compile_commands.json");
  if (std::error_code EC = sys::fs::make_absolute(Path))
    return databaseError(Path, EC.message());
  sys::path::remove_dots(Path, true);
  auto Buffer = MemoryBuffer::getFile(Path);
  if (!Buffer)
    return databaseError(Path, "no compile database (" +
                                   Buffer.getError().message() + ")");
  Expected<json::Value> Json = json::parse((*Buffer)->getBuffer());
  if (!Json)
    return databaseError(Path, "not a compile database: " +
                                   toString(Json.takeError()));
  const json::Array *List = Json->getAsArray();
  if (!List)
    return databaseError(Path, "not a compile database: expected an array");
  if (List->empty())
    return databaseError(Path, "the compile database is empty");

  std::vector<CompileCommand> Out;
  BumpPtrAllocator Arena;
  StringSaver Saver(Arena);
  StringRef Here = sys::path::parent_path(Path);
  size_t Number = 0;
  for (const json::Value &V : *List) {
    ++Number;
    const json::Object *Entry = V.getAsObject();
    auto File = Entry ? Entry->getString("file") : std::nullopt;
    if (!File)
      return databaseError(Path,
                           "entry " + Twine(Number) +
                               " has no \"file\" (expected an object with "
                               "directory, file, command or arguments)");
    if (File->ends_with(".S") || File->ends_with(".s"))
      continue;
    CompileCommand C;
    C.Directory =
        absoluteIn(Entry->getString("directory").value_or(Here), Here);
    C.File = absoluteIn(*File, C.Directory);
    if (const json::Array *Args = Entry->getArray("arguments")) {
      for (const json::Value &A : *Args)
        if (auto S = A.getAsString())
          C.Arguments.push_back(S->str());
    } else if (auto Command = Entry->getString("command")) {
      SmallVector<const char *, 64> Split;
      cl::TokenizeGNUCommandLine(*Command, Saver, Split);
      C.Arguments.assign(Split.begin(), Split.end());
    }
    if (C.Arguments.empty())
      return databaseError(Path, "entry " + Twine(Number) + " (" + *File +
                                     ") has neither \"command\" nor "
                                     "\"arguments\"");
    Out.push_back(std::move(C));
  }
  std::stable_sort(Out.begin(), Out.end(),
                   [](const CompileCommand &A, const CompileCommand &B) {
                     return A.File < B.File;
                   });
  size_t All = Out.size();
  Out.erase(std::unique(Out.begin(), Out.end(),
                        [](const CompileCommand &A, const CompileCommand &B) {
                          return A.File == B.File;
                        }),
            Out.end());
  if (Repeated)
    *Repeated = All - Out.size();
  if (Out.empty())
    return databaseError(Path, "no C or C++ unit in the compile database");
  return Out;
}

/// Options that write files, belong to GCC's or the linker's business, or would
/// turn a warning into a failure. Facts do not depend on any of them.
static bool isDropped(const opt::Option &O) {
  using namespace clang::driver::options;
  switch (O.getID()) {
  case OPT_c:
  case OPT_o:
  case OPT_S:
  case OPT_E:
  case OPT_M:
  case OPT_MM:
  case OPT_MD:
  case OPT_MMD:
  case OPT_MF:
  case OPT_MT:
  case OPT_MQ:
  case OPT_MP:
  case OPT_MG:
  case OPT_MJ:
  case OPT_pipe:
  case OPT_save_temps:
  case OPT_save_temps_EQ:
  case OPT_INPUT:
  case OPT_fplugin_EQ:
  case OPT_fplugin_arg:
  case OPT_fintegrated_as:
  case OPT_fno_integrated_as:
  case OPT_gsplit_dwarf:
  case OPT_gsplit_dwarf_EQ:
  case OPT__serialize_diags:
  case OPT__SLASH_c:
  // Calls at function entries, which Clang has for some targets only.
  case OPT_pg:
  case OPT_mfentry:
  case OPT_mrecord_mcount:
  case OPT_mnop_mcount:
    return true;
  default:
    break;
  }
  return O.matches(OPT_g_Group) || O.matches(OPT_W_Group) ||
         O.matches(OPT_Link_Group) || O.matches(OPT_pedantic_Group);
}

/// -Wp,... passes options to the preprocessor; only those that define, undefine
/// or add folders change what a unit says.
static void keepPreprocessorOptions(StringRef Comma,
                                    std::vector<std::string> &Out) {
  SmallVector<StringRef, 4> Parts;
  Comma.split(Parts, ',');
  for (StringRef P : Parts)
    if (P.starts_with("-D") || P.starts_with("-U") || P.starts_with("-I"))
      Out.push_back(P.str());
}

std::vector<std::string> normalisedArguments(const CompileCommand &C) {
  BumpPtrAllocator Arena;
  StringSaver Saver(Arena);
  SmallVector<const char *, 128> Argv;
  for (const std::string &A : C.Arguments)
    Argv.push_back(Saver.save(A).data());
  if (any_of(C.Arguments, [](StringRef A) { return A.starts_with("@"); })) {
    auto FS = vfs::createPhysicalFileSystem();
    FS->setCurrentWorkingDirectory(C.Directory);
    cl::ExpansionContext Expander(Arena, cl::TokenizeGNUCommandLine);
    Expander.setVFS(FS.get()).setCurrentDir(C.Directory);
    // What cannot be read stays as it is; Clang then names the missing file.
    consumeError(Expander.expandResponseFiles(Argv));
  }

  // Launchers such as ccache stand before the compiler.
  size_t First = 0;
  while (First + 1 < Argv.size() && Argv[First + 1][0] != '-') {
    StringRef Name = sys::path::filename(Argv[First]);
    if (Name != "ccache" && Name != "distcc" && Name != "sccache" &&
        Name != "icecc")
      break;
    ++First;
  }
  bool Cxx = StringRef(Argv[First]).contains("++");

  const opt::OptTable &Table = clang::driver::getDriverOptTable();
  unsigned MissingIndex = 0, MissingCount = 0;
  opt::InputArgList Args = Table.ParseArgs(
      ArrayRef(Argv).drop_front(First + 1), MissingIndex, MissingCount,
      opt::Visibility(clang::driver::options::ClangOption));

  std::vector<std::string> Out;
  Out.push_back(Cxx ? "clang++" : "clang");
  for (const opt::Arg *A : Args) {
    const opt::Option &O = A->getOption();
    if (O.getKind() == opt::Option::UnknownClass)
      continue;
    if (O.matches(clang::driver::options::OPT_Wp_COMMA)) {
      for (const char *V : A->getValues())
        keepPreprocessorOptions(V, Out);
      continue;
    }
    if (isDropped(O) ||
        O.matches(clang::driver::options::OPT_clang_ignored_f_Group) ||
        O.matches(clang::driver::options::OPT_clang_ignored_m_Group))
      continue;
    opt::ArgStringList Rendered;
    A->render(Args, Rendered);
    for (const char *S : Rendered)
      Out.push_back(S);
  }
  Out.push_back("-w");
  Out.push_back("-fsyntax-only");
  Out.push_back("-resource-dir");
  Out.push_back(DECONTEND_RESOURCE_DIR);
  Out.push_back(C.File);
  return Out;
}

std::string guessRoot(const std::vector<CompileCommand> &Commands,
                      StringRef Build) {
  auto InBuild = [&](StringRef File) {
    return File.starts_with(Build) &&
           File.substr(Build.size()).starts_with("/");
  };
  bool AnyOutside = any_of(
      Commands, [&](const CompileCommand &C) { return !InBuild(C.File); });
  SmallString<256> Folder;
  for (const CompileCommand &C : Commands) {
    if (AnyOutside && InBuild(C.File))
      continue;
    StringRef Parent = sys::path::parent_path(C.File);
    if (Folder.empty()) {
      Folder = Parent;
      continue;
    }
    while (!Folder.empty() && Folder != "/" &&
           !(Parent == Folder ||
             (Parent.starts_with(Folder) && Parent[Folder.size()] == '/')))
      sys::path::remove_filename(Folder);
  }
  for (StringRef P = Folder; !P.empty() && P != "/";
       P = sys::path::parent_path(P))
    if (sys::fs::exists(P + "/.git"))
      return P.str();
  return std::string(Folder);
}

} // namespace decontend
