#pragma once

#include <optional>
#include <string_view>

namespace tilejit::front {

/// What `--ptxas-options=-v` says of a cubin; the largest of its entry points.
struct PtxasReport {
  int registers = 0;     ///< a thread
  int spill_bytes = 0;   ///< a thread, stored and loaded
  int shared_bytes = 0;  ///< a block, static
  bool operator==(const PtxasReport&) const = default;
};

/// Reads it from a compile log; nothing if the log has no report.
[[nodiscard]] std::optional<PtxasReport> parse_ptxas_report(std::string_view log);

}  // namespace tilejit::front
