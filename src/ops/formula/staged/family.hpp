#pragma once

#include <optional>

#include "scan/family.hpp"

namespace tilejit::plan {

struct Operand;

/// Rows so short, or so odd, that threads would access them in narrow pieces (template
/// fused_staged.cu). A block copies all of its rows to shared memory as one run, 16 bytes at a
/// time. Its threads take their rows from there, `row_threads` a row, and leave full outputs there
/// for a copy of the same kind. If the formula scans, a thread's vectors are neighbours. `cluster`,
/// `splits`, `atomics` and `ahead` are not used, and `register_vectors` is not 0.
struct StagedRows : Rows {
  static constexpr std::string_view kTemplate = "fused_staged";
  int turns = 1;                            ///< rows that the same threads take one after another
  std::optional<Direction> direction = {};  ///< of formulas that scan
  /// Rows that lie side by side, element by element, as a slab: those of the modes after the
  /// reduced one, extents 1 and following. 1: rows follow one another.
  int columns = 1;
  int slabs = 0;  ///< of a block, if rows lie side by side
  /// Chunks of a slab that a block has in shared memory, of `register_vectors` elements of each
  /// row: one is scanned while the next ones are on their way. 0: shared memory has whole slabs.
  int stages = 0;
  /// Columns that lie side by side, if a block takes only `columns` of them; 0: it takes them all.
  std::int64_t side = 0;
  bool operator==(const StagedRows&) const = default;

  // What plan::IsFamily says, where it is not that of Rows.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  void write_json(core::JsonLine& line) const;
};

/// The elements of `operand` per row if its rows, or slabs, follow one another without gaps in
/// memory that is aligned to 16 bytes, so that a block's rows are one run: the row's length, or 1
/// for an input with one element per row. Nothing for other operands, which are accessed where they
/// are.
[[nodiscard]] std::optional<std::int64_t> staged_pitch(const Plan& plan, const Operand& operand);

/// Where a block's run of a staged operand begins in its shared memory, in bytes. An output takes
/// the place of an input of its dtype if there is one: threads overwrite only what they have read.
[[nodiscard]] std::int64_t staged_place(const Plan& plan, const StagedRows& staged,
                                        const Operand& operand);
/// Shared memory for the runs of one chunk of a block's slab, in bytes.
[[nodiscard]] std::int64_t stage_bytes(const Plan& plan, const StagedRows& staged);
/// Shared memory for the runs of a block, in bytes.
[[nodiscard]] std::int64_t staged_bytes(const Plan& plan, const StagedRows& staged);

/// Whether kernels declare that much shared memory, and do not ask for it.
[[nodiscard]] bool is_static(const Plan& plan, const StagedRows& staged);
/// Chunks of 16 bytes that stay free after each slab of a staged operand.
[[nodiscard]] int staged_pad(const Plan& plan, const StagedRows& staged, const Operand& operand);

/// The plan by slabs if `plan`, which has its operands and vector, combines columns that are few or
/// odd, so that they would be accessed in narrow pieces, and so short that a block has all that lie
/// side by side, or only scanned.
[[nodiscard]] std::optional<Plan> plan_by_slabs(const Plan& plan);

/// Whether the rows of `plan`, which has its operands and vector, are staged: they are short, they
/// would be accessed by less than 16 bytes, there are many, and `tuning` pins no knob that only
/// fused_rows.cu or fused_scan.cu has. `plan` then has one of their families.
[[nodiscard]] bool suits_staging(const Plan& plan, const Tuning& tuning);

/// Whether `plan` is staged, a thread has a row, and threads side by side read neighbours of what
/// is not staged.
[[nodiscard]] bool reads_side_by_side(const Plan& plan);

}  // namespace tilejit::plan
