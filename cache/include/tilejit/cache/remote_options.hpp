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
  must_hit,   ///< read_only, and whoever asks treats anything but a hit as an error
};

inline constexpr const char* kDefaultRegion = "us-east-1";

/// An S3 store and who we are there. Without an access key requests are anonymous.
struct S3Options {
  std::string endpoint = {};  ///< "http(s)://host[:port]"; empty: Amazon's, of the region
  std::string region = {};    ///< empty: kDefaultRegion
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};  ///< of temporary credentials; empty: none
};

/// A server that keeps entries for many machines (docs/remote-cache.md).
struct RemoteOptions {
  /// "http(s)://[user:password@]host[:port]/path", where entries are at
  /// `<path>/v1/<k0k1>/<key>.cubin`, or at the path that has the key for `{key}` if it has that;
  /// or "s3://bucket[/prefix]".
  std::string url = {};
  RemoteMode mode = RemoteMode::read_write;
  std::chrono::milliseconds connect_timeout{2000};  ///< name, connection and TLS
  std::chrono::milliseconds timeout{5000};          ///< of a request, with all its attempts
  std::chrono::milliseconds upload_timeout{30000};  ///< the same of an upload
  /// How long a remote that failed is left alone. Then it is tried again in the background: no
  /// caller pays for it. 0: for the life of the process.
  std::chrono::milliseconds retry_after{60000};
  /// What the destructor waits for uploads. Those not done by then are dropped.
  std::chrono::milliseconds shutdown_timeout{2000};
  int attempts = 3;                       ///< of a request, when trying again may help
  std::size_t max_bytes = 64u << 20;      ///< of an entry, down or up
  std::size_t queued_uploads = 256;       ///< uploads that may wait; further ones are dropped
  std::size_t queued_bytes = 256u << 20;  ///< and their bytes
  std::filesystem::path ca_file = {};     ///< trusted certificates (PEM); empty: the system's
  S3Options s3 = {};
  /// Whether downloaded bytes are the file of the entry of `key`. Empty: the caller checks them.
  std::function<bool(std::string_view key, std::string_view bytes)> verify = {};
  /// Told once of each kind of trouble, without credentials; called from any thread.
  std::function<void(const std::string&)> warn = {};
};

/// The value of a variable; empty where it is not set.
using Environment = std::function<std::string(const char* name)>;

/// Reads TILEJIT_CACHE_REMOTE and its relatives, and AWS's variables (docs/remote-cache.md). The
/// url is empty where there is no remote. Throws std::invalid_argument for a value that has no
/// meaning.
[[nodiscard]] RemoteOptions remote_options_from(const Environment& variable);

}  // namespace tilejit::cache
