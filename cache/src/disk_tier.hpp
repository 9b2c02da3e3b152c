#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilejit/cache/store.hpp"

namespace tilejit::cache {

/// Entries as files under `<folder>/v1/`. Thread-safe; any number of processes may share a folder.
class DiskTier {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Touches nothing on the disk. `folder` is absolute.
  DiskTier(const std::string& folder, Warn warn);

  enum class Status : std::uint8_t {
    hit,
    miss,
    damaged,  ///< was there, did not verify, and is set aside now
    failed,   ///< could not be read
  };
  struct ReadResult {
    Status status = Status::miss;
    EntryPtr entry = nullptr;  ///< Status::hit only
  };

  [[nodiscard]] ReadResult read(const std::string& key);
  /// False if the disk could not take it (warned of); nothing of it stays then.
  [[nodiscard]] bool publish(const std::string& key, const Entry& entry);

  [[nodiscard]] bool add_marker(const std::string& kind, const std::string& name);
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  [[nodiscard]] std::string path_of(const std::string& key) const;

 private:
  enum class Trouble : std::uint8_t { reading, publishing, marking, damage };

  ReadResult read_open(int fd, const std::string& path);
  ReadResult failed_read(const std::string& path, int error);
  ReadResult set_aside(int fd, const std::string& path);
  void warn_once(Trouble trouble, const std::string& message);

  std::string root_;
  Warn warn_;
  std::atomic<unsigned> warned_ = 0;  // one bit a Trouble
};

}  // namespace tilejit::cache
