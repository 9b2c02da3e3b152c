#pragma once

#include <stdexcept>

namespace tilejit::cli {

/// While this lives, SIGINT and SIGTERM are noted instead of obeyed; the second signal ends the
/// process.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// The signal that came; 0 if none did.
  [[nodiscard]] static int signal() noexcept;
};

/// A signal stopped the work, which has been tidied up. The process ends by that signal.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& what) : std::runtime_error(what), signal_(signal) {}
  [[nodiscard]] int signal() const noexcept { return signal_; }

 private:
  int signal_;
};

}  // namespace tilejit::cli
