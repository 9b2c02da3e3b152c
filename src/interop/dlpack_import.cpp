#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "interop/dlpack_abi.hpp"
#include "interop/dlpack_dtype.hpp"
#include "interop/strides.hpp"
#include "tilejit/dlpack.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tensor_view.hpp"

namespace tilejit {
namespace {

constexpr std::int32_t kMostModes = 64;

[[noreturn]] void refuse(ErrorCode code, const std::string& why) {
  throw Error(code, "the DLPack tensor " + why);
}

DlpackDevice device_of(const DLDevice& device) {
  constexpr DlpackDevice kKnown[] = {DlpackDevice::cpu, DlpackDevice::cuda, DlpackDevice::cuda_host,
                                     DlpackDevice::cuda_managed};
  for (const DlpackDevice known : kKnown) {
    if (static_cast<std::int32_t>(known) == device.device_type) return known;
  }
  refuse(ErrorCode::unsupported,
         fmt::format("is in memory of DLPack's device type {}; pass CPU (1), CUDA (2), CUDAHost "
                     "(3) or CUDAManaged (13) memory",
                     device.device_type));
}

void check_modes(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > kMostModes) {
    refuse(ErrorCode::invalid_argument,
           fmt::format("has {} modes; pass 0 to {}", tensor.ndim, kMostModes));
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    refuse(ErrorCode::invalid_argument, "has modes but no shape");
  }
}

std::vector<std::int64_t> strides_of(const DLTensor& tensor,
                                     const std::vector<std::int64_t>& shape) {
  if (tensor.strides == nullptr) return interop::compact_strides(shape);
  std::vector<std::int64_t> strides(tensor.strides, tensor.strides + tensor.ndim);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    // Such a stride is never used.
    if (shape[i] <= 1) strides[i] = std::max<std::int64_t>(strides[i], 0);
    if (strides[i] >= 0) continue;
    refuse(ErrorCode::unsupported,
           fmt::format("has stride {} in mode {}; strides are not negative here: copy it before",
                       strides[i], i));
  }
  return strides;
}

void* address_of(const DLTensor& tensor, DType dtype, bool empty) {
  if (tensor.data == nullptr && empty) return nullptr;
  if (tensor.data == nullptr) refuse(ErrorCode::invalid_argument, "has elements but no memory");
  auto* address = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (reinterpret_cast<std::uintptr_t>(address) % static_cast<unsigned>(size_bytes(dtype)) != 0) {
    refuse(ErrorCode::invalid_argument,
           fmt::format("starts at an address that splits its elements of {} bytes (its byte "
                       "offset is {}); copy it",
                       size_bytes(dtype), tensor.byte_offset));
  }
  return address;
}

void check_version(const DLManagedTensorVersioned& managed) {
  if (managed.version.major == interop::kDlpackMajor) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("the tensor comes by DLPack {}.{}; this library reads versions 1.x and "
                          "the tensors of before",
                          managed.version.major, managed.version.minor));
}

template <typename Managed>
void give_back(void* managed) {
  auto* tensor = static_cast<Managed*>(managed);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

}  // namespace

template <typename Managed>
void DlpackTensor::take(Managed* managed) {
  const DLTensor& tensor = managed->dl_tensor;
  dtype_ = interop::dtype_of(tensor.dtype);
  device_ = device_of(tensor.device);
  device_id_ = tensor.device.device_id;
  check_modes(tensor);
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  strides_ = strides_of(tensor, shape_);
  data_ = address_of(tensor, dtype_, interop::span_elements(shape_, strides_) == 0);
  // The shared_ptr is made before it holds the tensor: if its allocation failed later, the deleter
  // would give the tensor back to the producer.
  auto owner =
      std::make_shared<std::unique_ptr<void, void (*)(void*)>>(nullptr, give_back<Managed>);
  owner->reset(managed);
  owner_ = std::move(owner);
}

DlpackTensor::DlpackTensor(DLManagedTensorVersioned* managed) {
  if (managed == nullptr) refuse(ErrorCode::invalid_argument, "is a null pointer");
  check_version(*managed);
  read_only_ = (managed->flags & interop::kDlpackReadOnly) != 0;
  take(managed);
}

DlpackTensor::DlpackTensor(DLManagedTensor* managed) {
  if (managed == nullptr) refuse(ErrorCode::invalid_argument, "is a null pointer");
  take(managed);
}

Layout DlpackTensor::layout() const {
  return interop::flat_layout(shape_, strides_);
}

Tensor DlpackTensor::describe(std::string name, Access access) const {
  const auto address = reinterpret_cast<std::uintptr_t>(data_);
  int align = 16;
  while (address % static_cast<unsigned>(align) != 0) align /= 2;
  return {.name = std::move(name),
          .dtype = dtype_,
          .layout = layout(),
          .access = access,
          .align = align};
}

TensorView DlpackTensor::view(int align) const {
  const Engine engine{
      .dtype = dtype_,
      .data = data_,
      .space = device_ == DlpackDevice::cuda ? MemorySpace::gmem : MemorySpace::generic,
      .align = align,
      .read_only = read_only_};
  return {engine, layout()};
}

}  // namespace tilejit
