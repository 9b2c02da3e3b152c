#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "remote/curl_api.hpp"

namespace tilejit::cache {

using Clock = std::chrono::steady_clock;
/// Asked about 20 times a second whether to give up; empty: never.
using Stop = std::function<bool()>;
inline constexpr std::chrono::milliseconds kStopInterval{50};  ///< between two questions

enum class HttpMethod : std::uint8_t { get, head, put };
[[nodiscard]] std::string_view to_string(HttpMethod method) noexcept;  ///< "GET", "HEAD", "PUT"

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string url = {};
  std::vector<std::string> headers = {};  ///< "name: value"
  std::string_view body = {};             ///< HttpMethod::put only
};

enum class HttpOutcome : std::uint8_t {
  answered,     ///< `status` says what
  timed_out,    ///< by the deadline, or no connection in time
  unreachable,  ///< no such host, no connection, or no trust in its certificate
  cut,          ///< the connection ended too early; another attempt may do better
  malformed,    ///< what came is not HTTP, or far too many headers
  too_large,    ///< a body of more than max_bytes
  stopped,
};

struct HttpResponse {
  HttpOutcome outcome = HttpOutcome::malformed;
  int status = 0;
  std::string body = {};      ///< whole for status 200, else its first 4096 bytes
  std::uint64_t length = 0;   ///< Content-Length; 0 where the server does not say
  std::string redirect = {};  ///< absolute url, where the server names one
  std::chrono::seconds retry_after{0};
  std::string detail = {};  ///< libcurl's words for what went wrong; no credentials
};

struct HttpSettings {
  std::chrono::milliseconds connect_timeout{2000};
  std::size_t max_bytes = 64u << 20;
  std::string ca_file = {};  ///< empty: the system's
  std::string user = {}, password = {};
};

/// Requests one at a time for each calling thread, over connections that are kept and shared.
/// Redirects are reported, not followed. Thread-safe. Throws nothing but std::bad_alloc.
class HttpClient {
 public:
  /// `api` outlives the client.
  HttpClient(const CurlApi& api, HttpSettings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Returns soon after `deadline` at the latest, whatever the server does.
  [[nodiscard]] HttpResponse send(const HttpRequest& request, Clock::time_point deadline,
                                  const Stop& stop = {});

 private:
  class Connection;
  [[nodiscard]] std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);

  const CurlApi& api_;
  HttpSettings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  // the last used at the back
};

}  // namespace tilejit::cache
