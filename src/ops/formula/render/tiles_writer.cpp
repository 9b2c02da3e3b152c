#include "render/tiles_writer.hpp"

#include <fmt/format.h>

#include "plan/block_order.hpp"

namespace tilejit::render {

std::string TilesWriter::coordinate(std::size_t m) const {
  return fmt::format("c{}", m);
}

bool TilesWriter::is_whole(std::size_t m) const {
  const Dim& extent = plan_.extents[m];
  return extent.is_known() && extent.value() % plan::unit_extent(plan_, m) == 0;
}

void TilesWriter::write_members() {
  for (std::size_t m = 0; m < plan_.extents.size(); ++m) line(fmt::format("  i64 c{};", m));
}

void TilesWriter::write_origin() {
  const std::vector<std::size_t> order = plan::order_of_blocks(plan_);
  std::string from = "t";
  for (const std::size_t m : order) {
    const std::int64_t unit = plan::unit_extent(plan_, m);
    const std::string scale = unit == 1 ? "" : fmt::format(" * {}", unit);
    if (m == order.back()) return line(fmt::format("  tile.c{} = i64({}){};", m, from, scale));
    const std::string rest = fmt::format("rest{}", m + 1);
    const auto [count, quotient] = split_at(m, unit, from, "u32");
    line(fmt::format("  const u32 {} = {};\n  tile.c{} = i64({} - {} * {}){};  // {}", rest,
                     quotient, m, from, rest, count, scale, to_string(plan_.extents[m])));
    from = rest;
  }
}

}  // namespace tilejit::render
