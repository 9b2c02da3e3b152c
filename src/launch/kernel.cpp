#include <algorithm>
#include <limits>
#include <optional>

#include "core/json_pointer.hpp"
#include "launch/internals.hpp"
#include "launch/kernel_impl.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {

namespace {

/// The offsets of the parameters if the kernel takes them one by one; else null.
std::unique_ptr<const std::vector<std::uint16_t>> positional_fields(const operation::Step& step) {
  if (!step.positional) return nullptr;
  std::vector<std::uint16_t> offsets;
  for (const operation::Param& param : step.params) {
    offsets.push_back(static_cast<std::uint16_t>(param.offset));
  }
  return std::make_unique<const std::vector<std::uint16_t>>(std::move(offsets));
}

Kernel::Impl::Step loaded_step(const launch::Library::Kernel& kernel, const operation::Step& step) {
  return {.entry = kernel.entry,
          .wide = kernel.wide,
          .threads = static_cast<unsigned>(step.threads),
          .shared_bytes = static_cast<unsigned>(step.shared_bytes),
          .most_blocks = kernel.most_blocks,
          .most_shared = kernel.most_shared,
          .cluster = step.cluster,
          .overlaps_previous = step.overlaps_previous,
          .fields = positional_fields(step)};
}

/// The bytes of the workspaces if all of them are kept; nothing if a launch has to take memory.
std::optional<std::int64_t> kept_bytes(const operation::LaunchPlan& plan) {
  const auto is_kept = [](const operation::Workspace& workspace) { return workspace.kept; };
  if (plan.workspaces.empty() || !std::ranges::all_of(plan.workspaces, is_kept))
    return std::nullopt;
  std::int64_t bytes = 0;
  for (const operation::Workspace& workspace : plan.workspaces) {
    bytes += launch::aligned_workspace_bytes(workspace.bytes.value());
  }
  return bytes;
}

}  // namespace

Kernel::Impl::Impl(std::shared_ptr<const launch::Library> loaded, Artifact compiled,
                   const Operation& operation, const operation::Plan& plan,
                   const operation::LaunchPlan& launch)
    : first(loaded_step(loaded->kernels.front(), launch.steps.front())),
      launching(front::range_name("launch", compiled.kernel_name)),
      library(std::move(loaded)),
      is_simple(launch.steps.size() == 1 && launch.workspaces.empty()),
      binder(plan.body->signature(), launch, library->context.get()),
      artifact(std::move(compiled)),
      light(plan.light),
      op(operation) {
  for (std::size_t i = 1; i < launch.steps.size(); ++i) {
    others.push_back(loaded_step(library->kernels[i], launch.steps[i]));
  }
  const auto most_blocks = static_cast<unsigned>(library->context->limits().grid_x);
  if (const auto made = launch::BindProgram::of_known_sizes(binder, most_blocks)) {
    program = *made;
    known_grid = limited(first, binder.known_grid());
  }
  clears_ = std::ranges::any_of(launch.workspaces, &operation::Workspace::zeroed);
  if (const auto bytes = kept_bytes(launch)) {
    kept_ = std::make_unique<const memory::StreamMemories>(
        library->context, static_cast<std::size_t>(*bytes), clears_);
  }
}

Kernel::Impl::~Impl() = default;

void Kernel::Impl::replace(std::shared_ptr<const Impl> full) const {
  full_owner_ = std::move(full);
  full_.store(full_owner_.get(), std::memory_order_release);
}

/// The largest needs of any of the operation's kernels, and the smallest number of blocks.
KernelInfo Kernel::Impl::info() const {
  const driver::Table& driver = library->context->driver();
  const driver::ContextScope scope(*library->context);
  KernelInfo most{.blocks_per_sm = std::numeric_limits<int>::max()};
  for (std::size_t i = 0; i <= others.size(); ++i) {
    const Step& one = step(i);
    const auto attribute = [&](CUfunction_attribute which) {
      int value = 0;
      driver::check(driver, driver.cuFuncGetAttribute_(&value, which, one.entry),
                    "cuFuncGetAttribute");
      return value;
    };
    most.registers = std::max(most.registers, attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
    most.local_bytes = std::max(most.local_bytes, attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    most.shared_bytes = std::max(most.shared_bytes, attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) +
                                                        static_cast<int>(one.shared_bytes));
    most.threads = std::max(most.threads, static_cast<int>(one.threads));
    int blocks = 0;
    driver::check(driver,
                  driver.cuOccupancyMaxActiveBlocksPerMultiprocessor_(
                      &blocks, one.entry, static_cast<int>(one.threads), one.shared_bytes),
                  "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    most.blocks_per_sm = std::min(most.blocks_per_sm, blocks);
  }
  return most;
}

void Kernel::launch(Stream stream, std::span<const Argument> args) const {
  impl_->current().launch(stream, args, bound_.get());
}

SymbolValues launch::Internals::completed(const SymbolValues& bound, const SymbolValues& symbols) {
  SymbolValues all = bound;
  for (const auto& [name, value] : symbols) {
    if (all.emplace(name, value).second) continue;
    throw Error(ErrorCode::invalid_argument,
                "the operation has no symbol '" + name + "'; leave it out",
                core::pointer_to("/symbols", name));
  }
  return all;
}

void Kernel::launch(Stream stream, std::span<const Argument> args,
                    const SymbolValues& symbols) const {
  if (!bound_) return impl_->current().launch(stream, args, &symbols);
  const SymbolValues all = launch::Internals::completed(*bound_, symbols);
  impl_->current().launch(stream, args, &all);
}

void Kernel::launch(Stream stream, std::span<const Argument> args, const SymbolValues& symbols,
                    const LaunchOptions& options) const {
  if (!bound_) return impl_->current().launch(stream, args, &symbols, options);
  const SymbolValues all = launch::Internals::completed(*bound_, symbols);
  impl_->current().launch(stream, args, &all, options);
}

BoundLaunch Kernel::bind(std::span<const Argument> args, const SymbolValues& symbols,
                         const LaunchOptions& options) const {
  using launch::Internals;
  if (!bound_) return Internals::make_bound(*this, args, symbols, options);
  return Internals::make_bound(*this, args, Internals::completed(*bound_, symbols), options);
}

BoundLaunch Kernel::bind(std::initializer_list<Argument> args, const SymbolValues& symbols,
                         const LaunchOptions& options) const {
  return bind(std::span<const Argument>(args.begin(), args.size()), symbols, options);
}

const Artifact& Kernel::artifact() const noexcept {
  return impl_->current().artifact;
}

const Operation& Kernel::op() const noexcept {
  return impl_->op;
}

KernelInfo Kernel::info() const {
  return impl_->current().info();
}

}  // namespace tilejit
