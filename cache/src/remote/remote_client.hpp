#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remote/http_client.hpp"
#include "remote/judgement.hpp"
#include "remote/remote_address.hpp"
#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

struct RequestTally {
  std::atomic<std::uint64_t> retries = 0, timeouts = 0;
};

/// Requests for entries by key, with attempts, back-off, redirects and signatures. Thread-safe.
class RemoteClient {
 public:
  /// All arguments outlive the client.
  RemoteClient(const CurlApi& api, const RemoteAddress& address, const RemoteOptions& options,
               RequestTally& tally);

  /// The result of all attempts together. Returns soon after `deadline` at the latest, and soon
  /// after `stop` returns true. `body` is for a PUT.
  [[nodiscard]] RequestResult request(HttpMethod method, std::string_view key,
                                      std::string_view body, Clock::time_point deadline,
                                      const Stop& stop = {});

 private:
  [[nodiscard]] Judgement attempt(HttpMethod method, std::string_view key, std::string_view body,
                                  Clock::time_point deadline, const Stop& stop);
  /// Marks a download as damaged if it is not the entry of `key`.
  void verify(std::string_view key, RequestResult& result) const;
  [[nodiscard]] std::vector<std::string> headers_for(HttpMethod method, std::string_view path,
                                                     std::string_view body) const;

  const RemoteAddress& address_;
  const RemoteOptions& options_;
  RequestTally& tally_;
  HttpClient http_;
};

}  // namespace tilejit::cache
