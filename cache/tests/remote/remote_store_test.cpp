#include "remote/remote_store.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "remote_fixture.hpp"

namespace tilejit::cache {
namespace {

class RemoteStoreTest : public RemoteFaults {};

TEST_F(RemoteStoreTest, KeepsWhatIsPut) {
  const RemoteOptions given = options("/store");
  store_entry(given, 1);
  RemoteStore store(given);
  const RemoteAnswer found = store.get(test_key(1));
  EXPECT_EQ(found.status, RemoteStatus::hit);
  EXPECT_EQ(found.bytes, entry_file(1));
  EXPECT_EQ(found.length, entry_file(1).size());
  EXPECT_EQ(store.get(test_key(2)).status, RemoteStatus::miss);
  const RemoteAnswer seen = store.head(test_key(1));
  EXPECT_EQ(seen.status, RemoteStatus::hit);
  EXPECT_EQ(seen.length, entry_file(1).size());
  EXPECT_EQ(seen.bytes, "");
  EXPECT_EQ(store.head(test_key(2)).status, RemoteStatus::miss);

  const RemoteCounters counters = store.counters();
  EXPECT_EQ(counters.hits, 2u);
  EXPECT_EQ(counters.misses, 2u);
  EXPECT_EQ(counters.unavailable, 0u);
  EXPECT_EQ(counters.bytes_down, entry_file(1).size());
  EXPECT_EQ(counters.requests, 4u);
  EXPECT_GT(counters.longest_ns, 0u);
  EXPECT_GE(counters.request_ns, counters.longest_ns);
  EXPECT_EQ(warnings.joined(), "");
}

TEST_F(RemoteStoreTest, KeepsAnEmptyFileApartFromAMiss) {
  RemoteOptions given = options("/store");
  given.verify = {};
  RemoteStore store(given);
  store.put(test_key(1), "");
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::hit);
}

// bazel-remote has `/ac/<64 hex digits>` and nothing around the key.
TEST_F(RemoteStoreTest, TakesAServersOwnPlaceForKeys) {
  store_entry(options("/store/ac/{key}"), 1);
  RemoteOptions plain = options("/store/ac/" + test_key(1) + "#");
  plain.url.pop_back();
  HttpClient client(*load_curl().api, {});
  const HttpResponse answer =
      client.send({.url = plain.url}, Clock::now() + std::chrono::seconds(10));
  EXPECT_EQ(answer.body, entry_file(1));
}

TEST_F(RemoteStoreTest, UsesOneConnectionForMany) {
  store_entry(options("/store"), 1);
  RemoteStore store(options("/store"));
  const long before = count_of(server, "connections");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::hit);
  EXPECT_EQ(count_of(server, "connections") - before, 2);  // the other one comes from count_of
}

TEST_F(RemoteStoreTest, SurvivesConnectionsThatCloseWhileKept) {
  store_entry(options("/store"), 1);
  RemoteStore store(options("/close-after"));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::hit);
}

TEST_F(RemoteStoreTest, SendsUserAndPassword) {
  const auto with = [&](const std::string& user) {
    RemoteOptions given = options("/private");
    given.url.insert(std::string("http://").size(), user);
    return given;
  };
  store_entry(with("user:p%40ss%3Aword@"), 1);
  EXPECT_EQ(RemoteStore(with("user:p%40ss:word@")).get(test_key(1)).bytes, entry_file(1));
  EXPECT_EQ(warnings.joined(), "");

  RemoteStore wrong(with("user:s3cret@"));
  EXPECT_EQ(wrong.get(test_key(1)).status, RemoteStatus::unavailable);
  EXPECT_EQ(wrong.name(), options("/private").url);
  EXPECT_NE(warnings.joined().find("401"), std::string::npos) << warnings.joined();
  EXPECT_EQ(warnings.joined().find("s3cret"), std::string::npos) << warnings.joined();
}

TEST_F(RemoteStoreTest, SignsNothingWithoutKeys) {
  RemoteOptions given = test_options("s3://unsigned/p", warnings);
  given.s3.endpoint = server.url();
  store_entry(given, 1);
  EXPECT_EQ(RemoteStore(given).get(test_key(1)).bytes, entry_file(1));
  given.s3.access_key = given.s3.secret_key = "key";
  EXPECT_EQ(RemoteStore(given).get(test_key(1)).status, RemoteStatus::unavailable);
}

TEST_F(RemoteStoreTest, UploadsNothingWhereItMayNot) {
  for (const RemoteMode mode : {RemoteMode::read_only, RemoteMode::must_hit}) {
    RemoteOptions given = options("/store");
    given.mode = mode;
    RemoteStore store(given);
    EXPECT_EQ(store.mode(), mode);
    EXPECT_EQ(store.put(test_key(1), entry_file(1)), UploadStatus::off);
    EXPECT_EQ(store.get(test_key(1)).status, RemoteStatus::miss);
  }
}

TEST_F(RemoteStoreTest, DropsWhatIsTooLarge) {
  RemoteOptions given = options("/store");
  given.max_bytes = 1000;
  RemoteStore store(given);
  EXPECT_EQ(store.put(test_key(1), std::string(1001, 'x')), UploadStatus::dropped);
  EXPECT_EQ(store.counters().uploads_dropped, 1u);
  EXPECT_NE(warnings.joined().find("TILEJIT_CACHE_REMOTE_MAX_BYTES"), std::string::npos);
}

TEST_F(RemoteStoreTest, DropsUploadsThatHaveNoRoom) {
  RemoteOptions given = options("/hang");
  given.queued_uploads = 4;
  given.upload_timeout = std::chrono::seconds(30);
  int queued = 0;
  {
    RemoteStore store(given);
    const auto took = time_of([&] {
      for (int i = 0; i < 20; ++i) {
        queued += store.put(test_key(i), entry_file(i)) == UploadStatus::queued;
      }
    });
    EXPECT_LT(took, kSlack);
    EXPECT_EQ(store.counters().uploads_dropped, 20u - static_cast<unsigned>(queued));
    EXPECT_FALSE(store.wait_for_uploads(milliseconds(20)));
  }
  EXPECT_GE(queued, 4);
  EXPECT_LE(queued, 5);  // the server may already have one
  EXPECT_NE(warnings.joined().find("some are dropped"), std::string::npos) << warnings.joined();
}

TEST_F(RemoteStoreTest, EndsInTimeWhileAnUploadHangs) {
  RemoteOptions given = options("/hang");
  given.upload_timeout = std::chrono::seconds(60);
  auto store = std::make_unique<RemoteStore>(given);
  for (int i = 0; i < 3; ++i) store->put(test_key(i), entry_file(i));
  EXPECT_LT(time_of([&] { store.reset(); }), given.shutdown_timeout + kSlack);
  EXPECT_NE(warnings.joined().find("3 uploads were not done within the 500 ms"), std::string::npos)
      << warnings.joined();
}

TEST_F(RemoteStoreTest, FinishesUploadsAtItsEnd) {
  RemoteOptions given = options("/slow");
  given.shutdown_timeout = milliseconds(10000);
  {
    RemoteStore store(given);
    for (int i = 0; i < 3; ++i) store.put(test_key(i), entry_file(i));
  }
  RemoteStore reader(options("/store"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader.get(test_key(i)).bytes, entry_file(i));
}

TEST_F(RemoteStoreTest, GoesOnReadingWhereUploadsAreRefused) {
  store_entry(options("/store"), 1);
  RemoteStore store(options("/fixed"));
  for (int i = 2; i < 5; ++i) {
    store.put(test_key(i), entry_file(i));
    ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  }
  EXPECT_EQ(store.counters().uploads_failed, 1u);
  EXPECT_EQ(store.counters().uploads_dropped, 2u);
  EXPECT_EQ(store.put(test_key(5), entry_file(5)), UploadStatus::off);
  EXPECT_EQ(store.get(test_key(1)).bytes, entry_file(1));
  EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
  EXPECT_NE(warnings.joined().find("status 405"), std::string::npos) << warnings.joined();
}

TEST_F(RemoteStoreTest, AsksOnceWhetherUploadsAreTaken) {
  RemoteStore store(options("/fixed"));
  for (int i = 0; i < 20; ++i) store.put(test_key(i), entry_file(i));
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  EXPECT_EQ(count_of(server, "requests"), 1);
  EXPECT_EQ(store.counters().uploads_failed, 1u);
  EXPECT_EQ(store.counters().uploads_dropped, 19u);
}

TEST_F(RemoteStoreTest, UploadsAgainWhenThatIsTaken) {
  RemoteOptions given = options("/fixed-once");
  given.retry_after = milliseconds(100);
  RemoteStore store(given);
  store.put(test_key(1), entry_file(1));
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  std::this_thread::sleep_for(milliseconds(150));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store.put(test_key(1), entry_file(1)), UploadStatus::queued);
    ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  }
  EXPECT_EQ(store.counters().uploads, 2u);
  EXPECT_EQ(store.counters().uploads_failed, 1u);
}

TEST_F(RemoteStoreTest, ServesAForkedChild) {
#ifdef TILEJIT_SANITIZED
  GTEST_SKIP() << "AddressSanitizer's allocator may be locked by a thread that the child has not, "
                  "and ThreadSanitizer ends a child that starts threads";
#endif
  RemoteOptions given = options("/store");
  store_entry(given, 1);
  RemoteStore store(given);
  ASSERT_EQ(store.get(test_key(1)).status, RemoteStatus::hit);
  store.put(test_key(2), entry_file(2));  // starts the thread, which the child does not have
  const pid_t child = ::fork();
  if (child == 0) {
    const bool reads = store.get(test_key(1)).bytes == entry_file(1);
    const bool writes = store.put(test_key(3), entry_file(3)) == UploadStatus::queued &&
                        store.wait_for_uploads(milliseconds(10000)) &&
                        store.get(test_key(3)).bytes == entry_file(3);
    ::_exit(reads && writes ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store.get(test_key(1)).bytes, entry_file(1));
  EXPECT_EQ(store.get(test_key(3)).bytes, entry_file(3));
}

TEST_F(RemoteStoreTest, ServesEightThreads) {
  constexpr int kThreads = 8, kKeys = 24;
  const RemoteOptions given = options("/store");
  {
    RemoteStore store(given);
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&store, t] {
        for (int i = 0; i < kKeys; ++i) {
          const int key = (i * 7 + t) % kKeys;
          const RemoteAnswer answer = store.get(test_key(key));
          if (answer.status == RemoteStatus::hit) {
            EXPECT_EQ(answer.bytes, entry_file(key));
          } else {
            EXPECT_EQ(answer.status, RemoteStatus::miss);
            EXPECT_EQ(store.put(test_key(key), entry_file(key)), UploadStatus::queued);
          }
          (void)store.head(test_key(key));
          (void)store.counters();
        }
      });
    }
    threads.clear();
    ASSERT_TRUE(store.wait_for_uploads(milliseconds(20000)));
    const RemoteCounters counters = store.counters();
    EXPECT_EQ(counters.hits + counters.misses, 2u * kThreads * kKeys);
    EXPECT_EQ(counters.unavailable + counters.uploads_dropped + counters.uploads_failed, 0u);
  }
  RemoteStore reader(given);
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(reader.get(test_key(i)).bytes, entry_file(i));
}

bool libcurl_is_loaded() {
  return ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD) != nullptr ||
         ::dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

TEST(RemoteStoreLoading, DoesNotLoadLibcurlBeforeARequest) {
  if (libcurl_is_loaded()) GTEST_SKIP() << "an earlier test of this process has loaded it";
  Warnings warnings;
  RemoteOptions given = test_options("http://127.0.0.1:1/", warnings);
  { const RemoteStore unused(given); }
  EXPECT_FALSE(libcurl_is_loaded());
  (void)RemoteStore(given).get(test_key(1));
  EXPECT_TRUE(libcurl_is_loaded());
}

TEST(RemoteStoreLoading, RefusesAUrlThatCannotBeUsed) {
  EXPECT_THROW(RemoteStore({.url = "ftp://host/"}), std::invalid_argument);
}

}  // namespace
}  // namespace tilejit::cache
