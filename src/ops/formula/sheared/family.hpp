#pragma once

#include "tile/family.hpp"

namespace tilejit::plan {

/// The same for rows that begin at addresses which are not aligned (template fused_sheared.cu):
/// each row of a tile begins where a sector of its memory does.
struct Sheared : Tile {
  static constexpr std::string_view kTemplate = "fused_sheared";
  bool operator==(const Sheared&) const = default;

  // What plan::IsFamily says, where it differs.
  void choose_launch(Plan& plan, const Tuning& tuning);
};

}  // namespace tilejit::plan
