#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilejit/compile_service.hpp"

namespace tilejit {

class Compiler;

/// The outcomes of a Compiler's requests since construction, those of its Runtime included.
struct Metrics {
  /// Requests that were answered, by CacheTier.
  std::array<std::uint64_t, 5> answered = {};
  std::uint64_t failed = 0;               ///< requests that threw, misses aside
  std::uint64_t missed = 0;               ///< MissError, or a fallback in its place
  std::uint64_t fallbacks = 0;            ///< of those: a more general kernel was given
  std::uint64_t compiled_in_capture = 0;  ///< while the named stream was being captured
  std::uint64_t slow = 0;                 ///< compiles that took longer than Options::slow_compile
  std::uint64_t cubin_bytes = 0;          ///< of what was read, fetched or compiled
  std::size_t known = 0;                  ///< descriptors that were asked for
  bool sealed = false;
  /// Milliseconds of each step, of requests that memory did not answer.
  TimeHistogram plan, lookup, render, nvrtc, publish, load;
};

/// Everything that a Compiler counts, in Prometheus' text format: its Metrics, its service
/// (ServiceStats) and its cache (cache::prometheus_text).
[[nodiscard]] std::string prometheus_text(const Compiler& compiler);

}  // namespace tilejit
