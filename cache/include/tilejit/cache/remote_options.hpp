#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tilejit::cache {

enum class RemoteMode : std::uint8_t {
  read_write,
  read_only,  ///< nothing is uploaded
  must_hit,   ///< as read_only, and the caller treats anything except a hit as an error
};

inline constexpr const char* kDefaultRegion = "us-east-1";

/// An S3 store and its credentials. Without an access key requests are anonymous.
struct S3Options {
  std::string endpoint = {};  ///< "http(s)://host[:port]"; empty: Amazon's for the region
  std::string region = {};    ///< empty: kDefaultRegion
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};  ///< for temporary credentials; empty: none
};

/// A server that keeps entries for many machines (docs/remote-cache.md).
struct RemoteOptions {
  /// "http(s)://[user:password@]host[:port]/path", or "s3://bucket[/prefix]". Entries are at
  /// `<path>/v1/<k0k1>/<key>.cubin`. If the path contains `{key}`, they are at that path with
  /// `{key}` replaced by the key.
  std::string url = {};
  RemoteMode mode = RemoteMode::read_write;
  std::chrono::milliseconds connect_timeout{2000};  ///< for name lookup, connection and TLS
  std::chrono::milliseconds timeout{5000};          ///< per request, with all its attempts
  std::chrono::milliseconds upload_timeout{30000};  ///< the same for an upload
  /// How long a remote that failed is not asked. Then a background request tries it again, so that
  /// no caller waits for it. 0: for the life of the process.
  std::chrono::milliseconds retry_after{60000};
  /// How long the destructor waits for uploads. Unfinished ones are dropped.
  std::chrono::milliseconds shutdown_timeout{2000};
  int attempts = 3;                       ///< per request, if another attempt may help
  std::size_t max_bytes = 64u << 20;      ///< largest entry, for downloads and uploads
  std::size_t queued_uploads = 256;       ///< uploads that may wait; further ones are dropped
  std::size_t queued_bytes = 256u << 20;  ///< bytes of waiting uploads
  std::filesystem::path ca_file = {};     ///< trusted certificates (PEM); empty: the system's
  S3Options s3 = {};
  /// Tells whether downloaded bytes are the file of the entry of `key`. Empty: the caller checks.
  std::function<bool(std::string_view key, std::string_view bytes)> verify = {};
  /// Called once for each kind of trouble, from any thread. The text has no credentials.
  std::function<void(const std::string&)> warn = {};
};

/// Returns the value of a variable; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

/// Reads TILEJIT_CACHE_REMOTE and its relatives, and AWS's variables (docs/remote-cache.md). The
/// url is empty if there is no remote. Throws std::invalid_argument for a meaningless value.
[[nodiscard]] RemoteOptions remote_options_from(const Environment& variable);

}  // namespace tilejit::cache
