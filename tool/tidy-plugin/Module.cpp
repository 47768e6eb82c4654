//===- Module.cpp - The rules as a module of clang-tidy -------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContentionCheck.h"
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>

namespace decontend {

namespace {

class ContentionModule : public clang::tidy::ClangTidyModule {
public:
  void
  addCheckFactories(clang::tidy::ClangTidyCheckFactories &Factories) override {
    for (size_t I = 0, N = makeRules().size(); I < N; ++I)
      Factories.registerCheckFactory(
          "contention-" + makeRules()[I]->id().str(),
          [I](llvm::StringRef Name, clang::tidy::ClangTidyContext *Context) {
            return std::make_unique<ContentionCheck>(Name, Context,
                                                     std::move(makeRules()[I]));
          });
  }
};

clang::tidy::ClangTidyModuleRegistry::Add<ContentionModule>
    Registered("contention-module",
               "Places that stop a program scaling over cores.");

} // namespace
} // namespace decontend
