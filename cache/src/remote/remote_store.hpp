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
  unavailable,  ///< the remote did not answer; go on without it
};

struct RemoteAnswer {
  RemoteStatus status = RemoteStatus::unavailable;
  std::string bytes = {};    ///< for `get` and RemoteStatus::hit only: an entry's file
  std::uint64_t length = 0;  ///< of a hit, in bytes; 0 if the server does not tell `head`
};

enum class UploadStatus : std::uint8_t {
  queued,
  dropped,  ///< no room in the queue, or the entry is too large
  off,      ///< the mode does not upload, or the remote is unavailable now
};

/// Counters since construction. `unavailable` includes `skipped`, the requests that were not sent
/// because the remote had failed before. `damaged`: downloads that are not entries. `timeouts`:
/// attempts that timed out. `request_ns` and `longest_ns`: the total and longest time of the gets
/// and heads that asked the server; `requests` is their number.
struct RemoteCounters {
  std::uint64_t hits = 0, misses = 0, unavailable = 0, skipped = 0, damaged = 0;
  std::uint64_t uploads = 0, uploads_failed = 0, uploads_dropped = 0;
  std::uint64_t bytes_down = 0, bytes_up = 0, retries = 0, timeouts = 0;
  std::uint64_t requests = 0, request_ns = 0, longest_ns = 0;
};

/// Entries on a server (docs/remote-cache.md). Thread-safe. Trouble with the server or the network
/// never throws and never delays a caller beyond its time-out. It is counted and warned of once per
/// kind; after a lasting failure requests return at once. The caller has checked that keys are 64
/// lower-case hex digits. A forked child may continue to use the object.
class RemoteStore {
 public:
  /// Does not use the network or load libcurl yet. Throws std::invalid_argument for an unusable
  /// url.
  explicit RemoteStore(RemoteOptions options);
  /// Waits for uploads, at most for RemoteOptions::shutdown_timeout.
  ~RemoteStore();
  RemoteStore(const RemoteStore&) = delete;
  RemoteStore& operator=(const RemoteStore&) = delete;

  /// The bytes of `key`, which satisfy RemoteOptions::verify.
  [[nodiscard]] RemoteAnswer get(const std::string& key);
  /// Whether the remote has the entry.
  [[nodiscard]] RemoteAnswer head(const std::string& key);
  /// Uploads an entry's file in the background.
  UploadStatus put(const std::string& key, std::string bytes);
  /// Waits at most `patience` until no upload is left. Returns false if some are.
  bool wait_for_uploads(std::chrono::milliseconds patience);

  [[nodiscard]] RemoteCounters counters() const;
  [[nodiscard]] RemoteMode mode() const noexcept;
  /// The url without user and password.
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
