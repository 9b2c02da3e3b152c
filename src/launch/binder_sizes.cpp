// What a Binder computes from the values of the symbols: tensor sizes, the grid, and size
// parameters.

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/integer.hpp"
#include "launch/binder.hpp"
#include "operation/fast_divisor.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using core::ceil_div;

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // gridDim.x

}  // namespace

std::int64_t aligned_workspace_bytes(std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 256;
  return add(bytes, kAlignment - 1) / kAlignment * kAlignment;
}

void Binder::evaluate(std::span<const std::int64_t> values, Sizes& sizes) const {
  dims_.evaluate(values, sizes.dims);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    sizes.totals[i] = steps_[i].shape ? (evaluate_shape(*steps_[i].shape, values, sizes) ? 1 : 0)
                                      : total_units(steps_[i], sizes);
    sizes.any |= sizes.totals[i] != 0;
  }
  evaluate_workspaces(sizes);
  if (!sizes.any) return;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    sizes.bytes[i] = range_bytes(tensors_[i], sizes);
  }
}

void Binder::evaluate_workspaces(Sizes& sizes) const {
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    sizes.workspaces[i] = sizes.workspace_bytes;
    sizes.workspace_bytes =
        add(sizes.workspace_bytes, aligned_workspace_bytes(sizes.dims[workspaces_[i]]));
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

std::int64_t Binder::total_units(const Step& step, const Sizes& sizes) const {
  for (const Count& count : step.units) {
    // Also if the product of the others would overflow.
    if (sizes.dims[count.extent] == 0) return 0;
  }
  std::int64_t total = 1;
  for (const Count& count : step.units) {
    total = multiply(total, ceil_div(sizes.dims[count.extent], count.unit));
  }
  return total;
}

Grid Binder::make_grid(const Step& step, std::int64_t total) const {
  const std::int64_t blocks = multiply(ceil_div(total, step.units_per_block), step.blocks_per_unit);
  if (blocks > kMaxBlocks) {
    throw Error(ErrorCode::unsupported,
                "the launch would need " + std::to_string(blocks) +
                    " blocks, and a grid has at most 2^31-1; split the tensors, or raise "
                    "tuning.threads or tuning.unroll");
  }
  if (step.units_in_32_bits && total > kMaxBlocks) {
    throw Error(ErrorCode::unsupported, "a launch reduces at most 2^31-1 rows, not " +
                                            std::to_string(total) + "; split the tensors");
  }
  const bool wide = step.has_wide && total > std::numeric_limits<std::int32_t>::max();
  return {.blocks = static_cast<std::uint32_t>(blocks), .wide = wide};
}

void Binder::make_grids(const Sizes& sizes, std::span<Grid> grids) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const bool shaped = steps_[i].shape && sizes.totals[i] != 0;
    grids[i] =
        shaped ? make_shaped_grid(*steps_[i].shape, sizes) : make_grid(steps_[i], sizes.totals[i]);
  }
}

void Binder::write_sizes(const Sizes& sizes, std::byte* out) const {
  using Kind = operation::Param::Kind;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (const SizeField& field : steps_[i].sizes) {
      if (field.kind == Kind::divisor) {
        const std::int64_t dim = sizes.dims[field.dim];
        // Rows without elements are launched too, but divide nothing.
        const std::int64_t units = std::max<std::int64_t>(1, ceil_div(dim, field.per));
        const operation::FastDivisor divisor = operation::make_divisor(units);
        std::memcpy(out + field.offset, &divisor, sizeof divisor);
        continue;
      }
      const std::int64_t value =
          field.kind == Kind::total ? sizes.totals[i] : sizes.dims[field.dim];
      std::memcpy(out + field.offset, &value, sizeof value);
    }
  }
  for (const WorkspaceField& field : workspace_fields_) {
    std::memcpy(out + field.offset, &sizes.workspaces[field.workspace], sizeof(std::int64_t));
  }
}

}  // namespace tilejit::launch
