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

/// Appends to a manifest (docs/deploying.md, "Manifests"): a line at the first use of a descriptor,
/// a line of counts at the end. Each line is one write with O_APPEND, so that processes may share
/// the file, and one that dies leaves at most a torn line, which the next line starts behind.
/// Thread-safe. Trouble with the file is warned of once; then nothing is recorded.
class Recorder {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Reads which entries the file has; makes it, with mode 0644 less the umask, and its folders.
  Recorder(std::filesystem::path path, Warn warn);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// The first use of a descriptor by this process; returns its id, empty if the file cannot be
  /// used.
  std::string first_use(const Operation& op, const Target& target);
  /// Writes how often each was used by this process.
  void finish(const std::unordered_map<std::string, std::uint64_t>& uses) noexcept;

 private:
  void read_ids();
  void append(const std::string& line);
  void give_up(int error);

  const std::filesystem::path path_;
  const Warn warn_;
  std::mutex mutex_;  // guards what follows
  int fd_ = -1;
  std::unordered_set<std::string> ids_;  // that the file has
};

}  // namespace tilejit::usage
