#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const Entry kKilobyte{std::string(1000 - 64 - 2, 'p'), "{}"};  // with its trailer

/// Sets the mtime, and the atime to the opposite, as if nobody maintained it.
void set_age(const fs::path& path, std::chrono::seconds age) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const struct timespec times[2] = {{now - 100 * 86400 + age.count(), 0}, {now - age.count(), 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

std::chrono::seconds age_of(const fs::path& path) {
  struct stat info;
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return std::chrono::seconds(now - info.st_mtim.tv_sec);
}

class BoundsTest : public ::testing::Test {
 protected:
  void put(int key, std::chrono::seconds age = 0s) {
    store.put(test_key(key), kKilobyte);
    set_age(path(key), age);
  }
  [[nodiscard]] fs::path path(int key) const { return store.path_of(test_key(key)); }
  [[nodiscard]] std::vector<int> keys() const {
    std::vector<int> keys;
    for (const EntryInfo& info : folder.list()) keys.push_back(std::stoi(info.key));
    return keys;
  }

  TempFolder temp;
  Store store{{.folder = temp.path() / "cache", .memory_bytes = 0}};
  Folder folder{temp.path() / "cache"};
};

TEST_F(BoundsTest, LeastRecentlyUsedGoFirst) {
  for (int i = 1; i <= 5; ++i) put(i, i == 2 ? 50h : i * 1h);
  const PruneReport report = folder.prune({.bytes = 3000});
  EXPECT_THAT(keys(), ElementsAre(1, 3, 4));
  EXPECT_EQ(report.removed, 2u);
  EXPECT_EQ(report.removed_bytes, 2000u);
  EXPECT_EQ(report.kept, 3u);
  EXPECT_EQ(report.kept_bytes, 3000u);
  EXPECT_EQ(folder.prune({.bytes = 3000}).removed, 0u);
}

TEST_F(BoundsTest, TooOldGo) {
  put(1, 2h);
  put(2, 30h);
  put(3, -48h);  // used before the clock was set back
  EXPECT_EQ(folder.prune({.age = 24h}).removed, 1u);
  EXPECT_THAT(keys(), ElementsAre(1, 3));
}

TEST_F(BoundsTest, WithoutBoundsNothingGoes) {
  put(1, 10000h);
  EXPECT_EQ(folder.prune({}).kept, 1u);
  EXPECT_THAT(keys(), ElementsAre(1));
}

TEST_F(BoundsTest, UseIsWrittenDownOnceAnHour) {
  put(1, 59min);
  put(2, 61min);
  put(3, -61min);  // from before the clock was set back
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(store.find(test_key(i))) << i;
  EXPECT_GE(age_of(path(1)), 59min);
  EXPECT_LT(age_of(path(2)), 1min);
  EXPECT_GE(age_of(path(3)), 0s);
}

TEST_F(BoundsTest, UseIsNotWrittenDownInAFolderThatIsReadOnly) {
  put(1, 61min);
  EXPECT_TRUE(Store(Options{.read_only = {temp.path() / "cache"}}).find(test_key(1)));
  (void)folder.read(test_key(1));
  EXPECT_GE(age_of(path(1)), 61min);
}

TEST_F(BoundsTest, LeftoversOfKilledWritersAreSwept) {
  put(1);
  const std::string entry = path(1).string();
  const struct {
    std::string path;
    std::chrono::seconds age;
  } files[] = {
      {entry + ".12-0123456789abcdef.tmp", 61min},
      {entry + ".13-0123456789abcdef.tmp", 1min},
      {entry + ".14-0123456789abcdef.tmp", -61min},
      {entry + ".damaged", 25h},
      {path(2).string() + ".damaged", 2h},
      {path(3).replace_extension("log").string(), 2h},    // belongs to no entry
      {path(1).replace_extension("log").string(), 100h},  // belongs to an entry
      {temp.path() / "cache/v1/1a/notes.tmp", 100h},      // not the cache's
  };
  for (const auto& file : files) {
    write_file(file.path, "x");
    set_age(file.path, file.age);
  }
  EXPECT_EQ(folder.prune({}).leftovers, 4u);
  EXPECT_THAT(files_below(temp.path() / "cache/v1"),
              UnorderedElementsAre("1a/" + test_key(1) + ".cubin", "1a/" + test_key(1) + ".log",
                                   "1a/" + test_key(1) + ".cubin.13-0123456789abcdef.tmp",
                                   "2a/" + test_key(2) + ".cubin.damaged", "1a/notes.tmp"));
}

TEST_F(BoundsTest, WhatIsKeptBesideAnEntryGoesWithIt) {
  put(1, 5h);
  put(2);
  write_file(path(1).replace_extension("ptx"), std::string(500, 'x'));
  EXPECT_EQ(folder.list().front().bytes, 1500u);
  EXPECT_EQ(folder.prune({.bytes = 1000}).removed_bytes, 1500u);
  EXPECT_THAT(files_below(temp.path() / "cache/v1"), ElementsAre("2a/" + test_key(2) + ".cubin"));
}

TEST_F(BoundsTest, FolderListsReadsAndVerifies) {
  put(1, 3h);
  put(2);
  const auto entries = folder.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, test_key(1));
  EXPECT_EQ(entries[0].bytes, 1000u);
  EXPECT_NEAR(std::chrono::duration<double>(entries[1].used - entries[0].used) / 1s, 3 * 3600, 60);
  EXPECT_EQ(folder.read(test_key(1)), kKilobyte);
  EXPECT_EQ(folder.metadata(test_key(1)), "{}");
  EXPECT_FALSE(folder.read(test_key(3)));
  EXPECT_FALSE(folder.metadata(test_key(3)));
  write_file(path(2), std::string(1000, 'x'));
  EXPECT_FALSE(folder.metadata(test_key(2)));
  const VerifyReport report = folder.verify();
  EXPECT_EQ(report.good, 1u);
  EXPECT_THAT(report.damaged, ElementsAre(test_key(2)));
  EXPECT_TRUE(fs::exists(path(2)));
}

TEST_F(BoundsTest, ClearRemovesWhatIsTheCaches) {
  put(1);
  store.add_marker("compilers", "abc");
  write_file(path(1).string() + ".damaged", "x");
  write_file(temp.path() / "cache/v1/1a/notes", "somebody else's");
  const PruneReport report = folder.clear();
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.leftovers, 1u);
  EXPECT_THAT(files_below(temp.path() / "cache"), ElementsAre("v1/1a/notes"));
}

// A writer whose temporary file was removed lost its entry and was told to choose another folder.
TEST_F(BoundsTest, ClearLeavesTemporariesOfWritersThatMayLive) {
  put(1);
  const std::string entry = path(1).string();
  write_file(entry + ".12-0123456789abcdef.tmp", "x");
  write_file(entry + ".13-0123456789abcdef.tmp", "x");
  set_age(entry + ".12-0123456789abcdef.tmp", 61min);
  EXPECT_EQ(folder.clear().leftovers, 1u);
  EXPECT_THAT(files_below(temp.path() / "cache/v1"),
              ElementsAre("1a/" + test_key(1) + ".cubin.13-0123456789abcdef.tmp"));
}

// A full folder in the place of an entry made every process remake the entry, and nothing was
// swept.
TEST_F(BoundsTest, FoldersInThePlaceOfEntriesAreSetAsideAndSwept) {
  put(2);
  for (const char* name : {"", ".damaged"}) {
    fs::create_directories(path(1).string() + name + "/deep/er");
    write_file(path(1).string() + name + "/deep/file", "x");
  }
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kKilobyte; }).tier, Tier::made);
  EXPECT_EQ(Store({.folder = temp.path() / "cache"}).find(test_key(1))->tier, Tier::disk);
  EXPECT_EQ(folder.prune({}).leftovers, 0u);  // kept for a day, for inspection
  for (const auto& item : fs::directory_iterator(path(1).parent_path())) {
    if (item.is_directory()) set_age(item.path(), 25h);
  }
  EXPECT_EQ(folder.prune({}).leftovers, 2u);
  fs::create_directories(path(3).string() + "/deep");
  EXPECT_EQ(folder.clear().leftovers, 1u);
  EXPECT_THAT(files_below(temp.path() / "cache/v1/1a"), IsEmpty());
  EXPECT_FALSE(fs::exists(path(3)));
}

TEST_F(BoundsTest, MissingFolderIsEmpty) {
  const Folder missing(temp.path() / "missing");
  EXPECT_THAT(missing.list(), IsEmpty());
  EXPECT_EQ(missing.prune({.bytes = 1}).removed, 0u);
  EXPECT_EQ(missing.clear().removed, 0u);
  EXPECT_EQ(missing.verify().good, 0u);
  EXPECT_FALSE(fs::exists(temp.path() / "missing"));
}

TEST_F(BoundsTest, RefusedFolderThrows) {
  put(1);
  ASSERT_EQ(::chmod((temp.path() / "cache").c_str(), 0777), 0);
  EXPECT_THROW((void)folder.list(), std::runtime_error);
  EXPECT_THROW((void)folder.prune({}), std::runtime_error);
  EXPECT_THROW((void)folder.clear(), std::runtime_error);
  EXPECT_EQ(Folder(temp.path() / "cache", Trust::anyone).list().size(), 1u);
}

/// What a Store does on its own.
class SweepTest : public BoundsTest {
 protected:
  [[nodiscard]] std::unique_ptr<Store> bounded(std::uint64_t bytes) const {
    return std::make_unique<Store>(
        Options{.folder = temp.path() / "cache", .bounds = {.bytes = bytes}});
  }
  [[nodiscard]] fs::path sweep_file() const { return temp.path() / "cache/v1/lock/sweep"; }
};

TEST_F(SweepTest, ComesAnHourAfterTheLast) {
  for (int i = 1; i <= 20; ++i) put(i, i * 1h);
  auto first = bounded(19000);
  first->put(test_key(30), {"small", "{}"});
  first.reset();
  EXPECT_EQ(keys().size(), 21u);  // only records the time
  set_age(sweep_file(), 61min);
  auto second = bounded(19000);
  (void)second->find(test_key(1));
  second->put(test_key(31), {"small", "{}"});
  second.reset();
  EXPECT_EQ(keys().size(), 18u);  // 16 of one kilobyte: at most nine tenths of the bound
  EXPECT_LT(age_of(sweep_file()), 1min);
}

TEST_F(SweepTest, ComesSoonerAfterMuchWasWritten) {
  for (int i = 1; i <= 9; ++i) put(i, i * 1h);
  auto writer = bounded(9000);
  writer->put(test_key(10), kKilobyte);
  writer->put(test_key(11), kKilobyte);
  while (writer->counters().sweeps == 0) std::this_thread::sleep_for(1ms);
  EXPECT_GE(writer->counters().evicted, 2u);
  EXPECT_GE(writer->counters().evicted_bytes, 2000u);
  writer.reset();
  EXPECT_LE(keys().size(), 9u);
  EXPECT_TRUE(fs::exists(path(10)));
}

TEST_F(SweepTest, ComesAlsoWhenTheClockWentBackwards) {
  put(1);
  fs::create_directories(sweep_file().parent_path());
  write_file(sweep_file(), "");
  set_age(sweep_file(), -48h);
  auto writer = bounded(1000000);
  writer->put(test_key(2), kKilobyte);
  writer.reset();
  EXPECT_LT(age_of(sweep_file()), 1min);
  EXPECT_GE(age_of(sweep_file()), 0s);
}

TEST_F(SweepTest, NeverComesWithoutBounds) {
  put(1);
  EXPECT_FALSE(fs::exists(sweep_file()));
}

// A forked child must not wait for a thread of its parent.
TEST_F(SweepTest, LeavesAForkedChildFree) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not follow a process with threads through a fork";
#endif
  auto writer = bounded(1000);
  writer->put(test_key(1), kKilobyte);
  while (writer->counters().sweeps == 0) std::this_thread::sleep_for(1ms);
  in_child([&] { writer.reset(); });
}

TEST_F(SweepTest, NeverBreaksAReader) {
  const auto payload = [](int key) {
    return std::string(20000, static_cast<char>('a' + key % 26));
  };
  std::vector<pid_t> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.push_back(start_process([&] {
      Store reading({.folder = temp.path() / "cache", .memory_bytes = 0});
      int hits = 0;
      const auto end = std::chrono::steady_clock::now() + 700ms;
      while (std::chrono::steady_clock::now() < end) {
        for (int key = 100; key < 150; ++key) {
          const auto answer = reading.find(test_key(key));
          if (!answer) continue;
          ++hits;
          ASSERT_EQ(answer->entry->payload, payload(key));
        }
      }
      EXPECT_GT(hits, 100);
      EXPECT_EQ(reading.counters().disk.damaged + reading.counters().disk.failures, 0u);
    }));
  }
  const auto end = std::chrono::steady_clock::now() + 500ms;
  while (std::chrono::steady_clock::now() < end) {
    for (int key = 100; key < 150; ++key) store.put(test_key(key), {payload(key), "{}"});
    (void)folder.prune({.bytes = 200000});
  }
  for (int key = 100; key < 150; ++key) store.put(test_key(key), {payload(key), "{}"});
  for (const pid_t reader : readers) expect_success(reader);
}

}  // namespace
}  // namespace tilejit::cache
