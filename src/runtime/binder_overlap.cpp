// Which tensors of a launch may share memory: an input with the output that replaces it, element by
// element, and nothing else.

#include "runtime/binder.hpp"
#include "runtime/overlap.hpp"

namespace tilejit::runtime {

void Binder::check_overlaps(std::span<const Argument> args, const Sizes& sizes) const {
  for (const std::size_t a : written_) {
    const std::uint64_t begin = args[a].address;
    const std::uint64_t end = begin + static_cast<std::uint64_t>(sizes.bytes[a]);
    for (std::size_t b = 0; b < tensors_.size(); ++b) {
      const std::uint64_t other = args[b].address;
      const std::uint64_t other_end = other + static_cast<std::uint64_t>(sizes.bytes[b]);
      if (begin >= other_end || other >= end || a == b) [[likely]]
        continue;
      check_pair(a, b, args, sizes);
    }
  }
}

void Binder::check_pair(std::size_t a, std::size_t b, std::span<const Argument> args,
                        const Sizes& sizes) const {
  const bool both_written = tensors_[a].written && tensors_[b].written;
  if (!both_written && args[a].address == args[b].address && same_elements(a, b, sizes)) return;
  const auto footprint = [&](std::size_t i) {
    const std::size_t first = first_leaf_[i];
    const std::size_t count = first_leaf_[i + 1] - first;
    return Footprint{.address = args[i].address,
                     .extents = {sizes.extents.data() + first, count},
                     .strides = {sizes.strides.data() + first, count},
                     .element_bytes = size_bytes(tensors_[i].dtype),
                     .bytes = sizes.bytes[i]};
  };
  if (!share_memory(footprint(a), footprint(b))) return;
  tensors_[a].fail("overlaps tensor '" + tensors_[b].name + "' (argument " + std::to_string(b) +
                   "): an output may replace an input of the same layout exactly, and share no "
                   "memory otherwise");
}

bool Binder::same_elements(std::size_t a, std::size_t b, const Sizes& sizes) const {
  if (size_bytes(tensors_[a].dtype) != size_bytes(tensors_[b].dtype)) return false;
  for (std::size_t mode = 0; mode < iteration_.size(); ++mode) {
    if (iteration_[mode].evaluate(sizes.values) <= 1) continue;
    const std::vector<Leaf>& left = operand_modes_[a][mode];
    const std::vector<Leaf>& right = operand_modes_[b][mode];
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].extent.evaluate(sizes.values) != right[i].extent.evaluate(sizes.values) ||
          left[i].stride.evaluate(sizes.values) != right[i].stride.evaluate(sizes.values)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tilejit::runtime
