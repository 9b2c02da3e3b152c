#include "kernels/bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "common/command.hpp"
#include "common/spec_file.hpp"
#include "common/suggestion.hpp"

namespace tilejit::cli {
namespace {

// `factor` * `symbol`.
struct Unknown {
  std::string symbol;
  std::int64_t factor;
};

// `dim` as a factor of a symbol, if exactly one symbol is unknown and occurs once.
std::optional<Unknown> one_unknown(const Dim& dim, const SymbolValues& known) {
  std::int64_t factor = dim.factor();
  std::optional<std::string> unknown;
  for (const std::string& symbol : dim.symbols()) {
    const auto value = known.find(symbol);
    if (value == known.end()) {
      if (unknown) return std::nullopt;
      unknown = symbol;
    } else if (__builtin_mul_overflow(factor, value->second, &factor)) {
      return std::nullopt;
    }
  }
  if (!unknown || factor == 0) return std::nullopt;
  return Unknown{*unknown, factor};
}

using SeeMode = std::function<void(const Tensor&, std::size_t mode, std::int64_t extent)>;

// Visits each mode of each tensor that has an array, with the array's extent.
void each_mode(const Operation& op, const Arrays& arrays, const SeeMode& see) {
  for (const Tensor& tensor : op.tensors()) {
    const auto array = arrays.find(tensor.name);
    if (array == arrays.end()) continue;
    const std::vector<std::int64_t>& shape = array->second.header.shape;
    for (std::size_t i = 0; i < std::min(shape.size(), rank(tensor.layout)); ++i) {
      see(tensor, i, shape[i]);
    }
  }
}

bool infer_once(const Operation& op, const Arrays& arrays, SymbolValues& values) {
  bool found = false;
  each_mode(op, arrays, [&](const Tensor& tensor, std::size_t i, std::int64_t extent) {
    const auto unknown = one_unknown(size(mode(tensor.layout, i)), values);
    if (!unknown || extent % unknown->factor != 0) return;
    found |= values.emplace(unknown->symbol, extent / unknown->factor).second;
  });
  return found;
}

// Refuses an extent that would determine a symbol if it were a multiple of the factor.
void check_multiples(const Operation& op, const Arrays& arrays, const SymbolValues& values) {
  each_mode(op, arrays, [&](const Tensor& tensor, std::size_t i, std::int64_t extent) {
    const Dim dim = size(mode(tensor.layout, i));
    const auto unknown = one_unknown(dim, values);
    if (!unknown || extent % unknown->factor == 0) return;
    throw UsageError(
        fmt::format("the array of {} has extent {} in mode {}, which is not a "
                    "multiple of {} as {} must be",
                    tensor.name, extent, i, unknown->factor, to_string(dim)));
  });
}

void add_examples(const Operation& op, SymbolValues& values) {
  for (const Symbol& symbol : op.symbols()) {
    if (symbol.example) values.try_emplace(symbol.name, *symbol.example);
  }
}

void check_symbols(const Operation& op, const SymbolValues& values) {
  for (const std::string& name : symbols_of(op)) {
    if (values.contains(name)) continue;
    throw UsageError(
        fmt::format("symbol {0} of kernel {1} has no value; pass --dims {0}=..., or give "
                    "it an example in the spec",
                    name, op.name()));
  }
  for (const Symbol& symbol : op.symbols()) {
    const auto value = values.find(symbol.name);
    if (value == values.end() || value->second % symbol.divisible_by == 0) continue;
    throw UsageError(fmt::format("{} is {}, but the spec promises a multiple of {}", symbol.name,
                                 value->second, symbol.divisible_by));
  }
}

// All names of this kind in the kernels, without repetition.
std::vector<std::string> names_of(const std::vector<Operation>& ops, Named what) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  };
  for (const Operation& op : ops) {
    switch (what) {
      case Named::symbol: std::ranges::for_each(symbols_of(op), add); break;
      case Named::scalar: std::ranges::for_each(op.scalars(), add, &Scalar::name); break;
      case Named::tensor: std::ranges::for_each(op.tensors(), add, &Tensor::name); break;
    }
  }
  return names;
}

constexpr const char* kNamed[] = {"symbol", "scalar", "tensor"};

}  // namespace

// A name that no kernel has is a typing error.
void check_names(const Assignments& given, const std::vector<Operation>& ops, Named what) {
  const std::vector<std::string> names = names_of(ops, what);
  for (const auto& [name, value] : given) {
    if (std::ranges::count(names, name) > 0) continue;
    throw UsageError(fmt::format("the spec has no {} named {}{}",
                                 kNamed[static_cast<std::size_t>(what)], name,
                                 suggestion_or_list(name, names, "it has")));
  }
}

Assignments parse_assignments(const std::vector<std::string>& parts, const std::string& option) {
  Assignments result;
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == part.size()) {
      throw UsageError(fmt::format("{} takes name=value, got '{}'", option, part));
    }
    if (!result.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
      throw UsageError(fmt::format("{} names {} twice", option, part.substr(0, equals)));
    }
  }
  return result;
}

std::int64_t parse_count(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || next != end || value < 0) {
    throw UsageError(
        fmt::format("{} is '{}'; it takes a whole number from 0 to 2^63-1", what, text));
  }
  return value;
}

SymbolValues bind_symbols(const Operation& op, const Assignments& dims, const Arrays& arrays) {
  SymbolValues values;
  for (const std::string& name : symbols_of(op)) {
    const auto dim = dims.find(name);
    if (dim != dims.end()) values.emplace(name, parse_count(dim->second, "--dims " + name));
  }
  while (infer_once(op, arrays, values)) {
  }
  check_multiples(op, arrays, values);
  add_examples(op, values);
  check_symbols(op, values);
  return values;
}

void check_array(const NpyArray& array, const Tensor& tensor, const Layout& layout) {
  if (!npy_matches(array.header.descr, tensor.dtype)) {
    throw UsageError(fmt::format(
        "the array for {} holds '{}', but the tensor is {} ('{}'); convert "
        "it first",
        tensor.name, array.header.descr, to_string(tensor.dtype), npy_descr(tensor.dtype)));
  }
  const std::vector<std::int64_t> want = npy_shape(layout);
  // An array of shape (1) serves a tensor of rank 0 as well as an array of shape () does.
  const bool one = want.empty() && array.header.shape == std::vector<std::int64_t>{1};
  if (array.header.shape != want && !one) {
    throw UsageError(
        fmt::format("the array for {} has shape ({}), but the tensor is ({}); pass the "
                    "array in that shape, or other --dims",
                    tensor.name, fmt::join(array.header.shape, ", "), fmt::join(want, ", ")));
  }
}

}  // namespace tilejit::cli
