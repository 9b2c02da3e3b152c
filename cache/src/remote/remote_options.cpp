#include "tilejit/cache/remote_options.hpp"

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <system_error>

namespace tilejit::cache {
namespace {

std::string first_of(const Environment& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return {};
}

std::uint64_t number(const Environment& variable, const char* name, std::uint64_t otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Larger than anybody needs, and small enough that arithmetic on it cannot overflow.
  if (error == std::errc() && end == text.data() + text.size() && value <= 1u << 31) return value;
  throw std::invalid_argument(std::string(name) + " is '" + text.substr(0, 40) +
                              "'; set it to a number from 0 to 2147483648");
}

std::chrono::milliseconds duration(const Environment& variable, const char* name,
                                   std::chrono::milliseconds otherwise) {
  return std::chrono::milliseconds(
      number(variable, name, static_cast<std::uint64_t>(otherwise.count())));
}

RemoteMode mode_of(const std::string& text) {
  if (text.empty() || text == "read-write") return RemoteMode::read_write;
  if (text == "read-only") return RemoteMode::read_only;
  if (text == "must-hit") return RemoteMode::must_hit;
  throw std::invalid_argument("TILEJIT_CACHE_REMOTE_MODE is '" + text.substr(0, 40) +
                              "'; set it to read-write, read-only or must-hit");
}

S3Options s3_options_from(const Environment& variable) {
  return {.endpoint = first_of(variable, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}),
          .region = first_of(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"}),
          .access_key = variable("AWS_ACCESS_KEY_ID"),
          .secret_key = variable("AWS_SECRET_ACCESS_KEY"),
          .session_token = variable("AWS_SESSION_TOKEN")};
}

}  // namespace

RemoteOptions remote_options_from(const Environment& variable) {
  RemoteOptions options;
  options.url = variable("TILEJIT_CACHE_REMOTE");
  if (options.url.empty() || options.url == "off") {
    options.url.clear();
    return options;
  }
  options.mode = mode_of(variable("TILEJIT_CACHE_REMOTE_MODE"));
  options.connect_timeout =
      duration(variable, "TILEJIT_CACHE_REMOTE_CONNECT_TIMEOUT_MS", options.connect_timeout);
  options.timeout = duration(variable, "TILEJIT_CACHE_REMOTE_TIMEOUT_MS", options.timeout);
  options.retry_after =
      duration(variable, "TILEJIT_CACHE_REMOTE_RETRY_AFTER_MS", options.retry_after);
  options.max_bytes = static_cast<std::size_t>(
      number(variable, "TILEJIT_CACHE_REMOTE_MAX_BYTES", options.max_bytes));
  options.ca_file = first_of(variable, {"TILEJIT_CACHE_REMOTE_CA", "AWS_CA_BUNDLE"});
  options.s3 = s3_options_from(variable);
  return options;
}

}  // namespace tilejit::cache
