// The cost of a dead remote.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "remote_fixture.hpp"

namespace tilejit::cache {
namespace {

constexpr RemoteStatus kUnavailable = RemoteStatus::unavailable;

// Median time of a request, in nanoseconds.
double request_ns(RemoteStore& store) {
  constexpr int kRequests = 1000;
  const std::string key = test_key(1);
  std::vector<double> batches;
  for (int batch = 0; batch < 101; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kRequests; ++i) (void)store.get(key);
    batches.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                      kRequests);
  }
  std::nth_element(batches.begin(), batches.begin() + 50, batches.end());
  return batches[50];
}

#if defined(TILEJIT_SANITIZED) || !defined(NDEBUG)
constexpr double kSkipNs = 20000;
#else
constexpr double kSkipNs = 1000;
#endif

class DeadRemote : public RemoteFaults {
 protected:
  // One time-out, then almost no cost.
  void expect_one_timeout(const RemoteOptions& given, milliseconds timeout) {
    RemoteStore store(given);
    const auto first = time_of([&] { EXPECT_EQ(store.get(test_key(1)).status, kUnavailable); });
    EXPECT_GE(first, timeout - milliseconds(5));
    EXPECT_LT(first, timeout + kSlack);
    const double ns = request_ns(store);
    EXPECT_LE(ns, kSkipNs);
    RecordProperty("first_request_ms", static_cast<int>(first.count()));
    RecordProperty("later_request_ns", static_cast<int>(ns));
    EXPECT_EQ(store.put(test_key(2), entry_file(2)), UploadStatus::off);
    EXPECT_EQ(store.counters().requests, 1u);
    EXPECT_EQ(store.counters().timeouts, 1u);
    EXPECT_EQ(store.counters().skipped, 101000u);
    EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
  }
};

TEST_F(DeadRemote, ThatHangsCostsOneTimeout) {
  RemoteOptions given = options("/hang");
  given.timeout = milliseconds(300);
  expect_one_timeout(given, given.timeout);
  EXPECT_EQ(count_of(server, "requests"), 1);
}

// A listener whose queue is full drops connection requests, as a dead host does.
TEST_F(DeadRemote, ThatDropsPacketsCostsOneTimeout) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = 0,
                      .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                      .sin_zero = {}};
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, generic, size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, generic, &size), 0);
  std::vector<int> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)::connect(waiting.back(), generic, size);
  }
  RemoteOptions given =
      test_options("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/", warnings);
  given.connect_timeout = milliseconds(300);
  given.timeout = milliseconds(5000);
  expect_one_timeout(given, given.connect_timeout);
  for (const int fd : waiting) ::close(fd);
  ::close(listener);
}

TEST_F(DeadRemote, CostsEightThreadsOneTimeoutTogether) {
  RemoteOptions given = options("/hang");
  given.timeout = milliseconds(500);
  RemoteStore store(given);
  const auto took = time_of([&] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&store, t] {
        for (int i = 0; i < 100; ++i) {
          EXPECT_EQ(store.get(test_key(t * 100 + i)).status, kUnavailable);
        }
      });
    }
  });
  EXPECT_LT(took, given.timeout + kSlack);
  EXPECT_LE(store.counters().requests, 8u);
  EXPECT_EQ(warnings.texts().size(), 1u) << warnings.joined();
}

TEST_F(DeadRemote, OnAClosedPortCostsNothing) {
  RemoteStore store(test_options("http://127.0.0.1:1/", warnings));
  EXPECT_LT(time_of([&] { (void)store.get(test_key(1)); }), kSlack);
  (void)store.get(test_key(2));
  EXPECT_EQ(store.counters().requests, 1u);
  EXPECT_NE(warnings.joined().find("cannot be reached"), std::string::npos) << warnings.joined();
}

TEST_F(DeadRemote, IsLeftAloneAfterThreeErrors) {
  RemoteStore store(options("/status/418"));
  for (int i = 0; i < 10; ++i) (void)store.get(test_key(i));
  EXPECT_EQ(count_of(server, "requests"), 3);
}

TEST_F(DeadRemote, IsToldFromOneBadEntry) {
  store_entry(options("/store"), 1);
  RemoteOptions given = options("/store");
  int bad = 0;
  given.verify = [&](std::string_view, std::string_view) { return ++bad % 3 == 0; };
  RemoteStore store(given);
  for (int i = 0; i < 12; ++i) (void)store.get(test_key(1));
  EXPECT_EQ(store.counters().hits, 4u);
  EXPECT_EQ(store.counters().damaged, 8u);
}

// No caller waits until the remote is found to be alive again.
TEST_F(DeadRemote, ComesBackInTheBackground) {
  store_entry(options("/store"), 1);
  RemoteOptions given = options("/hang-once");
  given.timeout = milliseconds(300);
  given.retry_after = milliseconds(100);
  RemoteStore store(given);
  EXPECT_EQ(store.get(test_key(1)).status, kUnavailable);
  RemoteAnswer answer;
  for (int i = 0; i < 500 && answer.status == kUnavailable; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    answer = store.get(test_key(1));
  }
  EXPECT_EQ(answer.bytes, entry_file(1));
  EXPECT_EQ(store.counters().timeouts, 1u);
  EXPECT_EQ(store.counters().requests, 2u);  // the first and the last
}

TEST_F(DeadRemote, StaysDeadWithoutAnInterval) {
  RemoteOptions given = options("/hang-once");
  given.timeout = milliseconds(300);
  given.retry_after = milliseconds(0);
  RemoteStore store(given);
  EXPECT_EQ(store.get(test_key(1)).status, kUnavailable);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(store.get(test_key(1)).status, kUnavailable);
  EXPECT_EQ(count_of(server, "requests"), 1);
}

// An upload waits in the background, so that no later caller has to find out.
TEST_F(DeadRemote, FoundByAnUploadCostsNoCaller) {
  RemoteStore store(test_options("http://127.0.0.1:1/", warnings));
  store.put(test_key(1), entry_file(1));
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  (void)store.get(test_key(1));
  EXPECT_EQ(store.counters().requests, 0u);
  EXPECT_EQ(store.counters().skipped, 1u);
}

}  // namespace
}  // namespace tilejit::cache
