#include "program/launch.hpp"

#include <algorithm>
#include <string_view>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "tilejit/error.hpp"

namespace tilejit::program {
namespace {

using operation::LaunchShape;
using operation::SizeExpression;

using Integers = std::map<std::string, std::int64_t>;

class LaunchReader {
 public:
  LaunchReader(const Integers& constants, const Integers& symbols, spec::Problems& problems)
      : constants_(constants), symbols_(symbols), problems_(problems) {}

  LaunchShape read(const TileLaunch& launch) {
    read_three(launch.grid, LaunchShape::grid, "/launch/grid");
    read_three(launch.block, LaunchShape::block, "/launch/block");
    read_cluster(launch.cluster);
    if (launch.min_blocks < 0 || launch.min_blocks > 32) {
      fault("min_blocks is from 1 to 32, or 0", "/launch/min_blocks");
    }
    check_order(launch.order);
    if (sound_) check_known();
    return shape_;
  }

 private:
  void fault(const std::string& message, const std::string& where) {
    problems_.add(ErrorCode::invalid_spec, message, where);
    sound_ = false;
  }

  void read_three(const std::vector<TileExpression>& texts, std::size_t first,
                  const std::string& where) {
    if (texts.empty() || texts.size() > 3) {
      return fault("a launch has 1 to 3 extents: x, y and z; found " + std::to_string(texts.size()),
                   where);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      shape_.numbers[first + i] = read_size(texts[i].text(), where + '/' + std::to_string(i));
    }
  }

  SizeExpression read_size(const std::string& text, const std::string& where) {
    try {
      const SizeExpression size = SizeExpression::parse(text, where);
      for (const std::string& name : size.names()) check_name(name, where);
      return size.with(constants_);
    } catch (const Error& error) {
      problems_.add(error, where);
      sound_ = false;
      return 1;
    }
  }

  void check_name(const std::string& name, const std::string& where) {
    if (constants_.contains(name) || symbols_.contains(name)) return;
    std::vector<std::string_view> known;
    for (const auto& [symbol, divisor] : symbols_) known.push_back(symbol);
    for (const auto& [constant, value] : constants_) known.push_back(constant);
    fault("'" + name + "' is neither an integer constant nor a symbol of a tensor's shape" +
              core::did_you_mean(core::nearest_name(name, known)),
          where);
  }

  void read_cluster(const TileExpression& text) {
    const SizeExpression cluster = read_size(text.text(), "/launch/cluster");
    if (!sound_) return;
    if (!cluster.is_known()) {
      return fault("a cluster is known before the launch: an integer, or constants",
                   "/launch/cluster");
    }
    try {
      const std::int64_t blocks = cluster.evaluate();
      if (blocks < 1 || blocks > 8) {
        return fault("a cluster has 1 to 8 blocks, not " + std::to_string(blocks),
                     "/launch/cluster");
      }
      shape_.cluster = static_cast<int>(blocks);
    } catch (const Error& error) {
      problems_.add(error, "/launch/cluster");
      sound_ = false;
    }
  }

  void check_order(const std::string& order) {
    constexpr std::string_view kSwizzle = "swizzle:";
    if (order.empty() || order == "row" || order == "column") return;
    const std::string_view number =
        std::string_view(order).substr(std::min(kSwizzle.size(), order.size()));
    const bool good = order.starts_with(kSwizzle) && !number.empty() && number.size() <= 2 &&
                      number.find_first_not_of("0123456789") == number.npos && number != "0";
    if (!good) {
      fault(
          "unknown order " + spec::in_quotes(order) + "; use \"row\", \"column\" or \"swizzle:8\"",
          "/launch/order");
    }
  }

  void check_known() {
    std::int64_t values[LaunchShape::kCount] = {1, 1, 1, 1, 1, 1, 0};
    values[LaunchShape::grid] = shape_.cluster;  // a grid of symbols fits its cluster
    try {
      for (std::size_t i = 0; i < LaunchShape::kCount; ++i) {
        if (!shape_.numbers[i].is_known()) continue;
        values[i] = shape_.numbers[i].evaluate();
        operation::check_launch_number(shape_, i, values[i]);
      }
      operation::check_launch_numbers(shape_, values);
    } catch (const Error& error) {
      // The message of an Error ends with its place.
      const std::string what = error.what();
      fault(what.substr(0, what.size() - error.where().size() - 3), error.where());
    }
  }

  const Integers& constants_;
  const Integers& symbols_;
  spec::Problems& problems_;
  LaunchShape shape_;
  bool sound_ = true;
};

}  // namespace

LaunchShape read_launch(const TileLaunch& launch, const std::vector<TileConstant>& constants,
                        const Integers& symbols, spec::Problems& problems) {
  Integers integers;
  for (const TileConstant& constant : constants) {
    if (constant.value.is_integer() && !constant.value.exceeds_i64()) {
      integers.emplace(constant.name, constant.value.bits());
    }
  }
  return LaunchReader(integers, symbols, problems).read(launch);
}

}  // namespace tilejit::program
