#include "bench/bench_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>

#include "common/command.hpp"
#include "common/spec_file.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kMostValues = 1000;   // of one axis
constexpr std::size_t kMostPoints = 10000;  // of all axes

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format(
      "--axis '{}': {}; it takes M=1024,4096, M=1024:65536:*4, M=100:500:+100 or dtype=f16,bf16",
      text.substr(0, 100), why));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Values of "first:last:*factor" or "first:last:+step".
std::vector<std::string> range(const std::string& axis, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const bool has_step = parts.size() == 3 && parts[2].size() > 1;
  if (!has_step || (parts[2][0] != '*' && parts[2][0] != '+')) {
    refuse(axis, "a range has a first value, a last one, and *factor or +step");
  }
  const std::int64_t last = parse_count(parts[1], "--axis");
  const std::int64_t step = parse_count(parts[2].substr(1), "--axis");
  const bool multiplies = parts[2][0] == '*';
  std::int64_t value = parse_count(parts[0], "--axis");
  if (step < (multiplies ? 2 : 1) || (multiplies && value == 0) || value > last) {
    refuse(axis, "a range rises, from its first value to its last");
  }
  std::vector<std::string> values;
  while (value <= last && values.size() <= kMostValues) {
    values.push_back(std::to_string(value));
    const bool overflows = multiplies ? __builtin_mul_overflow(value, step, &value)
                                      : __builtin_add_overflow(value, step, &value);
    if (overflows) break;
  }
  return values;
}

Axis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    refuse(text, "a name, = and values are needed");
  }
  Axis axis{.name = text.substr(0, equals), .values = {}};
  for (const std::string& part : split(text.substr(equals + 1), ',')) {
    if (axis.name == "dtype") {
      (void)parse_dtype(part, "--axis");
      axis.values.push_back(part);
    } else if (part.find(':') != std::string::npos) {
      std::ranges::move(range(text, part), std::back_inserter(axis.values));
    } else {
      axis.values.push_back(std::to_string(parse_count(part, "--axis " + axis.name)));
    }
  }
  std::vector<std::string> sorted = axis.values;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) refuse(text, "a value is given twice");
  if (axis.values.size() > kMostValues) refuse(text, "an axis has at most 1000 values");
  return axis;
}

}  // namespace

std::vector<Axis> parse_axes(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) {
    Axis axis = parse_axis(text);
    if (std::ranges::count(axes, axis.name, &Axis::name) > 0) {
      refuse(text, axis.name + " is given twice");
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<Axis> axes_of(const Operation& op, const std::vector<Axis>& axes) {
  const std::vector<std::string> symbols = symbols_of(op);
  std::vector<Axis> own;
  std::ranges::copy_if(axes, std::back_inserter(own), [&](const Axis& axis) {
    return axis.name == "dtype" || std::ranges::count(symbols, axis.name) > 0;
  });
  return own;
}

void check_axes(const std::vector<Operation>& ops, const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) {
    const bool known =
        std::ranges::any_of(ops, [&](const Operation& op) { return !axes_of(op, {axis}).empty(); });
    if (known) continue;
    throw UsageError(fmt::format(
        "--axis {}: no kernel has a symbol of that name; only symbols and dtype can be axes",
        axis.name));
  }
}

std::vector<Point> points_of(const std::vector<Axis>& axes) {
  std::vector<Point> points = {{}};
  for (const Axis& axis : axes) {
    if (points.size() * axis.values.size() > kMostPoints) {
      throw UsageError("the axes have more than 10000 combinations; give them fewer values");
    }
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().emplace_back(axis.name, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

Operation at_point(const Operation& op, const Point& point) {
  std::vector<Tensor> tensors = op.tensors();
  std::vector<Symbol> symbols = op.symbols();
  for (const auto& [name, value] : point) {
    if (name == "dtype") {
      const DType replaced = tensors.front().dtype, dtype = parse_dtype(value);
      for (Tensor& tensor : tensors) {
        if (tensor.dtype == replaced) tensor.dtype = dtype;
      }
      continue;
    }
    auto symbol = std::ranges::find(symbols, name, &Symbol::name);
    if (symbol == symbols.end()) {
      symbol = symbols.insert(symbols.end(), Symbol{.name = name});
    }
    symbol->example = parse_count(value, name);
    if (*symbol->example % symbol->divisible_by != 0) {
      throw UsageError(fmt::format("{} is {}, but the spec promises a multiple of {}", name, value,
                                   symbol->divisible_by));
    }
  }
  return op.with_tensors(std::move(symbols), std::move(tensors));
}

Operation at_dims(const Operation& op, const Assignments& dims) {
  const std::vector<std::string> symbols = symbols_of(op);
  Point point;
  std::ranges::copy_if(dims, std::back_inserter(point),
                       [&](const auto& dim) { return std::ranges::count(symbols, dim.first) > 0; });
  return at_point(op, point);
}

std::string to_string(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

}  // namespace tilejit::cli
