//===- Loader.cpp - Only into the clang-tidy it was built for -------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   clang-tidy --load --> libdecontend-tidy.so --same major version?--> the
//   rules,
//                                                    in the file beside it
//
// Built for another major version, a plugin either loads and silently reports
// nothing, or does not load because a virtual function of a base class is gone,
// which clang-tidy only mentions. Both look like a clean run. So what is loaded
// first needs nothing of its host but one function, and asks it for its
// version.
//
//===----------------------------------------------------------------------===//

#include "clang/Basic/Version.h"
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

namespace {

/// The number behind the first "version ", 0 if there is none.
int majorOf(const std::string &Version) {
  size_t At = Version.find("version ");
  if (At == std::string::npos)
    return 0;
  int Major = 0;
  for (At += 8; At < Version.size() && Version[At] >= '0' && Version[At] <= '9';
       ++At)
    Major = Major * 10 + (Version[At] - '0');
  return Major;
}

[[noreturn]] void stop(const std::string &Why) {
  std::fprintf(stderr, "libdecontend-tidy.so: error: %s\n", Why.c_str());
  std::fflush(stderr);
  _exit(1); // not through the destructors of a host that may not fit
}

struct Loader {
  Loader() {
    // Resolved in the host, unlike the macro.
    const std::string Host = clang::getClangFullVersion();
    const std::string Own = std::to_string(CLANG_VERSION_MAJOR);
    if (majorOf(Host) != CLANG_VERSION_MAJOR)
      stop("built for clang-tidy " + Own + ", but loaded by one of " + Host +
           "; run clang-tidy-" + Own + " instead");
    Dl_info Here;
    if (!dladdr(reinterpret_cast<void *>(&majorOf), &Here) || !Here.dli_fname)
      stop("cannot tell in which folder it is");
    std::string Rules = Here.dli_fname;
    Rules.erase(Rules.find_last_of('/') + 1);
    Rules += DECONTEND_TIDY_RULES;
    if (!dlopen(Rules.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      const char *Why = dlerror();
      stop(Why ? Why : "cannot load " + Rules);
    }
  }
};

const Loader Load;

} // namespace
