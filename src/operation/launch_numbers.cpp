#include "operation/launch_numbers.hpp"

#include <vector>

#include "tilejit/error.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::operation {

std::optional<std::int64_t> launch_number(const LaunchShape& shape, std::size_t i,
                                          const SymbolValues& symbols) {
  std::vector<std::int64_t> values;
  for (const std::string& name : shape.numbers[i].names()) {
    const auto found = symbols.find(name);
    if (found == symbols.end()) return std::nullopt;
    values.push_back(found->second);
  }
  try {
    const std::int64_t value = shape.numbers[i].evaluate(values);
    if (!is_empty_launch(shape, i, value)) check_launch_number(shape, i, value);
    return value;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> launch_product(const LaunchShape& shape, std::size_t first,
                                           const SymbolValues& symbols) {
  std::int64_t product = 1;
  for (std::size_t i = first; i < first + 3; ++i) {
    const auto value = launch_number(shape, i, symbols);
    if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
  }
  return product;
}

std::string launch_text(const LaunchShape& shape, std::size_t first) {
  return "(" + shape.numbers[first].text() + ", " + shape.numbers[first + 1].text() + ", " +
         shape.numbers[first + 2].text() + ")";
}

std::string occupancy_text(const device::Occupancy& occupancy) {
  return std::to_string(occupancy.blocks) + " blocks, " + std::to_string(occupancy.threads) +
         " threads a multiprocessor, " +
         std::to_string(static_cast<int>(occupancy.part * 100 + 0.5)) +
         " % of what it holds; limited by " + std::string(occupancy.limit) + '.';
}

std::optional<std::int64_t> bytes_moved(std::span<const Tensor> tensors,
                                        const SymbolValues& symbols) {
  std::int64_t total = 0;
  try {
    for (const Tensor& tensor : tensors) {
      const Layout layout = substitute(tensor.layout, symbols);
      std::int64_t bytes = size_bytes(tensor.dtype) * (tensor.access == Access::inout ? 2 : 1);
      for (const Mode& leaf : layout.leaves()) {
        const bool repeats = leaf.stride.is(0) && !leaf.extent.is(0);
        if (!repeats && __builtin_mul_overflow(bytes, leaf.extent.value(), &bytes)) return {};
      }
      if (__builtin_add_overflow(total, bytes, &total)) return {};
    }
  } catch (const Error&) {
    return std::nullopt;  // a symbol has no value
  }
  return total;
}

}  // namespace tilejit::operation
