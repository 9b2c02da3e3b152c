#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "process.hpp"
#include "temp_folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Entry kEntry{std::string(2000, 'p'), "{}"};

Entry must_not_run() {
  throw std::logic_error("make was called for an entry that is there");
}

/// A user's own folder, an image's and a mount's.
class Tiers : public ::testing::Test {
 protected:
  Tiers() {
    fs::create_directory(image());
    fs::create_directory(mount());
  }
  [[nodiscard]] Options options() {
    return {.folder = own(),
            .read_only = {image(), mount()},
            .copy_after = std::chrono::hours(1),  // otherwise the load of the machine would decide
            .warn = [this](const std::string& text) { warnings.push_back(text); }};
  }
  [[nodiscard]] fs::path own() const { return temp.path() / "own"; }
  [[nodiscard]] fs::path image() const { return temp.path() / "image"; }
  [[nodiscard]] fs::path mount() const { return temp.path() / "mount"; }
  static void put(const fs::path& folder, int key, const std::string& payload) {
    Store(Options{.folder = folder}).put(test_key(key), {payload, "{}"});
  }

  TempFolder temp;
  std::vector<std::string> warnings;
};

TEST_F(Tiers, AreAskedInTheirOrder) {
  for (int i = 1; i <= 3; ++i) put(mount(), i, "mount");
  for (int i = 1; i <= 2; ++i) put(image(), i, "image");
  put(own(), 1, "own");
  Store store(options());
  const struct {
    int key;
    Tier tier;
    const char* payload;
  } cases[] = {
      {1, Tier::disk, "own"}, {2, Tier::read_only, "image"}, {3, Tier::read_only, "mount"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.key);
    const Answer answer = store.find_or_make(test_key(c.key), must_not_run);
    EXPECT_EQ(answer.tier, c.tier);
    EXPECT_EQ(answer.entry->payload, c.payload);
    EXPECT_EQ(store.find(test_key(c.key))->tier, Tier::memory);
  }
  EXPECT_FALSE(store.find(test_key(4)));
  const Counters counters = store.counters();
  EXPECT_EQ(counters.memory.hits, 3u);
  EXPECT_EQ(counters.memory.misses, 4u);
  EXPECT_EQ(counters.disk.hits, 1u);
  EXPECT_EQ(counters.disk.misses, 3u);
  EXPECT_EQ(counters.read_only.hits, 2u);
  EXPECT_EQ(counters.read_only.misses, 3u);  // keys 3 and 4 from the image, key 4 from the mount
  EXPECT_GT(counters.disk.nanoseconds, 0u);
  EXPECT_GT(counters.read_only.nanoseconds, 0u);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(Tiers, BelowAreReadOnlyAndNotCopiedIfTheyAreFast) {
  put(image(), 1, "image");
  Store store(options());
  EXPECT_TRUE(store.find(test_key(1)));
  EXPECT_EQ(store.find_or_make(test_key(2), [] { return kEntry; }).tier, Tier::made);
  EXPECT_FALSE(fs::exists(store.path_of(test_key(1))));
  EXPECT_TRUE(fs::exists(store.path_of(test_key(2))));
  EXPECT_THAT(files_below(image()), ElementsAre("v1/1a/" + test_key(1) + ".cubin"));
  EXPECT_THAT(files_below(mount()), IsEmpty());
}

TEST_F(Tiers, SlowOnesBelowAreCopiedUp) {
  put(image(), 1, "image");
  put(mount(), 2, "mount");
  Options given = options();
  for (const auto after : {std::chrono::microseconds(0), std::chrono::microseconds(1)}) {
    given.copy_after = after;
    Store store(given);
    EXPECT_EQ(store.find(test_key(1))->tier, Tier::read_only);
    EXPECT_EQ(store.find_or_make(test_key(2), must_not_run).tier, Tier::read_only);
    for (const int key : {1, 2}) {
      EXPECT_EQ(Store(options()).find(test_key(key))->tier, Tier::disk) << key;
    }
    EXPECT_EQ(store.counters().made, 0u);
    fs::remove_all(own());
  }
  EXPECT_THAT(files_below(image()), ElementsAre("v1/1a/" + test_key(1) + ".cubin"));
}

// An entry that cannot be copied to the folder is served nevertheless.
TEST_F(Tiers, SlowOnesBelowServeWithoutADisk) {
  put(image(), 1, "image");
  write_file(own(), "a file, not a folder");
  Options given = options();
  given.copy_after = {};
  given.memory_bytes = 0;
  Store store(given);
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(store.find(test_key(1))->tier, Tier::read_only);
  EXPECT_EQ(store.counters().disk.failures, 2u);
  EXPECT_EQ(warnings.size(), 1u);
  given.folder.clear();
  EXPECT_EQ(Store(given).find(test_key(1))->tier, Tier::read_only);
}

TEST_F(Tiers, BelowServeWithoutAFolder) {
  put(image(), 1, "image");
  Store store({.read_only = {image()}});
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::read_only);
  EXPECT_EQ(store.find_or_make(test_key(2), [] { return kEntry; }).tier, Tier::made);
  EXPECT_THAT(files_below(image()), ElementsAre("v1/1a/" + test_key(1) + ".cubin"));
}

TEST_F(Tiers, DamageBelowIsAMissAndLeftAlone) {
  put(image(), 1, "image");
  put(mount(), 1, "mount");
  const std::string path = Store(Options{.folder = image()}).path_of(test_key(1));
  write_file(path, "not an entry, but long enough to hold a trailer of sixty-four bytes, and more");
  Store store(options());
  EXPECT_EQ(store.find(test_key(1))->entry->payload, "mount");
  EXPECT_EQ(store.counters().read_only.damaged, 1u);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr(path)));
  EXPECT_THAT(files_below(image()), ElementsAre("v1/1a/" + test_key(1) + ".cubin"));
}

TEST_F(Tiers, ReadOnlyFolderIsReadByAnotherUser) {
  put(image(), 1, "image");
  fs::permissions(temp.path(), fs::perms(0755));
  fs::permissions(image(), fs::perms(0755));
  for (const auto& item : fs::recursive_directory_iterator(image())) {
    fs::permissions(item.path(), fs::perms(item.is_directory() ? 0555 : 0444));
  }
  in_child([&] {
    drop_root();
    Store store({.read_only = {image()}});
    EXPECT_TRUE(store.find(test_key(1)));
    EXPECT_EQ(store.counters().read_only.failures, 0u);
  });
}

TEST_F(Tiers, WhatIsMissingIsGoneWithoutUntilItComes) {
  fs::remove(image());
  put(mount(), 1, "mount");
  Store store(options());
  EXPECT_TRUE(store.find(test_key(1)));
  EXPECT_FALSE(store.find(test_key(2)));
  EXPECT_EQ(store.counters().read_only.failures, 2u);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("image cannot be found")));
  put(image(), 2, "image");
  EXPECT_TRUE(store.find(test_key(2)));
}

TEST_F(Tiers, MarkersOfAllAreListedOnce) {
  Store(Options{.folder = image()}).add_marker("compilers", "a");
  Store(Options{.folder = image()}).add_marker("compilers", "b");
  Store(Options{.folder = mount()}).add_marker("compilers", "c");
  Store store(options());
  store.add_marker("compilers", "a");
  EXPECT_THAT(store.markers("compilers"), ElementsAre("a", "b", "c"));
}

TEST_F(Tiers, AnotherFormatIsIgnored) {
  put(own(), 1, "later");
  Store store(options());
  std::string bytes = read_file(store.path_of(test_key(1)));
  bytes[bytes.size() - 64 + 8] = 2;  // its version
  write_file(store.path_of(test_key(1)), bytes);
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.counters().disk.damaged, 0u);
  EXPECT_EQ(read_file(store.path_of(test_key(1))), bytes);
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(read_file(store.path_of(test_key(1))), encode_entry(kEntry));
  EXPECT_THAT(warnings, IsEmpty());
}

// Deleted, or replaced by another of the same name, as a cleaner or a deployment does.
TEST_F(Tiers, FolderMayVanishAndComeBack) {
  Store store({.folder = own(), .memory_bytes = 0});
  store.put(test_key(1), kEntry);
  fs::rename(own(), temp.path() / "away");
  EXPECT_FALSE(store.find(test_key(1)));
  store.put(test_key(2), kEntry);
  EXPECT_TRUE(store.find(test_key(2)));
  fs::remove_all(own());
  fs::rename(temp.path() / "away", own());
  EXPECT_TRUE(store.find(test_key(1)));
  EXPECT_FALSE(store.find(test_key(2)));
  EXPECT_EQ(store.counters().disk.failures, 0u);
}

TEST_F(Tiers, MovedFolderStillHits) {
  put(own(), 1, "own");
  const fs::path moved = temp.path() / "it's \"moved\"; $HOME";
  fs::rename(own(), moved);
  Store store({.folder = moved});
  EXPECT_EQ(store.find(test_key(1))->entry->payload, "own");
  store.put(test_key(2), kEntry);
  EXPECT_EQ(store.path_of(test_key(2)), moved / "v1/2a" / (test_key(2) + ".cubin"));
  EXPECT_TRUE(fs::exists(store.path_of(test_key(2))));
}

struct OpenCase {
  const char* name;
  const char* folder;  // below the temporary one
  int mode;
};
const OpenCase kOpen[] = {{"folder, by all", "own", 0777},
                          {"folder, by a group", "own", 0770},
                          {"version", "own/v1", 0777},
                          {"entries", "own/v1/1a", 0722}};

TEST_F(Tiers, WhatOthersMayWriteToIsRefused) {
  for (const OpenCase& c : kOpen) {
    SCOPED_TRACE(c.name);
    put(own(), 1, "own");
    ASSERT_EQ(::chmod((temp.path() / c.folder).c_str(), static_cast<mode_t>(c.mode)), 0);
    warnings.clear();
    Store store(options());
    EXPECT_FALSE(store.find(test_key(1)));
    EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
    EXPECT_EQ(store.counters().disk.failures, 2u);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("others may write to it")));
    Options trusting = options();
    trusting.trust = Trust::anyone;
    EXPECT_EQ(Store(trusting).find(test_key(1))->entry->payload, "own");
    fs::remove_all(own());
  }
}

TEST_F(Tiers, EntryThatOthersMayWriteToIsRefused) {
  put(own(), 1, "own");
  Store store(options());
  ASSERT_EQ(::chmod(store.path_of(test_key(1)).c_str(), 0666), 0);
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.counters().disk.failures, 1u);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("others may write to it")));
}

TEST_F(Tiers, FolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder to somebody else";
  put(own(), 1, "own");
  ASSERT_EQ(::chown(own().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(Store(options()).find(test_key(1)));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("belongs to another user")));
  Options trusting = options();
  trusting.trust = Trust::anyone;
  EXPECT_TRUE(Store(trusting).find(test_key(1)));
}

TEST_F(Tiers, FolderItselfMayBeALink) {
  put(mount(), 1, "scratch");
  fs::create_directory_symlink(mount(), own());
  EXPECT_TRUE(Store(options()).find(test_key(1)));
}

TEST_F(Tiers, LinksInTheFolderAreNotFollowed) {
  put(mount(), 1, "elsewhere");
  const fs::path there = mount() / "v1" / "1a";
  const std::string name = test_key(1) + ".cubin";
  const std::function<void()> links[] = {
      [&] {
        fs::create_directories(own());
        fs::create_directory_symlink(mount() / "v1", own() / "v1");
      },
      [&] {
        fs::create_directories(own() / "v1");
        fs::create_directory_symlink(there, own() / "v1" / "1a");
      },
      [&] {
        fs::create_directories(own() / "v1" / "1a");
        fs::create_symlink(there / name, own() / "v1" / "1a" / name);
      },
  };
  for (const auto& link : links) {
    link();
    fs::permissions(own(), fs::perms::owner_all);
    Store store({.folder = own()});
    EXPECT_FALSE(store.find(test_key(1)));
    store.put(test_key(1), kEntry);
    EXPECT_EQ(read_file(there / name), encode_entry({"elsewhere", "{}"}));
    fs::remove_all(own());
  }
}

}  // namespace
}  // namespace tilejit::cache
