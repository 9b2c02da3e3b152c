#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/bound_tensor.hpp"
#include "launch/param_bytes.hpp"
#include "launch/slot_dim.hpp"
#include "launch/tensor_map_encoder.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit::launch {

/// Largest size of a kernel's parameters that every driver and device accepts.
inline constexpr std::size_t kMaxParamBytes = 4096;

/// The grid of one kernel of a launch.
struct Grid {
  std::uint32_t blocks = 0;  ///< along x; 0: there is nothing to do
  std::uint16_t y = 1, z = 1;
  /// Of kernels with an operation::LaunchShape: threads per block, and bytes of shared memory
  /// beyond what the kernel declares. 0 threads along x: those of the step.
  std::uint32_t threads_x : 11 = 0;
  std::uint32_t threads_y : 11 = 0;
  std::uint32_t threads_z : 7 = 0;
  std::uint32_t wide : 1 = 0;  ///< uses the entry point with 64-bit indices, if there are two
  std::uint32_t shared_bytes = 0;
};
static_assert(sizeof(Grid) == 16, "a launch passes it in registers");

/// The bytes that a workspace takes in memory shared with others: each is aligned as the driver
/// aligns its allocations. Throws Error{unsupported} beyond 2^63-1.
[[nodiscard]] std::int64_t aligned_workspace_bytes(std::int64_t bytes);

/// The result of binding a launch's arguments: the parameters of its kernels, one kernel after
/// another, their grids, and the memory that they need. Fields for the address of a workspace hold
/// its offset in that memory, in bytes; tensor maps of one hold TensorMapValues with it. A view.
struct BoundParams {
  const std::byte* params = nullptr;
  std::span<const Grid> grids = {};  ///< one per step
  std::int64_t workspace_bytes = 0;

  /// Whether there is anything to launch.
  [[nodiscard]] bool any() const noexcept {
    for (const Grid& grid : grids) {
      if (grid.blocks != 0) return true;
    }
    return false;
  }
};

/// Room for parameters and grids: on the stack for operations of one kernel, which nearly all are.
class ParamSpace {
 public:
  ParamSpace(std::size_t param_bytes, std::size_t step_count);
  ParamSpace(const ParamSpace&) = delete;
  ParamSpace& operator=(const ParamSpace&) = delete;
  [[nodiscard]] std::span<std::byte> params() noexcept { return params_; }
  [[nodiscard]] std::span<Grid> grids() noexcept { return grids_; }

 private:
  // Initialised only as far as it is used.
  alignas(kParamBytesAlignment) std::array<std::byte, kMaxParamBytes> few_params_;
  std::array<Grid, 2> few_grids_;
  ParamBytes many_params_;
  std::vector<Grid> many_grids_;
  std::span<std::byte> params_;
  std::span<Grid> grids_;
};

/// Checks launch arguments and turns them into the bytes of the kernels' parameter structs. Built
/// once per operation. Immutable, except for the tensor maps that it remembers, and thread-safe. If
/// all dimensions are known, the constructor computes everything except addresses and scalars; a
/// launch then neither allocates nor evaluates.
class Binder {
 private:
  /// Everything that follows from the values of the symbols. Views.
  struct Sizes {
    std::int64_t workspace_bytes = 0;    // of all workspaces together
    bool any = false;                    // at least one step has blocks
    std::span<std::int64_t> dims;        // one per dimension in dims_
    std::span<std::int64_t> bytes;       // one per tensor: from its first byte to its last
    std::span<std::int64_t> totals;      // one per step: its number of units
    std::span<std::int64_t> workspaces;  // one per workspace: its offset
    std::span<std::int64_t> shapes;      // kShapeNumbers per step with a LaunchShape
  };

 public:
  /// Throws Error{unsupported}: a parameter struct is larger than kMaxParamBytes, or known
  /// dimensions need more than 2^31-1 blocks; also as operation::check_tensor_maps. `context`,
  /// which outlives the binder, encodes tensor maps; it may be null for a plan without any.
  Binder(const operation::Signature& signature, const operation::LaunchPlan& plan,
         const driver::Context* context = nullptr);
  Binder(const Binder&) = delete;  // known_ points into known_values_
  Binder& operator=(const Binder&) = delete;

  /// Checks `args` and the symbol values given by name (`symbols` may be null), and writes to
  /// `space`, which has room for param_bytes() and step_count(). The result points into it. If
  /// there is nothing to launch, only grids are written. Throws Error{invalid_argument} as
  /// Kernel::launch says, Error{unsupported} for more than 2^31-1 blocks, and as
  /// TensorMapEncoder::encode.
  [[nodiscard]] BoundParams bind(std::span<const Argument> args, const SymbolValues* symbols,
                                 ParamSpace& space) const;

  /// A launch whose sizes are fixed; its addresses and scalars may change. A value.
  class Fixed {
   public:
    /// Points into this value.
    [[nodiscard]] BoundParams bound() const noexcept {
      return {params_.data(), grids_, sizes_.workspace_bytes};
    }

   private:
    friend class Binder;
    // What a launch reads comes first, in adjacent cache lines.
    std::vector<Grid> grids_;
    ParamBytes params_;
    Sizes sizes_;
    std::shared_ptr<std::vector<std::int64_t>> values_;  // what sizes_ points to
    std::vector<Argument> args_;                         // stored without shapes
    std::vector<Argument> before_;                       // the arguments before the last change
    ParamBytes params_before_;                           // likewise, if they hold tensor maps
  };
  /// As bind. `fixed` was made by this binder. If rebind throws, `fixed` stays unchanged.
  [[nodiscard]] Fixed fix(std::span<const Argument> args, const SymbolValues* symbols) const;
  void rebind(Fixed& fixed, std::span<const BoundLaunch::Change> changes) const;

  /// The number of a launch's arguments, of its kernels, and of the bytes of all their parameters.
  [[nodiscard]] std::size_t argument_count() const noexcept { return argument_count_; }
  [[nodiscard]] std::size_t step_count() const noexcept { return steps_.size(); }
  [[nodiscard]] std::size_t param_bytes() const noexcept { return param_bytes_; }
  /// The first step's grid if it is the same for all launches; otherwise an empty one.
  [[nodiscard]] Grid known_grid() const noexcept {
    return known_grids_.empty() ? Grid{} : known_grids_.front();
  }
  /// The offset of a step's parameters, and the offsets of all workspace addresses, in bytes.
  [[nodiscard]] std::size_t param_offset(std::size_t step) const noexcept {
    return static_cast<std::size_t>(steps_[step].offset);
  }
  [[nodiscard]] std::span<const int> workspace_fields() const noexcept {
    return workspace_offsets_;
  }
  /// Encodes the tensor maps of workspaces in `params`, of which `address` is the memory of all
  /// workspaces. Throws as TensorMapEncoder::encode.
  void place_tensor_maps(std::uint64_t address, std::byte* params) const;

 private:
  friend class BindProgram;  // is compiled from a Binder
  /// A leaf of a tensor's mode in the iteration space. The numbers index dims_.
  struct Leaf {
    int extent = 0, stride = 0;
    bool operator==(const Leaf&) const = default;
  };
  /// A factor of a step's units: ceil(dim / unit). `extent` indexes dims_.
  struct Count {
    int extent = 0;
    std::int64_t unit = 1;
  };
  /// All offsets count from the beginning of all parameters.
  struct PointerField {
    int tensor = 0;
    int offset = 0;
  };
  struct WorkspaceField {
    int workspace = 0;
    int offset = 0;
  };
  struct ScalarField {
    int argument = 0;
    DType dtype = f32;
    int offset = 0;
    std::string name;
  };
  struct SizeField {
    operation::Param::Kind kind = operation::Param::Kind::total;
    int dim = 0;  // index into dims_
    std::int64_t per = 1;
    int offset = 0;
  };
  /// An operation::LaunchShape whose names are slots.
  static constexpr std::size_t kShapeNumbers = operation::LaunchShape::kCount;
  struct Shape {
    operation::LaunchShape shape;
    std::array<std::vector<int>, kShapeNumbers> slots;  // of the names of each number
    std::size_t first = 0;                              // index into Sizes::shapes
  };
  /// The numbers of modes index dims_.
  struct MapField {
    operation::TensorMap::Base base = operation::TensorMap::Base::tensor;
    int index = 0;  // of the tensor or workspace
    std::vector<Leaf> modes;
    int offset = 0;
  };
  /// A kernel. The pointer, scalar, workspace and tensor map fields of its parameters are in the
  /// binder's lists.
  struct Step {
    int offset = 0;  // of its parameters
    std::vector<Count> units;
    std::int64_t units_per_block = 1;
    std::int64_t blocks_per_unit = 1;
    bool units_in_32_bits = false;
    bool has_wide = false;
    std::vector<SizeField> sizes;
    std::shared_ptr<const Shape> shape;  // null: `units` say how many blocks there are
  };

  void add_tensors(const operation::Signature& signature);
  void add_elements(const operation::LaunchPlan& plan);
  void add_step(const operation::Signature& signature, const operation::Step& step);
  [[nodiscard]] std::shared_ptr<const Shape> make_shape(const operation::Step& step);
  void add_field(const operation::Signature& signature, const operation::Param& param, Step& step);
  void add_tensor_map(const operation::Param& param, int offset);

  /// The count of numbers in Sizes, in the order of memory.
  [[nodiscard]] std::size_t size_count() const noexcept;
  [[nodiscard]] Sizes place(std::span<std::int64_t> room) const noexcept;
  void evaluate(std::span<const std::int64_t> values, Sizes& sizes) const;
  void evaluate_workspaces(Sizes& sizes) const;
  [[nodiscard]] std::int64_t range_bytes(const BoundTensor& tensor, const Sizes& sizes) const;
  [[nodiscard]] std::int64_t total_units(const Step& step, const Sizes& sizes) const;
  /// Returns false for a launch of no blocks; the shape is then not evaluated.
  [[nodiscard]] static bool evaluate_shape(const Shape& shape, std::span<const std::int64_t> values,
                                           Sizes& sizes);
  [[nodiscard]] Grid make_grid(const Step& step, std::int64_t total) const;
  [[nodiscard]] static Grid make_shaped_grid(const Shape& shape, const Sizes& sizes);
  void make_grids(const Sizes& sizes, std::span<Grid> grids) const;
  void write_sizes(const Sizes& sizes, std::byte* out) const;

  void check_count(std::span<const Argument> args) const;
  void check_layouts(std::span<const Argument> args, const Sizes& sizes) const;
  [[nodiscard]] BoundParams bind_symbolic(std::span<const Argument> args,
                                          const SymbolValues* symbols, ParamSpace& space) const;
  /// Numbers that `solve` needs room for.
  [[nodiscard]] std::size_t room() const noexcept;
  /// Computes and checks the sizes of a launch whose tensors have passed check_form. They are
  /// stored in `room`.
  [[nodiscard]] Sizes solve(std::span<const Argument> args, const SymbolValues* symbols,
                            std::span<std::int64_t> room) const;
  void write_changed(Fixed& fixed) const;
  void check_change(const Fixed& fixed, const BoundLaunch::Change& change) const;
  void write_arguments(std::span<const Argument> args, const Sizes& sizes, std::byte* out) const;
  void write_tensor_maps(std::span<const Argument> args, const Sizes& sizes, std::byte* out) const;
  [[noreturn]] void fail_address(const BoundTensor& tensor, std::uint64_t address) const;

  void check_overlaps(std::span<const Argument> args, const Sizes& sizes) const;
  void check_pair(std::size_t a, std::size_t b, std::span<const Argument> args,
                  const Sizes& sizes) const;
  [[nodiscard]] bool share_memory(std::size_t a, std::size_t b, std::span<const Argument> args,
                                  const Sizes& sizes) const;
  [[nodiscard]] bool same_elements(std::size_t a, std::size_t b, const Sizes& sizes) const;

  SymbolTable symbols_;
  DimTable dims_;
  std::vector<BoundTensor> tensors_;
  std::vector<std::size_t> written_;  // indices of tensors
  std::vector<Step> steps_;
  std::vector<PointerField> pointers_;
  std::vector<ScalarField> scalars_;
  std::vector<WorkspaceField> workspace_fields_;
  std::unique_ptr<TensorMapEncoder> encoder_;  // of maps_, by position; null if there are none
  std::vector<MapField> maps_;
  std::vector<int> workspace_offsets_;  // offsets of those fields
  std::vector<int> workspaces_;         // bytes of each, as indices into dims_
  std::vector<int> space_;              // extents of the iteration space, likewise
  std::vector<std::vector<std::vector<Leaf>>> elements_;  // [tensor][mode of the space][leaf]
  std::size_t argument_count_ = 0;
  std::size_t param_bytes_ = 0;
  std::size_t shape_numbers_ = 0;  // of all shapes
  // Used if there are no symbols: all sizes, and the grids and parameters that follow from them.
  std::vector<std::int64_t> known_values_;
  Sizes known_;
  std::vector<Grid> known_grids_;
  std::vector<std::byte> image_;
};

}  // namespace tilejit::launch
