#pragma once

#include <optional>

#include "render/header_writer.hpp"
#include "render/passes.hpp"

namespace tilejit::render {

/// Writes what all templates need whose threads combine the elements of rows: rows and their
/// results, a struct of accumulators for each pass that reduces, one struct for all scans, and
/// vectors whose elements are folded into these accumulators.
class CombiningWriter : public HeaderWriter {
 protected:
  CombiningWriter(const plan::Plan& plan, const plan::Rows& rows,
                  std::optional<plan::Direction> direction, Budget& budget)
      : HeaderWriter(plan, budget),
        rows_(rows),
        direction_(direction),
        passes_(find_passes(plan)),
        computes_always_(computes_always(plan, rows, passes_)) {}

  void write_constants() final;
  void write_before_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const final;
  [[nodiscard]] expr::Slice formula() const final;
  [[nodiscard]] std::string given(expr::NodeId id) const final;
  [[nodiscard]] std::string own_parameters(bool outputs) const final;
  [[nodiscard]] std::string own_arguments(int i) const final;

  // For families to override.
  /// Writes who shares a row, and how much of it is read at once.
  virtual void write_sharing() = 0;
  /// Writes where blocks leave their partial results of a row.
  virtual void write_partials() {}
  /// Writes all passes that reduce, as one type.
  virtual void write_pass_list() {}
  /// Writes how lanes of a warp exchange a pass's accumulators.
  virtual void write_warp_combination(const std::vector<expr::NodeId>& /*reductions*/) {}
  /// Writes how a vector's elements are folded into the accumulators of pass `pass`.
  virtual void write_pass_fold(int pass);
  /// Whether a row knows where it begins in the operand.
  [[nodiscard]] virtual bool has_row_start(const plan::Operand&) const { return false; }
  /// Elements along mode 0 that a row's coordinate c0 counts at once, if it is kept.
  [[nodiscard]] virtual std::int64_t elements_of_unit() const { return plan_.vector; }
  /// More members of a row.
  [[nodiscard]] virtual std::string row_members() const { return {}; }
  /// The code that loads an input that is not loaded with its row.
  [[nodiscard]] virtual Code load_in_pass(const plan::Operand& operand) const {
    return load_of(operand);
  }
  /// Whether an output needs the input, and threads load it for several vectors before they store
  /// one: a load would otherwise wait for the store before it.
  [[nodiscard]] virtual bool is_weight(const plan::Operand&) const { return false; }

  /// Write the struct Vector, and how results of rows become outputs of one element per row.
  void write_vector();
  void write_row_store();
  /// Whether there are outputs of one element per row if `per_row`, else outputs of every element.
  [[nodiscard]] bool has_outputs(bool per_row) const;
  /// What coordinates add to an offset: those of the row (`kept`), or those in it (`reduced`).
  enum class Among : std::uint8_t { kept, reduced };
  [[nodiscard]] Code offset_among(const std::vector<plan::OperandMode>& modes, Among among) const;
  [[nodiscard]] const expr::Node& node_of(expr::NodeId id) const {
    return plan_.program.nodes[static_cast<std::size_t>(id)];
  }

  const plan::Rows& rows_;
  const std::optional<plan::Direction> direction_;
  const Passes passes_;
  /// Whether a thread computes values of elements that do not exist, too, and drops them. Without
  /// conditions, the compiler computes what several passes need only once.
  const bool computes_always_;

  /// Whether blocks combine results of their rows (plan::Operand::combined).
  [[nodiscard]] bool combines_rows() const;
  [[nodiscard]] expr::NodeId id_of(const expr::Node& node) const {
    return static_cast<expr::NodeId>(&node - plan_.program.nodes.data());
  }

  /// Elements of several rows that one access stores; 1 if each is stored by itself.
  [[nodiscard]] int rows_at_once(const plan::Operand& operand) const;

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

  /// An operand may have only one element per row. `accesses_of_row` returns the loads and stores
  /// of these elements that `asked` needs.
  /// Elements that one access stores for several rows are kept in pieces, which are stored behind
  /// the loop over the rows.
  struct RowAccesses {
    std::string pieces;
    Code loads, stores, behind;
  };
  /// How blocks combine results of their rows.
  [[nodiscard]] static std::string combination_of(const plan::Operand& operand,
                                                  const std::string& a, const std::string& b);
  void write_row_totals();
  [[nodiscard]] Code store_of_pieces(const plan::Operand& operand) const;
  [[nodiscard]] Code element_of_row(const plan::Operand& operand) const;
  [[nodiscard]] RowAccesses accesses_of_row(const Asked& asked) const;

  // What a column has of its own, as members of its row: inputs that are the same for all of its
  // elements, and values made of them that are held.
  [[nodiscard]] bool comes_with_row(const plan::Operand& operand) const;
  [[nodiscard]] bool holds_values_of_row() const;
  void write_inputs_of_row();
  [[nodiscard]] Code loads_of_row() const;
  /// Writes these loads, and what computes the values.
  void write_loads_of_row(const Code& loads);
  /// The type of a value that is held: a float, or a divisor with its reciprocal.
  [[nodiscard]] std::string_view held_type(expr::NodeId id) const;
  /// The division of the node by a divisor that is held with its reciprocal; empty if it is none.
  [[nodiscard]] std::string divided_by_held(const expr::Node& node) const;

  // Accumulators.
  void write_pass(int pass);
  void write_pass_members(int pass);
  void write_element_fold(int pass);
  void write_combine(int pass);
  /// Writes the results that the accumulators of pass `pass` give a row.
  void write_finish(int pass);
  void write_rescaled_fold(int pass);
  /// Writes `fold`, or `fold_below`, of struct `type` for elements that may not exist.
  void write_conditional_fold(const std::string& type, const char* fold);
  void write_rescaling(expr::NodeId sum);
  [[nodiscard]] std::string rescaled_result(expr::NodeId sum) const;
  void write_scans();
  /// The device type of the places that accumulators hold.
  [[nodiscard]] std::string_view place_type() const;
  [[nodiscard]] bool comes_in_order(const expr::Node& node) const;

  // Vectors.
  /// Values that threads hold instead of inputs: the function that computes those of an element,
  /// their place in a vector, and the arguments that stand for those of element `i` of a group.
  void write_hold();
  void write_held();
  [[nodiscard]] std::string held_arguments(int i) const;
  void write_load();
  void write_weights();
  void write_map();
  void write_scan_map();
  void write_fold(const std::string& accumulator, const Asked& asked, bool below);
  /// The start of a pass: where its vector lies, as far as `accesses` needs it, and loads of the
  /// `asked` inputs that are not loaded with their row.
  [[nodiscard]] std::string pass_start(const Asked& asked, const Code& accesses) const;
  /// Keeps a loop's number of a vector, which is divided for rows of several modes, from the
  /// compiler: it would make it 64 bits wide, and divide it so.
  [[nodiscard]] std::string narrow_number() const;
  [[nodiscard]] std::string valid_of_vector(const Code& accesses) const;
  /// The condition that element `i` of a group exists, and what it makes of a statement.
  [[nodiscard]] std::string exists(int i) const;
  [[nodiscard]] std::string if_exists(int i) const;
  /// What the reductions of a pass ask for that take each element by itself.
  [[nodiscard]] Asked asked_by_pass(int pass) const;
  /// The values that reductions or scans combine.
  [[nodiscard]] std::vector<expr::NodeId> arguments_of(const std::vector<expr::NodeId>& ids) const;
  /// The stores to outputs of one element per row, or else to outputs of every element; and the
  /// nodes that they need. These include results of rows as given values.
  [[nodiscard]] std::vector<expr::Store> stores_of(bool per_row) const;
  [[nodiscard]] std::vector<bool> needed_for_stores(const std::vector<expr::Store>& stores,
                                                    const Passes& passes) const;
  [[nodiscard]] std::vector<bool> needed_for_row_stores(
      const std::vector<expr::Store>& stores) const;
};

}  // namespace tilejit::render
