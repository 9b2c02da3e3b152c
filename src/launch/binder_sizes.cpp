// What a Binder computes from the values of the symbols: sizes of tensors, the grid, size
// parameters.

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/integer.hpp"
#include "launch/binder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using core::ceil_div;

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // gridDim.x

}  // namespace

void Binder::evaluate(std::span<const std::int64_t> values, Sizes& sizes) const {
  dims_.evaluate(values, sizes.dims);
  sizes.total = total_units(sizes);
  sizes.grid = make_grid(sizes.total);
  if (sizes.total == 0) return;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    sizes.bytes[i] = range_bytes(tensors_[i], sizes);
  }
}

std::int64_t Binder::range_bytes(const BoundTensor& tensor, const Sizes& sizes) const {
  std::int64_t last = 0;  // index of the last element
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    const std::int64_t extent = sizes.dims[tensor.extents[i]];
    if (extent == 0) return 0;
    if (extent > 1) last = add(last, multiply(extent - 1, sizes.dims[tensor.strides[i]]));
  }
  return multiply(add(last, 1), tensor.element_bytes);
}

std::int64_t Binder::total_units(const Sizes& sizes) const {
  for (const IterationMode& mode : iteration_) {
    if (mode.unit != 0 && sizes.dims[mode.extent] == 0) return 0;  // also where others overflow
  }
  std::int64_t total = 1;
  for (const IterationMode& mode : iteration_) {
    if (mode.unit != 0) total = multiply(total, ceil_div(sizes.dims[mode.extent], mode.unit));
  }
  return total;
}

Grid Binder::make_grid(std::int64_t total) const {
  const std::int64_t blocks = multiply(ceil_div(total, units_per_block_), blocks_per_unit_);
  if (blocks > kMaxBlocks) {
    throw Error(ErrorCode::unsupported,
                "the launch would need " + std::to_string(blocks) +
                    " blocks, and a grid has at most 2^31-1; split the tensors, or raise "
                    "tuning.threads or tuning.unroll");
  }
  if (rows_ && total > kMaxBlocks) {
    throw Error(ErrorCode::unsupported, "a launch reduces at most 2^31-1 rows, not " +
                                            std::to_string(total) + "; split the tensors");
  }
  const bool wide =
      index_ == plan::IndexWidth::both && total > std::numeric_limits<std::int32_t>::max();
  return {static_cast<std::uint32_t>(blocks), wide};
}

void Binder::write_sizes(const Sizes& sizes, std::byte* out) const {
  for (const SizeField& field : size_fields_) {
    if (field.kind == plan::Param::Kind::divisor) {
      const std::int64_t dim = sizes.dims[field.dim];
      // Rows without elements are launched, too, and divide nothing.
      const std::int64_t units = std::max<std::int64_t>(1, ceil_div(dim, field.per));
      const plan::FastDivisor divisor = plan::make_divisor(units);
      std::memcpy(out + field.offset, &divisor, sizeof divisor);
      continue;
    }
    const std::int64_t value =
        field.kind == plan::Param::Kind::total ? sizes.total : sizes.dims[field.dim];
    std::memcpy(out + field.offset, &value, sizeof value);
  }
}

}  // namespace tilejit::launch
