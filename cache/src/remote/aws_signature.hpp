#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::cache {

/// The name of a header in lower case, and its value.
using Header = std::pair<std::string, std::string>;

struct AwsIdentity {
  std::string access_key;
  std::string secret_key;
  std::string region;
  std::string service;
};

/// What is signed: everything that the server sees, with the digest standing for the body.
struct AwsRequest {
  std::string_view method;
  std::string_view path;         ///< as sent, percent-encoded
  std::string_view query;        ///< as sent, sorted by name; empty: none
  std::vector<Header> headers;   ///< host, x-amz-date and others, in any order
  std::string_view body_sha256;  ///< 64 hex digits
};

/// "20150830T123600Z", the x-amz-date of a time in UTC.
[[nodiscard]] std::string amz_date(std::time_t time);

/// The value of the Authorization header by AWS Signature Version 4. `date`: the request's
/// x-amz-date.
[[nodiscard]] std::string aws_authorization(const AwsRequest& request, const AwsIdentity& identity,
                                            const std::string& date);

/// Percent-encodes everything except letters, digits and "-._~/", as S3 requires for a path.
[[nodiscard]] std::string uri_encode_path(std::string_view path);

}  // namespace tilejit::cache
