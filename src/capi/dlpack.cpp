#include "capi/arguments.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"

using namespace tilejit;
using namespace tilejit::capi;

namespace {

/// An argument for the CPU, which needs no runtime.
Argument host_argument(const DlpackTensor& tensor, Access access) {
  if (tensor.device() == DlpackDevice::cuda) {
    throw Error(ErrorCode::invalid_argument,
                "a DLPack tensor is in device memory; copy it to the host, or pass a runtime");
  }
  if (tensor.read_only() && access != Access::in) {
    throw Error(ErrorCode::invalid_argument, "a DLPack tensor is read-only; pass a copy");
  }
  return {tensor.dtype(), tensor.data(), tensor.shape(), tensor.strides()};
}

}  // namespace

extern "C" {

tj_status tj_tensor_from_dlpack(void* managed, int32_t versioned, tj_tensor** tensor) {
  return guarded([&] {
    (void)required(tensor, "tensor");
    *tensor = versioned != 0
                  ? new tj_tensor{DlpackTensor(static_cast<DLManagedTensorVersioned*>(managed))}
                  : new tj_tensor{DlpackTensor(static_cast<DLManagedTensor*>(managed))};
  });
}

void tj_tensor_destroy(tj_tensor* tensor) {
  delete tensor;
}

tj_status tj_tensor_device(const tj_tensor* tensor, int32_t* device_type, int32_t* device_id) {
  return guarded([&] {
    const DlpackTensor& known = required(tensor, "tensor").tensor;
    if (device_type != nullptr) *device_type = static_cast<int32_t>(known.device());
    if (device_id != nullptr) *device_id = known.device_id();
  });
}

tj_status tj_tensor_argument(const tj_tensor* tensor, const tj_runtime* runtime, int32_t writes,
                             tj_argument* argument) {
  return guarded([&] {
    tj_argument& filled = required_struct(argument, "argument");
    const DlpackTensor& known = required(tensor, "tensor").tensor;
    const Access access = writes != 0 ? Access::inout : Access::in;
    const Argument view = runtime != nullptr ? known.argument(*runtime->runtime, access)
                                             : host_argument(known, access);
    filled.kind = TJ_TENSOR;
    filled.dtype = static_cast<int32_t>(view.dtype);
    filled.ndim = static_cast<int32_t>(view.shape.size());
    filled.data = known.data();
    filled.shape = view.shape.data();
    filled.strides = view.stride.data();
    filled.integer = 0;
    filled.floating = 0;
  });
}

tj_status tj_buffer_to_dlpack(const tj_buffer* buffer, const tj_argument* tensor, int32_t versioned,
                              void** managed) {
  return guarded([&] {
    (void)required(managed, "managed");
    const tj_buffer& known = required(buffer, "buffer");
    const Arguments arguments(tensor, 1);
    const Argument& given = arguments.only_tensor();
    const DlpackView view = dlpack_view(*known.runtime, *known.buffer, given.dtype,
                                        {given.shape.begin(), given.shape.end()},
                                        {given.stride.begin(), given.stride.end()});
    *managed = versioned != 0 ? static_cast<void*>(to_dlpack_versioned(view, known.buffer))
                              : static_cast<void*>(to_dlpack(view, known.buffer));
  });
}

}  // extern "C"
