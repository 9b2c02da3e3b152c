// Entries under keys that are not theirs were trusted: a copied file, a bundle's index, a server
// that mixes up its answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "temp_folder.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string metadata_of(const std::string& key) {
  return "{\"of\":\"" + key + "\"}";
}

Entry entry_of(const std::string& key) {
  return {"payload of " + key, metadata_of(key)};
}

bool is_right(std::string_view key, std::string_view metadata) {
  return metadata == metadata_of(std::string(key));
}

const std::string kWanted = test_key(1), kOther = test_key(2);

// What is stored under kWanted. Its bytes are intact in every case.
const struct {
  const char* name;
  Entry entry;
} kStrangers[] = {
    {"another key's entry", entry_of(kOther)},
    {"an entry without a key's fields", {"payload", "{}"}},
    {"an entry without metadata", {"payload", ""}},
};

class IdentityTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path folder() const { return temp.path() / "cache"; }
  [[nodiscard]] fs::path bundle() const { return temp.path() / "kernels.tjb"; }
  [[nodiscard]] Options options() {
    return {.copy_after = std::chrono::microseconds(0),
            .memory_bytes = 0,
            .identity = is_right,
            .warn = [this](const std::string& text) { warnings.push_back(text); }};
  }
  // Like a writer that knows nothing of keys.
  void put_into_folder(const Entry& entry) const {
    Store store({.folder = folder(), .memory_bytes = 0});
    store.put(kWanted, entry);
  }
  void write_bundle(const Entry& entry) const {
    BundleWriter writer(bundle());
    writer.add(kWanted, entry);
    writer.add(test_key(3), entry_of(test_key(3)));
    writer.finish();
  }
  // Nobody gets the wrong entry, and the next request gets the right one.
  void expect_made_anew(Store& store) {
    EXPECT_FALSE(store.find(kWanted));
    const auto make = [] { return entry_of(kWanted); };
    EXPECT_EQ(*store.find_or_make(kWanted, make).entry, entry_of(kWanted));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("another key's")));
    warnings.clear();
  }

  TempFolder temp;
  std::vector<std::string> warnings;
};

TEST_F(IdentityTest, AStrangerInTheFolderIsSetAsideAndMadeAgain) {
  for (const auto& stranger : kStrangers) {
    SCOPED_TRACE(stranger.name);
    put_into_folder(stranger.entry);
    Options given = options();
    given.folder = folder();
    Store store(given);
    expect_made_anew(store);
    EXPECT_GE(store.counters().disk.damaged, 1u);
    EXPECT_TRUE(fs::exists(store.path_of(kWanted).string() + ".damaged"));
    EXPECT_EQ(store.find(kWanted)->tier, Tier::disk);
    EXPECT_TRUE(Store(given).find(kWanted));
  }
}

TEST_F(IdentityTest, AStrangerInWhatIsReadOnlyStaysAndIsNotServed) {
  for (const auto& stranger : kStrangers) {
    SCOPED_TRACE(stranger.name);
    put_into_folder(stranger.entry);
    write_bundle(stranger.entry);
    for (const fs::path& path : {folder(), bundle()}) {
      Options given = options();
      given.folder = temp.path() / "own";
      given.read_only = {path};
      Store store(given);
      expect_made_anew(store);
      EXPECT_GE(store.counters().read_only.damaged, 1u);
      EXPECT_EQ(store.find(kWanted)->tier, Tier::disk);
      fs::remove_all(given.folder);
    }
    EXPECT_TRUE(fs::exists(Store({.folder = folder()}).path_of(kWanted)));
  }
}

TEST_F(IdentityTest, VerifyTellsStrangersFromBrokenOnes) {
  for (const auto& stranger : kStrangers) {
    SCOPED_TRACE(stranger.name);
    put_into_folder(stranger.entry);
    write_bundle(stranger.entry);
    const VerifyReport of_folder = Folder(folder(), Trust::own, is_right).verify();
    const VerifyReport of_bundle = Bundle(bundle(), Trust::own, {}, is_right).verify();
    for (const VerifyReport& report : {of_folder, of_bundle}) {
      EXPECT_THAT(report.damaged, ElementsAre(kWanted));
      EXPECT_THAT(report.misplaced, ElementsAre(kWanted));
    }
    EXPECT_EQ(of_bundle.good, 1u);
  }
}

TEST_F(IdentityTest, ABundleWithAStrangerIsNotImported) {
  for (const auto& stranger : kStrangers) {
    SCOPED_TRACE(stranger.name);
    write_bundle(stranger.entry);
    const Bundle opened(bundle(), Trust::own, {}, is_right);
    EXPECT_FALSE(opened.read(kWanted));
    EXPECT_THROW((void)import_bundle(opened, folder()), std::runtime_error);
    EXPECT_FALSE(fs::exists(folder()));
  }
}

// A wrong entry in the folder does not count as already present.
TEST_F(IdentityTest, AnImportReplacesAStranger) {
  put_into_folder(entry_of(kOther));
  write_bundle(entry_of(kWanted));
  EXPECT_EQ(import_bundle(Bundle(bundle(), Trust::own, {}, is_right), folder()).added, 2u);
  EXPECT_EQ(Folder(folder(), Trust::own, is_right).read(kWanted), entry_of(kWanted));
}

TEST_F(IdentityTest, WithoutItEveryEntryIsBelieved) {
  for (const auto& stranger : kStrangers) {
    SCOPED_TRACE(stranger.name);
    put_into_folder(stranger.entry);
    write_bundle(stranger.entry);
    EXPECT_EQ(*Store({.folder = folder()}).find(kWanted)->entry, stranger.entry);
    EXPECT_EQ(*Store({.read_only = {bundle()}}).find(kWanted)->entry, stranger.entry);
    EXPECT_THAT(Folder(folder()).verify().damaged, IsEmpty());
    EXPECT_THAT(Bundle(bundle()).verify().damaged, IsEmpty());
  }
}

}  // namespace
}  // namespace tilejit::cache
