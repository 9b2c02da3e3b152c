#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expr/program.hpp"
#include "formula/analysis.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "plan/families.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/target.hpp"

namespace tilejit::plan {

/// How one vector (`Plan::vector` neighbours along the innermost mode) reaches an operand.
enum class Reach : std::uint8_t {
  contiguous,  ///< stride 1: one wide access
  broadcast,   ///< stride 0: one element for all
  transposed,  ///< stride 1 along mode Tile::mode: wide accesses, transposed in shared memory
  strided,     ///< any other: one access per element
  product,     ///< an operand of a product of matrices: by tiles, through shared memory
};
[[nodiscard]] std::string_view to_string(Reach reach) noexcept;

/// The operand's share of one iteration mode, innermost leaf first. At coordinate c the index is
/// the sum over leaves of ((c / before) % extent) * stride, and `before` is the product of the
/// extents of the leaves before. With one leaf (the common case) it is c * stride.
using OperandMode = std::vector<Mode>;

struct Operand {
  int tensor = -1;  ///< index into Fused::tensors
  DType dtype = f32;
  bool read = false;
  bool written = false;
  bool every_row = false;  ///< an input that is the same in every row, such as weights
  bool per_row = false;    ///< an output of one element per row, stored once, after the reductions
  /// Of a temporary that is `per_row`: a block leaves one element, what all of its rows have,
  /// combined by this reduction.
  std::optional<expr::Op> combined = {};
  Reach reach = Reach::contiguous;
  /// Not all of its vectors are aligned: they are accessed in aligned chunks, and shifted in
  /// registers (tile/shifted.cuh).
  bool shifted = false;
  int access_bytes = 0;                 ///< width of its widest global access
  std::int64_t offset = 0;              ///< where it begins in the tensor, in elements
  std::vector<OperandMode> modes = {};  ///< one per iteration mode, innermost first
  bool operator==(const Operand&) const = default;
};

/// A place in the space as a number: the coordinate along one axis, or the row-major number along
/// several. It is computed from the iteration coordinates like the index of an operand's element.
struct Place {
  std::uint32_t axes = 0;               ///< bit i: axis i
  std::vector<OperandMode> modes = {};  ///< one per iteration mode, innermost first
  bool operator==(const Place&) const = default;
};

using operation::Param;

/// How an operation is done. Plan is a value type. The same (op, target) gives an equal plan on
/// all machines whose C libraries fold constants alike.
struct Plan {
  std::string kernel_name;  ///< entry point, e.g. "tilejit_add_f16"
  Target target;
  operation::Signature signature;  ///< the arguments; keys do not contain their names
  expr::Program program;
  std::vector<Dim> extents;  ///< iteration space after coalescing, innermost first; at least one
  std::vector<Dim> shape;    ///< the space by axes if the program asks for extents; else empty
  std::vector<Operand> operands;  ///< in the order of Fused::tensors
  std::vector<Place> places;      ///< those that the program asks for: iota, argmin, argmax
  std::vector<Param> params;
  int params_bytes = 0;  ///< size of the parameter struct
  int threads = 256;     ///< per block
  int vector = 1;        ///< elements that a thread takes at once along extents[0]
  int unroll = 1;        ///< vectors that a thread has in flight
  bool ragged = true;    ///< the last vector of a row may be partial
  /// Vectors begin where the memory of rows is aligned, not where rows begin, so that also the
  /// first vector of a row may be partial (tile/peeled.cuh). Rows are those of `vector_leader`.
  bool peeled = false;
  Family family = {};  ///< what a block takes, and how
  /// In a part: each operand's number among the operation's tensors, followed by the temporaries.
  std::vector<int> tensors = {};
  bool operator==(const Plan&) const = default;
};

/// How threads share rows; null for families without rows.
[[nodiscard]] const Rows* rows_of(const Plan& plan) noexcept;
/// The direction in which the plan's kernel scans; nothing if it does not scan.
[[nodiscard]] std::optional<Direction> direction_of(const Plan& plan) noexcept;
/// The integer width that the numbers of the plan's units need.
[[nodiscard]] IndexWidth index_of(const Plan& plan) noexcept;
/// Whether the plan aims at the least code rather than the most speed.
[[nodiscard]] bool is_light(const Plan& plan) noexcept;
/// The plans of the kernels if there are several; else empty.
[[nodiscard]] std::span<const Plan> parts_of(const Plan& plan) noexcept;

/// Plans `op` for `target`. Stores the analysis of each part in `of_parts`. Throws
/// Error{invalid_spec} for tuning that cannot be honoured.
[[nodiscard]] Plan make_plan(const Fused& op, const formula::Analysis& analysis,
                             const Target& target,
                             std::vector<formula::Analysis>* of_parts = nullptr);

/// The plan of the same operation that compiles fastest; it ignores tuning. Returns nothing if
/// `full`, made by make_plan, is as good: if threads take vectors in any order, if the caller gives
/// a thread-value layout, if rows are too long for one block, or if there are several kernels
/// without a product of matrices.
[[nodiscard]] std::optional<Plan> make_light_plan(const Fused& op,
                                                  const formula::Analysis& analysis,
                                                  const Plan& full);

/// The file of kernels_templates/ without its suffix, such as "fused_map"; "fused_parts" if there
/// are several kernels.
[[nodiscard]] std::string_view template_name(const Plan& plan) noexcept;

/// The operand whose rows say where vectors begin if they are peeled: the first output that is
/// accessed by vectors, else the widest such input that is not the same in every row. Null if there
/// is none.
[[nodiscard]] const Operand* vector_leader(const Plan& plan);
/// The extent of mode `m` by which vectors are counted: with room for the partial first vector of
/// rows that are peeled.
[[nodiscard]] Dim counted_extent(const Plan& plan, std::size_t m);

/// Whether the kernel takes the number of units as Params::total.
[[nodiscard]] bool counts_units(const Plan& plan) noexcept;

/// A launch covers the iteration space with units: vectors, tiles or rows. `unit_extent` returns
/// the elements of a unit along mode `m`, or 0 if a unit has all of them; `units_per_block` returns
/// the units that a block takes.
[[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) noexcept;
[[nodiscard]] std::int64_t units_per_block(const Plan& plan) noexcept;
/// Memory that a launch needs for itself, in bytes; 0 unless Rows::splits.
[[nodiscard]] std::int64_t partials_bytes(const Plan& plan);
/// The number of those bytes, from the first on, that count blocks; 0 unless Rows::atomics. The
/// counters are 0 before a launch, and 0 again after it.
[[nodiscard]] std::int64_t counters_bytes(const Plan& plan);
/// Shared memory of a block beyond what the kernel declares, in bytes. Rows::ahead needs it.
[[nodiscard]] int dynamic_shared_bytes(const Plan& plan);
/// Blocks of the entry point "_combine", and threads per block. If a plan has this entry point, its
/// extents are known.
[[nodiscard]] std::int64_t combining_blocks(const Plan& plan);
[[nodiscard]] int combining_threads(const Plan& plan) noexcept;
/// Blocks that share a unit. If there are several, each block takes one unit.
[[nodiscard]] std::int64_t blocks_per_unit(const Plan& plan) noexcept;
/// Units of a launch: the product of ceil(extents[m] / unit_extent(m)), without modes of which a
/// unit has all; 0 if another extent is 0. The extents of these modes are known. Throws
/// Error{unsupported} on overflow.
[[nodiscard]] std::int64_t total_units(const Plan& plan);

/// What loading and launching need to know of the plan and of the operation.
[[nodiscard]] operation::LaunchPlan launch_plan(const Plan& plan);

/// Canonical JSON on one line: the text that enters the key.
[[nodiscard]] std::string to_json(const Plan& plan);

}  // namespace tilejit::plan
