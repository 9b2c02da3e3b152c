#pragma once

#include <optional>

#include "render/header_writer.hpp"
#include "render/stages.hpp"

namespace tilejit::render {

/// What the templates share whose threads combine the elements of rows: rows and their results, a
/// struct of accumulators for each pass that reduces, one for all scans, and vectors that come to
/// them.
class CombiningWriter : public HeaderWriter {
 protected:
  CombiningWriter(const plan::Plan& plan, const plan::Rows& rows,
                  std::optional<plan::Direction> direction, Budget& budget)
      : HeaderWriter(plan, budget),
        rows_(rows),
        direction_(direction),
        stages_(find_stages(plan)) {}

  void write_constants() final;
  void write_before_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const final;
  [[nodiscard]] expr::Slice formula() const final;
  [[nodiscard]] std::string given(expr::NodeId id) const final;
  [[nodiscard]] std::string own_parameters(bool outputs) const final;
  [[nodiscard]] std::string own_arguments(int i) const final;

  // What a family says.
  /// Who shares a row, and what is read of it at once.
  virtual void write_sharing() = 0;
  /// Where blocks leave what they have of a row.
  virtual void write_partials() {}
  /// All passes that reduce, as one type.
  virtual void write_stage_list() {}
  /// How lanes of a warp exchange a pass's accumulators.
  virtual void write_warp_combination(const std::vector<expr::NodeId>& /*reductions*/) {}
  /// How a vector's elements come to the accumulators of pass `stage`.
  virtual void write_stage_fold(int stage);
  /// Whether a row knows where it begins in the operand.
  [[nodiscard]] virtual bool has_row_start(const plan::Operand&) const { return false; }
  /// The load of an input that is not loaded with its row.
  [[nodiscard]] virtual Code load_in_pass(const plan::Operand& operand) const {
    return load_of(operand);
  }

  /// The struct Vector, and how its elements become outputs.
  void write_vector();
  void write_row_store();
  /// Whether there are outputs of one element a row, or of each.
  [[nodiscard]] bool has_outputs(bool per_row) const;
  /// What the coordinates of a row add to an offset, and what those in it do.
  enum class Among : std::uint8_t { kept, reduced };
  [[nodiscard]] Code offset_among(const std::vector<plan::OperandMode>& modes, Among among) const;
  [[nodiscard]] const expr::Node& node_of(expr::NodeId id) const {
    return plan_.program.nodes[static_cast<std::size_t>(id)];
  }

  const plan::Rows& rows_;
  const std::optional<plan::Direction> direction_;
  const Stages stages_;

 private:
  // Rows.
  void write_row();
  void write_row_struct();
  void write_row_length();
  void write_results();
  /// Lines that take `index` apart into the coordinates of `count` modes, as `type`.
  [[nodiscard]] std::string decode(const std::string& index, std::size_t first, std::size_t count,
                                   const std::string& type, const std::string& target) const;
  [[nodiscard]] std::string row_coordinates() const;

  /// The one element that a row has of an operand, and what `asked` for such elements reads and
  /// writes.
  struct RowAccesses {
    Code loads, stores;
  };
  [[nodiscard]] Code element_of_row(const plan::Operand& operand) const;
  [[nodiscard]] RowAccesses accesses_of_row(const Asked& asked) const;

  // Accumulators.
  void write_stage(int stage);
  void write_stage_members(int stage);
  void write_element_fold(int stage);
  void write_combine(int stage);
  /// What the accumulators of pass `stage`, or of the scans, give a row.
  void write_finish(int stage);
  void write_rescaled_fold(int stage);
  void write_rescaling(expr::NodeId sum);
  [[nodiscard]] std::string rescaled_result(expr::NodeId sum) const;
  void write_scans();
  /// Of the places that accumulators hold.
  [[nodiscard]] std::string_view place_type() const;
  [[nodiscard]] bool comes_in_order(const expr::Node& node) const;

  // Vectors.
  void write_load();
  void write_map();
  void write_scan_map();
  void write_fold(const std::string& accumulator, const Asked& asked, bool below);
  /// What a pass begins with: where its vector lies, as far as `accesses` ask, and the inputs that
  /// are the same in every row and `asked` for.
  [[nodiscard]] std::string pass_start(const Asked& asked, const Code& accesses) const;
  [[nodiscard]] std::string valid_of_vector(const Code& accesses) const;
  /// By the reductions of a pass that take an element by itself.
  [[nodiscard]] Asked asked_by_stage(int stage) const;
  /// The values that reductions or scans combine.
  [[nodiscard]] std::vector<expr::NodeId> arguments_of(const std::vector<expr::NodeId>& ids) const;
  /// The stores of a row's one element, or of each, and the nodes that they need, results of rows
  /// among them as values that are given.
  [[nodiscard]] std::vector<expr::Store> stores_of(bool per_row) const;
  [[nodiscard]] std::vector<bool> needed_for_stores(const std::vector<expr::Store>& stores) const;
};

}  // namespace tilejit::render
