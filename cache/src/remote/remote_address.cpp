#include "remote/remote_address.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "remote/aws_signature.hpp"

namespace tilejit::cache {
namespace {

// The layout version of cache/FORMAT.md: a cache folder, served unchanged, is a remote.
constexpr std::string_view kLayout = "v1";
constexpr std::string_view kKey = "{key}";

struct Url {
  std::string scheme;
  std::string user_info;
  std::string host;  // with port
  std::string path;
};

bool is_printable(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::optional<Url> split(std::string_view text) {
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || !is_printable(text)) return std::nullopt;
  Url url{.scheme = lower(text.substr(0, scheme_end)), .user_info = {}, .host = {}, .path = {}};
  text.remove_prefix(scheme_end + 3);
  const auto host_end = std::min(text.find('/'), text.size());
  std::string_view authority = text.substr(0, host_end);
  url.path = text.substr(host_end);
  // A password with an unescaped '/' would end up in the path, and then in messages.
  if (url.path.find('@') != std::string::npos) return std::nullopt;
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    url.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  url.host = authority;
  return url;
}

bool is_port(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// host, host:port, [address], [address]:port
bool is_host(std::string_view host) noexcept {
  constexpr std::string_view kName =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view address = host.substr(1, end - 1), rest = host.substr(end + 1);
    return address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
           (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
  }
  const auto colon = host.find(':');
  return colon != 0 && !host.empty() &&
         host.substr(0, colon).find_first_not_of(kName) == std::string_view::npos &&
         (colon == std::string_view::npos || is_port(host.substr(colon + 1)));
}

bool is_http(const Url& url) noexcept {
  return (url.scheme == "http" || url.scheme == "https") && is_host(url.host);
}

std::string host_of(const Url& url) {
  std::string host = lower(url.host);
  const std::string_view own_port = url.scheme == "http" ? ":80" : ":443";
  if (host.ends_with(own_port)) host.resize(host.size() - own_port.size());
  return host;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    result += escaped ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escaped) i += 2;
  }
  return result;
}

// Shows only `shown` of the url: the rest may contain a misplaced secret.
[[noreturn]] void refuse(const std::string& what, const std::string& shown = "") {
  throw std::invalid_argument("the remote cache's url" + (shown.empty() ? "" : " (" + shown + ")") +
                              " " + what);
}

[[noreturn]] void refuse_form() {
  refuse(
      "is not one of http://host[:port]/path, https://host[:port]/path and "
      "s3://bucket/prefix; write '@', ':' and '/' of a user or password as %40, %3A and %2F");
}

// Sets where the key is in a path: after `v1/<k0k1>/` unless the path has `{key}`.
void place_key(RemoteAddress& address, std::string path) {
  if (const auto at = path.find(kKey); at != std::string::npos) {
    address.folders = false;
    address.before_key = path.substr(0, at);
    address.after_key = path.substr(at + kKey.size());
    return;
  }
  while (path.ends_with('/')) path.pop_back();
  address.before_key = path.append("/").append(kLayout).append("/");
  address.after_key = ".cubin";
}

RemoteAddress http_address(const Url& url) {
  if (!is_http(url)) refuse_form();
  if (url.path.find_first_of("?#") != std::string::npos) {
    refuse("has a query or a fragment; leave out what begins with ? or #", url.host);
  }
  RemoteAddress address;
  address.host = host_of(url);
  address.origin = url.scheme + "://" + address.host;
  const auto colon = std::min(url.user_info.find(':'), url.user_info.size());
  address.user = percent_decoded(std::string_view(url.user_info).substr(0, colon));
  if (colon < url.user_info.size()) {
    address.password = percent_decoded(std::string_view(url.user_info).substr(colon + 1));
  }
  place_key(address, url.path);
  return address;
}

bool is_bucket(std::string_view name) noexcept {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  return name.size() >= 3 && name.size() <= 63 && name.front() != '.' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// Amazon takes the bucket as part of the host name if a certificate can cover it. Elsewhere it is
// the first part of the path.
Url s3_endpoint(const Url& bucket, const S3Options& s3, std::string& path) {
  if (s3.endpoint.empty()) {
    const std::string host =
        "s3." + (s3.region.empty() ? std::string(kDefaultRegion) : s3.region) + ".amazonaws.com";
    if (bucket.host.find('.') == std::string::npos) {
      return {.scheme = "https", .user_info = {}, .host = bucket.host + "." + host, .path = {}};
    }
    path.insert(0, "/" + bucket.host);
    return {.scheme = "https", .user_info = {}, .host = host, .path = {}};
  }
  path.insert(0, "/" + bucket.host);
  const auto endpoint = split(s3.endpoint);
  if (!endpoint || !is_http(*endpoint) || !endpoint->user_info.empty() ||
      (endpoint->path.size() > 1)) {
    throw std::invalid_argument(
        "the S3 endpoint is not a http://host:port or https://host:port; set AWS_ENDPOINT_URL to "
        "one");
  }
  return *endpoint;
}

// A line break at the end of a secret is a frequent mistake, and "signature does not match" does
// not reveal it.
void check_identity(const S3Options& s3) {
  const std::pair<const char*, const std::string*> parts[] = {
      {"AWS_ACCESS_KEY_ID", &s3.access_key},
      {"AWS_SECRET_ACCESS_KEY", &s3.secret_key},
      {"AWS_SESSION_TOKEN", &s3.session_token},
      {"AWS_REGION", &s3.region}};
  for (const auto& [name, value] : parts) {
    if (is_printable(*value)) continue;
    throw std::invalid_argument(std::string(name) +
                                " has a space, a line break or another character that no such "
                                "value has; set it to the bare value");
  }
  if (s3.access_key.empty() == s3.secret_key.empty()) return;
  throw std::invalid_argument(
      "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set and the other is not; set both, "
      "or neither for a public bucket");
}

RemoteAddress s3_address(const Url& url, const S3Options& s3) {
  if (!is_bucket(url.host) || !url.user_info.empty()) {
    refuse(
        "is not an s3://bucket/prefix; credentials belong into AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  }
  check_identity(s3);
  std::string path = url.path;
  const Url endpoint = s3_endpoint(url, s3, path);
  RemoteAddress address;
  address.s3 = true;
  address.host = host_of(endpoint);
  address.origin = endpoint.scheme + "://" + address.host;
  place_key(address, path);
  address.before_key = uri_encode_path(address.before_key);
  address.after_key = uri_encode_path(address.after_key);
  return address;
}

}  // namespace

std::string RemoteAddress::path_of(std::string_view key) const {
  std::string path = before_key;
  if (folders) path.append(key.substr(0, 2)).append("/");
  return path.append(key).append(after_key);
}

RemoteAddress remote_address_of(const RemoteOptions& options) {
  const auto url = split(options.url);
  if (!url) refuse_form();
  RemoteAddress address = url->scheme == "s3" ? s3_address(*url, options.s3) : http_address(*url);
  address.name = url->scheme + "://" + url->host + url->path;
  return address;
}

std::string origin_of(std::string_view text) {
  const auto url = split(text);
  if (!url || !is_http(*url) || !url->user_info.empty()) return {};
  return url->scheme + "://" + host_of(*url);
}

}  // namespace tilejit::cache
