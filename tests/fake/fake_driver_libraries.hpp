#pragma once

// FakeDriver's libraries and tensor maps; included by fake_driver.hpp.

#include "fake/fake_driver.hpp"

namespace tilejit {

inline void FakeDriver::fill_libraries() {
  table.cuLibraryLoadData_ = [](CUlibrary* library, const void*, CUjit_option*, void**, unsigned,
                                CUlibraryOption*, void**, unsigned) {
    *library = handle<CUlibrary>(1);
    return enter("cuLibraryLoadData", &FakeDriver::libraries, 1);
  };
  table.cuLibraryUnload_ = [](CUlibrary) {
    return enter("cuLibraryUnload", &FakeDriver::libraries, -1);
  };
  table.cuLibraryGetKernel_ = [](CUkernel* kernel, CUlibrary, const char* name) {
    active()->entries.emplace_back(name);
    *kernel = handle<CUkernel>(active()->entries.size());
    return enter("cuLibraryGetKernel");
  };
  table.cuLibraryGetGlobal_ = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary,
                                 const char* name) {
    active()->global_name = name;
    *address = reinterpret_cast<CUdeviceptr>(&active()->global);
    *bytes = sizeof active()->global;
    return enter("cuLibraryGetGlobal");
  };
  table.cuKernelGetFunction_ = [](CUfunction* function, CUkernel kernel) {
    *function = reinterpret_cast<CUfunction>(kernel);
    return enter("cuKernelGetFunction");
  };
  table.cuFuncGetAttribute_ = [](int* value, CUfunction_attribute which, CUfunction) {
    *value = which == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? active()->declared_cluster
                                                               : 100 + static_cast<int>(which);
    return enter("cuFuncGetAttribute");
  };
  table.cuOccupancyMaxActiveBlocksPerMultiprocessor_ = [](int* blocks, CUfunction, int,
                                                          std::size_t) {
    *blocks = 8;
    return enter("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  };
  table.cuFuncSetAttribute_ = [](CUfunction, CUfunction_attribute which, int value) {
    active()->function_attributes.emplace_back(which, value);
    return enter("cuFuncSetAttribute");
  };
  table.cuOccupancyMaxActiveClusters_ = [](int* clusters, CUfunction, const CUlaunchConfig*) {
    *clusters = active()->active_clusters;
    return enter("cuOccupancyMaxActiveClusters");
  };
  table.cuLaunchKernelEx_ = [](const CUlaunchConfig* config, CUfunction function, void** params,
                               void**) {
    FakeDriver& self = *active();
    const CUresult result = enter("cuLaunchKernelEx");
    if (result != CUDA_SUCCESS) return result;
    self.launches.push_back(
        {function,
         config->gridDimX,
         config->blockDimX,
         config->hStream,
         record(params),
         config->sharedMemBytes,
         config->numAttrs == 1,
         {config->attrs, config->attrs + config->numAttrs},
         {config->gridDimY, config->gridDimZ, config->blockDimY, config->blockDimZ},
         params[0]});
    return CUDA_SUCCESS;
  };
  table.cuLaunchKernel_ = [](CUfunction function, unsigned blocks, unsigned blocks_y,
                             unsigned blocks_z, unsigned threads, unsigned threads_y,
                             unsigned threads_z, unsigned shared_bytes, CUstream stream,
                             void** params, void**) {
    FakeDriver& self = *active();
    const CUresult result = enter("cuLaunchKernel");
    if (result != CUDA_SUCCESS) return result;
    if (self.launch_needs_context && self.current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    self.launches.push_back({.function = function,
                             .blocks = blocks,
                             .threads = threads,
                             .stream = stream,
                             .params = record(params),
                             .shared_bytes = shared_bytes,
                             .extents = {blocks_y, blocks_z, threads_y, threads_z},
                             .params_at = params[0]});
    return CUDA_SUCCESS;
  };
}

inline void FakeDriver::fill_tensor_maps() {
  table.cuTensorMapEncodeTiled_ =
      [](CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
         const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
         const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
         CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
        FakeDriver& self = *active();
        const CUresult result = enter("cuTensorMapEncodeTiled");
        if (result != CUDA_SUCCESS) return result;
        if (self.encode_needs_context && self.current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        const auto own = reinterpret_cast<std::uintptr_t>(address);
        self.tensor_maps.push_back({type,
                                    own,
                                    {extents, extents + rank},
                                    {strides, strides + rank - 1},
                                    {box, box + rank},
                                    {steps, steps + rank},
                                    interleave,
                                    swizzle,
                                    promotion,
                                    fill});
        if (reinterpret_cast<std::uintptr_t>(out) % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
        *out = {};
        out->opaque[0] = self.tensor_maps.size();
        out->opaque[1] = own;
        return CUDA_SUCCESS;
      };
}

}  // namespace tilejit
