#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.hpp"
#include "render/budget.hpp"
#include "render/stages.hpp"

namespace tilejit::render {

/// Writes `plan.cuh`: the names that the template, `fused_map.cu` or `fused_tile.cu`, expects.
class HeaderWriter {
 public:
  HeaderWriter(const plan::Plan& plan, Budget& budget)
      : plan_(plan),
        rows_(plan::rows_of(plan)),
        tile_(std::get_if<plan::Tile>(&plan.family)),
        tv_(std::get_if<plan::ThreadValue>(&plan.family)),
        direction_(plan::direction_of(plan)),
        light_(plan::is_light(plan)),
        budget_(budget),
        stages_(find_stages(plan)) {}
  /// Throws Error{unsupported} if that is beyond the budget.
  [[nodiscard]] std::string write();

 private:
  /// How a thread holds its vector of an operand.
  enum class Form : std::uint8_t {
    one,         ///< one element for all
    contiguous,  ///< tile/contiguous.cuh
    packed,      ///< tile/packed.cuh
    strided,     ///< tile/strided.cuh
  };
  [[nodiscard]] Form form_of(const plan::Operand& operand) const;
  /// Elements in a word of a packed operand.
  [[nodiscard]] int per_word(const plan::Operand& operand) const;
  /// Elements that the formula takes at once: as many as the fullest word holds.
  [[nodiscard]] int group() const;

  /// What a function of one element takes: whatever it does not use would be compiled all the same.
  struct Asked {
    std::vector<bool> tensors;  ///< one each: its element is read
    std::vector<bool> places;   ///< one each of plan::Plan::places
  };
  /// What is loaded or stored by one function of the header.
  enum class Part : std::uint8_t {
    direct_loads,
    direct_stores,
    crossed_loads,
    crossed_stores,
  };
  [[nodiscard]] static bool is_crossed(const plan::Operand& operand) noexcept {
    return operand.reach == plan::Reach::crossed;
  }
  [[nodiscard]] bool belongs(const plan::Operand& operand, Part part) const;

  void write_includes(const std::string& code);
  void write_constants();
  void write_params();
  void write_formula();
  /// The statements of a slice, as many spaces to the right.
  void write_values(const expr::Slice& slice, int spaces);
  void write_vector();
  void write_coordinates(const std::string& accesses);
  /// How `from`, a number of units, is taken apart at mode `m`, of which a unit has `per` elements:
  /// units along the mode, and whole turns through them.
  struct Split {
    std::string count, quotient;
  };
  [[nodiscard]] Split split_at(std::size_t m, std::int64_t per, const std::string& from,
                               const std::string& type) const;
  /// Whether an operand's vectors are loaded in pieces, since its address is aligned to less.
  [[nodiscard]] bool is_split(const plan::Operand& operand) const;
  // For fused_rows.cu.
  void write_row();
  void write_sharing();
  /// Whether each lane holds as many vectors of a row, rows are whole chunks of a scan, and each
  /// block has as many rows.
  [[nodiscard]] bool steps_are_whole() const;
  [[nodiscard]] bool chunks_are_whole() const;
  [[nodiscard]] bool blocks_are_whole() const;
  void write_results();
  void write_stage(int stage);
  void write_finish(int stage);
  void write_warp_combination(const std::vector<expr::NodeId>& reductions);
  [[nodiscard]] const plan::Operand* extremum_of_words(int stage) const;
  void write_word_fold(int stage, const plan::Operand& operand);
  /// Of the places that accumulators hold.
  [[nodiscard]] std::string_view place_type() const;
  [[nodiscard]] bool comes_in_order(const expr::Node& node) const;
  void write_row_vector();
  [[nodiscard]] bool keeps_inputs() const;
  void write_kept();
  [[nodiscard]] int place_of_kept(const plan::Operand& operand) const;
  [[nodiscard]] std::string load_kept(const plan::Operand& operand) const;
  void write_rescaled_fold(int stage);
  [[nodiscard]] std::string rescaled_result(expr::NodeId sum) const;
  void write_rescaling(expr::NodeId sum);
  void write_fold(const std::string& accumulator, const Asked& asked, bool below);
  void write_row_store();
  /// Whether a row knows where it begins in the operand. Lanes that loop over their row, or rows,
  /// would compute that before each load, so that loads are issued late.
  [[nodiscard]] bool has_row_start(const plan::Operand& operand) const;
  [[nodiscard]] std::string row_coordinates() const;
  /// What a pass begins with: where its vector lies, as far as `accesses` ask, and the inputs that
  /// are the same in every row and `asked` for.
  [[nodiscard]] std::string pass_start(const Asked& asked, const std::string& accesses) const;
  [[nodiscard]] std::string decode(const std::string& index, std::size_t first, std::size_t count,
                                   const std::string& type, const std::string& target) const;
  [[nodiscard]] std::string accumulator_list() const;
  // For fused_scan.cu.
  void write_scans();
  void write_scan_map();
  /// The values that reductions or scans combine.
  [[nodiscard]] std::vector<expr::NodeId> arguments_of(const std::vector<expr::NodeId>& ids) const;
  // For fused_light.cu.
  void write_light_constants(bool full_outputs);
  void write_passes();
  // For fused_tile.cu.
  void write_shared();
  void write_tile();
  void write_square();
  void write_tile_vector();
  void write_square_store();
  void write_elements(Part part);
  [[nodiscard]] std::string tile_coordinates(const std::string& accesses, Part part) const;
  [[nodiscard]] bool is_whole(std::size_t m) const;
  // For fused_tv.cu.
  void write_places();
  void write_element();
  void write_tv_vector();
  [[nodiscard]] std::string element_coordinates(const std::string& accesses) const;
  /// Whether coordinates count elements, as in tiles; else c0 counts vectors.
  [[nodiscard]] bool counts_elements() const noexcept { return tile_ || tv_; }
  /// Whether stores are those of tile/wide.cuh.
  [[nodiscard]] bool stores_wide() const noexcept {
    return counts_elements() || (rows_ && !light_);
  }
  /// Lines that take the number `from` of a tile apart into the members c<m> of `to`.
  [[nodiscard]] std::string decode_tile(const std::string& from, const std::string& to) const;
  void write_groups();
  /// By `nodes` and by the places that `reductions` find.
  [[nodiscard]] Asked asked_by(const std::vector<bool>& nodes,
                               const std::vector<expr::NodeId>& reductions = {}) const;
  /// By the reductions of a pass that take an element by itself.
  [[nodiscard]] Asked asked_by_stage(int stage) const;
  [[nodiscard]] Asked asked_by_formula() const { return asked_by(formula_nodes()); }
  [[nodiscard]] std::vector<bool> formula_nodes() const;
  /// The parameters t<k> of what is read, and y<k> of what is written for each element.
  [[nodiscard]] std::string element_parameters(const Asked& asked, bool outputs) const;
  /// The text of values that are not the work of one element.
  [[nodiscard]] std::string given(expr::NodeId id) const;
  [[nodiscard]] std::string valid_of_vector(const std::string& accesses) const;
  /// The stores of a row's one element, or of each.
  [[nodiscard]] std::vector<expr::Store> stores_of(bool per_row) const;
  [[nodiscard]] std::vector<bool> needed_for_stores(const std::vector<expr::Store>& stores) const;
  /// Whether the operand is an output of one element for each of the space, or of a row's.
  [[nodiscard]] static bool writes_elements(const plan::Operand& operand) noexcept;
  void write_unpacking(const plan::Operand& operand, const Asked& asked, bool outputs);
  /// A call of `function` for element `i` of a group: `first`, the places and values that are
  /// asked for and, if `outputs`, the values that are written.
  void write_call(int i, const std::string& function, const std::string& first, const Asked& asked,
                  bool outputs);
  void write_packing(const plan::Operand& operand);

  /// Whether `text` has the variable `name`; c10 is not c1.
  [[nodiscard]] static bool mentions(std::string_view text, std::string_view name);
  [[nodiscard]] static std::string_view storage_type(DType dtype);
  /// `text` with every line moved to the right.
  [[nodiscard]] static std::string indented(std::string_view text, int spaces);
  void line(std::string_view text) { (out_ += text) += '\n'; }
  /// A known dimension as a literal, a symbolic one as the parameter that holds it.
  [[nodiscard]] std::string value_of(const Dim& dim) const;
  [[nodiscard]] std::string accesses(Part part) const;
  [[nodiscard]] std::string load_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string store_of(const plan::Operand& operand) const;
  /// The variable that holds the operand's elements: "in2", "out0", "x1[i]".
  [[nodiscard]] static std::string variable_of(const plan::Operand& operand, bool loads);
  /// Modes that count towards an offset: a row's coordinates are those of the kept ones.
  enum class Among : std::uint8_t { all, kept, reduced };
  /// Offset in elements of the operand's first element, of the coordinates c0, c1, ...
  [[nodiscard]] std::string offset_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string offset_of(const std::vector<plan::OperandMode>& modes,
                                      Among among = Among::all) const;
  /// Declares n<k>, the places of a vector's first element.
  [[nodiscard]] std::string places(const Asked& asked) const;
  /// The variable that holds the place that `node` asks for.
  [[nodiscard]] std::string place_of(const expr::Node& node) const;
  /// The distance of neighbours' places along mode 0.
  [[nodiscard]] std::string place_stride(const plan::Place& place) const;
  [[nodiscard]] std::string share_of(const plan::OperandMode& leaves, std::size_t m) const;
  /// Whether only some of a vector's elements may exist.
  [[nodiscard]] bool may_be_partial(const plan::Operand& operand) const;
  /// What a load or store takes behind the address: distance of neighbours, number of elements.
  [[nodiscard]] std::string access_arguments(const plan::Operand& operand) const;
  [[nodiscard]] std::string type_of(const plan::Operand& operand) const;

  const plan::Plan& plan_;
  const plan::Rows* rows_;
  const plan::Tile* tile_;
  const plan::ThreadValue* tv_;
  std::optional<plan::Direction> direction_;
  bool light_;
  Budget& budget_;
  Stages stages_;
  std::string out_;
};

}  // namespace tilejit::render
