#pragma once

#include "render/combining_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_rows.cu.
class RowsWriter : public CombiningWriter {
 public:
  RowsWriter(const plan::Plan& plan, const plan::Rows& rows, Budget& budget)
      : RowsWriter(plan, rows, std::nullopt, budget) {}

 protected:
  RowsWriter(const plan::Plan& plan, const plan::Rows& rows,
             std::optional<plan::Direction> direction, Budget& budget)
      : CombiningWriter(plan, rows, direction, budget) {}

  /// Writes who combines the partial results if blocks share rows through memory.
  virtual void write_combining();
  void write_combining_block();
  /// Writes what threads hold of a row.
  virtual void write_steps();
  /// Whether blocks leave the accumulators of passes in memory.
  [[nodiscard]] virtual bool leaves_passes() const { return rows_.splits > 1; }
  /// Rows know their start if threads loop over a row, or over rows: otherwise they would compute
  /// the start before each load, and loads would be issued late.
  [[nodiscard]] bool has_row_start(const plan::Operand& operand) const override;
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  /// Adds what results of rows need, however their elements come.
  void add_headers_of_results(std::vector<std::string_view>& headers) const;
  void write_behind_formula() override;
  [[nodiscard]] bool stores_wide(const plan::Operand&) const override { return true; }
  void write_sharing() override;
  [[nodiscard]] Code source_of(const plan::Operand& operand) const override;
  [[nodiscard]] Code destination_of(const plan::Operand& operand) const override;
  [[nodiscard]] std::string stride_of(const plan::Operand& operand) const override;
  [[nodiscard]] std::string row_members() const override;

 private:
  void write_partials() final;
  void write_pass_list() final;
  void write_warp_combination(const std::vector<expr::NodeId>& reductions) final;
  [[nodiscard]] bool has_instruction(const std::vector<expr::NodeId>& reductions) const;
  [[nodiscard]] bool finds_places_by_warps() const;
  void write_pass_fold(int pass) final;
  [[nodiscard]] Code load_in_pass(const plan::Operand& operand) const final;
  [[nodiscard]] bool is_weight(const plan::Operand& operand) const final;
  [[nodiscard]] bool comes_for_outputs(const plan::Operand& operand) const;
  [[nodiscard]] int weights_at_once() const;

  /// The input whose extremum is all that pass `pass` folds, if one instruction compares two of
  /// its elements at once; else null.
  [[nodiscard]] const plan::Operand* extremum_of_words(int pass) const;
  void write_word_fold(int pass, const plan::Operand& operand);
  [[nodiscard]] bool keeps_inputs() const;
  [[nodiscard]] bool chains_batches() const;
  [[nodiscard]] int blocks_at_once() const;
  [[nodiscard]] bool has_few_threads() const;
  [[nodiscard]] bool asks_in_passes() const;
  [[nodiscard]] bool computes_offsets_anew() const;
  void write_alike();
  void write_turned();
  void write_begins(const char* function, std::string_view exists, std::int64_t columns,
                    const Code& begins);
  [[nodiscard]] bool turns(const plan::Operand& operand) const;
  [[nodiscard]] std::string turned_outputs(const plan::Operand& operand) const;
  void write_turning_of_inputs();
  void write_turned_inputs();
  [[nodiscard]] bool turns_input(const plan::Operand& operand) const;
  [[nodiscard]] std::string turned_input(const plan::Operand& operand) const;
  [[nodiscard]] Code turned_source_of(const plan::Operand& operand) const;
  void write_kept();
  void write_kept_chunks();
  void write_kept_vectors();
  [[nodiscard]] int place_of_kept(const plan::Operand& operand) const;
};

}  // namespace tilejit::render
