#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "entry_format.hpp"
#include "remote/http_client.hpp"
#include "remote/remote_store.hpp"
#include "temp_folder.hpp"
#include "test_server.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cache {

using std::chrono::milliseconds;

// Slack beyond a deadline, for a machine that is busy with other tests.
inline constexpr milliseconds kSlack{1500};

// Requests to loopback do not go through a proxy.
inline const int kNoProxy = ::setenv("no_proxy", "127.0.0.1,localhost", 1);

inline std::string entry_file(int i, std::size_t bytes = 20000) {
  return encode_entry({.payload = std::to_string(i) + std::string(bytes, 'x'), .metadata = "{}"});
}

/// Warnings of a store, from any thread.
class Warnings {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }
  [[nodiscard]] std::string joined() const {
    std::string all;
    for (const std::string& text : texts()) all += text + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

/// Options with short time-outs, and the checks that a real caller has.
inline RemoteOptions test_options(std::string url, Warnings& warnings) {
  RemoteOptions options;
  options.url = std::move(url);
  options.connect_timeout = milliseconds(500);
  options.timeout = milliseconds(1000);
  options.upload_timeout = milliseconds(5000);
  options.shutdown_timeout = milliseconds(500);
  options.max_bytes = 1u << 20;
  options.verify = [](std::string_view, std::string_view file) {
    return verify_entry(file).has_value();
  };
  options.warn = [&warnings](const std::string& text) { warnings.add(text); };
  return options;
}

/// Uploads and waits.
inline void store_entry(const RemoteOptions& options, int i) {
  RemoteStore store(options);
  ASSERT_EQ(store.put(test_key(i), entry_file(i)), UploadStatus::queued);
  ASSERT_TRUE(store.wait_for_uploads(milliseconds(10000)));
  ASSERT_EQ(store.counters().uploads, 1u);
}

/// How long `call` took.
template <class Call>
milliseconds time_of(const Call& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

/// A test with the misbehaving server.
class RemoteFaults : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(server.port(), 0) << "fault_server.py does not start"; }

  [[nodiscard]] RemoteOptions options(const std::string& path) {
    return test_options(server.url(path), warnings);
  }
  /// What the server has counted: "requests" or "connections".
  [[nodiscard]] static long count_of(const TestServer& asked, const std::string& what) {
    HttpClient client(*load_curl().api, {});
    const HttpResponse answer =
        client.send({.url = asked.url("/" + what)}, Clock::now() + std::chrono::seconds(10));
    return answer.status == 200 ? std::stol(answer.body) : -1;
  }

  TestServer server{"fault_server.py", {}};
  Warnings warnings;
};

}  // namespace tilejit::cache
