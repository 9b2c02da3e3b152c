#include "tilejit/cache/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "temp_folder.hpp"

namespace tilejit::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Entry kEntry{"payload", "{}"};

Entry must_not_run() {
  throw std::logic_error("make was called for an entry that is there");
}

TEST(Store, MakesOnceThenAnswersFromMemory) {
  Store store({});
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  const Answer again = store.find_or_make(test_key(1), must_not_run);
  EXPECT_EQ(again.tier, Tier::memory);
  EXPECT_EQ(*again.entry, kEntry);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::memory);
  EXPECT_EQ(store.counters().made, 1u);
  EXPECT_EQ(store.counters().memory.hits, 2u);
}

TEST(Store, AnswersFromDiskInAnotherStore) {
  const TempFolder folder;
  Store first({.folder = folder.path()});
  (void)first.find_or_make(test_key(1), [] { return kEntry; });
  first.put(test_key(2), {"other", "[]"});

  Store second({.folder = folder.path()});
  const Answer answer = second.find_or_make(test_key(1), must_not_run);
  EXPECT_EQ(answer.tier, Tier::disk);
  EXPECT_EQ(*answer.entry, kEntry);
  EXPECT_EQ(second.find(test_key(1))->tier, Tier::memory);
  EXPECT_EQ(second.find(test_key(2))->entry->payload, "other");
  EXPECT_EQ(second.counters().disk.hits, 2u);
  EXPECT_EQ(second.counters().disk.failures, 0u);
}

TEST(Store, WritesOnePlainFileAnEntry) {
  const TempFolder folder;
  Store store({.folder = folder.path() / "deep" / "cache"});
  store.put(test_key(17), kEntry);
  EXPECT_EQ(store.path_of(test_key(17)),
            folder.path() / "deep/cache/v1/17" / (test_key(17) + ".cubin"));
  EXPECT_THAT(files_below(store.folder()), ElementsAre("v1/17/" + test_key(17) + ".cubin"));
  EXPECT_EQ(read_file(store.path_of(test_key(17))), encode_entry(kEntry));
  for (const char* made : {"deep", "deep/cache", "deep/cache/v1", "deep/cache/v1/17"}) {
    EXPECT_EQ(std::filesystem::status(folder.path() / made).permissions(),
              std::filesystem::perms::owner_all)
        << made;
  }
}

TEST(Store, ReplacesAnEntryThatIsPutAgain) {
  const TempFolder folder;
  Store store({.folder = folder.path()});
  store.put(test_key(1), kEntry);
  store.put(test_key(1), {"newer", "{}"});
  EXPECT_EQ(store.find(test_key(1))->entry->payload, "newer");
  Store other({.folder = folder.path()});
  EXPECT_EQ(other.find(test_key(1))->entry->payload, "newer");
}

TEST(Store, KeepsTheMostRecentlyUsedWithinItsBound) {
  Store store({.memory_bytes = 4000});
  const Entry kilobyte{std::string(1000, 'x'), "{}"};
  for (int i = 1; i <= 3; ++i) store.put(test_key(i), kilobyte);
  EXPECT_TRUE(store.find(test_key(1)));  // 2 is the least recently used now
  store.put(test_key(4), kilobyte);
  EXPECT_FALSE(store.find(test_key(2)));
  for (const int i : {1, 3, 4}) EXPECT_TRUE(store.find(test_key(i))) << i;
}

TEST(Store, KeepsNothingLargerThanItsBound) {
  Store store({.memory_bytes = 4000});
  store.put(test_key(1), kEntry);
  store.put(test_key(2), {std::string(4000, 'x'), "{}"});
  EXPECT_FALSE(store.find(test_key(2)));
  EXPECT_TRUE(store.find(test_key(1)));
}

TEST(Store, WithoutMemoryAnswersFromDisk) {
  const TempFolder folder;
  Store store({.folder = folder.path(), .memory_bytes = 0});
  EXPECT_EQ(store.find_or_make(test_key(1), [] { return kEntry; }).tier, Tier::made);
  EXPECT_EQ(store.find_or_make(test_key(1), must_not_run).tier, Tier::disk);
}

TEST(Store, StaysInItsFolderWhenTheWorkingDirectoryChanges) {
  const TempFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Store store({.folder = "relative"});
  std::filesystem::current_path(before);
  store.put(test_key(1), kEntry);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "relative/v1"));
}

TEST(Store, HasNoPathsInMemoryOnly) {
  Store store({});
  EXPECT_TRUE(store.folder().empty());
  EXPECT_TRUE(store.path_of(test_key(1)).empty());
  store.add_marker("compiler", "abc");
  EXPECT_THAT(store.markers("compiler"), IsEmpty());
}

TEST(Store, ListsMarkersNewestFirst) {
  const TempFolder folder;
  Store store({.folder = folder.path()});
  EXPECT_THAT(store.markers("compiler"), IsEmpty());
  for (const char* name : {"b", "fnv1a64:00ff", "c-1.0_x", "b"}) store.add_marker("compiler", name);
  store.add_marker("other", "d");
  EXPECT_THAT(Store({.folder = folder.path()}).markers("compiler"),
              ElementsAre("b", "c-1.0_x", "fnv1a64:00ff"));
}

TEST(Store, KeepsTextsBesideAnEntry) {
  const TempFolder folder;
  Store store({.folder = folder.path()});
  store.keep(test_key(1), "cu", "__global__");
  store.put(test_key(1), kEntry);
  EXPECT_THAT(files_below(folder.path()),
              ::testing::UnorderedElementsAre("v1/1a/" + test_key(1) + ".cu",
                                              "v1/1a/" + test_key(1) + ".cubin"));
  EXPECT_EQ(read_file(store.path_of(test_key(1)).replace_extension("cu")), "__global__");
  Store({}).keep(test_key(1), "cu", "nowhere to go");
  for (const char* suffix : {"", "cubin", "tmp", "damaged", "a/b", "CU", "averylongone"}) {
    EXPECT_THROW(store.keep(test_key(1), suffix, ""), std::invalid_argument) << suffix;
  }
}

TEST(Store, RefusesKeysThatAreNotDigests) {
  Store store({});
  const std::string bad[] = {
      "",
      "abc",
      std::string(63, 'a'),
      std::string(65, 'a'),
      std::string(64, 'A'),
      std::string(64, 'g'),
      "../../../" + std::string(55, 'a'),
      std::string(63, 'a') + '\0',
  };
  for (const std::string& key : bad) {
    SCOPED_TRACE(key);
    EXPECT_THROW((void)store.find(key), std::invalid_argument);
    EXPECT_THROW((void)store.find_or_make(key, must_not_run), std::invalid_argument);
    EXPECT_THROW(store.put(key, kEntry), std::invalid_argument);
    EXPECT_THROW((void)store.path_of(key), std::invalid_argument);
  }
}

TEST(Store, RefusesMarkersThatLeaveTheirFolder) {
  Store store({});
  for (const std::string& name : {std::string(), std::string(".."), std::string(".hidden"),
                                  std::string("a/b"), std::string("a b"), std::string(129, 'a')}) {
    SCOPED_TRACE(name);
    EXPECT_THROW(store.add_marker("compiler", name), std::invalid_argument);
    EXPECT_THROW(store.add_marker(name, "abc"), std::invalid_argument);
    EXPECT_THROW((void)store.markers(name), std::invalid_argument);
  }
  // Folders inside the cache's own.
  EXPECT_THROW(store.add_marker("0f", "abc"), std::invalid_argument);
  EXPECT_THROW(store.add_marker("lock", "abc"), std::invalid_argument);
}

TEST(Counters, ArePrintedForPrometheus) {
  Counters counters;
  counters.disk = {.hits = 3, .misses = 2, .nanoseconds = 1'500'000};
  counters.lock_waits = 7;
  const std::string text = prometheus_text(counters);
  for (const char* line :
       {"# TYPE tilejit_cache_hits_total counter\n", "tilejit_cache_hits_total{tier=\"disk\"} 3\n",
        "tilejit_cache_misses_total{tier=\"disk\"} 2\n",
        "tilejit_cache_hits_total{tier=\"memory\"} 0\n",
        "tilejit_cache_seconds_total{tier=\"disk\"} 0.001500\n",
        "tilejit_cache_lock_waits_total 7\n"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  }
}

TEST(Tier, HasNames) {
  EXPECT_EQ(to_string(Tier::memory), "memory");
  EXPECT_EQ(to_string(Tier::disk), "disk");
  EXPECT_EQ(to_string(Tier::read_only), "read-only");
  EXPECT_EQ(to_string(Tier::remote), "remote");
  EXPECT_EQ(to_string(Tier::made), "made");
}

}  // namespace
}  // namespace tilejit::cache
