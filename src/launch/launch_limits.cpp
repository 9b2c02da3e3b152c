// Checks what a launch asks for against the limits of the device.

#include <algorithm>
#include <string>

#include "launch/kernel_impl.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using launch::Grid;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::unsupported, why, "/options");
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

}  // namespace

Grid Kernel::Impl::limited(const Step& step, Grid grid) const {
  if (step.most_blocks != 0) grid.blocks = std::min(grid.blocks, step.most_blocks);
  const auto most = static_cast<unsigned>(library->context->limits().grid_x);
  if (grid.blocks > most) {
    refuse("the launch would need " + text(grid.blocks) +
           " blocks, and a grid of this device has " + "at most " + text(most) +
           "; split the tensors");
  }
  const unsigned most_shared = std::max(step.most_shared, step.shared_bytes);
  if (grid.shared_bytes > most_shared) {
    throw Error(ErrorCode::unsupported,
                "the launch asks for " + text(grid.shared_bytes) +
                    " bytes of shared memory a block, and this device has " + text(most_shared) +
                    " besides what the kernel declares",
                "/launch/shared");
  }
  return grid;
}

void Kernel::Impl::limit(std::span<Grid> grids) const {
  for (std::size_t i = 0; i < grids.size(); ++i) grids[i] = limited(step(i), grids[i]);
}

void Kernel::Impl::check_options(std::span<const Grid> grids, const LaunchOptions& options) const {
  const driver::Limits& limits = library->context->limits();
  if (options.overlap && limits.major < 9) {
    refuse(
        "an overlapping launch needs a device of compute capability 9.0 or above, and this one "
        "has " +
        text(limits.major) + ".x; launch without it");
  }
  if (options.priority &&
      (*options.priority < limits.greatest_priority || *options.priority > limits.least_priority)) {
    refuse("the priority " + text(*options.priority) + " is not between " +
           text(limits.greatest_priority) + " and " + text(limits.least_priority) +
           ", which this device has");
  }
  if (const auto carveout = options.shared_carveout; carveout && (*carveout < 0 || *carveout > 100))
    refuse("a carve-out is 0 to 100 percent, not " + text(*carveout));
  if (options.shared_bytes < 0) {
    refuse("a block cannot take " + text(options.shared_bytes) + " bytes more; take 0 or more");
  }
  const auto launched = std::ranges::find_if(grids, [](Grid grid) { return grid.blocks != 0; });
  const auto first = static_cast<std::size_t>(launched - grids.begin());
  if (options.shared_bytes > 0)
    allow_shared_bytes(shape(first, *launched, 0), options.shared_bytes);
  if (options.cluster) check_cluster(step(first), *launched, *options.cluster);
  if (options.cooperative) check_resident(shape(first, *launched, options.shared_bytes));
}

void Kernel::Impl::check_cluster(const Step& step, Grid grid, int blocks) const {
  if (step.cluster > 1) {
    refuse("the plan of this kernel has clusters of " + text(step.cluster) +
           " blocks already; leave the option out, or set tuning.cluster");
  }
  if (blocks < 1 || blocks > driver::Limits::kClusterBlocks) {
    refuse("a cluster has 1 to " + text(driver::Limits::kClusterBlocks) + " blocks, not " +
           text(blocks));
  }
  if (blocks > 1 && !library->context->limits().clusters) {
    refuse("this device has no clusters (compute capability " +
           text(library->context->limits().major) + ".x); leave the option out");
  }
  if (grid.blocks % static_cast<unsigned>(blocks) != 0) {
    refuse("the grid of " + text(grid.blocks) + " blocks is not a multiple of a cluster of " +
           text(blocks));
  }
}

void Kernel::Impl::allow_shared_bytes(const Shape& what, int extra) const {
  const driver::Table& driver = library->context->driver();
  const int most = library->context->limits().shared_bytes;
  const driver::ContextScope scope(*library->context);
  int declared = 0;
  driver::check(
      driver,
      driver.cuFuncGetAttribute_(&declared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, what.function),
      "cuFuncGetAttribute");
  const std::int64_t wanted = std::int64_t{declared} + what.shared_bytes + extra;
  if (wanted > most) {
    refuse("a block would take " + text(wanted) + " bytes of shared memory (" +
           text(declared + what.shared_bytes) + " of the kernel's own and " + text(extra) +
           " more), and this device gives it at most " + text(most));
  }
  // The value is the same for every launch, so that concurrent launches do not change it for each
  // other.
  driver::check(
      driver,
      driver.cuFuncSetAttribute_(what.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 most - declared),
      "cuFuncSetAttribute");
}

void Kernel::Impl::check_resident(const Shape& what) const {
  const driver::Limits& limits = library->context->limits();
  if (!limits.cooperative) refuse("this device has no cooperative launches");
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  int a_processor = 0;
  driver::check(
      driver,
      driver.cuOccupancyMaxActiveBlocksPerMultiprocessor_(
          &a_processor, what.function, static_cast<int>(what.block_threads()), what.shared_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::int64_t resident = std::int64_t{a_processor} * limits.multiprocessors;
  if (what.all_blocks() <= resident) return;
  refuse("a cooperative launch of " + text(what.all_blocks()) + " blocks: this device runs " +
         text(resident) + " of this kernel at once (" + text(limits.multiprocessors) +
         " multiprocessors with " + text(a_processor) + " each)");
}

}  // namespace tilejit
