#pragma once

#include <optional>
#include <string_view>

namespace tilejit::front {

/// What `--ptxas-options=-v` reports for a cubin: the maximum over its entry points.
struct PtxasReport {
  int registers = 0;     ///< per thread
  int spill_bytes = 0;   ///< per thread, stored and loaded
  int shared_bytes = 0;  ///< per block, static
  bool operator==(const PtxasReport&) const = default;
};

/// Reads the report from a compile log; nothing if the log has none.
[[nodiscard]] std::optional<PtxasReport> parse_ptxas_report(std::string_view log);

}  // namespace tilejit::front
