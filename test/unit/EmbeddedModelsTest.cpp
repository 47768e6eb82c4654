//===- EmbeddedModelsTest.cpp - The models that come with the program -----===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include "analysis/models/ModelsReader.h"
#include "embedded/ModelTexts.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <map>
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

/// A later file replaces a whole entry, so a name in two files would silently
/// lose what the first says of it.
TEST(EmbeddedModels, SayEverythingOnce) {
  std::map<std::string, std::string> Seen;
  for (const auto &[Path, Text] : embedded::ModelTexts()) {
    llvm::Expected<ModelFile> File =
        readModels(llvm::StringRef(Path.data(), Path.size()),
                   llvm::StringRef(Text.data(), Text.size()));
    ASSERT_TRUE(static_cast<bool>(File)) << llvm::toString(File.takeError());
    auto Once = [&, &Path = Path](const std::string &What) {
      auto [It, New] = Seen.try_emplace(What, Path);
      EXPECT_TRUE(New) << What << " is in " << It->second << " and in " << Path;
    };
    for (const FunctionModel &F : File->Functions)
      Once("function " + F.Name);
    for (const SlotModel &S : File->Slots)
      Once("slot " + S.Slot);
    for (const EntryModel &E : File->Entries)
      Once("entry " + std::to_string(E.Kind) + E.Pattern);
    for (const CounterTypeModel &C : File->CounterTypes)
      Once("counter type " + C.Type);
    for (const RecordModel &R : File->Records)
      Once("record " + R.Record);
    for (const CounterRemedy &R : File->Remedies)
      Once("remedy " + R.Id);
    for (const PaceModel &P : File->Paces)
      Once("pace " + P.Pattern);
  }
}

/// "add 1 by 0 returns tests", or "none".
std::string atomic(const char *Name) {
  const FunctionModel *M = embedded().function(Name);
  if (!M || !M->Atomic)
    return "none";
  static const char *Ops[] = {"read", "set", "add",      "sub",
                              "inc",  "dec", "exchange", "bits"};
  const AtomicModel &A = *M->Atomic;
  std::string Out = Ops[A.Op] + std::string(" ") + std::to_string(A.On);
  if (A.By >= 0)
    Out += " by " + std::to_string(A.By);
  if (A.Returns)
    Out += " returns";
  if (A.Tests)
    Out += " tests";
  return Out;
}

TEST(EmbeddedModels, KnowAtomicIntegersOfTheKernel) {
  for (std::string Prefix : {"atomic_", "atomic64_", "atomic_long_"}) {
    auto Of = [&](const char *Op) { return atomic((Prefix + Op).c_str()); };
    EXPECT_EQ(Of("read_acquire"), "read 0 returns");
    EXPECT_EQ(Of("cond_read_relaxed"), "read 0 returns tests");
    EXPECT_EQ(Of("set"), "set 0 by 1");
    EXPECT_EQ(Of("inc"), "inc 0");
    EXPECT_EQ(Of("dec"), "dec 0");
    EXPECT_EQ(Of("add"), "add 1 by 0");
    EXPECT_EQ(Of("sub"), "sub 1 by 0");
    EXPECT_EQ(Of("andnot"), "bits 1");
    EXPECT_EQ(Of("xchg_acquire"), "exchange 0 returns");
    EXPECT_EQ(Of("try_cmpxchg"), "exchange 0 returns tests");
    EXPECT_EQ(Of("inc_and_test"), "inc 0 returns tests");
    EXPECT_EQ(Of("dec_and_test"), "dec 0 returns tests");
    EXPECT_EQ(Of("sub_and_test"), "sub 1 by 0 returns tests");
    EXPECT_EQ(Of("add_negative_relaxed"), "add 1 by 0 returns tests");
    EXPECT_EQ(Of("add_unless"), "add 0 by 1 returns tests");
    EXPECT_EQ(Of("fetch_add_unless"), "add 0 by 1 returns tests");
    EXPECT_EQ(Of("inc_not_zero"), "inc 0 returns tests");
    EXPECT_EQ(Of("inc_unless_negative"), "inc 0 returns tests");
    EXPECT_EQ(Of("dec_if_positive"), "dec 0 returns tests");
    for (const char *Order : {"", "_relaxed", "_acquire", "_release"}) {
      auto In = [&](const char *Op) {
        return atomic((Prefix + Op + Order).c_str());
      };
      EXPECT_EQ(In("add_return"), "add 1 by 0 returns");
      EXPECT_EQ(In("fetch_sub"), "sub 1 by 0 returns");
      EXPECT_EQ(In("inc_return"), "inc 0 returns");
      EXPECT_EQ(In("fetch_dec"), "dec 0 returns");
      EXPECT_EQ(In("fetch_or"), "bits 1 returns");
    }
  }
  EXPECT_EQ(atomic("atomic_notifier_call_chain"), "none");
}

TEST(EmbeddedModels, KnowReferencesAndSpreadCounters) {
  EXPECT_EQ(atomic("refcount_inc"), "inc 0");
  EXPECT_EQ(atomic("refcount_inc_not_zero"), "inc 0 returns tests");
  EXPECT_EQ(atomic("refcount_add"), "add 1 by 0");
  EXPECT_EQ(atomic("refcount_sub_and_test"), "sub 1 by 0 returns tests");
  EXPECT_EQ(atomic("refcount_set"), "set 0 by 1");
  EXPECT_EQ(atomic("kref_get"), "inc 0");
  EXPECT_EQ(atomic("kref_put"), "dec 0 returns tests");
  EXPECT_EQ(embedded().function("kref_put")->DropsRef, 0);
  EXPECT_EQ(embedded().function("atomic_dec_and_test")->DropsRef, 0);
  EXPECT_EQ(embedded().function("atomic_add_unless")->TakesRef, 0);
  EXPECT_EQ(atomic("get_device"), "none");
  EXPECT_EQ(atomic("percpu_ref_tryget_live"), "inc 0 returns tests");
  EXPECT_EQ(atomic("percpu_counter_add_batch"), "add 0 by 1");
  EXPECT_EQ(atomic("percpu_counter_sum"), "read 0 returns");
  const Models &M = embedded();
  EXPECT_EQ(M.counterType("atomic_t")->Width, -32);
  EXPECT_EQ(M.counterType("refcount_t")->Kind, CounterTypeModel::Reference);
  EXPECT_EQ(M.counterType("struct percpu_counter")->Kind,
            CounterTypeModel::Spread);
}

TEST(EmbeddedModels, KnowBuiltinsAndCxx) {
  EXPECT_EQ(atomic("__atomic_fetch_add"), "add 0 by 1 returns");
  EXPECT_EQ(atomic("__atomic_sub_fetch"), "sub 0 by 1 returns");
  EXPECT_EQ(atomic("__atomic_load_n"), "read 0 returns");
  EXPECT_EQ(atomic("__atomic_load"), "none");
  EXPECT_EQ(atomic("__c11_atomic_store"), "set 0 by 1");
  EXPECT_EQ(atomic("__c11_atomic_init"), "set 0");
  EXPECT_EQ(atomic("__c11_atomic_compare_exchange_strong"),
            "exchange 0 returns tests");
  EXPECT_EQ(atomic("__sync_fetch_and_add_8"), "add 0 by 1 returns");
  EXPECT_EQ(atomic("__sync_bool_compare_and_swap"), "exchange 0 returns tests");
  EXPECT_EQ(atomic("std::atomic::fetch_add"), "add 0 by 1 returns");
  EXPECT_EQ(atomic("std::__atomic_base::operator++"), "inc 0 returns");
  EXPECT_EQ(atomic("std::atomic::operator long"), "read 0 returns");
  EXPECT_EQ(atomic("std::atomic_fetch_sub_explicit"), "sub 0 by 1 returns");
  EXPECT_EQ(atomic("fetch_add"), "none");
  EXPECT_EQ(atomic("load"), "none");
  EXPECT_EQ(atomic("uatomic_inc"), "inc 0");
  EXPECT_EQ(atomic("uatomic_xchg"), "exchange 0 returns");
  EXPECT_EQ(embedded().function("uatomic_xchg")->Unlinks, 0);
  EXPECT_EQ(atomic("dct_percpu_counter_add"), "add 0 by 1");
}

TEST(EmbeddedModels, KnowWhatShowsValues) {
  const Models &M = embedded();
  for (const char *Name : {"seq_printf",
                           "seq_put_decimal_ull",
                           "sysfs_emit_at",
                           "snprintf",
                           "scnprintf",
                           "_printk",
                           "pr_info",
                           "_dev_err",
                           "netdev_warn",
                           "nla_put_u64_64bit",
                           "trace_sched_switch",
                           "WARN_ONCE",
                           "kasprintf",
                           "printf",
                           "fprintf",
                           "dprintf",
                           "syslog",
                           "asprintf",
                           "fmt::print",
                           "std::basic_ostream::operator<<",
                           "std::operator<<"}) {
    ASSERT_TRUE(M.function(Name)) << Name;
    EXPECT_TRUE(M.function(Name)->Reports) << Name;
  }
  EXPECT_FALSE(M.function("trace_array_put")->Reports);
  EXPECT_FALSE(M.function("sched_yield")->Reports);
  EXPECT_TRUE(M.isClock("ktime_get"));
  EXPECT_TRUE(M.isClock("clock_gettime"));
  for (const char *Slot :
       {"struct seq_operations.show", "struct proc_ops.proc_read",
        "struct device_attribute.show", "struct sysfs_ops.show",
        "struct net_device_ops.ndo_get_stats64",
        "struct rtnl_link_ops.fill_info", "struct genl_ops.dumpit",
        "struct ethtool_ops.get_ethtool_stats",
        "struct super_operations.statfs", "struct cftype.read_u64",
        "struct Qdisc_ops.dump_stats", "struct tc_action_ops.dump",
        "struct netlink_dump_control.dump", "struct ctl_table.proc_handler",
        "struct file_operations.show_fdinfo"}) {
    ASSERT_TRUE(M.slot(Slot)) << Slot;
    EXPECT_TRUE(M.slot(Slot)->Context & CtxReport) << Slot;
  }
  for (const char *Slot :
       {"struct file_operations.read", "struct device_attribute.store",
        "struct cftype.poll", "struct ethtool_ops.set_ringparam",
        "struct genl_ops.doit"}) {
    ASSERT_TRUE(M.slot(Slot)) << Slot;
    EXPECT_FALSE(M.slot(Slot)->Context & CtxReport) << Slot;
  }
  EXPECT_EQ(M.function("single_open")->Callbacks[0].Context,
            CtxHot | CtxReport);
  EXPECT_EQ(M.pace("struct file_operations.unlocked_ioctl"), Pace::Control);
  EXPECT_EQ(M.pace("__do_sys_ioctl"), Pace::Control);
  EXPECT_EQ(M.pace("struct file_operations.read_iter"), Pace::Work);
  EXPECT_EQ(M.pace("passed to devm_request_threaded_irq()"), Pace::Serial);
}

/// `report` only ever stands beside what a slot had before, or alone where it
/// had nothing: who judges by the other contexts must not see a difference.
TEST(EmbeddedModels, ReportsTakeNoOtherContextAway) {
  for (const SlotModel &S : embedded().slots()) {
    if (!(S.Context & CtxReport))
      continue;
    EXPECT_TRUE((S.Context & (CtxHot | CtxAdmin)) ||
                S.Slot == "struct netlink_dump_control.dump")
        << S.Slot;
    EXPECT_FALSE(S.Context & (CtxSetup | CtxTeardown)) << S.Slot;
  }
}

TEST(EmbeddedModels, KnowWhoSharesRecords) {
  const Models &M = embedded();
  auto Of = [&](const char *Record) {
    const RecordModel *R = M.record(Record);
    return R ? int(R->Sharing) : -1;
  };
  for (const char *Name :
       {"struct net", "struct ipc_namespace", "struct super_block",
        "struct ext4_sb_info", "struct odd_sb_info", "struct mm_struct",
        "struct mem_cgroup", "struct zswap_pool", "struct svc_serv"})
    EXPECT_EQ(Of(Name), RecordModel::Wide) << Name;
  for (const char *Name :
       {"struct inode", "struct folio", "struct sk_buff", "struct sock",
        "struct ext4_inode_info", "struct bio", "struct key"})
    EXPECT_EQ(Of(Name), RecordModel::Many) << Name;
  for (const char *Name : {"struct task_struct", "struct rq",
                           "struct softnet_data", "struct work_struct"})
    EXPECT_EQ(Of(Name), RecordModel::Owner) << Name;
  EXPECT_EQ(Of("struct unheard_of"), -1);
}

TEST(EmbeddedModels, KnowRemedies) {
  const Models &M = embedded();
  for (const char *Type : {"atomic_t", "atomic64_t", "atomic_long_t"}) {
    std::vector<const CounterRemedy *> All = M.remediesFor(Type);
    ASSERT_EQ(All.size(), 2u) << Type;
    EXPECT_EQ(All[0]->Id, "linux-percpu-counter");
    EXPECT_TRUE(All[0]->InitFails);
    EXPECT_EQ(All[0]->Init, "percpu_counter_init({c}, {v}, GFP_KERNEL)");
    EXPECT_EQ(All[1]->Id, "linux-percpu-variable");
    EXPECT_TRUE(All[1]->Variable);
    EXPECT_EQ(All[1]->Sum, "");
  }
  EXPECT_EQ(M.remediesFor("_Atomic(long)")[0]->Id, "decontend-percpu-counter");
  EXPECT_EQ(M.remediesFor("unsigned long")[0]->Language, "c");
  EXPECT_EQ(M.remediesFor("atomic_ulong")[0]->Id, "decontend-percpu-counter");
  EXPECT_EQ(M.remediesFor("std::atomic_uint64_t")[0]->Language, "c++");
  EXPECT_EQ(M.remediesFor("std::atomic<unsigned long>")[0]->Type,
            "decontend::percpu_counter");
  EXPECT_TRUE(M.remediesFor("refcount_t").empty());
  EXPECT_TRUE(M.remediesFor("struct foo").empty());
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
