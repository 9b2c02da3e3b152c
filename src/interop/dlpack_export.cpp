#include "interop/dlpack_abi.hpp"
#include "interop/dlpack_dtype.hpp"
#include "interop/strides.hpp"
#include "tilejit/dlpack.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// The data that an exported struct refers to. It lives until the consumer calls the deleter.
template <typename Managed>
struct Handed {
  Managed managed = {};
  std::vector<std::int64_t> shape, strides;
  std::shared_ptr<const void> owner;
};

void check(const DlpackView& view, std::span<const std::int64_t> strides) {
  const bool empty = interop::span_elements(view.shape, strides) == 0;
  if (view.data != nullptr || empty) return;
  throw Error(ErrorCode::invalid_argument,
              "the tensor to hand out is a null pointer; pass its memory");
}

template <typename Managed>
Handed<Managed>* make_handed(const DlpackView& view, std::shared_ptr<const void> owner) {
  auto handed = std::make_unique<Handed<Managed>>();
  handed->shape = view.shape;
  handed->strides = view.strides.empty() ? interop::compact_strides(view.shape) : view.strides;
  check(view, handed->strides);
  handed->owner = std::move(owner);
  Managed& managed = handed->managed;
  managed.dl_tensor = {.data = view.data,
                       .device = {.device_type = static_cast<std::int32_t>(view.device),
                                  .device_id = view.device_id},
                       .ndim = static_cast<std::int32_t>(view.shape.size()),
                       .dtype = interop::dlpack_type(view.dtype),
                       .shape = handed->shape.data(),
                       .strides = handed->strides.data(),
                       .byte_offset = 0};
  managed.manager_ctx = handed.get();
  managed.deleter = [](Managed* self) { delete static_cast<Handed<Managed>*>(self->manager_ctx); };
  return handed.release();
}

}  // namespace

DLManagedTensorVersioned* to_dlpack_versioned(const DlpackView& view,
                                              std::shared_ptr<const void> owner) {
  auto* handed = make_handed<DLManagedTensorVersioned>(view, std::move(owner));
  handed->managed.version = {.major = interop::kDlpackMajor, .minor = interop::kDlpackMinor};
  handed->managed.flags = view.read_only ? interop::kDlpackReadOnly : 0;
  return &handed->managed;
}

DLManagedTensor* to_dlpack(const DlpackView& view, std::shared_ptr<const void> owner) {
  if (view.read_only) {
    throw Error(ErrorCode::unsupported,
                "a DLPack tensor of before version 1.0 cannot be read-only; hand out a versioned "
                "one");
  }
  return &make_handed<DLManagedTensor>(view, std::move(owner))->managed;
}

}  // namespace tilejit
