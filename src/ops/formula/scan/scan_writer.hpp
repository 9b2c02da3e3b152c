#pragma once

#include "rows/rows_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_scan.cu, whose rows are those of fused_rows.cu. Rows do not know
/// their start, because loads are as fast without it.
class ScanWriter final : public RowsWriter {
 public:
  ScanWriter(const plan::Plan& plan, const plan::Scan& scan, Budget& budget)
      : RowsWriter(plan, scan, scan.direction, budget) {}

 private:
  void write_combining() override { write_combining_block(); }
  void write_steps() override;
  [[nodiscard]] bool leaves_passes() const override { return false; }
  [[nodiscard]] bool has_row_start(const plan::Operand&) const override { return false; }
};

}  // namespace tilejit::render
