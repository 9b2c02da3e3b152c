#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tilejit/compiler.hpp"

namespace tilejit::cli {

/// The times at which the kernels of a warm run were compiled, in Chrome's trace format
/// (chrome://tracing, ui.perfetto.dev). Compiles that ran at the same time have separate rows.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  Trace() : start_(Clock::now()) {}

  struct Span {
    std::string name;
    Clock::time_point begin, end;
    std::size_t lane = 0;  ///< row
  };
  /// Adds the span, with one span below it for each step that took time.
  void add(const Span& span, const Artifact& artifact);
  void add_failed(const Span& span, const std::string& error);

  [[nodiscard]] std::string to_json() const;

 private:
  [[nodiscard]] double microseconds(Clock::time_point time) const;
  void add_event(const Span& span, const std::string& details);

  Clock::time_point start_;
  std::vector<std::string> events_;  // JSON objects
};

}  // namespace tilejit::cli
