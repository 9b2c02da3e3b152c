#pragma once

// FakeDriver's memory and pointers; included by fake_driver.hpp.

#include "fake/fake_driver.hpp"

namespace tilejit {

inline void FakeDriver::fill_memory() {
  table.cuMemAlloc_ = [](CUdeviceptr* address, std::size_t bytes) {
    const CUresult result = enter("cuMemAlloc", &FakeDriver::buffers, 1);
    if (result == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(::operator new(bytes));
    return result;
  };
  table.cuMemFree_ = [](CUdeviceptr address) {
    ::operator delete(reinterpret_cast<void*>(address));
    return enter("cuMemFree", &FakeDriver::buffers, -1);
  };
  table.cuMemAllocAsync_ = [](CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    const CUresult result = enter("cuMemAllocAsync", &FakeDriver::buffers, 1);
    if (result != CUDA_SUCCESS) return result;
    *address = reinterpret_cast<CUdeviceptr>(::operator new(bytes));
    active()->ordered[*address] = stream;
    return result;
  };
  table.cuMemHostAlloc_ = [](void** memory, std::size_t bytes, unsigned) {
    const CUresult result = enter("cuMemHostAlloc", &FakeDriver::buffers, 1);
    if (result == CUDA_SUCCESS) *memory = ::operator new(bytes);
    return result;
  };
  table.cuMemFreeHost_ = [](void* memory) {
    ::operator delete(memory);
    return enter("cuMemFreeHost", &FakeDriver::buffers, -1);
  };
  table.cuMemPoolCreate_ = [](CUmemoryPool* pool, const CUmemPoolProps*) {
    *pool = handle<CUmemoryPool>(11);
    return enter("cuMemPoolCreate", &FakeDriver::pools, 1);
  };
  table.cuMemPoolSetAttribute_ = [](CUmemoryPool, CUmemPool_attribute, void*) {
    return enter("cuMemPoolSetAttribute");
  };
  table.cuMemPoolDestroy_ = [](CUmemoryPool) {
    return enter("cuMemPoolDestroy", &FakeDriver::pools, -1);
  };
  table.cuMemAllocFromPoolAsync_ = [](CUdeviceptr* address, std::size_t, CUmemoryPool, CUstream) {
    *address = 0x5000;
    return enter("cuMemAllocFromPoolAsync", &FakeDriver::buffers, 1);
  };
  table.cuMemFreeAsync_ = [](CUdeviceptr address, CUstream stream) {
    active()->free_ordered(address, stream);
    return enter("cuMemFreeAsync", &FakeDriver::buffers, -1);
  };
  table.cuMemsetD8Async_ = [](CUdeviceptr, unsigned char, std::size_t bytes, CUstream) {
    active()->cleared += bytes;
    return enter("cuMemsetD8Async");
  };
  table.cuMemcpyHtoDAsync_ = [](CUdeviceptr to, const void* from, std::size_t bytes,
                                CUstream stream) {
    active()->copies.push_back(stream);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return enter("cuMemcpyHtoDAsync");
  };
  table.cuMemcpyDtoHAsync_ = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    active()->copies.push_back(stream);
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return enter("cuMemcpyDtoHAsync");
  };
  table.cuMemcpyDtoDAsync_ = [](CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
    return enter("cuMemcpyDtoDAsync");
  };
}

inline void FakeDriver::fill_pointers() {
  table.cuPointerGetAttribute_ = [](void* type, CUpointer_attribute, CUdeviceptr address) {
    const CUresult result = enter("cuPointerGetAttribute");
    if (result != CUDA_SUCCESS) return result;
    if (address == active()->host_address)
      return CUDA_ERROR_INVALID_VALUE;  // as for any host memory
    *static_cast<CUmemorytype*>(type) = CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  };
}

}  // namespace tilejit
