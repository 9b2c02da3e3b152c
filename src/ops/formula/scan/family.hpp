#pragma once

#include "rows/family.hpp"

namespace tilejit::plan {

/// Whether a scan goes from the first element of a row to the last, or from the last to the first.
enum class Direction : std::uint8_t { forward, backward };

/// The member "scan" of a plan's JSON.
void write_scan(Direction direction, core::JsonLine& line);

/// Rows that are scanned (template fused_scan.cu). A row is scanned in chunks of Plan::unroll
/// vectors per thread, or in one chunk of Rows::register_vectors vectors per thread. `cluster`,
/// `atomics` and `ahead` are not used.
struct Scan : Rows {
  static constexpr std::string_view kTemplate = "fused_scan";
  Direction direction = Direction::forward;
  bool operator==(const Scan&) const = default;

  // What plan::IsFamily says, where it is not that of Rows.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

}  // namespace tilejit::plan
