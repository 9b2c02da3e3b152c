#pragma once

#include "rows/rows_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_staged.cu, whose rows are those of fused_rows.cu.
class StagedWriter final : public RowsWriter {
 public:
  StagedWriter(const plan::Plan& plan, const plan::StagedRows& staged, Budget& budget)
      : RowsWriter(plan, staged, staged.direction, budget), staged_(staged) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_behind_formula() override;
  [[nodiscard]] bool stores_wide(const plan::Operand& operand) const override;
  void write_sharing() override;
  [[nodiscard]] bool has_row_start(const plan::Operand&) const override { return false; }
  [[nodiscard]] std::string row_members() const override;
  [[nodiscard]] Code source_of(const plan::Operand& operand) const override;
  [[nodiscard]] Code destination_of(const plan::Operand& operand) const override;

  /// Writes the functions that copy a block's runs to shared memory and back.
  void write_bring();
  void write_chunks();
  void write_strips();
  void write_take();
  [[nodiscard]] std::string copies_of_rows() const;
  [[nodiscard]] std::string gather_rows_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string copies_of_slabs() const;
  /// The constants of copies of the operand's slabs.
  [[nodiscard]] std::string copy_of(const plan::Operand& operand) const;
  /// The address of an operand's run in shared memory, whose runs begin at `runs`.
  [[nodiscard]] std::string run_of(const plan::Operand& operand,
                                   std::string_view runs = "staging") const;
  [[nodiscard]] bool scans_more_than_exists() const;
  /// Of a thread's vectors, those that every thread of the row has.
  [[nodiscard]] std::int64_t whole_steps() const;
  [[nodiscard]] bool goes_by_chunks() const { return staged_.stages > 0; }
  [[nodiscard]] bool shares_scanned_rows() const { return direction_ && staged_.row_threads > 1; }
  /// Where a vector of the operand lies in shared memory.
  [[nodiscard]] Code staged_address(const plan::Operand& operand, std::int64_t pitch) const;

  const plan::StagedRows& staged_;
};

}  // namespace tilejit::render
