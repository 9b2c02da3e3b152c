#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit::usage {

/// Appends to a manifest (docs/deploying.md, "Manifests"): one line at the first use of a
/// descriptor, and one line of counts at the end. Each line is a single write with O_APPEND, so
/// processes may share the file. A process that dies leaves at most a torn line; the next line
/// starts on a new line. Thread-safe. Warns once of trouble with the file; after that nothing is
/// recorded.
class Recorder {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Reads which entries the file has. Creates the file, with mode 0644 less the umask, and its
  /// folders.
  Recorder(std::filesystem::path path, Warn warn);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// Records the first use of a descriptor by this process. Returns its id; empty if the file
  /// cannot be used.
  std::string first_use(const Operation& op, const Target& target);
  /// Writes how often this process used each descriptor.
  void finish(const std::unordered_map<std::string, std::uint64_t>& uses) noexcept;

 private:
  void read_ids();
  void append(const std::string& line);
  void give_up(int error);

  const std::filesystem::path path_;
  const Warn warn_;
  std::mutex mutex_;  // guards what follows
  int fd_ = -1;
  std::unordered_set<std::string> ids_;  // ids that the file has
};

}  // namespace tilejit::usage
