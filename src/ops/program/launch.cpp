#include "program/launch.hpp"

#include <algorithm>
#include <string_view>

#include "spec/launch_reader.hpp"
#include "tilejit/error.hpp"

namespace tilejit::program {
namespace {

void check_order(const std::string& order, spec::Problems& problems) {
  constexpr std::string_view kSwizzle = "swizzle:";
  if (order.empty() || order == "row" || order == "column") return;
  const std::string_view number =
      std::string_view(order).substr(std::min(kSwizzle.size(), order.size()));
  const bool good = order.starts_with(kSwizzle) && !number.empty() && number.size() <= 2 &&
                    number.find_first_not_of("0123456789") == number.npos && number != "0";
  if (good) return;
  problems.add(
      ErrorCode::invalid_spec,
      "unknown order " + spec::in_quotes(order) + "; use \"row\", \"column\" or \"swizzle:8\"",
      "/launch/order");
}

std::vector<std::string> texts_of(const std::vector<TileExpression>& expressions) {
  std::vector<std::string> texts;
  for (const TileExpression& expression : expressions) texts.push_back(expression.text());
  return texts;
}

}  // namespace

operation::LaunchShape read_launch(const TileLaunch& launch,
                                   const std::vector<TileConstant>& constants,
                                   const std::map<std::string, std::int64_t>& symbols,
                                   spec::Problems& problems) {
  spec::LaunchNames names{.symbols = symbols};
  for (const TileConstant& constant : constants) {
    if (constant.value.is_integer() && !constant.value.exceeds_i64()) {
      names.constants.emplace(constant.name, constant.value.bits());
    }
  }
  operation::LaunchShape shape = spec::read_launch_shape({.grid = texts_of(launch.grid),
                                                          .block = texts_of(launch.block),
                                                          .cluster = launch.cluster.text()},
                                                         names, problems);
  shape.may_be_empty = true;
  if (launch.min_blocks < 0 || launch.min_blocks > 32) {
    problems.add(ErrorCode::invalid_spec, "min_blocks is from 1 to 32, or 0", "/launch/min_blocks");
  }
  check_order(launch.order, problems);
  return shape;
}

}  // namespace tilejit::program
