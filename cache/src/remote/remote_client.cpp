#include "remote/remote_client.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>
#include <thread>
#include <utility>

#include "remote/aws_signature.hpp"
#include "sha256.hpp"

namespace tilejit::cache {
namespace {

using std::chrono::milliseconds;

constexpr int kRedirects = 3;
constexpr milliseconds kBackOff{100};  // before the second attempt; doubled for each further one

// A random delay between half and all of `delay`, so that waiting clients return at different
// times.
milliseconds jittered(milliseconds delay) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto half = delay.count() / 2;
  return milliseconds(half + std::uniform_int_distribution<long>(0, delay.count() - half)(random));
}

// Returns false if told to stop.
bool pause(milliseconds delay, const Stop& stop) {
  const auto end = Clock::now() + delay;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    if (stop && stop()) return false;
    std::this_thread::sleep_for(stop ? std::min<Clock::duration>(end - now, kStopInterval)
                                     : end - now);
  }
  return true;
}

HttpSettings settings_of(const RemoteAddress& address, const RemoteOptions& options) {
  return {.connect_timeout = options.connect_timeout,
          .max_bytes = options.max_bytes,
          .ca_file = options.ca_file.string(),
          .user = address.user,
          .password = address.password};
}

// The part of an http url after its origin.
std::string path_of(const std::string& url) {
  const auto at = url.find('/', url.find("://") + 3);
  return at != std::string::npos ? url.substr(at) : "/";
}

}  // namespace

RemoteClient::RemoteClient(const CurlApi& api, const RemoteAddress& address,
                           const RemoteOptions& options, RequestTally& tally)
    : address_(address),
      options_(options),
      tally_(tally),
      http_(api, settings_of(address, options)) {}

std::vector<std::string> RemoteClient::headers_for(HttpMethod method, std::string_view path,
                                                   std::string_view body) const {
  const S3Options& s3 = options_.s3;
  if (!address_.s3 || s3.access_key.empty()) return {};
  const std::string date = amz_date(std::time(nullptr));
  const std::string digest = to_hex(sha256(body));
  std::vector<Header> headers = {
      {"host", address_.host}, {"x-amz-content-sha256", digest}, {"x-amz-date", date}};
  if (!s3.session_token.empty()) headers.emplace_back("x-amz-security-token", s3.session_token);
  // Only a redirect has a query, in the form that S3 wrote.
  const auto query_at = std::min(path.find('?'), path.size());
  const AwsRequest request{.method = to_string(method),
                           .path = path.substr(0, query_at),
                           .query = path.substr(std::min(query_at + 1, path.size())),
                           .headers = headers,
                           .body_sha256 = digest};
  const AwsIdentity identity{.access_key = s3.access_key,
                             .secret_key = s3.secret_key,
                             .region = s3.region.empty() ? kDefaultRegion : s3.region,
                             .service = "s3"};
  headers.emplace_back("authorization", aws_authorization(request, identity, date));
  std::vector<std::string> lines;
  for (const auto& [name, value] : headers) lines.push_back(name + ": " + value);
  return lines;
}

void RemoteClient::verify(std::string_view key, RequestResult& result) const {
  if (!options_.verify || options_.verify(key, result.bytes)) return;
  result = {.verdict = Verdict::damaged,
            .reason =
                "what it sends is not an intact entry of the key that was asked for; check "
                "what it keeps, and proxies on the way"};
}

Judgement RemoteClient::attempt(HttpMethod method, std::string_view key, std::string_view body,
                                Clock::time_point deadline, const Stop& stop) {
  std::string path = address_.path_of(key);
  for (int hop = 0;; ++hop) {
    const HttpRequest request{.method = method,
                              .url = address_.origin + path,
                              .headers = headers_for(method, path, body),
                              .body = body};
    Judgement made = judge(method, http_.send(request, deadline, stop), address_, options_);
    if (method == HttpMethod::get && made.result.verdict == Verdict::done) verify(key, made.result);
    if (made.redirect.empty()) return made;
    if (hop == kRedirects) {
      made.result.reason = "it redirects in a circle; set the url to where the entries are";
      return made;
    }
    path = path_of(made.redirect);
  }
}

RequestResult RemoteClient::request(HttpMethod method, std::string_view key, std::string_view body,
                                    Clock::time_point deadline, const Stop& stop) {
  milliseconds back_off = kBackOff;
  for (int number = 1;; ++number, back_off *= 2) {
    Judgement made = attempt(method, key, body, deadline, stop);
    if (made.result.verdict == Verdict::timed_out) ++tally_.timeouts;
    if (!made.try_again || number >= options_.attempts) return std::move(made.result);
    const milliseconds delay = std::max(jittered(back_off), made.retry_after);
    if (Clock::now() + delay >= deadline || !pause(delay, stop)) return std::move(made.result);
    ++tally_.retries;
  }
}

}  // namespace tilejit::cache
