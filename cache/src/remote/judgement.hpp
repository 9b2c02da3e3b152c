#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "remote/http_client.hpp"
#include "remote/remote_address.hpp"
#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

/// What came of a request for an entry.
enum class Verdict : std::uint8_t {
  done,         ///< found, or stored
  miss,         ///< the server has no such entry
  denied,       ///< an S3 store that says no more than "denied": as a rule it has no such entry
  unreachable,  ///< no such host, no connection, or no trust in its certificate
  timed_out,
  refused,     ///< it wants other credentials, or does not do this at all
  failing,     ///< it answers with errors, or with what is not HTTP
  redirected,  ///< it sends us to another host
  damaged,     ///< what came is not an entry
  too_large,
  stopped,
};

struct RequestResult {
  Verdict verdict = Verdict::failing;
  std::string bytes = {};    ///< Verdict::done of a GET
  std::uint64_t length = 0;  ///< of the entry, in bytes; 0 where a HEAD was not told
  std::string reason = {};   ///< for a person: what the server does, and what to do; no credentials
};

/// What one answer means, and whether another attempt may bring a better one.
struct Judgement {
  RequestResult result = {};
  bool try_again = false;
  std::chrono::milliseconds retry_after{0};  ///< what the server asks for; 0: nothing
  std::string redirect = {};                 ///< a url of the same origin to ask instead
};

[[nodiscard]] Judgement judge(HttpMethod method, HttpResponse response,
                              const RemoteAddress& address, const RemoteOptions& options);

}  // namespace tilejit::cache
