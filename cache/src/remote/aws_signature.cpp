#include "remote/aws_signature.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "sha256.hpp"

namespace tilejit::cache {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

Digest hmac_sha256(std::string_view key, std::string_view text) noexcept {
  Digest digest{};
  unsigned size = digest.size();
  // Fails only without SHA-256, and then there would be no cache key either.
  (void)HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
             &size);
  return digest;
}

std::string_view bytes_of(const Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string joined_names(const std::vector<Header>& headers) {
  std::string names;
  for (const auto& [name, value] : headers) {
    if (!names.empty()) names += ';';
    names += name;
  }
  return names;
}

std::string canonical_request(const AwsRequest& request, const std::vector<Header>& headers) {
  std::string text;
  text.append(request.method).append("\n");
  text.append(request.path).append("\n");
  text.append(request.query).append("\n");
  for (const auto& [name, value] : headers) {
    text.append(name).append(":").append(value).append("\n");
  }
  text.append("\n").append(joined_names(headers)).append("\n").append(request.body_sha256);
  return text;
}

}  // namespace

std::string amz_date(std::time_t time) {
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[17];
  (void)std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

std::string aws_authorization(const AwsRequest& request, const AwsIdentity& identity,
                              const std::string& date) {
  std::vector<Header> headers = request.headers;
  std::sort(headers.begin(), headers.end());
  const std::string day = date.substr(0, 8);
  const std::string scope = day + "/" + identity.region + "/" + identity.service + "/aws4_request";
  const std::string to_sign = std::string(kAlgorithm) + "\n" + date + "\n" + scope + "\n" +
                              to_hex(sha256(canonical_request(request, headers)));

  Digest key = hmac_sha256("AWS4" + identity.secret_key, day);
  for (const std::string_view part :
       {std::string_view(identity.region), std::string_view(identity.service),
        std::string_view("aws4_request"), std::string_view(to_sign)}) {
    key = hmac_sha256(bytes_of(key), part);
  }
  return std::string(kAlgorithm) + " Credential=" + identity.access_key + "/" + scope +
         ", SignedHeaders=" + joined_names(headers) + ", Signature=" + to_hex(key);
}

std::string uri_encode_path(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string encoded;
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return encoded;
}

}  // namespace tilejit::cache
