#pragma once

#include <string>
#include <vector>

#include "warm/trace.hpp"
#include "warm/warm_list.hpp"

namespace tilejit::cli {

/// The rules by which jobs are compiled.
struct WarmRules {
  int jobs = 1;             ///< compiles at a time
  bool keep_going = false;  ///< whether to go on after a failure
  bool quiet = false;       ///< whether to show no progress
};

struct WarmFailure {
  std::string name, error;
};

/// The outcome of a run.
struct WarmOutcome {
  std::size_t compiled = 0;
  std::size_t fetched = 0;  ///< from a remote
  std::size_t found = 0;    ///< another process was faster
  std::vector<WarmFailure> failures;
  int signal = 0;  ///< the signal that stopped the run; 0: none
  double nvrtc_ms = 0;

  [[nodiscard]] std::size_t done() const noexcept { return compiled + fetched + found; }
};

/// Compiles `missing`, jobs of `list`, through the service. Stops at the first failure unless told
/// to keep going, and at a signal (InterruptScope); compiles that are running then are finished and
/// kept. Throws Error{no_compiler}.
[[nodiscard]] WarmOutcome run_warm(Compiler& compiler, const WarmList& list,
                                   const std::vector<const WarmJob*>& missing,
                                   const WarmRules& rules, Trace& trace);

}  // namespace tilejit::cli
