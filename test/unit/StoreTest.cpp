//===- StoreTest.cpp - Shards kept between runs -----------------*- C++ -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/program/Store.h"
#include "analysis/facts/Codec.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <sqlite3.h>
#include <thread>
#include <unistd.h>

using namespace decontend;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

/// A folder with sources `src/`, and a store in `cache/`.
class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> Path;
    ASSERT_FALSE(fs::createUniqueDirectory("decontend-store", Path));
    Root = Path.str().str();
    ASSERT_FALSE(fs::create_directory(Root + "/src"));
    write("src/a.c", "int a;");
    write("src/b.h", "int b;");
  }
  void TearDown() override { fs::remove_directories(Root); }

  void write(const std::string &Name, StringRef Text) {
    std::error_code EC;
    llvm::raw_fd_ostream OS(Root + "/" + Name, EC);
    ASSERT_FALSE(EC) << EC.message();
    OS << Text;
    OS.close();
    age(Name, std::chrono::minutes(1));
  }
  /// Sets the time of a file to \p Ago, as most files are older than a run.
  void age(const std::string &Name, std::chrono::seconds Ago) {
    int FD = -1;
    ASSERT_FALSE(fs::openFileForWrite(Root + "/" + Name, FD,
                                      fs::CD_OpenExisting, fs::OF_None));
    fs::setLastAccessAndModificationTime(FD, std::chrono::system_clock::now() -
                                                 Ago);
    ::close(FD);
  }

  std::unique_ptr<Store> open(const std::string &Dir = "cache") {
    return Store::open(
        Root + "/" + Dir,
        [this](StringRef Pure) { return Root + "/src/" + Pure.str(); },
        [this](const std::string &W) { Warnings.push_back(W); },
        /*BusyMs=*/50);
  }

  UnitFacts facts(Store &S, llvm::ArrayRef<StringRef> Files = {"a.c", "b.h"}) {
    UnitFacts U;
    for (StringRef File : Files)
      U.Files.push_back(
          {U.Names.intern(File), S.files().digest(File).value_or(Digest())});
    U.MainFile = U.Files[0].Path;
    return U;
  }
  void put(Store &S, StringRef Unit, const UnitFacts &U) {
    llvm::SmallVector<char, 0> Shard;
    encode(U, Shard);
    llvm::Error E = S.put(Unit, U, {Shard.data(), Shard.size()});
    EXPECT_EQ("", llvm::toString(std::move(E)));
  }
  /// Makes the store and one unit in it.
  void fill() {
    auto S = open();
    ASSERT_TRUE(S->writes());
    put(*S, "unit", facts(*S));
  }
  bool hit(StringRef Unit = "unit") { return open()->lookup(Unit) != nullptr; }

  std::vector<std::string> filesIn(const std::string &Dir) {
    std::vector<std::string> Found;
    std::error_code EC;
    for (fs::recursive_directory_iterator It(Root + "/" + Dir, EC), End;
         !EC && It != End; It.increment(EC))
      if (!fs::is_directory(It->path()))
        Found.push_back(It->path().substr(Root.size() + 1));
    return Found;
  }

  std::string Root;
  std::vector<std::string> Warnings;
};

TEST_F(StoreTest, HitGivesTheSameBytes) {
  fill();
  auto S = open();
  auto Shard = S->lookup("unit");
  ASSERT_TRUE(Shard);
  UnitFacts U;
  llvm::Error E = decode(Shard->getBuffer(), U, ShardCheck::Verified);
  ASSERT_EQ("", llvm::toString(std::move(E)));
  EXPECT_EQ("a.c", U.str(U.MainFile));
  EXPECT_FALSE(S->lookup("unit with other flags"));
  EXPECT_TRUE(Warnings.empty());
  EXPECT_EQ(1u, filesIn("cache/shards").size());
  EXPECT_TRUE(filesIn("cache/tmp").empty());
}

TEST_F(StoreTest, HitBeforeTheFlush) {
  auto S = open();
  put(*S, "unit", facts(*S));
  EXPECT_TRUE(S->lookup("unit"));
}

TEST_F(StoreTest, ChangedContentMissesAndComesBack) {
  fill();
  write("src/b.h", "int c;"); // Same size.
  EXPECT_FALSE(hit());
  write("src/b.h", "int b;");
  EXPECT_TRUE(hit());
  write("src/b.h", "int c;");
  fill();
  EXPECT_TRUE(hit());
  write("src/b.h", "int b;"); // The first shard is still there.
  EXPECT_TRUE(hit());
  EXPECT_EQ(2u, filesIn("cache/shards").size());
}

TEST_F(StoreTest, TouchedFileStaysAHit) {
  fill();
  age("src/a.c", std::chrono::hours(5));
  EXPECT_TRUE(hit());
  EXPECT_TRUE(hit());
}

TEST_F(StoreTest, MissingFileIsAMiss) {
  fill();
  fs::remove(Root + "/src/b.h");
  EXPECT_FALSE(hit());
  EXPECT_TRUE(Warnings.empty());
}

TEST_F(StoreTest, StatSavesReading) {
  fill();
  // Behind the back of stat: same size, time and inode.
  fs::file_status Old;
  ASSERT_FALSE(fs::status(Root + "/src/a.c", Old));
  int FD = -1;
  ASSERT_FALSE(fs::openFileForWrite(Root + "/src/a.c", FD, fs::CD_OpenExisting,
                                    fs::OF_None));
  ASSERT_EQ(6, ::pwrite(FD, "int x;", 6, 0));
  fs::setLastAccessAndModificationTime(FD, Old.getLastModificationTime());
  ::close(FD);
  EXPECT_TRUE(hit());
}

TEST_F(StoreTest, RecentFileIsReadAgain) {
  auto Now = [this](StringRef Text) {
    write("src/a.c", Text);
    age("src/a.c", std::chrono::seconds(0));
    fs::file_status Status;
    EXPECT_FALSE(fs::status(Root + "/src/a.c", Status));
    return Status.getLastModificationTime();
  };
  auto Time = Now("int a;");
  fill();
  Now("int x;");
  int FD = -1;
  ASSERT_FALSE(fs::openFileForWrite(Root + "/src/a.c", FD, fs::CD_OpenExisting,
                                    fs::OF_None));
  fs::setLastAccessAndModificationTime(FD, Time);
  ::close(FD);
  EXPECT_FALSE(hit());
}

TEST_F(StoreTest, FileChangedDuringTheRunIsNotKept) {
  {
    auto S = open();
    UnitFacts U = facts(*S);
    write("src/a.c", "int longer;");
    put(*S, "unit", U);
  }
  EXPECT_FALSE(hit());
  write("src/a.c", "int a;");
  EXPECT_FALSE(hit());
}

TEST_F(StoreTest, DamagedShardIsReportedAndRemoved) {
  for (size_t Keep : {size_t(0), size_t(10), size_t(40), SIZE_MAX}) {
    Warnings.clear();
    fill();
    ASSERT_EQ(1u, filesIn("cache/shards").size());
    std::string Name = filesIn("cache/shards")[0];
    auto Old = llvm::MemoryBuffer::getFile(Root + "/" + Name);
    ASSERT_TRUE(bool(Old));
    std::string Bytes = (*Old)->getBuffer().take_front(Keep).str();
    if (Keep == SIZE_MAX)
      Bytes[Bytes.size() / 2] ^= 4;
    write(Name, Bytes);
    EXPECT_FALSE(hit());
    ASSERT_EQ(1u, Warnings.size());
    EXPECT_NE(std::string::npos, Warnings[0].find(Name)) << Warnings[0];
    EXPECT_NE(std::string::npos, Warnings[0].find("made again"));
    EXPECT_TRUE(filesIn("cache/shards").empty());
  }
}

TEST_F(StoreTest, DamagedIndexIsMadeAgain) {
  fill();
  for (StringRef Text :
       {"this is no database, whatever it is called", "SQLite format 3"}) {
    Warnings.clear();
    write("cache/index.sqlite", Text);
    EXPECT_FALSE(hit());
    ASSERT_EQ(1u, Warnings.size());
    EXPECT_NE(std::string::npos, Warnings[0].find("index.sqlite"));
    fill();
    EXPECT_TRUE(hit());
    EXPECT_EQ(1u, Warnings.size());
  }
}

TEST_F(StoreTest, EveryCutOfTheIndexIsSurvived) {
  fill();
  auto Old = llvm::MemoryBuffer::getFile(Root + "/cache/index.sqlite", false,
                                         true, /*IsVolatile=*/true);
  ASSERT_TRUE(bool(Old));
  StringRef Bytes = (*Old)->getBuffer();
  for (size_t Size = 0; Size < Bytes.size(); Size += 509) {
    write("cache/index.sqlite", Bytes.take_front(Size));
    hit(); // Right when the cut took only what no query reads.
    fill();
    EXPECT_TRUE(hit()) << Size;
  }
}

TEST_F(StoreTest, FoldersThatCannotBeMade) {
  auto S = open("src/a.c/cache");
  EXPECT_FALSE(S->reads());
  ASSERT_EQ(1u, Warnings.size());
  EXPECT_NE(std::string::npos, Warnings[0].find("src/a.c/cache"));
  EXPECT_NE(std::string::npos, Warnings[0].find("--cache-dir"));
  put(*S, "unit", facts(*S));
  EXPECT_FALSE(S->lookup("unit"));
  EXPECT_TRUE(S->files().digest("a.c"));
}

TEST_F(StoreTest, ReadOnlyFolderStillGivesHits) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "nothing is read-only for root";
  fill();
  std::string Dir = Root + "/cache";
  fs::setPermissions(Dir, fs::owner_read | fs::owner_exe);
  auto S = open();
  EXPECT_FALSE(S->writes());
  EXPECT_TRUE(S->lookup("unit"));
  put(*S, "other", facts(*S));
  EXPECT_EQ(1u, Warnings.size());
  fs::setPermissions(Dir, fs::owner_all);
}

TEST_F(StoreTest, WriteFailureIsToldOnce) {
  auto S = open();
  UnitFacts U = facts(*S);
  fs::remove_directories(Root + "/cache/tmp");
  write("cache/tmp", "in the way");
  llvm::SmallVector<char, 0> Shard;
  encode(U, Shard);
  std::string Told =
      llvm::toString(S->put("unit", U, {Shard.data(), Shard.size()}));
  EXPECT_NE(std::string::npos, Told.find(Root + "/cache/shards")) << Told;
  put(*S, "unit", U);
  EXPECT_FALSE(S->writes());
}

TEST_F(StoreTest, OtherProcessHoldsTheIndex) {
  fill();
  auto S = open();
  sqlite3 *Other = nullptr;
  ASSERT_EQ(SQLITE_OK,
            sqlite3_open((Root + "/cache/index.sqlite").c_str(), &Other));
  sqlite3_exec(Other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr);
  put(*S, "other", facts(*S));
  EXPECT_EQ("", llvm::toString(S->flush()));
  EXPECT_EQ(1u, Warnings.size());
  EXPECT_FALSE(S->writes());
  EXPECT_TRUE(S->lookup("unit"));
  S.reset();
  EXPECT_FALSE(open()->reads());
  EXPECT_EQ(2u, Warnings.size());
  sqlite3_exec(Other, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(Other);
  EXPECT_TRUE(hit());
}

TEST_F(StoreTest, TwoStoresShareAnIndex) {
  write("src/c.h", "int c;");
  auto A = open(), B = open();
  put(*A, "one", facts(*A, {"a.c", "b.h"}));
  put(*B, "two", facts(*B, {"a.c", "c.h"}));
  A.reset();
  B.reset();
  EXPECT_TRUE(hit("one"));
  EXPECT_TRUE(hit("two"));
}

TEST_F(StoreTest, ThreadsPutAndLookUp) {
  {
    auto S = open();
    auto Work = [&](int First) {
      for (int I = First; I < 600; I += 2) {
        std::string Unit = "unit" + std::to_string(I);
        put(*S, Unit, facts(*S));
        EXPECT_TRUE(S->lookup(Unit));
      }
    };
    std::thread Even(Work, 0), Odd(Work, 1);
    Even.join();
    Odd.join();
  }
  auto S = open();
  for (int I = 0; I != 600; ++I)
    EXPECT_TRUE(S->lookup("unit" + std::to_string(I)));
  EXPECT_TRUE(filesIn("cache/tmp").empty());
  EXPECT_TRUE(Warnings.empty());
}

TEST_F(StoreTest, StaleTemporariesAreRemoved) {
  fill();
  write("cache/tmp/999999999-abc", "left by a crash");
  std::string Ours = "cache/tmp/" + std::to_string(::getpid()) + "-abc";
  write(Ours, "being written");
  hit();
  EXPECT_EQ(std::vector<std::string>{Ours}, filesIn("cache/tmp"));
  age(Ours, std::chrono::hours(1));
  hit();
  EXPECT_TRUE(filesIn("cache/tmp").empty());
}

TEST_F(StoreTest, PruneSparesWhatIsReferenced) {
  fill();
  std::string First = filesIn("cache/shards")[0];
  write("src/a.c", "int a2;");
  fill(); // The first shard is no longer named by the index.
  ASSERT_EQ(2u, filesIn("cache/shards").size());
  auto Prune = [this](uint64_t Bytes) {
    EXPECT_EQ("", llvm::toString(open()->prune(Bytes)));
    return filesIn("cache/shards").size();
  };
  EXPECT_EQ(2u, Prune(1 << 20));
  EXPECT_EQ(1u, Prune(0));
  EXPECT_NE(First, filesIn("cache/shards")[0]);
  EXPECT_TRUE(hit());
  age(filesIn("cache/shards")[0], std::chrono::hours(24 * 40));
  EXPECT_EQ(0u, Prune(0));
  EXPECT_FALSE(hit());
  EXPECT_TRUE(Warnings.empty());
}

} // namespace
