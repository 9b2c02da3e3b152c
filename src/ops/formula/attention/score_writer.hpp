#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/family.hpp"
#include "attention/work_writer.hpp"
#include "plan/plan.hpp"

namespace tilejit::render {

/// Writes what the kernels of attentions make of scores, masks and rows: the structs Scores,
/// Tensors and Rows, and the function mask_of.
class ScoreWriter {
 public:
  /// How a kernel spells a dimension.
  using DimText = std::function<std::string(const Dim&)>;
  ScoreWriter(const plan::Plan& plan, const plan::Matmul& product, const plan::Weights& weights,
              DimText value_of)
      : plan_(plan), product_(product), weights_(weights), value_of_(std::move(value_of)) {}

  [[nodiscard]] std::string write();
  [[nodiscard]] AttentionWork work() const {
    return {plan_, product_, weights_, checks(), value_of_};
  }

 private:
  /// The Checks of tile/odd_keys.cuh: what a masked key needs that its values are checked.
  [[nodiscard]] std::string_view checks() const;
  void write_scores();
  void write_terms();
  void write_mask();
  void write_mask_tensors(const std::vector<const plan::ScoreTensor*>& tensors);
  void write_rows();
  [[nodiscard]] std::vector<expr::NodeId> conditions() const;
  /// Values alike for all scores that the score is made of: computed once per row, since the
  /// compiler computes them again for each block.
  [[nodiscard]] std::vector<expr::NodeId> kept_by_terms() const;
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
  /// A line with a coordinate of an element that exists: at the edge of a tile there are others.
  [[nodiscard]] std::string existing(std::string_view coordinate, const Dim& count, int tile) const;
  /// A coordinate, an extent, the sum or the maximum of a row, or none.
  [[nodiscard]] std::string given_score(expr::NodeId id) const;
  /// What a product multiplies the difference of query and key by; none of any other node.
  [[nodiscard]] expr::NodeId factor_of_distance(const expr::Node& node) const;
  [[nodiscard]] std::string coordinate_of(const expr::Node& node) const;
  [[nodiscard]] std::string extent_of(const expr::Node& node) const;
  [[nodiscard]] const expr::Node& score_node(expr::NodeId id) const {
    return weights_.scores.program.nodes[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] DType dtype_of(const plan::ScoreTensor& tensor) const {
    return plan_.operands[static_cast<std::size_t>(tensor.tensor)].dtype;
  }
  [[nodiscard]] const Dim& query_count() const { return *(weights_.scores.shape.end() - 2); }
  [[nodiscard]] const Dim& key_count() const { return weights_.scores.shape.back(); }
  void line(std::string_view text) { (out_ += text) += '\n'; }

  const plan::Plan& plan_;
  const plan::Matmul& product_;
  const plan::Weights& weights_;
  DimText value_of_;
  std::vector<expr::NodeId> kept_ = {};  ///< those that the text being written reads from terms
  std::string out_;
};

}  // namespace tilejit::render
