#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "front/profiler_range.hpp"
#include "launch/bind_program.hpp"
#include "launch/binder.hpp"
#include "launch/launch_attributes.hpp"
#include "launch/library.hpp"
#include "memory/stream_memories.hpp"
#include "operation/plan.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit {

/// A loaded operation, shared by all copies of a Kernel. Immutable, except that a full build may
/// replace a quick one together with everything that belongs to it. Launches that bound or captured
/// the quick build still use it: it lives as long as its Kernel.
struct Kernel::Impl {
  /// Throws as Binder.
  Impl(std::shared_ptr<const launch::Library> loaded, Artifact compiled, const Operation& operation,
       const operation::Plan& plan, const operation::LaunchPlan& launch);
  ~Impl();

  /// As Kernel::launch; `symbols` may be null.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols) const;
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols,
              const LaunchOptions& options) const;
  /// Launches what this kernel's binder has prepared, with grids reduced by `limit`. Throws
  /// Error{driver_call}.
  void launch_bound(Stream stream, const launch::BoundParams& bound,
                    const launch::LaunchAttributes& attributes) const;
  /// The same without options, for an operation of one kernel without workspaces and with at most
  /// as many blocks as the device allows per grid.
  void launch_resident(Stream stream, launch::Grid grid, const std::byte* params) const;
  /// Reduces grids to the blocks that are launched. Throws Error{unsupported} for more than the
  /// device allows.
  void limit(std::span<launch::Grid> grids) const;
  /// Throws Error{unsupported} for what the device or this kernel cannot do.
  void check_options(std::span<const launch::Grid> grids, const LaunchOptions& options) const;

  /// What the driver needs for a step besides stream and attributes.
  struct Shape {
    CUfunction function = nullptr;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    unsigned blocks_y = 1, blocks_z = 1, threads_y = 1, threads_z = 1;
    [[nodiscard]] unsigned block_threads() const noexcept {
      return threads * threads_y * threads_z;
    }
    [[nodiscard]] std::int64_t all_blocks() const noexcept {
      return std::int64_t{blocks} * blocks_y * blocks_z;
    }
    /// The offset of each of the kernel's parameters; null: the struct is the only one.
    const std::vector<std::uint16_t>* fields = nullptr;
  };
  /// Where the driver finds the parameters of a kernel: in `params`, which it only reads.
  [[nodiscard]] static std::vector<void*> values_of(const Shape& shape, const std::byte* params);
  [[nodiscard]] Shape shape(std::size_t step, launch::Grid grid,
                            int extra_shared_bytes) const noexcept;
  /// Allocates memory for workspaces. Throws Error{driver_call}.
  [[nodiscard]] std::shared_ptr<const memory::DeviceMemory> make_workspace(
      std::int64_t bytes) const;
  /// Copies all parameters to `out`, with the workspaces at `address`. Throws as
  /// launch::TensorMapEncoder::encode.
  void place_workspaces(const std::byte* params, CUdeviceptr address,
                        std::span<std::byte> out) const;

  [[nodiscard]] KernelInfo info() const;

  /// The build to launch now, read by one atomic load: this one or the full one that replaced it.
  [[nodiscard]] const Impl& current() const noexcept {
    const Impl* const full = full_.load(std::memory_order_acquire);
    return full == nullptr ? *this : *full;
  }
  /// The build to launch with parameters and grids that this build's binder has made.
  [[nodiscard]] const Impl& current_of_plan() const noexcept {
    const Impl& now = current();
    return now.fills_in ? now : *this;
  }
  /// Replaces this build by `full`, once. Other threads may launch meanwhile.
  void replace(std::shared_ptr<const Impl> full) const;

  /// The parts of a step that do not change between launches.
  struct Step {
    CUfunction entry = nullptr, wide = nullptr;
    unsigned threads = 0;       // per block
    unsigned shared_bytes = 0;  // per block, beyond what the kernel declares
    unsigned most_blocks = 0;   // of resident grids; otherwise 0
    unsigned most_shared = 0;   // bytes, if they depend on symbols; otherwise 0
    int cluster = 1;            // blocks
    bool overlaps_previous = false;
    std::unique_ptr<const std::vector<std::uint16_t>> fields = {};  // see Shape
  };

  // The members that a launch reads, in adjacent cache lines.
  Step first;  // first step of the operation, for nearly all the only one
  front::RangeName launching;
  std::shared_ptr<const launch::Library> library;
  bool is_simple;  // one kernel, no workspaces

 private:
  mutable std::atomic<const Impl*> full_ = nullptr;

 public:
  launch::BindProgram program;   // for known sizes; otherwise it binds nothing
  launch::Grid known_grid = {};  // for `program`, which counts its blocks
  launch::Binder binder;
  Artifact artifact;
  bool light;             // built from a light plan
  bool fills_in = false;  // has the same plan as the quick build that it replaces
  Operation op;
  std::vector<Step> others;  // the steps after the first

 private:
  bool clears_ = false;  // workspaces must be 0 before a launch
  /// Memory of workspaces that are taken when the kernel is loaded; null if there are none.
  std::unique_ptr<const memory::StreamMemories> kept_;
  mutable std::shared_ptr<const Impl> full_owner_;  // set before full_

  [[nodiscard]] const Step& step(std::size_t i) const noexcept {
    return i == 0 ? first : others[i - 1];
  }
  [[nodiscard]] launch::Grid limited(const Step& step, launch::Grid grid) const;
  void launch_checked(Stream stream, std::span<const Argument> args,
                      const SymbolValues* symbols) const;
  /// Launches several kernels, or one that needs memory.
  void launch_steps(Stream stream, const launch::BoundParams& bound,
                    const launch::LaunchAttributes& attributes) const;
  void submit_steps(Stream stream, std::span<const launch::Grid> grids, const std::byte* params,
                    const launch::LaunchAttributes& attributes,
                    std::span<const CUlaunchAttribute> of_first) const;
  [[nodiscard]] CUresult submit(Stream stream, const Shape& what, const std::byte* params) const;
  /// The same for the first step, in fewer instructions if it is one of the library's own kernels.
  [[nodiscard]] CUresult submit_first(Stream stream, launch::Grid grid, int extra_shared_bytes,
                                      const std::byte* params) const;
  template <typename Submit>
  void submit_checked(const char* call, Submit submit) const;
  void allow_shared_bytes(const Shape& what, int extra) const;
  void check_cluster(const Step& step, launch::Grid grid, int blocks) const;
  void check_resident(const Shape& what) const;
};

// In line, so that no caller stores a Shape to read it again.
inline Kernel::Impl::Shape Kernel::Impl::shape(std::size_t i, launch::Grid grid,
                                               int extra_shared_bytes) const noexcept {
  const Step& what = step(i);
  Shape shape{.function = grid.wide ? what.wide : what.entry,
              .blocks = grid.blocks,
              .threads = what.threads,
              .shared_bytes = what.shared_bytes + static_cast<unsigned>(extra_shared_bytes),
              .fields = what.fields.get()};
  if (grid.threads_x != 0) [[unlikely]] {  // of a LaunchShape
    shape.blocks_y = grid.y;
    shape.blocks_z = grid.z;
    shape.threads = grid.threads_x;
    shape.threads_y = grid.threads_y;
    shape.threads_z = grid.threads_z;
    shape.shared_bytes = grid.shared_bytes + static_cast<unsigned>(extra_shared_bytes);
  }
  return shape;
}

}  // namespace tilejit
