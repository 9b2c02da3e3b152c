#pragma once

#include <optional>

#include "rows/family.hpp"
#include "scan/family.hpp"

namespace tilejit::plan {

/// Rows with the least code rather than the most speed (template fused_light.cu): vectors have one
/// element, and one block takes each row and holds nothing of it in registers.
struct Light : Rows {
  static constexpr std::string_view kTemplate = "fused_light";
  std::optional<Direction> direction = {};  ///< of formulas that scan
  bool operator==(const Light&) const = default;

  // What plan::IsFamily says, where it is not that of Rows.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] bool has_light(const Plan& plan) const;
  void write_json(core::JsonLine& line) const;
};

}  // namespace tilejit::plan
