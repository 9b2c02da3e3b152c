// The parts of DLPack tensors that concern a device.

#include <string>
#include <utility>

#include "interop/strides.hpp"
#include "tilejit/buffer.hpp"
#include "tilejit/dlpack.hpp"
#include "tilejit/error.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {
namespace {

[[noreturn]] void refuse_tensor(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, why);
}

std::string device_name(int ordinal) {
  return "cuda:" + std::to_string(ordinal);
}

}  // namespace

Argument DlpackTensor::argument(const Runtime& runtime, Access access) const {
  const int ordinal = runtime.device().ordinal;
  if (device_ == DlpackDevice::cpu) {
    refuse_tensor("a DLPack tensor is in host memory; move it to " + device_name(ordinal));
  }
  if (device_ == DlpackDevice::cuda && device_id_ != ordinal) {
    refuse_tensor("a DLPack tensor is on " + device_name(device_id_) +
                  ", and the runtime's device is " + device_name(ordinal) +
                  "; move the tensor, or use a runtime of its device");
  }
  if (read_only_ && access != Access::in) {
    refuse_tensor("a DLPack tensor is read-only, and the kernel writes it; pass a copy");
  }
  return {dtype_, data_, shape_, strides_};
}

DlpackView dlpack_view(const Runtime& runtime, const Buffer& buffer, DType dtype,
                       std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
  DlpackView view{.dtype = dtype,
                  .data = buffer.data(),
                  .shape = std::move(shape),
                  .strides = std::move(strides),
                  .device = DlpackDevice::cuda,
                  .device_id = runtime.device().ordinal};
  if (view.strides.empty()) view.strides = interop::compact_strides(view.shape);
  const auto elements = static_cast<std::size_t>(interop::span_elements(view.shape, view.strides));
  const std::size_t fitting = buffer.size_bytes() / static_cast<std::size_t>(size_bytes(dtype));
  if (elements <= fitting) return view;
  refuse_tensor("a tensor of " + std::to_string(elements) + " elements of " +
                std::to_string(size_bytes(dtype)) + " bytes does not fit a buffer of " +
                std::to_string(buffer.size_bytes()) + " bytes");
}

}  // namespace tilejit
