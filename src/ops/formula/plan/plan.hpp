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
  crossed,     ///< stride 1 along mode Tile::mode: wide accesses, transposed in shared memory
  strided,     ///< any other: an access an element
};
[[nodiscard]] std::string_view to_string(Reach reach) noexcept;

/// The operand's share of one iteration mode: its index is the sum over leaves of
/// ((c / before) % extent) * stride with `before` the product of the extents of the leaves before.
/// One leaf (the common case): c * stride. Innermost leaf first.
using OperandMode = std::vector<Mode>;

struct Operand {
  int tensor = -1;  ///< index into Fused::tensors
  DType dtype = f32;
  bool read = false;
  bool written = false;
  bool every_row = false;  ///< an input that is the same in every row, as weights are
  bool per_row = false;    ///< an output of one element a row: stored once, behind the reductions
  Reach reach = Reach::contiguous;
  int access_bytes = 0;                 ///< width of its widest global access
  std::vector<OperandMode> modes = {};  ///< one an iteration mode, innermost first
  bool operator==(const Operand&) const = default;
};

/// A place in the space as a number: the coordinate along an axis, or the row-major number along
/// several. It follows from the iteration coordinates as the index of an operand's element does.
struct Place {
  std::uint32_t axes = 0;               ///< bit i: axis i
  std::vector<OperandMode> modes = {};  ///< one an iteration mode, innermost first
  bool operator==(const Place&) const = default;
};

using operation::Param;

/// How an operation is done. A value; the same (op, target) give an equal plan wherever the C
/// library folds constants alike.
struct Plan {
  std::string kernel_name;  ///< entry point, e.g. "tilejit_add_f16"
  Target target;
  operation::Signature signature;  ///< the arguments; their names are in no key
  expr::Program program;
  std::vector<Dim> extents;  ///< iteration space after coalescing, innermost first; at least one
  std::vector<Dim> shape;    ///< the space by axes, where the program asks for extents; else empty
  std::vector<Operand> operands;  ///< in the order of Fused::tensors
  std::vector<Place> places;      ///< that the program asks for: iota, argmin, argmax
  std::vector<Param> params;
  int params_bytes = 0;  ///< size of the parameter struct
  int threads = 256;     ///< a block
  int vector = 1;        ///< elements a thread takes at once along extents[0]
  int unroll = 1;        ///< vectors a thread has in flight
  bool ragged = true;    ///< the last vector of a row may be partial
  Family family = {};    ///< what a block takes, and how
  /// Of a stage: an operand's number among the operation's tensors and, after them, the
  /// temporaries.
  std::vector<int> tensors = {};
  bool operator==(const Plan&) const = default;
};

/// How threads share rows, in the families that do; else null.
[[nodiscard]] const Rows* rows_of(const Plan& plan) noexcept;
/// How the plan's kernel scans; nothing if it does not.
[[nodiscard]] std::optional<Direction> direction_of(const Plan& plan) noexcept;
/// Which width the numbers of its units need.
[[nodiscard]] IndexWidth index_of(const Plan& plan) noexcept;
/// Whether it is the least code, not the most speed.
[[nodiscard]] bool is_light(const Plan& plan) noexcept;
/// The plans of the kernels where these are several; else none.
[[nodiscard]] std::span<const Plan> stages_of(const Plan& plan) noexcept;

/// Throws Error{invalid_spec} for tuning that cannot be honoured. `of_stages` gets the analysis of
/// each stage.
[[nodiscard]] Plan make_plan(const Fused& op, const formula::Analysis& analysis,
                             const Target& target,
                             std::vector<formula::Analysis>* of_stages = nullptr);

/// The plan of the same operation that compiles soonest, whatever tuning says; nothing where
/// `full`, made by make_plan, is as good: where vectors are taken in any order, where the caller
/// gives a thread-value layout, where rows are too long for one block, and of several kernels.
[[nodiscard]] std::optional<Plan> make_light_plan(const Fused& op,
                                                  const formula::Analysis& analysis,
                                                  const Plan& full);

/// The file of kernels_templates/ without its suffix, "fused_map"; "fused_stages" of several.
[[nodiscard]] std::string_view template_name(const Plan& plan) noexcept;

/// A launch covers the iteration space with units: vectors, tiles or rows. The elements of a unit
/// along mode `m`, 0 if it has all of them, and the units that a block takes.
[[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) noexcept;
[[nodiscard]] std::int64_t units_per_block(const Plan& plan) noexcept;
/// Memory that a launch needs for itself, in bytes; 0 unless Rows::shares.
[[nodiscard]] std::int64_t partials_bytes(const Plan& plan);
/// Of Rows::atomics: the first of those bytes, which count blocks. They are 0 before a launch, and
/// 0 again behind it.
[[nodiscard]] std::int64_t counters_bytes(const Plan& plan);
/// Shared memory of a block beyond what the kernel declares, in bytes: of Rows::ahead.
[[nodiscard]] int dynamic_shared_bytes(const Plan& plan);
/// Blocks of the entry "_combine", and their threads; the extents are known where there is one.
[[nodiscard]] std::int64_t combining_blocks(const Plan& plan);
[[nodiscard]] int combining_threads(const Plan& plan) noexcept;
/// Blocks that share a unit; where they are several, a block takes one unit.
[[nodiscard]] std::int64_t blocks_per_unit(const Plan& plan) noexcept;
/// Units of a launch: the product of ceil(extents[m] / unit_extent(m)); 0 if an extent is 0.
/// Throws Error{unsupported} on overflow.
[[nodiscard]] std::int64_t total_units(const Plan& plan, const SymbolValues& symbols);

/// What loading and launching need of the plan, and with it all that they need of the operation.
[[nodiscard]] operation::LaunchPlan launch_plan(const Plan& plan);

/// Canonical JSON in one line: the text that enters the key.
[[nodiscard]] std::string to_json(const Plan& plan);

}  // namespace tilejit::plan
