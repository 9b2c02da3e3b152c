#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/occupancy.hpp"
#include "figures/figures.hpp"

namespace tilejit::figures {

/// What the compiler made of a kernel.
struct Compiled {
  int registers = 0;     ///< a thread
  int spill_bytes = 0;   ///< a thread, stored and loaded
  int static_bytes = 0;  ///< shared memory that the kernel declares
};

/// One thing to say of a kernel, in sentences.
struct Topic {
  std::string name;
  std::vector<std::string> sentences;
};

/// A kernel in words, and the figures that the words are about.
struct Explanation {
  device::Occupancy occupancy = {};
  std::optional<std::int64_t> operations = {};
  double bytes_needed = 0;        ///< in flight a multiprocessor, by Little's law
  std::int64_t bytes_issued = 0;  ///< in flight a multiprocessor, by the plan and the occupancy
  std::vector<Topic> topics = {};
  std::vector<std::string> advice = {};  ///< what one could change; empty: nothing stands out
};

/// `plan` was made of `op`, `figures` of `plan`. Of several kernels the numbers are the first
/// one's, and `compiled` is left out.
[[nodiscard]] Explanation explain(const Fused& op, const spec::Analysis& analysis,
                                  const plan::Plan& plan, const Figures& figures,
                                  const SymbolValues& symbols,
                                  const std::optional<Compiled>& compiled);

}  // namespace tilejit::figures
