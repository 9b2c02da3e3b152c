#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tilejit/compiler.hpp"

namespace tilejit::cli {

/// When each kernel of a warm run was compiled, as Chrome's trace format (chrome://tracing,
/// ui.perfetto.dev): a row a compile that ran at the same time.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  Trace() : start_(Clock::now()) {}

  struct Span {
    std::string name;
    Clock::time_point begin, end;
    std::size_t lane = 0;  ///< row
  };
  /// With a span below it for each stage that took time.
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
