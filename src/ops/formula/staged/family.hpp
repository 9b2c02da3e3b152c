#pragma once

#include <optional>

#include "scan/family.hpp"

namespace tilejit::plan {

struct Operand;

/// Rows so short, or so odd, that threads would access them in narrow pieces (template
/// fused_staged.cu). A block copies all of its rows to shared memory as one run, 16 bytes at a
/// time. Its threads take their rows from there, `row_threads` a row, and leave full outputs there
/// for a copy of the same kind. If the formula scans, a thread has a whole row. `cluster`,
/// `splits`, `atomics` and `ahead` are not used, and `register_vectors` is not 0.
struct StagedRows : Rows {
  static constexpr std::string_view kTemplate = "fused_staged";
  int turns = 1;                            ///< rows that the same threads take one after another
  std::optional<Direction> direction = {};  ///< of formulas that scan
  bool operator==(const StagedRows&) const = default;

  // What plan::IsFamily says, where it is not that of Rows.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t units_per_block(const Plan& plan) const noexcept;
  void write_json(core::JsonLine& line) const;
};

/// The elements of `operand` per row if its rows follow one another without gaps in memory that is
/// aligned to 16 bytes, so that a block's rows are one run: the row's length, or 1 for an input
/// with one element per row. Nothing for other operands, which are accessed where they are.
[[nodiscard]] std::optional<std::int64_t> staged_pitch(const Plan& plan, const Operand& operand);

/// Where a block's run of a staged operand begins in its shared memory, in bytes. An output takes
/// the place of an input of its dtype if there is one: threads overwrite only what they have read.
[[nodiscard]] std::int64_t staged_place(const Plan& plan, const StagedRows& staged,
                                        const Operand& operand);
/// Shared memory for the runs of a block, in bytes.
[[nodiscard]] std::int64_t staged_bytes(const Plan& plan, const StagedRows& staged);

/// Whether the rows of `plan`, which has its operands and vector, are staged: they are short, they
/// would be accessed by less than 16 bytes, there are many, and `tuning` pins no knob that only
/// fused_rows.cu or fused_scan.cu has. `plan` then has one of their families.
[[nodiscard]] bool suits_staging(const Plan& plan, const Tuning& tuning);

}  // namespace tilejit::plan
