#include <algorithm>

#include "launch/internals.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr std::size_t kAlignment = 256;  // of tensors, as for allocations of the driver
constexpr std::size_t kMostWorkspaces = 4096;

/// Offsets of the tensors in a workspace, and its size as the last element.
std::vector<std::size_t> place(std::span<const WorkspaceTensor> tensors) {
  std::vector<std::size_t> offsets = {0};
  for (const WorkspaceTensor& tensor : tensors) {
    std::size_t end = 0;
    if (__builtin_add_overflow(offsets.back(), tensor.bytes, &end) || end > SIZE_MAX / 2) {
      throw Error(ErrorCode::invalid_argument,
                  "tensors of more than 2^63 bytes do not fit a workspace; use smaller extents");
    }
    offsets.push_back((end + kAlignment - 1) / kAlignment * kAlignment);
  }
  return offsets;
}

std::size_t count_workspaces(const DeviceInfo& device, std::size_t bytes, L2State l2) {
  if (l2 == L2State::warm || bytes == 0) return 1;
  const std::size_t wanted = 2 * static_cast<std::size_t>(device.l2_bytes) / bytes + 1;
  const std::size_t fitting = std::max<std::size_t>(device.memory_bytes / 4 / bytes, 1);
  return std::min({wanted, fitting, kMostWorkspaces});
}

/// Fills the first workspace, then copies, doubling the filled part each time.
void fill(const driver::Context& context, CUdeviceptr memory,
          std::span<const WorkspaceTensor> tensors, std::span<const std::size_t> offsets,
          std::size_t count) {
  const driver::Table& driver = context.driver();
  const driver::ContextScope scope(context);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const CUdeviceptr to = memory + offsets[i];
    const auto& [bytes, contents] = tensors[i];
    if (bytes == 0) continue;
    if (contents == nullptr) {
      driver::check(driver, driver.cuMemsetD8Async_(to, 0, bytes, nullptr), "cuMemsetD8Async");
    } else {
      driver::check(driver, driver.cuMemcpyHtoDAsync_(to, contents, bytes, nullptr),
                    "cuMemcpyHtoDAsync");
    }
  }
  const std::size_t each = offsets.back();
  for (std::size_t filled = 1; filled < count && each > 0; filled *= 2) {
    const std::size_t more = std::min(filled, count - filled);
    driver::check(driver,
                  driver.cuMemcpyDtoDAsync_(memory + filled * each, memory, more * each, nullptr),
                  "cuMemcpyDtoDAsync");
  }
  driver::check(driver, driver.cuStreamSynchronize_(nullptr), "cuStreamSynchronize");
}

}  // namespace

Workspaces::Workspaces(const Runtime& runtime, std::span<const WorkspaceTensor> tensors,
                       std::span<const Argument> scalars, L2State l2) {
  const std::vector<std::size_t> offsets = place(tensors);
  const std::size_t each = offsets.back();
  const std::size_t count = count_workspaces(runtime.device(), each, l2);
  memory_ = Buffer(runtime, count * each);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  fill(*launch::Internals::context(runtime), address, tensors, offsets, count);
  for (std::size_t w = 0; w < count; ++w) {
    std::vector<Argument>& list = arguments_.emplace_back();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      list.emplace_back(reinterpret_cast<void*>(address + w * each + offsets[i]));
    }
    list.insert(list.end(), scalars.begin(), scalars.end());
  }
  cold_ = count * each > 2 * static_cast<std::size_t>(runtime.device().l2_bytes);
}

}  // namespace tilejit
