#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "operation/tensor_map.hpp"

namespace tilejit::launch {

/// The alignment of buffers of parameters: that of their largest field.
inline constexpr std::size_t kParamBytesAlignment = operation::TensorMap::kAlignment;

/// Allocates memory of that alignment.
template <typename T>
struct ParamAllocator {
  using value_type = T;
  ParamAllocator() = default;
  template <typename U>
  explicit ParamAllocator(const ParamAllocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(
        ::operator new(count * sizeof(T), std::align_val_t(kParamBytesAlignment)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(kParamBytesAlignment));
  }
  bool operator==(const ParamAllocator&) const = default;
};

/// The parameters of all kernels of a launch.
using ParamBytes = std::vector<std::byte, ParamAllocator<std::byte>>;

}  // namespace tilejit::launch
