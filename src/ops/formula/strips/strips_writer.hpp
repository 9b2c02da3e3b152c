#pragma once

#include "rows/rows_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_strips.cu, whose rows are those of fused_rows.cu.
class StripsWriter final : public RowsWriter {
 public:
  StripsWriter(const plan::Plan& plan, const plan::Strips& strips, Budget& budget)
      : RowsWriter(plan, strips, budget), strips_(strips) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_behind_formula() override;
  void write_sharing() override;
  [[nodiscard]] std::int64_t elements_of_unit() const override { return strips_.columns; }
  [[nodiscard]] bool has_row_start(const plan::Operand&) const override { return false; }
  [[nodiscard]] std::string row_members() const override;
  [[nodiscard]] std::string coordinate(std::size_t m) const override;
  [[nodiscard]] Code source_of(const plan::Operand& operand) const override;
  [[nodiscard]] Code destination_of(const plan::Operand& operand) const override;

  /// Writes where a thread's vectors begin in memory, and how they are copied to shared memory.
  void write_place();
  void write_bring();
  /// Where vector v of a thread begins, in elements.
  [[nodiscard]] std::string is_in_place() const;
  [[nodiscard]] std::string begin_of_vector() const;

  const plan::Strips& strips_;
};

}  // namespace tilejit::render
