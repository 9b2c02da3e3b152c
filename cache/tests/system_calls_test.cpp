// Which system calls the store makes, in which order, and how it handles failures.
#include "system_calls.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "temp_folder.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Entry kEntry{std::string(20000, 'p'), "{}"};
const std::string kName = test_key(1) + ".cubin";
const std::string kTemporary = kName + ".tmp";

/// Every call of that function on that file fails.
SystemCalls::Fail failing(const std::string& name, const std::string& file, int error) {
  return [=](const SystemCalls::Call& call) {
    return call.name == name && call.file == file ? error : 0;
  };
}

class SystemCallsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Options options() {
    return {.folder = folder(), .memory_bytes = 0, .warn = [this](const std::string& text) {
              warnings.push_back(text);
            }};
  }
  [[nodiscard]] fs::path folder() const { return temp.path() / "cache"; }
  [[nodiscard]] fs::path bundle() const { return temp.path() / "kernels.tjb"; }
  void write_bundle() const {
    BundleWriter writer(bundle());
    writer.add(test_key(1), kEntry);
    writer.add(test_key(2), kEntry);
    writer.finish();
  }

  TempFolder temp;
  std::vector<std::string> warnings;
};

// After a crash of the machine, a name must have its bytes, or not exist.
TEST_F(SystemCallsTest, BytesAreOnTheDiskBeforeTheNameAndThenTheNameIs) {
  Store store(options());
  store.put(test_key(9), kEntry);
  const SystemCalls calls;
  store.put(test_key(1), kEntry);
  EXPECT_THAT(calls.of({"fsync", "rename"}),
              ElementsAre("fsync " + kTemporary, "rename " + kName, "fsync 1a"));
}

TEST_F(SystemCallsTest, BytesOfABundleAreOnTheDiskBeforeItsName) {
  const SystemCalls calls;
  write_bundle();
  EXPECT_THAT(calls.of({"fsync", "rename"}),
              ElementsAre("fsync kernels.tjb.tmp", "rename kernels.tjb",
                          "fsync " + temp.path().filename().string()));
}

TEST_F(SystemCallsTest, AllBytesOfAnImportAreOnTheDiskBeforeTheFirstName) {
  write_bundle();
  const SystemCalls calls;
  (void)import_bundle(Bundle(bundle()), folder());
  EXPECT_THAT(calls.of({"syncfs", "fsync", "rename"}),
              ElementsAre("syncfs 1a", "rename " + kName, "rename " + test_key(2) + ".cubin",
                          "fsync 1a", "fsync 2a"));
}

// Whichever step of publishing fails, and however: the request is answered, nothing of the entry
// remains, and the next one is published.
TEST_F(SystemCallsTest, AnyStepOfPublishingMayFail) {
  for (const char* step : {"open", "write", "fsync", "rename"}) {
    for (const int error : {ENOSPC, EDQUOT, EIO, EROFS, EACCES, ESTALE, EMFILE}) {
      SCOPED_TRACE(std::string(step) + ": " + std::strerror(error));
      warnings.clear();
      Store store(options());
      {
        const bool last = step == std::string("rename");
        const SystemCalls calls(failing(step, last ? kName : kTemporary, error));
        EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
        EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
      }
      EXPECT_THAT(warnings, ElementsAre(HasSubstr(std::strerror(error))));
      EXPECT_EQ(store.counters().disk.failures, 2u);
      EXPECT_THAT(files_below(folder()), ElementsAre("v1/lock/keys"));
      store.put(test_key(1), kEntry);
      EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
      fs::remove_all(folder());
    }
  }
}

// The entry already has its name by then.
TEST_F(SystemCallsTest, AFolderThatCannotBeSyncedIsNoFailure) {
  Store store(options());
  const SystemCalls calls(failing("fsync", "1a", EINVAL));
  store.put(test_key(1), kEntry);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
  EXPECT_EQ(store.counters().disk.failures, 0u);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(SystemCallsTest, WritesMayBeShortAndInterrupted) {
  Store store(options());
  {
    SystemCalls calls;
    calls.write_in_pieces(777);
    store.put(test_key(1), kEntry);
    EXPECT_GT(calls.of({"write"}).size(), 50u);
  }
  EXPECT_EQ(read_file(store.path_of(test_key(1))), encode_entry(kEntry));
}

// An unreadable entry is not a damaged one: it stays where it is.
TEST_F(SystemCallsTest, ReadErrorsSetNothingAside) {
  Store store(options());
  store.put(test_key(1), kEntry);
  for (const char* step : {"open", "pread"}) {
    for (const int error : {EIO, ESTALE, EMFILE}) {
      SCOPED_TRACE(std::string(step) + ": " + std::strerror(error));
      const SystemCalls calls(failing(step, kName, error));
      EXPECT_FALSE(store.find(test_key(1)));
      EXPECT_THAT(calls.of({"rename"}), IsEmpty());
    }
  }
  EXPECT_EQ(store.counters().disk.failures, 6u);
  EXPECT_EQ(store.counters().disk.damaged, 0u);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
  EXPECT_EQ(warnings.size(), 1u);
}

// Another process may have remade the entry between the reader's open and its verdict.
TEST_F(SystemCallsTest, WhatReplacesADamagedEntryIsNotSetAside) {
  Store store(options());
  store.put(test_key(1), kEntry);
  write_file(store.path_of(test_key(1)), std::string(500, 'x'));
  Store other(options());
  const SystemCalls calls([&](const SystemCalls::Call& call) {
    if (call.name == "pread") other.put(test_key(1), kEntry);
    return 0;
  });
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.counters().disk.damaged, 1u);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
  EXPECT_THAT(files_below(folder() / "v1/1a"), ElementsAre(kName));
}

// As network mounts answer: the entry is made without a lock and published.
TEST_F(SystemCallsTest, WhereLocksDoNotWorkEntriesAreMadeWithoutThem) {
  for (const int error : {ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS, EIO}) {
    SCOPED_TRACE(std::strerror(error));
    Store store(options());
    const SystemCalls calls(failing("lock", "keys", error));
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::disk);
    EXPECT_EQ(store.counters().lock_failures, 1u);
    EXPECT_EQ(store.counters().disk.failures, 0u);
    fs::remove_all(folder());
  }
  EXPECT_THAT(warnings, IsEmpty());
}

// A network mount may report for seconds that something is missing which another host has just
// made.
TEST_F(SystemCallsTest, AnEntryOfAnotherHostMayStayUnseen) {
  Store(options()).put(test_key(1), kEntry);
  Store store(options());
  {
    const SystemCalls calls(failing("open", kName, ENOENT));
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  }
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
  EXPECT_EQ(store.counters().disk.failures, 0u);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(SystemCallsTest, AFolderOfAnotherHostMayStayUnseen) {
  Store store(options());
  store.put(test_key(1), kEntry);
  fs::remove(store.path_of(test_key(1)));
  {
    const SystemCalls calls(failing("open", "1a", ENOENT));
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
    EXPECT_THAT(calls.of({"mkdir"}), Contains("mkdir 1a"));  // which exists
  }
  EXPECT_EQ(store.counters().disk.failures, 1u);
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::disk);
}

// Between the scan of the folder and the removal of the excess.
TEST_F(SystemCallsTest, WhatIsUsedDuringAnEvictionStays) {
  Store store(options());
  for (int key = 1; key <= 4; ++key) {
    store.put(test_key(key), kEntry);
    const auto age = std::chrono::hours(10 - key);
    fs::last_write_time(store.path_of(test_key(key)), fs::file_time_type::clock::now() - age);
  }
  const SystemCalls calls([&](const SystemCalls::Call& call) {
    if (call.name == "unlink" && call.file == kName) {
      EXPECT_TRUE(store.find(test_key(2)));
    }
    return 0;
  });
  EXPECT_EQ(Folder(folder()).prune({.bytes = 45000}).removed, 2u);
  EXPECT_THAT(calls.of({"unlink"}),
              ElementsAre("unlink " + kName, "unlink " + test_key(3) + ".cubin"));
}

TEST_F(SystemCallsTest, AnyStepOfAnImportMayFail) {
  write_bundle();
  const std::string second = test_key(2) + ".cubin";
  const struct {
    const char* name;
    std::string file;
  } steps[] = {
      {"open", second + ".tmp"}, {"write", second + ".tmp"}, {"syncfs", "1a"}, {"rename", second}};
  for (const auto& step : steps) {
    SCOPED_TRACE(step.name);
    {
      const SystemCalls calls(failing(step.name, step.file, ENOSPC));
      EXPECT_THROW((void)import_bundle(Bundle(bundle()), folder()), std::runtime_error);
    }
    EXPECT_THAT(files_below(folder()), IsEmpty());
  }
  EXPECT_EQ(import_bundle(Bundle(bundle()), folder()).added, 2u);
}

TEST_F(SystemCallsTest, AnyStepOfABundleMayFail) {
  for (const char* step : {"open", "write", "fsync", "rename"}) {
    SCOPED_TRACE(step);
    const bool last = step == std::string("rename");
    const SystemCalls calls(failing(step, last ? "kernels.tjb" : "kernels.tjb.tmp", EDQUOT));
    EXPECT_THROW(write_bundle(), std::runtime_error);
    EXPECT_THAT(files_below(temp.path()), IsEmpty());
  }
}

}  // namespace
}  // namespace tilejit::cache
