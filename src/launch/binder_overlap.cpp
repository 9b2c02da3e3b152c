// Decides which tensors of a launch may share memory: only an input with the output that replaces
// it element by element.

#include <array>
#include <vector>

#include "launch/binder.hpp"
#include "launch/overlap.hpp"

namespace tilejit::launch {

void Binder::check_overlaps(std::span<const Argument> args, const Sizes& sizes) const {
  for (const std::size_t a : written_) {
    if (sizes.bytes[a] == 0) continue;
    const auto bytes = [&](std::size_t i) { return static_cast<std::uint64_t>(sizes.bytes[i]); };
    for (std::size_t b = 0; b < tensors_.size(); ++b) {
      if (a == b || sizes.bytes[b] == 0) continue;
      if (are_apart(args[a].address, bytes(a), args[b].address, bytes(b))) [[likely]]
        continue;
      check_pair(a, b, args, sizes);
    }
  }
}

void Binder::check_pair(std::size_t a, std::size_t b, std::span<const Argument> args,
                        const Sizes& sizes) const {
  const bool both_written = tensors_[a].written && tensors_[b].written;
  if (!both_written && args[a].address == args[b].address && same_elements(a, b, sizes)) return;
  if (!share_memory(a, b, args, sizes)) return;
  tensors_[a].fail("overlaps tensor '" + tensors_[b].name + "' (argument " + std::to_string(b) +
                   "): an output may replace an input of the same layout exactly, and share no "
                   "memory otherwise");
}

bool Binder::share_memory(std::size_t a, std::size_t b, std::span<const Argument> args,
                          const Sizes& sizes) const {
  std::array<std::vector<std::int64_t>, 2> extents, strides;
  const auto footprint = [&](std::size_t i, std::vector<std::int64_t>& shape,
                             std::vector<std::int64_t>& stride) {
    for (const int number : tensors_[i].extents) shape.push_back(sizes.dims[number]);
    for (const int number : tensors_[i].strides) stride.push_back(sizes.dims[number]);
    return Footprint{.address = args[i].address,
                     .extents = shape,
                     .strides = stride,
                     .element_bytes = tensors_[i].element_bytes,
                     .bytes = sizes.bytes[i]};
  };
  return launch::share_memory(footprint(a, extents[0], strides[0]),
                              footprint(b, extents[1], strides[1]));
}

bool Binder::same_elements(std::size_t a, std::size_t b, const Sizes& sizes) const {
  if (tensors_[a].element_bytes != tensors_[b].element_bytes) return false;
  for (std::size_t mode = 0; mode < space_.size(); ++mode) {
    if (sizes.dims[space_[mode]] <= 1) continue;
    const std::vector<Leaf>& left = elements_[a][mode];
    const std::vector<Leaf>& right = elements_[b][mode];
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (sizes.dims[left[i].extent] != sizes.dims[right[i].extent] ||
          sizes.dims[left[i].stride] != sizes.dims[right[i].stride]) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tilejit::launch
