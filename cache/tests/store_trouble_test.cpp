#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Entry kEntry{std::string(20000, 'p'), "{}"};

// Three requests that the disk cannot serve: each is answered, with one warning in total.
void expect_goes_on_in_memory(const std::filesystem::path& folder, const char* reason) {
  std::vector<std::string> warnings;
  Store store({.folder = folder, .warn = [&](const auto& text) { warnings.push_back(text); }});
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::memory);
  EXPECT_EQ(store.find_or_make(test_key(2), [] { return kEntry; }).tier, Tier::made);
  store.put(test_key(3), kEntry);
  EXPECT_EQ(store.find(test_key(3))->tier, Tier::memory);
  EXPECT_EQ(store.counters().disk.failures, 3u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr(reason));
  EXPECT_THAT(warnings[0], HasSubstr(folder.string()));
}

TEST(StoreTrouble, FolderIsAFile) {
  const TempFolder temp;
  write_file(temp.path() / "file", "text");
  expect_goes_on_in_memory(temp.path() / "file", "Not a directory");
  expect_goes_on_in_memory(temp.path() / "file" / "below", "Not a directory");
  EXPECT_EQ(read_file(temp.path() / "file"), "text");
}

TEST(StoreTrouble, FolderCannotBeMade) {
  expect_goes_on_in_memory("/proc/tilejit-cache", "No such file or directory");
}

TEST(StoreTrouble, FolderNameIsTooLong) {
  expect_goes_on_in_memory("/tmp/" + std::string(300, 'x'), "File name too long");
}

TEST(StoreTrouble, FolderIsNotWritable) {
  const TempFolder temp;
  std::filesystem::permissions(temp.path(), std::filesystem::perms(0555));
  in_child([&] {
    drop_root();
    expect_goes_on_in_memory(temp.path() / "cache", "Permission denied");
  });
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(StoreTrouble, EntryIsNotReadable) {
  const TempFolder temp;
  Store owner({.folder = temp.path()});
  owner.put(test_key(1), kEntry);
  std::filesystem::permissions(temp.path() / "v1", std::filesystem::perms::none);
  in_child([&] {
    drop_root();
    int warnings = 0;
    Store store({.folder = temp.path(), .warn = [&](const auto&) { ++warnings; }});
    EXPECT_FALSE(store.find(test_key(1)));
    EXPECT_EQ(store.counters().disk.failures, 1u);
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
    EXPECT_EQ(store.counters().disk.failures, 2u);
    EXPECT_EQ(warnings, 2);  // one for reading, one for writing
  });
  std::filesystem::permissions(temp.path() / "v1", std::filesystem::perms::owner_all);
}

TEST(StoreTrouble, FileSizeLimitLeavesNoPartialFile) {
  const TempFolder temp;
  in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_goes_on_in_memory(temp.path(), "File too large");
  });
  EXPECT_THAT(files_below(temp.path()), ElementsAre("v1/lock/keys"));
}

TEST(StoreTrouble, FullDiskLeavesNoPartialFile) {
  const TempFolder temp;
  if (::mount("tmpfs", temp.path().c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "mounting a file system needs more rights than these";
  }
  expect_goes_on_in_memory(temp.path() / "cache", "No space left on device");
  EXPECT_THAT(files_below(temp.path()), ElementsAre("cache/v1/lock/keys"));
  EXPECT_EQ(::umount(temp.path().c_str()), 0);
}

// Like a container's image: existing entries are served, though uses cannot be recorded.
TEST(StoreTrouble, FileSystemIsReadOnly) {
  const TempFolder temp;
  const std::string path = temp.path();
  if (::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a file system needs more rights than these";
  }
  Store(Options{.folder = temp.path() / "cache"}).put(test_key(9), kEntry);
  const auto entry = Store(Options{.folder = temp.path() / "cache"}).path_of(test_key(9));
  std::filesystem::last_write_time(
      entry, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_EQ(::mount("tmpfs", path.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_EQ(Store(Options{.folder = temp.path() / "cache"}).find(test_key(9))->tier, Tier::disk);
  expect_goes_on_in_memory(temp.path() / "cache", "Read-only file system");
  EXPECT_THAT(files_below(temp.path()), ElementsAre("cache/v1/9a/" + test_key(9) + ".cubin"));
  EXPECT_EQ(::umount(path.c_str()), 0);
}

struct DamageCase {
  const char* name;
  std::function<void(const std::filesystem::path&)> damage;
};

const DamageCase kDamages[] = {
    {"empty", [](const auto& path) { write_file(path, ""); }},
    {"truncated", [](const auto& path) { std::filesystem::resize_file(path, 100); }},
    {"one byte short",
     [](const auto& path) {
       std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
     }},
    {"one bit changed",
     [](const auto& path) {
       std::string bytes = read_file(path);
       bytes[1234] = static_cast<char>(bytes[1234] ^ 4);
       write_file(path, bytes);
     }},
    {"not an entry", [](const auto& path) { write_file(path, std::string(500, 'x')); }},
    {"huge and sparse", [](const auto& path) { std::filesystem::resize_file(path, 1ll << 40); }},
    {"a folder",
     [](const auto& path) {
       std::filesystem::remove(path);
       std::filesystem::create_directory(path);
     }},
    {"a FIFO",
     [](const auto& path) {
       std::filesystem::remove(path);
       ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
     }},
};

TEST(StoreTrouble, DamagedEntryIsSetAsideAndMadeAgain) {
  for (const auto& c : kDamages) {
    SCOPED_TRACE(c.name);
    const TempFolder temp;
    Store(Options{.folder = temp.path()}).put(test_key(1), kEntry);
    std::vector<std::string> warnings;
    Store store(
        {.folder = temp.path(), .warn = [&](const auto& text) { warnings.push_back(text); }});
    const auto path = store.path_of(test_key(1));
    c.damage(path);
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
    EXPECT_EQ(read_file(path), encode_entry(kEntry));
    EXPECT_TRUE(std::filesystem::exists(path.string() + ".damaged"));
    EXPECT_EQ(store.counters().disk.damaged, 1u);
    EXPECT_EQ(store.counters().disk.failures, 0u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_THAT(warnings[0], HasSubstr("damaged"));
  }
}

TEST(StoreTrouble, FindSetsADamagedEntryAside) {
  const TempFolder temp;
  Store store({.folder = temp.path()});
  write_file(store.path_of(test_key(1)), "not an entry");
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_FALSE(store.find(test_key(1)));  // a plain miss now
  EXPECT_EQ(store.counters().disk.damaged, 1u);
  EXPECT_THAT(files_below(temp.path()), ElementsAre("v1/1a/" + test_key(1) + ".cubin.damaged"));
}

TEST(StoreTrouble, MarkerThatCannotBeWritten) {
  std::vector<std::string> warnings;
  Store store({.folder = "/proc/tilejit-cache",
               .warn = [&](const auto& text) { warnings.push_back(text); }});
  store.add_marker("compiler", "abc");
  store.add_marker("compiler", "abc");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("/proc/tilejit-cache/v1/compiler/abc")));
  EXPECT_EQ(store.counters().disk.failures, 2u);
  EXPECT_THAT(store.markers("compiler"), IsEmpty());
}

TEST(StoreTrouble, KilledWriterLeavesNothingThatIsRead) {
  const TempFolder temp;
  Store store({.folder = temp.path()});
  const auto path = store.path_of(test_key(1));
  write_file(path.string() + ".123-0123456789abcdef.tmp", encode_entry(kEntry).substr(0, 999));
  EXPECT_FALSE(store.find(test_key(1)));
  store.put(test_key(1), kEntry);
  EXPECT_EQ(read_file(path), encode_entry(kEntry));
}

}  // namespace
}  // namespace tilejit::cache
