#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.hpp"

namespace tilejit {

/// A driver without a device. It records every call, counts live objects, and fails when told to.
/// "Device memory" is host memory that only copies touch. One at a time; not thread-safe.
class FakeDriver {
 public:
  /// The grid and the block along y and z.
  struct Extents {
    unsigned blocks_y = 1, blocks_z = 1, threads_y = 1, threads_z = 1;
    bool operator==(const Extents&) const = default;
  };
  struct Launch {
    CUfunction function;
    unsigned blocks, threads;
    CUstream stream;
    std::vector<std::byte> params;
    unsigned shared_bytes = 0;
    bool overlaps = false;  ///< may start while the previous kernel of the stream ends
    std::vector<CUlaunchAttribute> attributes = {};
    Extents extents = {};
    const void* params_at = nullptr;  ///< where the caller had them
  };
  /// Arguments of cuTensorMapEncodeTiled. The resulting map holds its number, counted from 1, and
  /// its address.
  struct TensorMap {
    CUtensorMapDataType type;
    std::uint64_t address;
    std::vector<std::uint64_t> extents, strides;  ///< elements; bytes, of all modes but the first
    std::vector<std::uint32_t> box, steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
  };
  /// A node of a graph, as added.
  struct GraphNode {
    std::string call;
    std::vector<CUgraphNode> after;
    CUfunction function = nullptr;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    std::vector<std::byte> params = {};
    const void* params_at = nullptr;  ///< where the caller had them
    std::vector<CUlaunchAttributeID> attributes = {};
    std::uint64_t to = 0, from = 0, bytes = 0;  ///< of copies and fills
    CUmemorytype from_type = {}, to_type = {};  ///< of copies
    const void* event = nullptr;
    CUgraph child = nullptr;
    CUgraphNode origin = nullptr;  ///< of a clone
    void* value = nullptr;         ///< what cuGraphKernelNodeGetParams points to
    Extents extents = {};
  };
  using GraphNodes = std::vector<std::unique_ptr<GraphNode>>;
  /// A change of an executable graph.
  struct GraphUpdate {
    CUgraphNode node;
    unsigned blocks;
    std::vector<std::byte> params;
    int enabled = -1;  ///< 0 or 1: cuGraphNodeSetEnabled
  };

  FakeDriver() {
    active() = this;
    fill_queries();
    fill_contexts();
    fill_libraries();
    fill_tensor_maps();
    fill_memory();
    fill_pointers();
    fill_streams();
    fill_events();
    fill_captures();
    fill_graphs();
    fill_graph_queries();
    fill_graph_executables();
  }
  ~FakeDriver() { active() = nullptr; }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  driver::Table table;

  // Properties of the fake device.
  int device_count = 1;
  int capability_major = 9, capability_minor = 0;
  int version = 13000;
  int active_clusters = 15;  ///< of any kernel
  bool has_clusters = true, has_cooperative = true;
  int shared_limit = 227 << 10;       ///< bytes per block
  int declared_cluster = 0;           ///< of any kernel's source
  bool stream_is_busy = false;        ///< result of cuStreamQuery and cuEventQuery
  bool capture_is_broken = false;     ///< the capture of any stream
  CUdeviceptr host_address = 0;       ///< the only address that is not the device's
  unsigned long long context_id = 1;  ///< 0: destroyed
  bool launch_needs_context = false;  ///< as streams of the legacy kind require
  bool encode_needs_context = false;
  std::size_t param_bytes = 0;  ///< how many bytes of the kernel's parameter are recorded
  /// If not empty: the sizes of the parameters of kernels that take them one by one; recorded
  /// without gaps.
  std::vector<std::size_t> param_sizes = {};
  float elapsed_ms = 1;                          ///< for the next pair of events; grows by 1
  int fail_at = -1;                              ///< number of the call that fails, counted from 0
  std::map<std::string, CUresult> fail_on = {};  ///< calls that always fail
  CUresult failure = CUDA_ERROR_UNKNOWN;         ///< what fail_at returns
  /// Results of cuGraphExecUpdate: the reason for a refusal and the nodes of the new graph; -1 for
  /// none.
  struct {
    CUgraphExecUpdateResult why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    int node = -1, from = -1;
  } refused_update;

  // What has happened so far.
  std::vector<std::string> calls = {};
  std::vector<Launch> launches = {};
  std::vector<TensorMap> tensor_maps = {};
  std::vector<std::string> entries = {};  ///< names requested; CUfunction is index + 1
  std::string global_name = {};           ///< of cuLibraryGetGlobal
  std::uint64_t* global = nullptr;        ///< the only global of any library
  int contexts = 0, libraries = 0, streams = 0, events = 0, buffers = 0, pools = 0;  ///< alive
  int graphs = 0, executables = 0;                                                   ///< alive
  std::map<CUgraph, GraphNodes> graph_nodes = {};  ///< of graphs alive, and of copies as children
  std::vector<GraphUpdate> updates = {};
  std::vector<CUgraph> whole_updates = {};              ///< graphs given to cuGraphExecUpdate
  std::vector<CUstreamCaptureMode> capture_modes = {};  ///< of captures begun
  CUstream capturing = nullptr;
  std::map<CUstream, unsigned long long> stream_ids = {};  ///< if absent, the number of the handle
  std::vector<std::pair<CUfunction_attribute, int>> function_attributes = {};  ///< set
  std::size_t cleared = 0;                                                     ///< bytes set to 0
  CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::vector<std::pair<CUstream, CUevent>> waits = {};
  std::vector<std::pair<unsigned, int>> created_streams = {};  ///< flags, priority
  std::vector<CUcontext> current = {};                         ///< stack of contexts
  std::vector<CUstream> copies = {}, waited = {};              ///< streams copied and waited on
  std::map<CUdeviceptr, CUstream> ordered = {};                ///< memory of cuMemAllocAsync, alive
  std::vector<CUstream> freed_on = {};                         ///< streams of cuMemFreeAsync

  [[nodiscard]] int alive() const {
    return contexts + libraries + streams + events + buffers + pools + graphs + executables;
  }
  [[nodiscard]] int count(const std::string& call) const {
    return static_cast<int>(std::count(calls.begin(), calls.end(), call));
  }

 private:
  static FakeDriver*& active() {
    static FakeDriver* driver = nullptr;
    return driver;
  }
  /// Records a call and returns its result.
  static CUresult enter(const char* call) {
    FakeDriver& self = *active();
    const int number = static_cast<int>(self.calls.size());
    self.calls.emplace_back(call);
    if (number == self.fail_at) return self.failure;
    const auto found = self.fail_on.find(call);
    return found == self.fail_on.end() ? CUDA_SUCCESS : found->second;
  }
  /// Records a call that creates (1) or destroys (-1) something. A failed destruction counts as
  /// one: callers can do no more than try.
  static CUresult enter(const char* call, int FakeDriver::*alive, int change) {
    const CUresult result = enter(call);
    if (result == CUDA_SUCCESS || change < 0) active()->*alive += change;
    return result;
  }
  template <typename Handle>
  static Handle handle(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number);
  }

  /// Memory of cuMemAllocAsync belongs to the host; memory of pools does not.
  void free_ordered(CUdeviceptr address, CUstream stream) {
    freed_on.push_back(stream);
    if (ordered.erase(address) != 0) ::operator delete(reinterpret_cast<void*>(address));
  }

  void fill_queries();
  void fill_contexts();
  void fill_libraries();
  void fill_tensor_maps();
  void fill_memory();
  void fill_pointers();
  void fill_streams();
  void fill_events();
  void fill_captures();
  void fill_graphs();
  void fill_graph_queries();
  void fill_graph_executables();

  static CUgraph new_graph() {
    const auto made = handle<CUgraph>(0x900 + ++active()->last_graph_);
    active()->graph_nodes[made];
    return made;
  }
  static CUgraph copy_graph(CUgraph graph);
  static CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                           std::size_t count, const char* call, GraphNode node);
  /// The bytes of a kernel's parameters.
  static std::vector<std::byte> record(void** params) {
    const FakeDriver& self = *active();
    std::vector<std::byte> all;
    const auto add = [&](const void* from, std::size_t bytes) {
      const auto* const begin = static_cast<const std::byte*>(from);
      all.insert(all.end(), begin, begin + bytes);
    };
    if (self.param_sizes.empty()) add(params[0], self.param_bytes);
    for (std::size_t i = 0; i < self.param_sizes.size(); ++i) add(params[i], self.param_sizes[i]);
    return all;
  }
  static void set_kernel(GraphNode& node, const CUDA_KERNEL_NODE_PARAMS& params);
  static GraphNode& node_of(CUgraphNode node) { return *reinterpret_cast<GraphNode*>(node); }

  std::uintptr_t last_graph_ = 0;
};

inline void FakeDriver::fill_queries() {
  table.cuInit_ = [](unsigned) { return enter("cuInit"); };
  table.cuDriverGetVersion_ = [](int* version) {
    *version = active()->version;
    return enter("cuDriverGetVersion");
  };
  table.cuGetErrorName_ = [](CUresult result, const char** name) {
    *name = result == CUDA_ERROR_UNKNOWN ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_OTHER";
    return CUDA_SUCCESS;
  };
  table.cuGetErrorString_ = [](CUresult, const char** text) {
    *text = "a fake failure";
    return CUDA_SUCCESS;
  };
  table.cuDeviceGetCount_ = [](int* count) {
    *count = active()->device_count;
    return enter("cuDeviceGetCount");
  };
  table.cuDeviceGet_ = [](CUdevice* device, int ordinal) {
    *device = ordinal;
    return enter("cuDeviceGet");
  };
  table.cuDeviceGetName_ = [](char* name, int length, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return enter("cuDeviceGetName");
  };
  table.cuDeviceTotalMem_ = [](std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{80} << 30;
    return enter("cuDeviceTotalMem");
  };
  table.cuDeviceGetAttribute_ = [](int* value, CUdevice_attribute which, CUdevice) {
    switch (which) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = active()->capability_major; break;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = active()->capability_minor; break;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
      case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 << 20; break;
      case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = active()->shared_limit;
        break;
      case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: *value = active()->has_cooperative; break;
      case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: *value = active()->has_clusters; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return enter("cuDeviceGetAttribute");
  };
}

inline void FakeDriver::fill_contexts() {
  table.cuDevicePrimaryCtxRetain_ = [](CUcontext* context, CUdevice device) {
    *context = handle<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
    return enter("cuDevicePrimaryCtxRetain", &FakeDriver::contexts, 1);
  };
  table.cuDevicePrimaryCtxRelease_ = [](CUdevice) {
    return enter("cuDevicePrimaryCtxRelease", &FakeDriver::contexts, -1);
  };
  table.cuCtxPushCurrent_ = [](CUcontext context) {
    const CUresult result = enter("cuCtxPushCurrent");
    if (result == CUDA_SUCCESS) active()->current.push_back(context);
    return result;
  };
  table.cuCtxPopCurrent_ = [](CUcontext* context) {
    *context = active()->current.back();
    active()->current.pop_back();
    return enter("cuCtxPopCurrent");
  };
  table.cuCtxGetDevice_ = [](CUdevice* device) {
    *device = static_cast<CUdevice>(reinterpret_cast<std::uintptr_t>(active()->current.back()) - 1);
    return enter("cuCtxGetDevice");
  };
  table.cuCtxGetId_ = [](CUcontext, unsigned long long* id) {
    *id = active()->context_id;
    const CUresult result = enter("cuCtxGetId");
    return result == CUDA_SUCCESS && *id == 0 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : result;
  };
  table.cuCtxGetStreamPriorityRange_ = [](int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return enter("cuCtxGetStreamPriorityRange");
  };
  table.cuCtxSetCurrent_ = [](CUcontext context) {
    const CUresult result = enter("cuCtxSetCurrent");
    if (result == CUDA_SUCCESS) active()->current.assign(1, context);
    return result;
  };
}

inline void FakeDriver::fill_streams() {
  table.cuStreamGetId_ = [](CUstream stream, unsigned long long* id) {
    const auto& ids = active()->stream_ids;
    const auto found = ids.find(stream);
    *id = found == ids.end() ? reinterpret_cast<std::uintptr_t>(stream) : found->second;
    return enter("cuStreamGetId");
  };
  table.cuStreamCreate_ = [](CUstream* stream, unsigned) {
    *stream = handle<CUstream>(7);
    return enter("cuStreamCreate", &FakeDriver::streams, 1);
  };
  table.cuStreamDestroy_ = [](CUstream) {
    return enter("cuStreamDestroy", &FakeDriver::streams, -1);
  };
  table.cuStreamCreateWithPriority_ = [](CUstream* stream, unsigned flags, int priority) {
    *stream = handle<CUstream>(7);
    active()->created_streams.emplace_back(flags, priority);
    return enter("cuStreamCreateWithPriority", &FakeDriver::streams, 1);
  };
  table.cuStreamQuery_ = [](CUstream) {
    const CUresult result = enter("cuStreamQuery");
    return result == CUDA_SUCCESS && active()->stream_is_busy ? CUDA_ERROR_NOT_READY : result;
  };
  table.cuStreamSynchronize_ = [](CUstream) { return enter("cuStreamSynchronize"); };
  table.cuCtxSynchronize_ = [] { return enter("cuCtxSynchronize"); };
}

inline void FakeDriver::fill_events() {
  table.cuStreamWaitEvent_ = [](CUstream stream, CUevent event, unsigned) {
    active()->waits.emplace_back(stream, event);
    return enter("cuStreamWaitEvent");
  };
  table.cuEventQuery_ = [](CUevent) {
    const CUresult result = enter("cuEventQuery");
    return result == CUDA_SUCCESS && active()->stream_is_busy ? CUDA_ERROR_NOT_READY : result;
  };
  table.cuEventSynchronize_ = [](CUevent) { return enter("cuEventSynchronize"); };
  table.cuStreamSynchronize_ = [](CUstream stream) {
    active()->waited.push_back(stream);
    return enter("cuStreamSynchronize");
  };
  table.cuEventCreate_ = [](CUevent* event, unsigned) {
    *event = handle<CUevent>(9);
    return enter("cuEventCreate", &FakeDriver::events, 1);
  };
  table.cuEventDestroy_ = [](CUevent) { return enter("cuEventDestroy", &FakeDriver::events, -1); };
  table.cuEventRecord_ = [](CUevent, CUstream) { return enter("cuEventRecord"); };
  table.cuEventElapsedTime_ = [](float* ms, CUevent, CUevent) {
    *ms = active()->elapsed_ms++;
    return enter("cuEventElapsedTime");
  };
}

}  // namespace tilejit

#include "fake/fake_driver_graphs.hpp"
#include "fake/fake_driver_libraries.hpp"
#include "fake/fake_driver_memory.hpp"
