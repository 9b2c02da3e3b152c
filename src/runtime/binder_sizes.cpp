// What a Binder computes from the values of the symbols: sizes of tensors, the grid, size
// parameters.

#include <cstring>
#include <limits>

#include "runtime/binder.hpp"
#include "tilejit/error.hpp"

namespace tilejit::runtime {
namespace {

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // gridDim.x

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0);
}

}  // namespace

void Binder::evaluate(Sizes& sizes) const {
  sizes.total = total_vectors(sizes);
  evaluate_tensors(sizes);
  sizes.grid = make_grid(sizes.total);
}

void Binder::evaluate_tensors(Sizes& sizes) const {
  sizes.extents.reserve(first_leaf_.back());
  sizes.strides.reserve(first_leaf_.back());
  sizes.bytes.reserve(tensors_.size());
  for (const BoundTensor& tensor : tensors_) {
    std::int64_t last = 0;  // index of the last element
    for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
      const std::int64_t extent = tensor.extents[i].evaluate(sizes.values);
      const std::int64_t stride = tensor.strides[i].evaluate(sizes.values);
      sizes.extents.push_back(extent);
      sizes.strides.push_back(stride);
      if (extent > 1 && sizes.total > 0) last = add(last, multiply(extent - 1, stride));
    }
    sizes.bytes.push_back(multiply(add(last, 1), size_bytes(tensor.dtype)));
  }
}

std::int64_t Binder::total_vectors(const Sizes& sizes) const {
  for (const SlotDim& extent : iteration_) {
    if (extent.evaluate(sizes.values) == 0) return 0;  // also where the others alone overflow
  }
  std::int64_t total = ceil_div(iteration_[0].evaluate(sizes.values), vector_);
  for (std::size_t i = 1; i < iteration_.size(); ++i) {
    total = multiply(total, iteration_[i].evaluate(sizes.values));
  }
  return total;
}

Grid Binder::make_grid(std::int64_t total) const {
  const std::int64_t blocks = ceil_div(total, vectors_per_block_);
  if (blocks > kMaxBlocks) {
    throw Error(ErrorCode::unsupported,
                "the launch would need " + std::to_string(blocks) +
                    " blocks, and a grid has at most 2^31-1; split the tensors, or raise "
                    "tuning.threads or tuning.unroll");
  }
  const bool wide =
      index_ == plan::IndexWidth::both && total > std::numeric_limits<std::int32_t>::max();
  return {static_cast<std::uint32_t>(blocks), wide};
}

void Binder::write_sizes(const Sizes& sizes, std::byte* out) const {
  for (const SizeField& field : size_fields_) {
    if (field.kind == plan::Param::Kind::divisor) {
      const std::int64_t dim = field.dim.evaluate(sizes.values);
      const plan::FastDivisor divisor = plan::make_divisor(ceil_div(dim, field.per));
      std::memcpy(out + field.offset, &divisor, sizeof divisor);
      continue;
    }
    const std::int64_t value =
        field.kind == plan::Param::Kind::total ? sizes.total : field.dim.evaluate(sizes.values);
    std::memcpy(out + field.offset, &value, sizeof value);
  }
}

}  // namespace tilejit::runtime
