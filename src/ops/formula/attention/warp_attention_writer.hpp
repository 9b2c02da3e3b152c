#pragma once

#include "attention/family.hpp"
#include "attention/score_writer.hpp"
#include "matmul/matmul_writer.hpp"

namespace tilejit::render {

/// Writes the header for attention_mma.cu: the struct Work that tile/warp_attention.cuh asks for.
class WarpAttentionWriter final : public MatmulWriter {
 public:
  WarpAttentionWriter(const plan::Plan& plan, const plan::AttentionMma& attention, Budget& budget)
      : MatmulWriter(plan, attention, budget),
        attention_(attention),
        scores_(plan, attention, attention, [this](const Dim& dim) { return value_of(dim); }) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_before_formula() override;
  void write_tiles() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;

  /// Where the rows of a head's matrix begin, and how far apart they are.
  void write_matrix(const std::string& name, int tensor, const plan::OperandSource& source);
  void write_attention_work();

  const plan::AttentionMma& attention_;
  ScoreWriter scores_;
};

}  // namespace tilejit::render
