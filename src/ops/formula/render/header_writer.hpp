#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "render/budget.hpp"
#include "render/code.hpp"

namespace tilejit::render {

/// Writes `plan.cuh`: the names that a template of kernels_templates/ expects. What all templates
/// ask for is here; what one of them, or some, ask for is in the writer of the plan's family.
class HeaderWriter {
 public:
  HeaderWriter(const plan::Plan& plan, Budget& budget) : plan_(plan), budget_(budget) {}
  HeaderWriter(const HeaderWriter&) = delete;
  HeaderWriter& operator=(const HeaderWriter&) = delete;
  virtual ~HeaderWriter() = default;
  /// Once. Throws Error{unsupported} if that is beyond the budget.
  [[nodiscard]] std::string write();

 protected:
  /// How a thread holds its vector of an operand.
  enum class Form : std::uint8_t {
    one,         ///< one element for all
    contiguous,  ///< tile/contiguous.cuh
    packed,      ///< tile/packed.cuh
    strided,     ///< tile/strided.cuh
  };
  /// What a function of one element takes: whatever it does not use would be compiled all the same.
  struct Asked {
    std::vector<bool> tensors;  ///< one each: its element is read
    std::vector<bool> places;   ///< one each of plan::Plan::places
  };

  // What a family says.
  /// The headers of kernels_templates/tile/ that it takes for itself, without their suffix.
  [[nodiscard]] virtual std::vector<std::string_view> own_headers() const = 0;
  virtual void write_constants() = 0;
  /// What the formula's function names, and what calls it.
  virtual void write_before_formula() {}
  virtual void write_behind_formula() = 0;
  /// Whether a launch counts the units in Params::total.
  [[nodiscard]] virtual bool counts_units() const { return true; }
  /// The elements in front of a vector along mode `m`: c0 counts vectors, the others elements.
  [[nodiscard]] virtual std::string coordinate(std::size_t m) const;
  /// Whether stores are those of tile/wide.cuh.
  [[nodiscard]] virtual bool stores_wide() const { return false; }
  /// Whether a vector of the operand is loaded, or stored, with all others.
  [[nodiscard]] virtual bool is_loaded(const plan::Operand& operand) const { return operand.read; }
  [[nodiscard]] virtual bool is_stored(const plan::Operand& operand) const {
    return writes_elements(operand);
  }
  /// The variable that holds the operand's elements: "in2", "out0".
  [[nodiscard]] virtual std::string variable_of(const plan::Operand& operand, bool loads) const;
  /// Where an operand's vector is loaded from.
  [[nodiscard]] virtual Code source_of(const plan::Operand& operand) const;
  /// Whether only some of a vector's elements may exist.
  [[nodiscard]] virtual bool may_be_partial(const plan::Operand&) const { return plan_.ragged; }
  /// What the function of an element computes.
  [[nodiscard]] virtual expr::Slice formula() const;
  /// The text of values that are not the work of one element.
  [[nodiscard]] virtual std::string given(expr::NodeId id) const;
  /// What a function of an element takes behind Params, and what element `i` of a group passes.
  [[nodiscard]] virtual std::string own_parameters(bool /*outputs*/) const { return {}; }
  [[nodiscard]] virtual std::string own_arguments(int /*i*/) const { return {}; }

  // What families share: text.
  void line(std::string_view text) { (out_ += text) += '\n'; }
  /// `text` with every line moved to the right.
  [[nodiscard]] static std::string indented(std::string_view text, int spaces);
  [[nodiscard]] static std::string_view storage_type(DType dtype);
  /// A known dimension as a literal, a symbolic one as the parameter that holds it.
  [[nodiscard]] std::string value_of(const Dim& dim) const;
  /// kThreads and kVector, of families whose blocks take a unit together.
  void write_block();
  /// The statements of a slice, as many spaces to the right.
  void write_values(const expr::Slice& slice, int spaces);

  // Vectors.
  [[nodiscard]] Form form_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string type_of(const plan::Operand& operand) const;
  /// Elements that the formula takes at once: as many as the fullest word holds.
  [[nodiscard]] int group() const;
  /// Whether the operand is an output of one element for each of the space, or of a row's.
  [[nodiscard]] static bool writes_elements(const plan::Operand& operand) noexcept;
  /// Declares in<k> of what is loaded with all others, as members; out<k> of what is stored.
  void write_inputs();
  void write_outputs();
  [[nodiscard]] Code loads() const;
  [[nodiscard]] Code stores() const;
  [[nodiscard]] Code load_of(const plan::Operand& operand) const;
  [[nodiscard]] Code store_of(const plan::Operand& operand) const;

  // The formula, element by element.
  /// By `nodes`.
  [[nodiscard]] Asked asked_by(const std::vector<bool>& nodes) const;
  [[nodiscard]] Asked asked_by_formula() const { return asked_by(formula().nodes); }
  /// The parameters t<k> of what is read, and y<k> of what is written for each element.
  [[nodiscard]] std::string element_parameters(const Asked& asked, bool outputs) const;
  /// Calls the formula for each element of a vector.
  void write_groups();
  void write_unpacking(const plan::Operand& operand, const Asked& asked, bool outputs);
  /// A call of `function` for element `i` of a group: `first`, the places and values that are
  /// asked for and, if `outputs`, the values that are written.
  void write_call(int i, const std::string& function, const std::string& first, const Asked& asked,
                  bool outputs);
  void write_packing(const plan::Operand& operand);

  // Coordinates.
  /// How `from`, a number of units, is taken apart at mode `m`, of which a unit has `per` elements:
  /// units along the mode, and whole turns through them.
  struct Split {
    std::string count, quotient;
  };
  [[nodiscard]] Split split_at(std::size_t m, std::int64_t per, const std::string& from,
                               const std::string& type) const;
  /// " + " and what mode `m` adds to an offset; nothing if that is 0.
  [[nodiscard]] Code share_of(const plan::OperandMode& leaves, std::size_t m) const;
  /// Offset in elements of the operand's first element, of the coordinates c0, c1, ...
  [[nodiscard]] Code offset_of(const std::vector<plan::OperandMode>& modes) const;
  /// Declares n<k>, the places of a vector's first element.
  [[nodiscard]] Code places(const Asked& asked) const;
  /// Which of plan::Plan::places `node` asks for.
  [[nodiscard]] std::size_t place_of(const expr::Node& node) const;
  /// The distance of neighbours' places along mode 0.
  [[nodiscard]] std::string place_stride(const plan::Place& place) const;

  const plan::Plan& plan_;
  std::string out_;

 private:
  void write_includes(const std::string& code);
  void write_params();
  void write_formula();
  /// Elements in a word of a packed operand.
  [[nodiscard]] int per_word(const plan::Operand& operand) const;
  /// Whether an operand's vectors are loaded in pieces, since its address is aligned to less.
  [[nodiscard]] bool is_split(const plan::Operand& operand) const;
  /// What a load or store takes behind the address: distance of neighbours, number of elements.
  [[nodiscard]] Code access_arguments(const plan::Operand& operand) const;

  Budget& budget_;
};

}  // namespace tilejit::render
