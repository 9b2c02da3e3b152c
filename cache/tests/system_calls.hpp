#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tilejit::cache {

/// The system calls with which this thread changes files, between construction and destruction: the
/// requests, in order, and which of them fail. One object at a time per thread; other threads are
/// not observed.
class SystemCalls {
 public:
  struct Call {
    std::string name;  ///< of the function: "open", "mkdir", "write", "pread", "fsync", "syncfs",
                       ///< "rename", "unlink", "lock"
    std::string file;  ///< the last part of its path; of a temporary: "<final name>.tmp"
  };
  /// The error number with which a call fails; 0: the call is made.
  using Fail = std::function<int(const Call& call)>;

  explicit SystemCalls(Fail fail = {});
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  /// "fsync keys.cubin", ...: the calls of the named functions.
  [[nodiscard]] std::vector<std::string> of(const std::vector<std::string>& names) const;
  /// Each write takes at most this many bytes, and every second one is interrupted.
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
