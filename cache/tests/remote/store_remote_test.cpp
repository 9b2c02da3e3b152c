// A Store that has a remote below its folder.
#include <stdexcept>

#include "remote_fixture.hpp"

namespace tilejit::cache {
namespace {

Entry must_not_run() {
  throw std::logic_error("make was called for an entry that is there");
}

class StoreRemote : public RemoteFaults {
 protected:
  [[nodiscard]] Options store_options(const std::string& folder, const std::string& path) {
    Options given{.folder = temp.path() / folder, .remote = options(path)};
    given.warn = given.remote.warn;
    return given;
  }

  const Entry entry{std::string(3000, 'x'), "{}"};
  TempFolder temp;
};

TEST_F(StoreRemote, WhatOneMakesAnotherFindsAndKeepsOnDisk) {
  {
    Store first(store_options("first", "/store"));
    EXPECT_EQ(first.find_or_make(test_key(1), [&] { return entry; }).tier, Tier::made);
    EXPECT_EQ(first.counters().remote.misses, 1u);
  }  // waits for the upload
  {
    Store second(store_options("second", "/store"));
    const Answer answer = second.find_or_make(test_key(1), must_not_run);
    EXPECT_EQ(answer.tier, Tier::remote);
    EXPECT_EQ(*answer.entry, entry);
    EXPECT_EQ(second.counters().remote.hits, 1u);
    EXPECT_GT(second.counters().remote.nanoseconds, 0u);
    EXPECT_FALSE(second.find(test_key(2)));
  }
  const long requests = count_of(server, "requests");
  Store third(store_options("second", "/store"));
  EXPECT_EQ(third.find(test_key(1))->tier, Tier::disk);
  EXPECT_EQ(count_of(server, "requests"), requests);
  EXPECT_EQ(warnings.joined(), "");
}

TEST_F(StoreRemote, ServesWithoutAFolder) {
  { Store(store_options("first", "/store")).put(test_key(1), entry); }
  Options given = store_options("", "/store");
  given.folder.clear();
  Store store(given);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::remote);
  EXPECT_EQ(store.find(test_key(1))->tier, Tier::memory);
}

TEST_F(StoreRemote, ADeadOneIsGoneWithout) {
  Options given = store_options("first", "/store");
  given.remote.url = "http://127.0.0.1:1/";
  Store store(given);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(store.find_or_make(test_key(i), [&] { return entry; }).tier, Tier::made);
  }
  EXPECT_EQ(store.counters().remote.failures, 3u);
  EXPECT_EQ(store.counters().disk.failures, 0u);
  EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
}

TEST_F(StoreRemote, ThatIsReadOnlyTakesNoUploads) {
  Options given = store_options("first", "/store");
  given.remote.mode = RemoteMode::read_only;
  {
    (void)Store(given).find_or_make(test_key(1), [&] { return entry; });
  }
  EXPECT_FALSE(Store(store_options("second", "/store")).find(test_key(1)));
}

TEST_F(StoreRemote, ThatMustHaveEverythingThrowsInsteadOfMaking) {
  { Store(store_options("first", "/store")).put(test_key(1), entry); }
  Options given = store_options("second", "/store");
  given.remote.mode = RemoteMode::must_hit;
  Store store(given);
  EXPECT_EQ(store.find_or_make(test_key(1), must_not_run).tier, Tier::remote);
  EXPECT_THROW((void)store.find_or_make(test_key(2), must_not_run), MissingEntry);
  EXPECT_EQ(store.counters().made, 0u);
}

// A proxy that mixed up its answers returned another kernel's code.
TEST_F(StoreRemote, AnEntryOfAnotherKeyIsNotBelieved) {
  { Store(store_options("first", "/store")).put(test_key(1), entry); }
  Options given = store_options("second", "/store");
  given.identity = [](std::string_view, std::string_view metadata) { return metadata != "{}"; };
  const Entry right{"right", R"({"n":1})"};
  Store store(given);
  EXPECT_FALSE(store.find(test_key(1)));
  EXPECT_EQ(*store.find_or_make(test_key(1), [&] { return right; }).entry, right);
  EXPECT_EQ(store.counters().remote.failures, 2u);
  EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
  EXPECT_NE(warnings.joined().find("of the key that was asked for"), std::string::npos);
  given.remote.mode = RemoteMode::must_hit;
  given.folder = temp.path() / "third";
  given.identity = [](std::string_view, std::string_view) { return false; };
  EXPECT_THROW((void)Store(given).find_or_make(test_key(1), must_not_run), MissingEntry);
}

// An upload still in progress at the end was dropped silently: only queued ones were reported.
TEST_F(StoreRemote, AnUploadThatIsGivenUpAtTheEndIsWarnedOf) {
  { Store(store_options("first", "/hang")).put(test_key(1), entry); }
  EXPECT_NE(warnings.joined().find("1 upload was not done"), std::string::npos)
      << warnings.joined();
}

TEST_F(StoreRemote, AUrlThatCannotBeUsedIsRefused) {
  Options given = store_options("first", "/store");
  given.remote.url = "ftp://example.org";
  EXPECT_THROW(Store{given}, std::invalid_argument);
}

}  // namespace
}  // namespace tilejit::cache
