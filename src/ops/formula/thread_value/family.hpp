#pragma once

#include "plan/family.hpp"

namespace tilejit::plan {

/// Which elements of a block's tile each thread has, as the caller asked (template fused_tv.cu).
struct ThreadValue {
  static constexpr std::string_view kTemplate = "fused_tv";
  static constexpr bool kCountsUnits = false;
  IntTuple tiler;                  ///< the tile, one extent per mode
  Layout layout;                   ///< (thread, value) to the column-major index in the tile
  std::vector<std::size_t> modes;  ///< of the space, one per mode of the tile
  int run = 1;  ///< the most values that are neighbours along mode 0 of the space
  bool operator==(const ThreadValue&) const = default;

  // What plan::IsFamily says.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

}  // namespace tilejit::plan
