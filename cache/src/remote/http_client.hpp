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
/// Called about 20 times a second; true means give up. Empty: never.
using Stop = std::function<bool()>;
inline constexpr std::chrono::milliseconds kStopInterval{50};  ///< between two calls of Stop

enum class HttpMethod : std::uint8_t { get, head, put };
[[nodiscard]] std::string_view to_string(HttpMethod method) noexcept;  ///< "GET", "HEAD", "PUT"

struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string url = {};
  std::vector<std::string> headers = {};  ///< "name: value"
  std::string_view body = {};             ///< HttpMethod::put only
};

enum class HttpOutcome : std::uint8_t {
  answered,     ///< see `status`
  timed_out,    ///< the deadline passed, or no connection was made in time
  unreachable,  ///< host not found, no connection, or its certificate is not trusted
  cut,          ///< the connection ended too early; another attempt may succeed
  malformed,    ///< the answer is not HTTP, or has far too many headers
  too_large,    ///< the body exceeds max_bytes
  stopped,
};

struct HttpResponse {
  HttpOutcome outcome = HttpOutcome::malformed;
  int status = 0;
  std::string body = {};      ///< complete for status 200, otherwise its first 4096 bytes
  std::uint64_t length = 0;   ///< Content-Length; 0 if the server does not send it
  std::string redirect = {};  ///< absolute url, if the server names one
  std::chrono::seconds retry_after{0};
  std::string detail = {};  ///< libcurl's description of the failure; no credentials
};

struct HttpSettings {
  std::chrono::milliseconds connect_timeout{2000};
  std::size_t max_bytes = 64u << 20;
  std::string ca_file = {};  ///< empty: the system's
  std::string user = {}, password = {};
};

/// Sends one request at a time per calling thread, over shared connections that are kept open.
/// Redirects are reported, not followed. Thread-safe. Throws only std::bad_alloc.
class HttpClient {
 public:
  /// `api` outlives the client.
  HttpClient(const CurlApi& api, HttpSettings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Returns soon after `deadline` at the latest, regardless of the server.
  [[nodiscard]] HttpResponse send(const HttpRequest& request, Clock::time_point deadline,
                                  const Stop& stop = {});

 private:
  class Connection;
  [[nodiscard]] std::unique_ptr<Connection> take();
  void give_back(std::unique_ptr<Connection> connection);

  const CurlApi& api_;
  HttpSettings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  // the last used is at the back
};

}  // namespace tilejit::cache
