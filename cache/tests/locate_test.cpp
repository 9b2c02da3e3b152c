// Which tier has an entry, found without reading it.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "temp_folder.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {
namespace {

namespace fs = std::filesystem;

class Locate : public ::testing::Test {
 protected:
  Locate() {
    fs::create_directory(image());
    Store(Options{.folder = image()}).put(test_key(2), {"image", "{}"});
    BundleWriter writer(bundle());
    writer.add(test_key(3), {"bundle", "{}"});
    writer.finish();
    Store(options()).put(test_key(1), {"own", "{}"});
  }
  [[nodiscard]] Options options() const {
    return {.folder = temp.path() / "own", .read_only = {image(), bundle()}};
  }
  [[nodiscard]] fs::path image() const { return temp.path() / "image"; }
  [[nodiscard]] fs::path bundle() const { return temp.path() / "kernels.tjb"; }

  TempFolder temp;
};

TEST_F(Locate, NamesTheTierAndCountsNothing) {
  Store store(options());
  EXPECT_EQ(store.locate(test_key(1)), Tier::disk);
  EXPECT_EQ(store.locate(test_key(2)), Tier::read_only);
  EXPECT_EQ(store.locate(test_key(3)), Tier::read_only);
  EXPECT_EQ(store.locate(test_key(4)), std::nullopt);
  EXPECT_EQ(store.counters(), Counters());
  (void)store.find(test_key(3));
  EXPECT_EQ(store.locate(test_key(3)), Tier::memory);
}

TEST_F(Locate, DoesNotSeeWhatIsCutShort) {
  Store store(options());
  const fs::path path = store.path_of(test_key(1));
  const std::string whole = read_file(path);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}, whole.size() - 1}) {
    write_file(path, whole.substr(0, bytes));
    EXPECT_EQ(store.locate(test_key(1)), std::nullopt) << bytes;
  }
  write_file(path, "x" + whole);
  EXPECT_EQ(store.locate(test_key(1)), std::nullopt);
  write_file(path, whole);
  EXPECT_EQ(store.locate(test_key(1)), Tier::disk);
}

TEST_F(Locate, RefusesWhatAnyoneMayWrite) {
  Store store(options());
  fs::permissions(store.path_of(test_key(1)), fs::perms::all);
  EXPECT_EQ(store.locate(test_key(1)), std::nullopt);
}

TEST_F(Locate, CountsAsAUse) {
  Store store(options());
  const fs::path path = store.path_of(test_key(1));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(48);
  fs::last_write_time(path, old);
  (void)store.locate(test_key(1));
  EXPECT_GT(fs::last_write_time(path), old + std::chrono::hours(47));
}

TEST_F(Locate, TakesKeysOnly) {
  Store store(options());
  EXPECT_THROW((void)store.locate("key"), std::invalid_argument);
}

}  // namespace
}  // namespace tilejit::cache
