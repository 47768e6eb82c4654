//===- EmbeddedModelsTest.cpp - The models that come with the program -----===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <thread>

using namespace decontend;

namespace {

const Models &embedded() {
  static const Models M = [] {
    llvm::Expected<Models> Loaded = loadModels();
    if (Loaded)
      return std::move(*Loaded);
    ADD_FAILURE() << llvm::toString(Loaded.takeError());
    return Models();
  }();
  return M;
}

TEST(EmbeddedModels, AreUnderTheFilesOfTheUser) {
  llvm::SmallString<128> Path;
  int Handle;
  ASSERT_FALSE(
      llvm::sys::fs::createTemporaryFile("models", "yaml", Handle, Path));
  llvm::raw_fd_ostream(Handle, true)
      << "functions:\n- {name: my_wait, wait: {flavour: rcu}}\n"
         "remove: {functions: [synchronize_net]}\n";
  llvm::Expected<Models> M = loadModels({Path.str().str()});
  llvm::sys::fs::remove(Path);
  ASSERT_TRUE(static_cast<bool>(M)) << llvm::toString(M.takeError());
  EXPECT_TRUE(M->function("my_wait"));
  EXPECT_FALSE(M->function("synchronize_net"));
  EXPECT_TRUE(M->function("synchronize_rcu"));
  EXPECT_NE(M->digest(), embedded().digest());
}

TEST(EmbeddedModels, KnowTheKernel) {
  const Models &M = embedded();
  const FunctionModel *Rcu = M.function("synchronize_rcu");
  ASSERT_TRUE(Rcu && Rcu->Wait);
  EXPECT_EQ(Rcu->Wait->Flavour, "rcu");
  EXPECT_EQ(Rcu->Wait->Deferred, "call_rcu");
  EXPECT_EQ(Rcu->Wait->FreeMacro, "kfree_rcu");
  EXPECT_EQ(M.function("synchronize_net")->Wait->Cost, WaitModel::Adaptive);
  EXPECT_EQ(M.function("synchronize_srcu")->Wait->DomainArg, 0);
  EXPECT_FALSE(M.function("synchronize_irq")->Wait);
  EXPECT_EQ(M.function("call_srcu")->Callbacks[0].Arg, 2);
  EXPECT_EQ(M.function("kfree")->FreeByRcu, "kfree_rcu");
  EXPECT_EQ(M.function("kmem_cache_free")->CacheArg, 0);
  EXPECT_TRUE(M.function("kref_put")->Callbacks[0].Inline);
  EXPECT_TRUE(M.function("rtnl_lock")->LockIsGlobal);
  EXPECT_TRUE(M.function("trace_sched_switch")->Inert);
  EXPECT_FALSE(M.function("trace_array_put")->Inert);
  EXPECT_EQ(M.slot("struct file_operations.release")->Context, CtxTeardown);
  EXPECT_EQ(M.slot("struct file_operations.poll")->Context, CtxHot);
  EXPECT_EQ(M.slot("struct rtnl_link_ops.dellink")->Context,
            CtxTeardown | CtxAdmin);
  EXPECT_EQ(M.slot("struct pci_driver.remove")->Context, CtxAdmin);
  EXPECT_EQ(M.slot("struct work_struct.func")->Context, CtxAsync);
  EXPECT_EQ(M.entry(EntryModel::Name, "__do_sys_unshare")->Context, CtxHot);
  EXPECT_EQ(M.entry(EntryModel::Name, "__do_sys_delete_module")->Context,
            CtxAdmin);
  EXPECT_EQ(M.entry(EntryModel::Marker, "module_exit")->Context, CtxExit);
  EXPECT_TRUE(M.entry(EntryModel::Marker, "EXPORT_SYMBOL_GPL")->Exports);
  EXPECT_EQ(M.digest(), loadModels()->digest());
}

TEST(EmbeddedModels, KnowLiburcu) {
  const Models &M = embedded();
  for (const char *Flavour : {"memb", "mb", "signal", "qsbr", "bp"}) {
    std::string Name = std::string("urcu_") + Flavour;
    const FunctionModel *Wait = M.function(Name + "_synchronize_rcu");
    ASSERT_TRUE(Wait && Wait->Wait) << Name;
    EXPECT_EQ(Wait->Wait->Flavour, std::string("urcu-") + Flavour);
    EXPECT_TRUE(M.function(Wait->Wait->Deferred)->Callbacks.size());
    EXPECT_EQ(M.function(Wait->Wait->BarrierCall)->Wait->Cost,
              WaitModel::Barrier);
  }
  EXPECT_EQ(M.function("free")->Frees, 0);
  EXPECT_EQ(M.function("pthread_create")->Callbacks[0].Context, CtxHot);
}

/// What a wait refers to must itself be known, or advice would lead nowhere.
TEST(EmbeddedModels, HoldTogether) {
  const Models &M = embedded();
  for (const FunctionModel &F : M.functions()) {
    if (!F.FreeByRcu.empty())
      EXPECT_TRUE(M.function(F.FreeByRcu)) << F.Name;
    if (!F.Wait)
      continue;
    for (const std::string *Name : {&F.Wait->Deferred, &F.Wait->BarrierCall,
                                    &F.Wait->FreeMacro, &F.Wait->Expedite})
      if (!Name->empty())
        EXPECT_TRUE(M.function(*Name)) << F.Name << " refers to " << *Name;
    if (!F.Wait->Deferred.empty()) {
      EXPECT_EQ(M.function(F.Wait->Deferred)->Defers, F.Wait->Flavour)
          << F.Name;
    }
  }
}

TEST(EmbeddedModels, AreReadFromManyThreads) {
  const Models &M = embedded();
  std::vector<std::thread> Threads;
  for (int I = 0; I < 4; ++I)
    Threads.emplace_back([&M] {
      for (int J = 0; J < 200; ++J) {
        EXPECT_TRUE(M.function("trace_foo"));
        EXPECT_TRUE(M.slot("struct foo_attribute.store"));
        EXPECT_FALSE(M.entry(EntryModel::Name, "nothing"));
      }
    });
  for (std::thread &T : Threads)
    T.join();
}

} // namespace
