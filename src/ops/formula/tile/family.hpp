#pragma once

#include "plan/family.hpp"

namespace tilejit::plan {

/// What a block takes if some operands are contiguous along one mode and some along another
/// (template fused_tile.cu).
struct Tile {
  static constexpr std::string_view kTemplate = "fused_tile";
  static constexpr bool kCountsUnits = false;
  std::size_t mode = 1;  ///< the mode along which the transposed operands are contiguous
  int columns = 1;       ///< elements along mode 0, a power of two
  int rows = 1;          ///< elements along `mode`, a power of two
  bool ragged = true;    ///< the last vector along `mode` may be partial
  int copies = 1;  ///< vectors of a thread that are unrolled; if all are, they are loaded ahead
  std::size_t first = 0;  ///< the mode along which blocks follow one another
  bool operator==(const Tile&) const = default;

  // What plan::IsFamily says.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

}  // namespace tilejit::plan
