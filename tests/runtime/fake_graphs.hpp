#pragma once

#include <vector>

#include "runtime/fake_driver.hpp"

namespace tilejit {

/// A FakeDriver with stream capture and graphs, which run nothing when they are launched: what is
/// captured is counted as any launch is. One at a time.
class FakeGraphs {
 public:
  FakeGraphs() {
    active() = this;
    fill_capture();
    fill_graphs();
    fake.table.cuMemsetD8Async_ = [](CUdeviceptr, unsigned char, std::size_t bytes, CUstream) {
      active()->cleared += bytes;
      return enter("cuMemsetD8Async");
    };
  }
  ~FakeGraphs() { active() = nullptr; }
  FakeGraphs(const FakeGraphs&) = delete;
  FakeGraphs& operator=(const FakeGraphs&) = delete;

  FakeDriver fake;
  int graphs = 0;  ///< alive, executable ones too
  int graph_launches = 0;
  bool capturing = false;
  std::size_t cleared = 0;  ///< bytes set to zero

 private:
  static FakeGraphs*& active() {
    static FakeGraphs* graphs = nullptr;
    return graphs;
  }
  static CUresult enter(const char* call) {
    FakeDriver& fake = active()->fake;
    const int number = static_cast<int>(fake.calls.size());
    fake.calls.emplace_back(call);
    if (number == fake.fail_at) return fake.failure;
    const auto found = fake.fail_on.find(call);
    return found == fake.fail_on.end() ? CUDA_SUCCESS : found->second;
  }
  static CUresult make(const char* call) {
    const CUresult result = enter(call);
    if (result == CUDA_SUCCESS) ++active()->graphs;
    return result;
  }
  static CUresult destroy(const char* call) {
    --active()->graphs;
    return enter(call);
  }

  void fill_capture() {
    fake.table.cuStreamBeginCapture_ = [](CUstream, CUstreamCaptureMode) {
      const CUresult result = enter("cuStreamBeginCapture");
      active()->capturing = result == CUDA_SUCCESS;
      return result;
    };
    fake.table.cuStreamEndCapture_ = [](CUstream, CUgraph* graph) {
      active()->capturing = false;
      const CUresult result = make("cuStreamEndCapture");
      *graph = result == CUDA_SUCCESS ? reinterpret_cast<CUgraph>(3) : nullptr;
      return result;
    };
  }
  void fill_graphs() {
    fake.table.cuGraphInstantiate_ = [](CUgraphExec* executable, CUgraph, unsigned long long) {
      *executable = reinterpret_cast<CUgraphExec>(5);
      return make("cuGraphInstantiate");
    };
    fake.table.cuGraphLaunch_ = [](CUgraphExec, CUstream) {
      ++active()->graph_launches;
      return enter("cuGraphLaunch");
    };
    fake.table.cuGraphDestroy_ = [](CUgraph) { return destroy("cuGraphDestroy"); };
    fake.table.cuGraphExecDestroy_ = [](CUgraphExec) { return destroy("cuGraphExecDestroy"); };
  }
};

}  // namespace tilejit
