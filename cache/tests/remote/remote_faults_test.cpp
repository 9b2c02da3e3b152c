#include "remote_fixture.hpp"

namespace tilejit::cache {
namespace {

struct FaultCase {
  const char* path;
  RemoteStatus status;
  const char* warning;  // part of the only warning; null: no warning
  int requests = 1;     // that reach the server
  bool times_out = false;
};

constexpr RemoteStatus kMiss = RemoteStatus::miss;
constexpr RemoteStatus kUnavailable = RemoteStatus::unavailable;

const FaultCase kFaults[] = {
    {"/store/empty", kMiss, nullptr},
    {"/status/404", kMiss, nullptr},
    {"/status/410", kMiss, nullptr},
    {"/status/500", kUnavailable, "status 500", 3},
    {"/status/503", kUnavailable, "status 503", 3},
    {"/status/429", kUnavailable, "status 429", 3},
    {"/status/501", kUnavailable, "status 501"},
    {"/status/418", kUnavailable, "status 418"},
    {"/status/204", kUnavailable, "status 204"},
    {"/status/206", kUnavailable, "status 206"},
    {"/status/304", kUnavailable, "status 304"},
    {"/status/401", kUnavailable, "status 401"},
    {"/status/403", kUnavailable, "status 403"},
    {"/retry-after", kUnavailable, "status 503"},
    {"/wrong", kUnavailable, "not an intact entry"},
    {"/longer", kUnavailable, "not an intact entry"},
    {"/shorter", kUnavailable, "ends connections early", 3},
    {"/negative", kUnavailable, "(going on without it)"},
    {"/huge", kUnavailable, "more than 1048576 bytes"},
    {"/endless", kUnavailable, "more than 1048576 bytes"},
    {"/cut", kUnavailable, "ends connections early", 3},
    {"/close", kUnavailable, "ends connections early", 3},
    {"/reset", kUnavailable, "ends connections early", 3},
    {"/garbage", kUnavailable, "not HTTP"},
    {"/garbage-headers", kUnavailable, "(going on without it)"},
    {"/header-flood", kUnavailable, "not HTTP"},
    {"/two-lengths", kUnavailable, "(going on without it)"},
    {"/to-user", kUnavailable, "redirects to another place"},
    {"/circle", kUnavailable, "in a circle", 4},
    {"/hang", kUnavailable, "does not answer in time", 1, true},
    {"/hang-in-body", kUnavailable, "does not answer in time", 1, true},
    {"/drip", kUnavailable, "does not answer in time", 1, true},
    {"/drip-headers", kUnavailable, "does not answer in time", 1, true},
};

TEST_F(RemoteFaults, AreNoHitsAndNoErrorsAndEndInTime) {
  store_entry(options("/store"), 1);
  for (const FaultCase& fault : kFaults) {
    SCOPED_TRACE(fault.path);
    Warnings own;
    RemoteOptions given = test_options(server.url(fault.path), own);
    given.timeout = milliseconds(fault.times_out ? 400 : 5000);
    const long before = count_of(server, "requests");
    RemoteStore store(given);
    RemoteAnswer answer;
    const auto took = time_of([&] { answer = store.get(test_key(1)); });
    EXPECT_EQ(answer.status, fault.status);
    EXPECT_EQ(answer.bytes, "");
    EXPECT_LT(took, given.timeout + kSlack);
    EXPECT_EQ(count_of(server, "requests") - before, fault.requests);
    EXPECT_EQ(store.counters().retries, fault.requests == 3 ? 2u : 0u);
    EXPECT_EQ(store.counters().timeouts, fault.times_out ? 1u : 0u);
    EXPECT_EQ(store.counters().hits, 0u);
    ASSERT_EQ(own.texts().size(), fault.warning == nullptr ? 0u : 1u) << own.joined();
    if (fault.warning != nullptr) {
      EXPECT_NE(own.joined().find(fault.warning), std::string::npos) << own.joined();
    }
  }
}

TEST_F(RemoteFaults, PassOverWithAnotherAttempt) {
  store_entry(options("/store"), 1);
  for (const auto& [path, retries] : {std::pair("/cut-once", 1u), std::pair("/recovers", 2u)}) {
    SCOPED_TRACE(path);
    RemoteOptions given = options(path);
    given.timeout = milliseconds(5000);
    RemoteStore store(given);
    EXPECT_EQ(store.get(test_key(1)).bytes, entry_file(1));
    EXPECT_EQ(store.counters().retries, retries);
  }
  EXPECT_EQ(warnings.joined(), "");
}

TEST_F(RemoteFaults, OfUploadsAreRetriedToo) {
  RemoteStore store(options("/recovers"));
  ASSERT_EQ(store.put(test_key(1), entry_file(1)), UploadStatus::queued);
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(5000)));
  EXPECT_EQ(store.counters().uploads, 1u);
  EXPECT_EQ(store.counters().retries, 2u);
}

TEST_F(RemoteFaults, AreWarnedOfOnce) {
  RemoteStore store(options("/status/418"));
  for (int i = 0; i < 5; ++i) (void)store.get(test_key(i));
  EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
  EXPECT_EQ(store.counters().unavailable, 5u);
}

TEST_F(RemoteFaults, RedirectsAreFollowedWithinTheHost) {
  RemoteOptions given = options("/here");
  store_entry(given, 1);  // a PUT, to /store
  EXPECT_EQ(RemoteStore(given).get(test_key(1)).bytes, entry_file(1));
  EXPECT_EQ(RemoteStore(options("/store")).get(test_key(1)).bytes, entry_file(1));
  EXPECT_EQ(warnings.joined(), "");
}

TEST_F(RemoteFaults, RedirectsToAnotherHostAreRefused) {
  const TestServer other("fault_server.py", {});
  ASSERT_NE(other.port(), 0);
  RemoteStore store(options("/to/" + std::to_string(other.port())));
  EXPECT_EQ(store.get(test_key(1)).status, kUnavailable);
  EXPECT_NE(warnings.joined().find("redirects to " + other.url() + ","), std::string::npos)
      << warnings.joined();
  EXPECT_EQ(count_of(other, "requests"), 0);
}

TEST_F(RemoteFaults, S3ErrorsAreToldApart) {
  const S3Options s3{.endpoint = server.url(), .access_key = "id", .secret_key = "s3cret"};
  // The endpoint has no path, so the bucket selects the fault.
  const auto ask = [&](const std::string& error) {
    Warnings own;
    RemoteOptions given = test_options("s3://s3_error/" + error, own);
    given.s3 = s3;
    const RemoteStatus status = RemoteStore(given).get(test_key(1)).status;
    EXPECT_EQ(own.joined().find("s3cret"), std::string::npos);
    return std::pair(status, own.joined());
  };
  EXPECT_EQ(ask("404-NoSuchKey"), std::pair(kMiss, std::string()));
  const auto [denied, why] = ask("403-AccessDenied");
  EXPECT_EQ(denied, kMiss);
  EXPECT_NE(why.find("s3:ListBucket"), std::string::npos) << why;
  for (const std::string fatal : {"404-NoSuchBucket", "403-SignatureDoesNotMatch",
                                  "403-InvalidAccessKeyId", "400-ExpiredToken"}) {
    const auto [status, warning] = ask(fatal);
    EXPECT_EQ(status, kUnavailable) << fatal;
    EXPECT_NE(warning.find(fatal.substr(4)), std::string::npos) << warning;
  }
}

TEST_F(RemoteFaults, CutUploadsDoNotEndTheProcess) {
  RemoteOptions given = options("/close");
  given.max_bytes = 32u << 20;
  RemoteStore store(given);
  ASSERT_EQ(store.put(test_key(1), entry_file(1, 16u << 20)), UploadStatus::queued);
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  EXPECT_EQ(store.counters().uploads_failed, 1u);
}

}  // namespace
}  // namespace tilejit::cache
