#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "remote/http_client.hpp"
#include "remote/remote_address.hpp"
#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

/// The outcome of a request for an entry.
enum class Verdict : std::uint8_t {
  done,         ///< found, or stored
  miss,         ///< the server has no such entry
  denied,       ///< an S3 store says "denied", which usually means that it has no such entry
  unreachable,  ///< host not found, no connection, or its certificate is not trusted
  timed_out,
  refused,     ///< it wants other credentials, or does not support the request
  failing,     ///< it answers with errors, or not with HTTP
  redirected,  ///< it redirects to another host
  damaged,     ///< the answer is not an entry
  too_large,
  stopped,
};

struct RequestResult {
  Verdict verdict = Verdict::failing;
  std::string bytes = {};    ///< Verdict::done of a GET
  std::uint64_t length = 0;  ///< of the entry, in bytes; 0 if the answer to HEAD has none
  std::string reason = {};   ///< for a person: what the server does and what to do; no credentials
};

/// The meaning of one answer, and whether another attempt may give a better one.
struct Judgement {
  RequestResult result = {};
  bool try_again = false;
  std::chrono::milliseconds retry_after{0};  ///< what the server asks for; 0: nothing
  std::string redirect = {};                 ///< a url of the same origin to ask instead
};

[[nodiscard]] Judgement judge(HttpMethod method, HttpResponse response,
                              const RemoteAddress& address, const RemoteOptions& options);

}  // namespace tilejit::cache
