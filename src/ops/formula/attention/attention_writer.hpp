#pragma once

#include "attention/family.hpp"
#include "attention/score_writer.hpp"
#include "wgmma/wgmma_writer.hpp"

namespace tilejit::render {

/// Writes the header for attention_wgmma.cu: the struct Work that tile/warpgroup_attention.cuh asks
/// for.
class AttentionWriter final : public MatmulWgmmaWriter {
 public:
  AttentionWriter(const plan::Plan& plan, const plan::AttentionWgmma& attention, Budget& budget)
      : MatmulWgmmaWriter(plan, attention, budget),
        attention_(attention),
        scores_(plan, attention, attention, [this](const Dim& dim) { return value_of(dim); }) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_before_formula() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;

  void write_operands();
  void write_source(char letter, const plan::OperandSource& source, int columns, int rows_of_box,
                    const std::string& row);
  void write_attention_work();

  const plan::AttentionWgmma& attention_;
  ScoreWriter scores_;
};

}  // namespace tilejit::render
