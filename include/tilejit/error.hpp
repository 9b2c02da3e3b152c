#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tilejit {

/// What went wrong, for programs to branch on. People read `Error::what()`.
enum class ErrorCode {
  invalid_spec,       ///< a descriptor or its JSON is wrong; `where()` is a JSON pointer into it
  invalid_layout,     ///< layout text does not parse, or shape and stride do not fit together
  invalid_formula,    ///< a formula does not parse or does not type-check
  invalid_argument,   ///< launch arguments contradict the descriptor
  unsupported,        ///< well-formed, but not available here (dtype, target, size)
  compile_failed,     ///< NVRTC refused the source; `log()` holds its log
  no_compiler,        ///< NVRTC is not installed or not usable
  no_driver,          ///< libcuda is missing or too old
  no_device,          ///< the driver works but there is no such device
  driver_call,        ///< a CUDA driver call failed; `where()` is the call
  io,                 ///< a file named by the caller could not be read or written
  cancelled,          ///< the request was cancelled, or its Compiler is gone
  deadline_exceeded,  ///< the kernel was not there in time
  queue_full,         ///< too many kernels wait to be compiled
};

/// The name of `code` as it is spelled above, e.g. "invalid_spec".
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// The one exception type of the library: a code, one sentence that says what, where and what to
/// do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what, std::string where = {}, std::string log = {});

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  /// JSON pointer into the spec ("/tensors/x/layout"), a file, or the failing driver call; may be
  /// empty.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// NVRTC's log in full for `compile_failed`; empty for other codes.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  ErrorCode code_;
  std::string where_;
  std::string log_;
};

}  // namespace tilejit
