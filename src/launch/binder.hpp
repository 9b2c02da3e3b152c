#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/bound_tensor.hpp"
#include "launch/slot_dim.hpp"
#include "plan/plan.hpp"
#include "spec/analysis.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit::launch {

/// Bytes of a kernel's parameters that every driver and device takes.
inline constexpr std::size_t kMaxParamBytes = 4096;
using ParamBuffer = std::span<std::byte, kMaxParamBytes>;

/// The grid of one launch.
struct Grid {
  std::uint32_t blocks = 0;  ///< 0: there is nothing to do
  bool wide = false;         ///< the entry point with 64-bit indices, where there are two
};

/// Turns launch arguments into the bytes of a kernel's parameter struct, checking them on the way.
/// Built once a kernel; immutable, so thread-safe. Where all dimensions are known, everything but
/// the addresses and scalars is computed here, once, and a launch neither allocates nor evaluates.
class Binder {
 private:
  /// Everything that follows from the values of the symbols.
  struct Sizes {
    std::span<std::int64_t> dims;   // one a number of dims_
    std::span<std::int64_t> bytes;  // one a tensor: first to last byte
    std::int64_t total = 0;         // units of the plan
    Grid grid = {};
  };

 public:
  /// Throws Error{unsupported}: the parameter struct is larger than kMaxParamBytes, or known
  /// dimensions need more than 2^31-1 blocks.
  Binder(const Fused& op, const spec::Analysis& analysis, const plan::Plan& plan);
  Binder(const Binder&) = delete;  // known_ points into known_values_
  Binder& operator=(const Binder&) = delete;

  /// Checks `args` (and values of symbols by name, which may be null) and writes the parameters to
  /// `buffer`; nothing is written if there is nothing to launch. Throws Error{invalid_argument} as
  /// Kernel::launch says, Error{unsupported} for more than 2^31-1 blocks.
  [[nodiscard]] Grid bind(std::span<const Argument> args, const SymbolValues* symbols,
                          ParamBuffer buffer) const;

  /// A launch of certain sizes, whose addresses and scalars may change. A value.
  class Fixed {
   public:
    [[nodiscard]] Grid grid() const noexcept { return sizes_.grid; }
    [[nodiscard]] const std::vector<std::byte>& params() const noexcept { return params_; }

   private:
    friend class Binder;
    std::shared_ptr<std::vector<std::int64_t>> values_;  // what sizes_ points to
    Sizes sizes_;
    std::vector<Argument> args_;    // without shapes
    std::vector<Argument> before_;  // the last change
    std::vector<std::byte> params_;
  };
  /// As bind. `fixed` is of this binder; where rebind throws, it stays as it was.
  [[nodiscard]] Fixed fix(std::span<const Argument> args, const SymbolValues* symbols) const;
  void rebind(Fixed& fixed, std::span<const BoundLaunch::Change> changes) const;

  /// Arguments that a launch takes, and bytes of its parameters.
  [[nodiscard]] std::size_t argument_count() const noexcept { return argument_count_; }
  [[nodiscard]] std::size_t param_bytes() const noexcept { return param_bytes_; }

 private:
  friend class QuickBinder;  // which is made of one
  friend class PlainBinder;  // as this is
  /// A leaf of an operand's iteration mode; numbers of dims.
  struct Leaf {
    int extent = 0, stride = 0;
    bool operator==(const Leaf&) const = default;
  };
  /// A mode of the plan's space: its extent, a number of dims, and the elements a unit; 0: all.
  struct IterationMode {
    int extent = 0;
    std::int64_t unit = 1;
  };
  struct PointerField {
    int tensor = 0;
    int offset = 0;
  };
  struct ScalarField {
    int argument = 0;
    DType dtype = f32;
    int offset = 0;
    std::string name;
  };
  struct SizeField {
    plan::Param::Kind kind = plan::Param::Kind::total;
    int dim = 0;  // number
    std::int64_t per = 1;
    int offset = 0;
  };

  void add_tensors(const Fused& op, const spec::Analysis& analysis);
  void add_fields(const Fused& op, const plan::Plan& plan);
  void add_iteration(const plan::Plan& plan);

  void evaluate(std::span<const std::int64_t> values, Sizes& sizes) const;
  [[nodiscard]] std::int64_t range_bytes(const BoundTensor& tensor, const Sizes& sizes) const;
  [[nodiscard]] std::int64_t total_units(const Sizes& sizes) const;
  [[nodiscard]] Grid make_grid(std::int64_t total) const;
  void write_sizes(const Sizes& sizes, std::byte* out) const;

  void check_count(std::span<const Argument> args) const;
  void check_layouts(std::span<const Argument> args, const Sizes& sizes) const;
  [[nodiscard]] Grid bind_symbolic(std::span<const Argument> args, const SymbolValues* symbols,
                                   ParamBuffer buffer) const;
  /// Numbers that `solve` takes room for.
  [[nodiscard]] std::size_t room() const noexcept;
  /// The sizes of a launch whose tensors have passed check_form, checked; they lie in `room`.
  [[nodiscard]] Sizes solve(std::span<const Argument> args, const SymbolValues* symbols,
                            std::span<std::int64_t> room) const;
  void write_changed(Fixed& fixed) const;
  void check_change(const Fixed& fixed, const BoundLaunch::Change& change) const;
  void write_arguments(std::span<const Argument> args, const Sizes& sizes, std::byte* out) const;
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
  std::vector<std::size_t> written_;  // tensors
  std::vector<PointerField> pointers_;
  std::vector<ScalarField> scalars_;
  std::vector<SizeField> size_fields_;
  std::vector<IterationMode> iteration_;
  std::vector<std::vector<std::vector<Leaf>>> operand_modes_;  // [tensor][iteration mode][leaf]
  std::size_t argument_count_ = 0;
  std::size_t param_bytes_ = 0;
  std::int64_t units_per_block_ = 1;
  std::int64_t blocks_per_unit_ = 1;
  bool rows_ = false;  // units are rows, counted in 32 bits
  plan::IndexWidth index_ = plan::IndexWidth::narrow;
  // Without symbols: all sizes, and the parameters with them filled in.
  std::vector<std::int64_t> known_values_;
  Sizes known_;
  std::vector<std::byte> image_;
};

}  // namespace tilejit::launch
