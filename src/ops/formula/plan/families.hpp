#pragma once

#include <variant>
#include <vector>

#include "attention/family.hpp"
#include "box/family.hpp"
#include "light/family.hpp"
#include "map/family.hpp"
#include "matmul/family.hpp"
#include "rows/family.hpp"
#include "scan/family.hpp"
#include "sheared/family.hpp"
#include "staged/family.hpp"
#include "strips/family.hpp"
#include "thread_value/family.hpp"
#include "tile/family.hpp"
#include "wgmma/family.hpp"

namespace tilejit::plan {

/// Values that a kernel leaves in memory for later kernels of the same launch.
struct Temporary {
  DType dtype = f32;
  Dim elements = 1;
  bool operator==(const Temporary&) const = default;
};

/// The plans of several kernels, launched one after another, if no template does the whole
/// operation. The outer plan then has the operation's space, operands and arguments, and no kernel
/// of its own; its params are tensors, scalars and one Kind::dim per symbol.
struct Several {
  static constexpr std::string_view kTemplate = "fused_parts";
  static constexpr bool kCountsUnits = false;
  std::vector<Plan> parts;
  std::vector<Temporary> temporaries;  ///< between the parts
  /// The tensors have no space in common, so that none may take the place of another.
  bool apart = false;
  bool operator==(const Several& other) const;

  // What plan::IsFamily says: each part has its own.
  void choose_launch(Plan&, const Tuning&) {}
  [[nodiscard]] std::int64_t unit_extent(const Plan&, std::size_t) const noexcept { return 0; }
  [[nodiscard]] std::int64_t units_per_block(const Plan&) const noexcept { return 1; }
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan&) const { return {}; }
  [[nodiscard]] bool has_light(const Plan&) const { return false; }
  void write_json(core::JsonLine&) const {}  // parts come last
};

using Family =
    std::variant<Map, Tile, Sheared, Box, Rows, StagedRows, Strips, Scan, Light, ThreadValue,
                 MatmulMma, MatmulSimt, MatmulWgmma, AttentionWgmma, AttentionMma, Several>;

template <class>
inline constexpr bool kAreFamilies = false;
template <class... F>
inline constexpr bool kAreFamilies<std::variant<F...>> = (IsFamily<F> && ...);
static_assert(kAreFamilies<Family>, "each family has all that plan/family.hpp asks for");

}  // namespace tilejit::plan
