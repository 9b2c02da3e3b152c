#include "launch/bound_tensor.hpp"

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

/// A tf32 tensor is stored as f32, and other libraries have no other name for it.
bool same_storage(DType described, DType given) noexcept {
  return described == given || (described == tf32 && given == f32);
}

/// "has stride 100 in mode 1; the layout (M,N):(N,1) wants N = 128". Counts modes by leaves.
std::string mismatch(const char* what, std::size_t leaf, std::int64_t given, const Dim& dim,
                     std::int64_t want, const std::string& layout) {
  std::string text = std::string("has ") + what + " " + std::to_string(given) + " in mode " +
                     std::to_string(leaf) + "; the layout " + layout + " wants " + to_string(dim);
  if (!dim.is_known()) text += " = " + std::to_string(want);
  return text;
}

}  // namespace

BoundTensor::BoundTensor(const Tensor& tensor, int position)
    : name(tensor.name),
      dtype(tensor.dtype),
      element_bytes(size_bytes(tensor.dtype)),
      argument(position),
      align(tensor.align),
      read(tensor.access != Access::out),
      written(tensor.access != Access::in),
      leaves(tensor.layout.leaves().begin(), tensor.layout.leaves().end()),
      layout(to_string(tensor.layout)),
      rank(tilejit::rank(tensor.layout)) {}

std::string BoundTensor::text() const {
  return "tensor '" + name + "' (argument " + std::to_string(argument) + ")";
}

std::string BoundTensor::where() const {
  return "/tensors/" + name;
}

void BoundTensor::fail(const std::string& why) const {
  throw Error(ErrorCode::invalid_argument, text() + " " + why, where());
}

void BoundTensor::check_form(const Argument& given) const {
  if (given.kind == Argument::Kind::pointer) return;
  if (given.kind != Argument::Kind::tensor) fail("got a number; pass device memory");
  if (!same_storage(dtype, given.dtype)) {
    fail("has dtype " + std::string(to_string(given.dtype)) + "; the descriptor wants " +
         std::string(to_string(dtype)));
  }
  if (given.shape.size() != given.stride.size()) {
    fail("has " + std::to_string(given.shape.size()) + " extents but " +
         std::to_string(given.stride.size()) + " strides; pass one stride an extent");
  }
  const bool scalar = given.shape.empty() && leaves.size() == 1 && leaves[0].extent.is(1);
  if (given.shape.size() == leaves.size() || scalar) return;
  std::string why = "has " + std::to_string(given.shape.size()) + " extents; the layout " + layout +
                    " wants " + std::to_string(leaves.size());
  if (given.shape.size() == rank) why += ": one a leaf, because a mode of it is nested";
  fail(why);
}

void BoundTensor::check_layout(const Argument& given, std::span<const std::int64_t> dims) const {
  const std::size_t count = given.shape.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t want = dims[extents[i]];
    if (given.shape[i] == want) [[likely]]
      continue;
    fail(mismatch("extent", i, given.shape[i], leaves[i].extent, want, layout));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t want = dims[strides[i]];
    if (given.stride[i] == want || given.shape[i] <= 1) [[likely]]
      continue;
    if (has_no_elements(given.shape)) return;
    fail(mismatch("stride", i, given.stride[i], leaves[i].stride, want, layout));
  }
}

bool has_no_elements(std::span<const std::int64_t> extents) noexcept {
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

}  // namespace tilejit::launch
