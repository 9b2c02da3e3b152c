#pragma once

#include "attention/family.hpp"
#include "wgmma/wgmma_writer.hpp"

namespace tilejit::render {

/// Writes the header for attention_wgmma.cu: the struct Work that tile/warpgroup_attention.cuh asks
/// for.
class AttentionWriter final : public MatmulWgmmaWriter {
 public:
  AttentionWriter(const plan::Plan& plan, const plan::AttentionWgmma& attention, Budget& budget)
      : MatmulWgmmaWriter(plan, attention, budget), attention_(attention) {}

 private:
  [[nodiscard]] std::vector<std::string_view> own_headers() const override;
  void write_before_formula() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;

  void write_operands();
  void write_source(char letter, const plan::OperandSource& source, int columns, int rows_of_box,
                    const std::string& row);
  void write_scores();
  /// The body of a function of an element of the scores that returns `result`, which is made of
  /// `roots`.
  [[nodiscard]] std::string body_of(const std::vector<expr::NodeId>& roots,
                                    const std::string& result) const;
  [[nodiscard]] expr::Slice slice_of(const std::vector<expr::NodeId>& roots) const;
  [[nodiscard]] std::string element_of(const plan::ScoreTensor& tensor) const;
  void write_mask();
  void write_attention_work();
  /// A coordinate, an extent or none: what only the space of scores says.
  [[nodiscard]] std::string given_score(expr::NodeId id) const;
  [[nodiscard]] std::string coordinate_of(std::size_t axis) const;
  [[nodiscard]] std::string extent_of(const expr::Node& node) const;
  [[nodiscard]] const expr::Node& score_node(expr::NodeId id) const {
    return attention_.scores.program.nodes[static_cast<std::size_t>(id)];
  }

  const plan::AttentionWgmma& attention_;
};

}  // namespace tilejit::render
