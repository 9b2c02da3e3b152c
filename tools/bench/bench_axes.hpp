#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/bindings.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cli {

/// A symbol's values, or dtypes under the name "dtype": what a benchmark iterates over.
struct Axis {
  std::string name;
  std::vector<std::string> values;
  bool operator==(const Axis&) const = default;
};

/// One value of each axis, in the axes' order.
using Point = std::vector<std::pair<std::string, std::string>>;

/// Parses "M=1024,4096", "M=1024:65536:*4" (each value is four times the one before, up to 65536),
/// "M=100:500:+100" and "dtype=f16,bf16". Throws UsageError, which repeats the text.
[[nodiscard]] std::vector<Axis> parse_axes(const std::vector<std::string>& texts);

/// Those of `axes` that `op` has: its symbols, and dtype.
[[nodiscard]] std::vector<Axis> axes_of(const Operation& op, const std::vector<Axis>& axes);
/// Throws UsageError for an axis that no operation in `ops` has.
void check_axes(const std::vector<Operation>& ops, const std::vector<Axis>& axes);

/// All combinations, with the last axis the fastest. Without axes, there is one empty point. Throws
/// UsageError for more than 10000 points.
[[nodiscard]] std::vector<Point> points_of(const std::vector<Axis>& axes);

/// `op` with the point's values as the symbols' examples, and with the point's dtype for all
/// tensors that have the first tensor's dtype. Throws UsageError for a value that breaks a symbol's
/// promised divisor.
[[nodiscard]] Operation at_point(const Operation& op, const Point& point);
/// The same for "M=4096" and the like. Names that are not symbols of `op` have no effect.
[[nodiscard]] Operation at_dims(const Operation& op, const Assignments& dims);

/// "M=1024 dtype=f16"; empty for the empty point.
[[nodiscard]] std::string to_string(const Point& point);

}  // namespace tilejit::cli
