#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tilejit::cache {

/// The system calls with which this thread changes files, between construction and destruction:
/// what was asked, in order, and which calls fail. One at a time in a thread; others are not seen.
class SystemCalls {
 public:
  struct Call {
    std::string name;  ///< of the function: "open", "mkdir", "write", "pread", "fsync", "syncfs",
                       ///< "rename", "unlink", "lock"
    std::string file;  ///< the last part of its path; of a temporary: "<final name>.tmp"
  };
  /// The error number that a call fails with; 0: it is made.
  using Fail = std::function<int(const Call& call)>;

  explicit SystemCalls(Fail fail = {});
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  /// "fsync keys.cubin", ...: those of the named functions.
  [[nodiscard]] std::vector<std::string> of(const std::vector<std::string>& names) const;
  /// Writes take at most as many bytes at once, and every second one is interrupted.
  void write_in_pieces(std::size_t bytes) { piece_ = bytes; }

  // For the functions that stand in for the C library's.
  [[nodiscard]] static SystemCalls* active() noexcept;
  [[nodiscard]] int note(Call call);
  [[nodiscard]] std::size_t piece() const noexcept { return piece_; }

 private:
  Fail fail_;
  std::vector<Call> calls_;
  std::size_t piece_ = 0;  // 0: whole
};

}  // namespace tilejit::cache
