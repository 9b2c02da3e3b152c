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
  /// The Checks of tile/warpgroup_attention.cuh.
  [[nodiscard]] std::string_view checks() const;
  void write_value();
  void write_attention_work();

  // In score_writer.cpp: what is made of scores, masks and sums of rows.
  void write_scores();
  void write_terms();
  void write_mask();
  void write_mask_tensors(const std::vector<const plan::ScoreTensor*>& tensors);
  void write_rows();
  [[nodiscard]] std::vector<expr::NodeId> conditions() const;
  /// What `roots` are made of.
  [[nodiscard]] expr::Slice slice_of(const std::vector<expr::NodeId>& roots) const;
  [[nodiscard]] std::vector<const plan::ScoreTensor*> tensors_of(
      const std::vector<expr::NodeId>& roots) const;
  /// Lines that make v<root> of each, from an element of each tensor and what given_score says.
  [[nodiscard]] std::string values_of(const std::vector<expr::NodeId>& roots) const;
  /// Where an element of the tensor lies, for the texts of the key's and the query's coordinates.
  [[nodiscard]] std::string place_of(const plan::ScoreTensor& tensor, const std::string& key,
                                     const std::string& query) const;
  [[nodiscard]] std::string element_of(const plan::ScoreTensor& tensor, const std::string& key,
                                       const std::string& query) const;
  /// A coordinate, an extent, the sum or the maximum of a row, or none.
  [[nodiscard]] std::string given_score(expr::NodeId id) const;
  [[nodiscard]] std::string coordinate_of(const expr::Node& node) const;
  [[nodiscard]] std::string extent_of(const expr::Node& node) const;
  [[nodiscard]] const expr::Node& score_node(expr::NodeId id) const {
    return attention_.scores.program.nodes[static_cast<std::size_t>(id)];
  }

  const plan::AttentionWgmma& attention_;
};

}  // namespace tilejit::render
