#include "tile/family.hpp"

#include <algorithm>
#include <string>

#include "core/json_line.hpp"
#include "plan/launch_shape.hpp"
#include "tile/tiling.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {

/// By default one square per thread: that many bytes in flight fill its registers.
void Tile::choose_launch(Plan& plan, const Tuning& tuning) {
  const int vector = plan.vector;
  const int squares = columns / vector * (rows / vector);
  const int most = tuning.unroll ? squares / *tuning.unroll
                                 : threads_of_tile(*this, vector).value_or(kMaxTileThreads);
  plan.threads = tuning.threads.value_or(std::min(most, kMaxTileThreads));
  plan.unroll = tuning.unroll.value_or(std::max(1, squares / plan.threads));
  const int vectors = vector * plan.unroll;
  const bool written_out = vectors <= 2 * elements_within_budget(plan) / vector;
  // Two chunks of each vector would take the registers of other blocks.
  const bool in_chunks = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.read && operand.shifted && operand.reach != Reach::transposed;
  });
  copies = !written_out ? 1 : in_chunks ? std::min(2, vectors) : vectors;
  if (plan.threads % 32 == 0 && plan.threads * plan.unroll == squares) {
    if (count_whole_lines(*this, vector, plan.threads)) return;
    throw Error(ErrorCode::invalid_spec,
                std::to_string(plan.threads) + " threads share the " +
                    std::to_string(columns / vector) + " by " + std::to_string(rows / vector) +
                    " squares of a tile by other than whole rows and columns; choose a multiple or "
                    "a divisor of both numbers",
                "/tuning");
  }
  throw Error(ErrorCode::invalid_spec,
              "a tile of " + std::to_string(columns) + " by " + std::to_string(rows) +
                  " elements has " + std::to_string(squares) + " squares of vectors of " +
                  std::to_string(vector) + "; choose threads times unroll to be as many",
              "/tuning");
}

std::int64_t Tile::unit_extent(const Plan&, std::size_t m) const noexcept {
  if (m == 0) return columns;
  return m == mode ? rows : 1;
}

std::int64_t Tile::units_per_block(const Plan&) const noexcept {
  return 1;
}

std::vector<Dim> Tile::compared_extents(const Plan& plan) const {
  return {plan.extents.front(), plan.extents[mode]};
}

bool Tile::has_light(const Plan&) const {
  return true;
}

void Tile::write_json(core::JsonLine& line) const {
  line.key("tile")
      .open('{')
      .member("mode", static_cast<int>(mode))
      .member("columns", columns)
      .member("rows", rows)
      .key("ragged")
      .raw(ragged ? "true" : "false")
      .member("copies", copies);
  if (first != 0) line.member("first", static_cast<int>(first));
  line.close('}');
}

}  // namespace tilejit::plan
