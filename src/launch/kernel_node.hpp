#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "launch/kernel_impl.hpp"

namespace tilejit::launch {

/// One kernel of the driver as a graph node. `params` are read when the node is added or set.
class KernelNode {
 public:
  KernelNode(const Kernel::Impl::Shape& shape, const std::byte* params)
      : value_(const_cast<std::byte*>(params)) {
    params_.func = shape.function;
    params_.gridDimX = shape.blocks;
    params_.gridDimY = shape.blocks_y;
    params_.gridDimZ = shape.blocks_z;
    params_.blockDimX = shape.threads;
    params_.blockDimY = shape.threads_y;
    params_.blockDimZ = shape.threads_z;
    params_.sharedMemBytes = shape.shared_bytes;
    params_.kernelParams = &value_;
    if (shape.fields != nullptr) [[unlikely]]
      take_fields(shape, params);
  }
  KernelNode(const KernelNode&) = delete;  // params_ points to value_
  KernelNode& operator=(const KernelNode&) = delete;
  [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const noexcept { return &params_; }

 private:
  /// For a kernel that takes its parameters one by one.
  void take_fields(const Kernel::Impl::Shape& shape, const std::byte* params);

  void* value_;  // the parameter struct, which the driver only reads
  std::unique_ptr<const std::vector<void*>> values_;  // its fields, if the kernel takes these
  CUDA_KERNEL_NODE_PARAMS params_ = {};
};

}  // namespace tilejit::launch
