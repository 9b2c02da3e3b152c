#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::core {
class JsonLine;
}

namespace tilejit::plan {

struct Plan;

/// What planning asks of a family of kernels. Every function takes the plan that holds the family.
template <class F>
concept IsFamily = requires(F& chosen, Plan& unfinished, const F& family, const Plan& plan,
                            const Tuning& tuning, std::size_t m, core::JsonLine& line) {
  // The file of kernels_templates/ without its suffix.
  { F::kTemplate } -> std::convertible_to<std::string_view>;

  // Whether the kernel takes the number of units as Params::total.
  { F::kCountsUnits } -> std::convertible_to<bool>;

  // Chooses the plan's threads, the vectors that each has in flight, and the family's own numbers.
  // The plan has its extents, operands and vector. Throws Error{invalid_spec} for tuning that
  // cannot be honoured.
  chosen.choose_launch(unfinished, tuning);

  // Elements of a unit along mode m, 0 if it has all of them; and the units that a block takes.
  { family.unit_extent(plan, m) } -> std::same_as<std::int64_t>;
  { family.units_per_block(plan) } -> std::same_as<std::int64_t>;

  // Extents with which the kernel compares coordinates: parameters, unless they are known.
  { family.compared_extents(plan) } -> std::same_as<std::vector<Dim>>;

  // Whether the light plan of the same operation compiles faster, and one block does not take too
  // long for a row of it.
  { family.has_light(plan) } -> std::same_as<bool>;

  // Adds the family's members to the plan's JSON.
  family.write_json(line);
};

}  // namespace tilejit::plan
