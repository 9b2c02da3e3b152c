#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "driver/driver.hpp"
#include "formula/analysis.hpp"
#include "operation/fast_divisor.hpp"
#include "plan/plan.hpp"
#include "tilejit/tilejit.hpp"

namespace tilejit::bench {

/// The parameter struct that Kernel::launch gives to a kernel of known sizes. Scalars are f32.
inline std::vector<std::byte> parameters(const plan::Plan& plan, const std::vector<Argument>& args,
                                         std::size_t tensors) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(plan.params_bytes));
  for (const plan::Param& param : plan.params) {
    std::byte* field = bytes.data() + param.offset;
    const auto index = static_cast<std::size_t>(std::max(0, param.index));
    if (param.kind == plan::Param::Kind::pointer) {
      std::memcpy(field, &args.at(index).address, 8);
    } else if (param.kind == plan::Param::Kind::scalar) {
      const auto value = static_cast<float>(args.at(tensors + index).floating);
      std::memcpy(field, &value, sizeof value);
    } else if (param.kind == plan::Param::Kind::total) {
      const std::int64_t total = plan::total_units(plan, {});
      std::memcpy(field, &total, 8);
    } else if (param.kind == plan::Param::Kind::divisor) {
      const operation::FastDivisor divisor =
          operation::make_divisor(param.dim.evaluate({}) / param.per);
      std::memcpy(field, &divisor, sizeof divisor);
    }
  }
  return bytes;
}

/// A kernel as the driver alone would launch it.
class BareKernel {
 public:
  BareKernel(const Kernel& kernel, const std::vector<Argument>& args)
      : plan_(plan::make_plan(*kernel.op().fused(), formula::analyze(*kernel.op().fused()),
                              kernel.artifact().target)),
        parameters_(parameters(plan_, args, kernel.op().tensors().size())) {
    const std::string& cubin = *kernel.artifact().cubin;
    check(driver_.cuLibraryLoadData_(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr,
                                     0));
    CUkernel loaded{};
    check(driver_.cuLibraryGetKernel_(&loaded, library_, kernel.artifact().kernel_name.c_str()));
    check(driver_.cuKernelGetFunction_(&function_, loaded));
    const std::int64_t covered = plan::units_per_block(plan_);
    blocks_ = static_cast<unsigned>((plan::total_units(plan_, {}) + covered - 1) / covered);
  }
  BareKernel(const BareKernel&) = delete;
  BareKernel& operator=(const BareKernel&) = delete;
  ~BareKernel() { (void)driver_.cuLibraryUnload_(library_); }

  void launch(CUstream stream) {
    void* arguments[] = {parameters_.data()};
    check(driver_.cuLaunchKernel_(function_, blocks_, 1, 1, static_cast<unsigned>(plan_.threads), 1,
                                  1, 0, stream, arguments, nullptr));
  }
  /// The same launch as a node of a graph; `argument` points to the parameters.
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node(void*& argument) {
    argument = parameters_.data();
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function_;
    params.gridDimX = blocks_;
    params.blockDimX = static_cast<unsigned>(plan_.threads);
    params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = &argument;
    return params;
  }
  void check(CUresult result) const { driver::check(driver_, result, "launch_bench"); }
  [[nodiscard]] const driver::Table& driver() const noexcept { return driver_; }

 private:
  const driver::Table& driver_ = driver::load_driver();
  plan::Plan plan_;
  std::vector<std::byte> parameters_;
  CUlibrary library_{};
  CUfunction function_{};
  unsigned blocks_ = 1;
};

/// A graph that the driver alone makes: one kernel many times, each node after the one before.
class BareGraph {
 public:
  BareGraph(BareKernel& kernel, int nodes) : kernel_(kernel) {
    void* argument = nullptr;
    const CUDA_KERNEL_NODE_PARAMS params = kernel.node(argument);
    const driver::Table& driver = kernel.driver();
    kernel.check(driver.cuGraphCreate_(&graph_, 0));
    for (int i = 0; i < nodes; ++i) {
      CUgraphNode node{};
      kernel.check(driver.cuGraphAddKernelNode_(&node, graph_, i == 0 ? nullptr : &nodes_.back(),
                                                i == 0 ? 0 : 1, &params));
      nodes_.push_back(node);
    }
    kernel.check(driver.cuGraphInstantiate_(&executable_, graph_, 0));
  }
  BareGraph(const BareGraph&) = delete;
  BareGraph& operator=(const BareGraph&) = delete;
  ~BareGraph() {
    (void)kernel_.driver().cuGraphExecDestroy_(executable_);
    (void)kernel_.driver().cuGraphDestroy_(graph_);
  }

  void launch(CUstream stream) const {
    kernel_.check(kernel_.driver().cuGraphLaunch_(executable_, stream));
  }
  void update(BareKernel& kernel, std::size_t node) const {
    void* argument = nullptr;
    const CUDA_KERNEL_NODE_PARAMS params = kernel.node(argument);
    kernel_.check(
        kernel_.driver().cuGraphExecKernelNodeSetParams_(executable_, nodes_[node], &params));
  }

 private:
  BareKernel& kernel_;
  CUgraph graph_{};
  CUgraphExec executable_{};
  std::vector<CUgraphNode> nodes_;
};

}  // namespace tilejit::bench
