#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

enum class RemoteStatus : std::uint8_t {
  hit,
  miss,
  unavailable,  ///< the remote has not said; go on without it
};

struct RemoteAnswer {
  RemoteStatus status = RemoteStatus::unavailable;
  std::string bytes = {};    ///< of `get`, RemoteStatus::hit only: an entry's file
  std::uint64_t length = 0;  ///< of a hit, in bytes; 0 where a server does not tell `head`
};

enum class UploadStatus : std::uint8_t {
  queued,
  dropped,  ///< no room in the queue, or an entry too large
  off,      ///< the mode takes no uploads, or the remote does not at present
};

/// Counts since construction. `unavailable` includes `skipped`: requests answered at once, since
/// the remote had failed before. `damaged`: downloads that were no entries. `timeouts`: attempts
/// that ran into one. `request_ns`, `longest_ns`: time of the gets and heads that asked the server,
/// `requests` of them, in total and the longest.
struct RemoteCounters {
  std::uint64_t hits = 0, misses = 0, unavailable = 0, skipped = 0, damaged = 0;
  std::uint64_t uploads = 0, uploads_failed = 0, uploads_dropped = 0;
  std::uint64_t bytes_down = 0, bytes_up = 0, retries = 0, timeouts = 0;
  std::uint64_t requests = 0, request_ns = 0, longest_ns = 0;
};

/// Entries on a server (docs/remote-cache.md). Thread-safe; no trouble with the server or the
/// network is an exception, and none holds a caller beyond its time-out: it is warned of once a
/// kind and counted, and after a failure that will last requests return at once. Keys are 64
/// lower-case hex digits; the caller has checked that. A forked child may go on using it.
class RemoteStore {
 public:
  /// Asks nothing of the network and does not load libcurl yet. Throws std::invalid_argument for a
  /// url that cannot be used.
  explicit RemoteStore(RemoteOptions options);
  /// Waits for uploads, at most RemoteOptions::shutdown_timeout.
  ~RemoteStore();
  RemoteStore(const RemoteStore&) = delete;
  RemoteStore& operator=(const RemoteStore&) = delete;

  /// The bytes under `key`, which satisfy RemoteOptions::verify.
  [[nodiscard]] RemoteAnswer get(const std::string& key);
  /// Whether there are any.
  [[nodiscard]] RemoteAnswer head(const std::string& key);
  /// Uploads an entry's file in the background.
  UploadStatus put(const std::string& key, std::string bytes);
  /// Waits until no upload is left, at most `patience`. False if some are.
  bool wait_for_uploads(std::chrono::milliseconds patience);

  [[nodiscard]] RemoteCounters counters() const;
  [[nodiscard]] RemoteMode mode() const noexcept;
  /// The url, without user and password.
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
