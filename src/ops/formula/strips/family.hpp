#pragma once

#include <cstdint>
#include <optional>

#include "rows/family.hpp"

namespace tilejit::plan {

struct Operand;

/// Odd columns that several passes read (template fused_strips.cu). `row_threads` warps of each
/// block of a cluster share the rows of memory in which a strip of columns lies. A lane takes a
/// vector of each of its rows: aligned, wherever the strip begins in that row. `register_vectors`
/// are those of a lane, in shared memory, and `ahead` is true: the next strip is on its way.
struct Strips : Rows {
  static constexpr std::string_view kTemplate = "fused_strips";
  int columns = 1;  ///< of a strip
  int held = 0;     ///< vectors of a lane in registers, whose places the next strip's take
  bool operator==(const Strips&) const = default;

  // What plan::IsFamily says, where it is not that of Rows.
  void choose_launch(Plan&, const Tuning&) {}  // plan_by_strips has chosen
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan&) const noexcept { return 1; }
  void write_json(core::JsonLine& line) const;
};

/// Bytes of shared memory for a block's vectors, and before those of `operand`.
[[nodiscard]] std::int64_t held_bytes(const Plan& plan, const Strips& strips);
[[nodiscard]] std::int64_t held_place(const Plan& plan, const Strips& strips,
                                      const Operand& operand);
/// Bytes for what threads exchange, and all that a block has.
[[nodiscard]] std::int64_t exchanged_bytes(const Plan& plan, const Strips& strips);
[[nodiscard]] std::int64_t strip_bytes(const Plan& plan, const Strips& strips);

/// The plan by strips if `plan`, which is complete, holds odd columns in clusters.
[[nodiscard]] std::optional<Plan> plan_by_strips(const Plan& plan);

}  // namespace tilejit::plan
