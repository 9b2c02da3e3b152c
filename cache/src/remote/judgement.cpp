#include "remote/judgement.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace tilejit::cache {
namespace {

// S3 errors that another request would get as well, and what to do about them.
struct FatalCode {
  std::string_view code;
  std::string_view advice;
};
constexpr std::string_view kCheckKeys = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
constexpr std::string_view kNewToken = "get new credentials with a new AWS_SESSION_TOKEN";
constexpr std::string_view kSetRegion = "set AWS_REGION to the bucket's region";
constexpr FatalCode kFatalCodes[] = {
    {"SignatureDoesNotMatch", kCheckKeys},
    {"InvalidAccessKeyId", kCheckKeys},
    {"ExpiredToken", kNewToken},
    {"InvalidToken", kNewToken},
    {"AuthorizationHeaderMalformed", kSetRegion},
    {"PermanentRedirect", kSetRegion},
    {"RequestTimeTooSkewed", "set this machine's clock"},
    {"NoSuchBucket", "make the bucket, or set the url to another"},
};

const FatalCode* fatal_code(std::string_view code) {
  const auto* at = std::find_if(std::begin(kFatalCodes), std::end(kFatalCodes),
                                [&](const FatalCode& fatal) { return fatal.code == code; });
  return at != std::end(kFatalCodes) ? at : nullptr;
}

// The word in <Code> of an S3 error; empty if there is none or it cannot be shown.
std::string s3_code(std::string_view body) {
  constexpr std::string_view kOpen = "<Code>", kClose = "</Code>";
  const auto begin = body.find(kOpen);
  if (begin == std::string_view::npos) return {};
  const auto end = body.find(kClose, begin);
  if (end == std::string_view::npos) return {};
  const std::string_view code = body.substr(begin + kOpen.size(), end - begin - kOpen.size());
  const bool is_word = code.size() <= 64 && std::all_of(code.begin(), code.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                       });
  return is_word ? std::string(code) : std::string();
}

bool is_success(HttpMethod method, int status) noexcept {
  return method == HttpMethod::put ? status / 100 == 2 : status == 200;
}

bool may_pass(int status) noexcept {
  return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

bool wants_credentials(int status) noexcept {
  return status == 401 || status == 403 || status == 407;
}

// The statuses by which servers refuse all uploads.
bool takes_no_uploads(int status) noexcept {
  return status == 404 || status == 405 || status == 409 || status == 501 || status == 507;
}

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : text + " (" + detail + ")";
}

Judgement verdict(Verdict verdict, std::string reason) {
  Judgement made;
  made.result.verdict = verdict;
  made.result.reason = std::move(reason);
  return made;
}

Judgement judge_success(HttpMethod method, HttpResponse response) {
  Judgement made = verdict(Verdict::done, {});
  made.result.length = method == HttpMethod::head ? response.length : response.body.size();
  if (method == HttpMethod::get) made.result.bytes = std::move(response.body);
  return made;
}

Judgement judge_redirect(HttpResponse response, const RemoteAddress& address) {
  const std::string origin = origin_of(response.redirect);
  Judgement made = verdict(
      Verdict::redirected,
      "it redirects to " + (origin.empty() ? "another place" : origin) +
          ", and only redirects within one host are followed; set " +
          (address.s3 ? "AWS_REGION to the bucket's region" : "the url to where the entries are"));
  if (origin == address.origin) made.redirect = std::move(response.redirect);
  return made;
}

Judgement judge_status(HttpMethod method, const HttpResponse& response,
                       const RemoteAddress& address) {
  const int status = response.status;
  const bool upload = method == HttpMethod::put;
  const std::string code = address.s3 ? s3_code(response.body) : "";
  const std::string answer =
      "it answers with HTTP status " + std::to_string(status) + (code.empty() ? "" : " ") + code;
  if (const FatalCode* fatal = fatal_code(code)) {
    return verdict(Verdict::refused, answer + "; " + std::string(fatal->advice));
  }
  if (!upload && (status == 404 || status == 410)) return verdict(Verdict::miss, {});
  if (!upload && address.s3 && status == 403) {
    return verdict(Verdict::denied,
                   answer +
                       ", which is taken for a miss; allow s3:ListBucket, so that a store can "
                       "tell the two apart");
  }
  if (wants_credentials(status)) {
    return verdict(
        Verdict::refused,
        answer + "; " + std::string(address.s3 ? kCheckKeys : "check the url's user and password"));
  }
  if (upload && takes_no_uploads(status)) {
    return verdict(Verdict::refused,
                   answer + "; let it take uploads, or set TILEJIT_CACHE_REMOTE_MODE to read-only");
  }
  if (status == 413) return verdict(Verdict::too_large, answer + "; raise its limit");
  Judgement made = verdict(Verdict::failing, answer + "; look into its log");
  made.try_again = may_pass(status);
  made.retry_after = response.retry_after;
  return made;
}

}  // namespace

Judgement judge(HttpMethod method, HttpResponse response, const RemoteAddress& address,
                const RemoteOptions& options) {
  switch (response.outcome) {
    case HttpOutcome::answered: break;
    case HttpOutcome::timed_out:
      return verdict(Verdict::timed_out,
                     with_detail("it does not answer in time", response.detail));
    case HttpOutcome::unreachable:
      return verdict(Verdict::unreachable, with_detail("it cannot be reached", response.detail));
    case HttpOutcome::cut: {
      Judgement made =
          verdict(Verdict::failing, with_detail("it ends connections early", response.detail));
      made.try_again = true;
      return made;
    }
    case HttpOutcome::malformed:
      return verdict(Verdict::failing, with_detail("what it sends is not HTTP", response.detail));
    case HttpOutcome::too_large:
      return verdict(Verdict::too_large, "an entry there has more than " +
                                             std::to_string(options.max_bytes) +
                                             " bytes; raise TILEJIT_CACHE_REMOTE_MAX_BYTES");
    case HttpOutcome::stopped: return verdict(Verdict::stopped, {});
  }
  if (is_success(method, response.status)) {
    return judge_success(method, std::move(response));
  }
  if (response.status / 100 == 3 && !response.redirect.empty()) {
    return judge_redirect(std::move(response), address);
  }
  return judge_status(method, response, address);
}

}  // namespace tilejit::cache
