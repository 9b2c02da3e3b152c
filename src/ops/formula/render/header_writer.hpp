#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "render/budget.hpp"
#include "render/code.hpp"

namespace tilejit::render {

/// Writes `plan.cuh`: the names that a template of kernels_templates/ expects. This class writes
/// what all templates need; the writer of each family adds what only its template needs.
class HeaderWriter {
 public:
  HeaderWriter(const plan::Plan& plan, Budget& budget) : plan_(plan), budget_(budget) {}
  HeaderWriter(const HeaderWriter&) = delete;
  HeaderWriter& operator=(const HeaderWriter&) = delete;
  virtual ~HeaderWriter() = default;
  /// Returns the header. Call it only once. Throws Error{unsupported} beyond the budget.
  [[nodiscard]] std::string write();
  /// `text` with every line indented by `spaces`.
  [[nodiscard]] static std::string indented(std::string_view text, int spaces);

 protected:
  /// How a thread holds its vector of an operand.
  enum class Form : std::uint8_t {
    one,         ///< one element for all
    contiguous,  ///< tile/contiguous.cuh
    packed,      ///< tile/packed.cuh
    strided,     ///< tile/strided.cuh
  };
  /// Which elements of a vector exist, where its loads are written.
  enum class Part : std::uint8_t {
    some,  ///< as many as `valid` says
    all,   ///< each of them
    end,   ///< `valid`, of which there is one or more, though not all; no load waits for another
  };
  /// What a function of one element takes. Parameters that it does not use would cost compile time.
  struct Asked {
    std::vector<bool> tensors;  ///< per tensor: whether its element is read
    std::vector<bool> places;   ///< per place of plan::Plan::places: whether it is used
  };

  // For families to override.
  /// The headers of kernels_templates/tile/ that only the family needs, without their suffix.
  [[nodiscard]] virtual std::vector<std::string_view> own_headers() const = 0;
  virtual void write_constants() = 0;
  /// Write what the formula's function needs, and what calls this function.
  virtual void write_before_formula() {}
  virtual void write_behind_formula() = 0;
  /// The number of elements before a vector along mode `m`: c0 counts vectors, all other
  /// coordinates count elements.
  [[nodiscard]] virtual std::string coordinate(std::size_t m) const;
  /// Whether the template uses the stores of tile/wide.cuh for the operand.
  [[nodiscard]] virtual bool stores_wide(const plan::Operand&) const { return false; }
  /// Whether a vector of the operand is loaded, or stored, together with those of other operands.
  [[nodiscard]] virtual bool is_loaded(const plan::Operand& operand) const { return operand.read; }
  [[nodiscard]] virtual bool is_stored(const plan::Operand& operand) const {
    return writes_elements(operand);
  }
  /// The variable that holds the operand's elements: "in2", "out0".
  [[nodiscard]] virtual std::string variable_of(const plan::Operand& operand, bool loads) const;
  /// Where an operand's vector is loaded from, and where it is stored.
  [[nodiscard]] virtual Code source_of(const plan::Operand& operand) const;
  [[nodiscard]] virtual Code destination_of(const plan::Operand& operand) const {
    return address_of(operand);
  }
  /// The distance of neighbours along mode 0 where a strided operand's vector lies.
  [[nodiscard]] virtual std::string stride_of(const plan::Operand& operand) const;
  /// Whether only some of a vector's elements may exist.
  [[nodiscard]] virtual bool may_be_partial(const plan::Operand&) const { return plan_.ragged; }
  /// What the function of an element computes.
  [[nodiscard]] virtual expr::Slice formula() const;
  /// The text of a value that the function of an element does not compute itself.
  [[nodiscard]] virtual std::string given(expr::NodeId id) const;
  /// The parameters of a function of an element after Params, and the arguments that element `i` of
  /// a group passes for them.
  [[nodiscard]] virtual std::string own_parameters(bool /*outputs*/) const { return {}; }
  [[nodiscard]] virtual std::string own_arguments(int /*i*/) const { return {}; }

  // Text, for all families.
  void line(std::string_view text) { (out_ += text) += '\n'; }
  /// A known dimension as a literal, a symbolic one as the parameter that holds it.
  [[nodiscard]] std::string value_of(const Dim& dim) const;
  /// Writes kThreads and kVector for families whose blocks take a unit together.
  void write_block();
  /// Writes the statements of a slice, indented by `spaces`.
  void write_values(const expr::Slice& slice, int spaces);

  // Vectors.
  [[nodiscard]] Form form_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string type_of(const plan::Operand& operand) const;
  /// The end of an operand's tensor, whose extents are known, and how many elements its last vector
  /// has, or 0 if it is whole.
  [[nodiscard]] std::string end_of(const plan::Operand& operand) const;
  [[nodiscard]] std::int64_t tail_of(const plan::Operand& operand) const;
  [[nodiscard]] std::int64_t tail_of(const plan::Operand& operand, int chunk) const;
  /// Elements that the formula takes at once: as many as the word with the most elements holds.
  [[nodiscard]] int group() const;
  /// Whether the operand is an output with an element for each element of the space or row.
  [[nodiscard]] static bool writes_elements(const plan::Operand& operand) noexcept;
  /// Declare, as members, in<k> for operands that are loaded together, and out<k> for operands that
  /// are stored together.
  void write_inputs();
  void write_outputs();
  /// How an operand's vector is held from its load on; if it is shifted, `shift_of` declares
  /// in<k>, and `shifts` does so for all operands that are loaded together and `asked` for.
  [[nodiscard]] std::string loaded_type(const plan::Operand& operand) const;
  [[nodiscard]] static std::string loaded_name(const plan::Operand& operand);
  [[nodiscard]] std::string shift_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string shifts(const Asked& asked) const;
  /// If a part is given, without those of `gathers`.
  [[nodiscard]] Code loads(Part part = Part::some) const;
  /// The loads of elements that have no common stride, of all of a vector: those that do not exist
  /// are read from elsewhere.
  [[nodiscard]] Code gathers() const;
  [[nodiscard]] Code stores() const;
  [[nodiscard]] Code load_of(const plan::Operand& operand, Part part = Part::some) const;
  [[nodiscard]] Code store_of(const plan::Operand& operand) const;

  // The formula, element by element.
  /// The tensors and places that `nodes` ask for.
  [[nodiscard]] Asked asked_by(const std::vector<bool>& nodes) const;
  [[nodiscard]] Asked asked_by_formula() const { return asked_by(formula().nodes); }
  /// The parameters t<k> for inputs of an element and, if `outputs`, y<k> for its outputs.
  [[nodiscard]] std::string element_parameters(const Asked& asked, bool outputs) const;
  /// Those of them that differ between elements.
  [[nodiscard]] std::string asked_parameters(const Asked& asked, bool outputs) const;
  /// Calls the formula for each element of a vector.
  void write_groups();
  void write_unpacking(const plan::Operand& operand, const Asked& asked, bool outputs);
  /// A call of `function` for element `i` of a group, and a line of it. The arguments are `first`,
  /// the places and values that are asked for and, if `outputs`, the values that are written.
  [[nodiscard]] std::string call(int i, const std::string& function, const std::string& first,
                                 const Asked& asked, bool outputs) const;
  void write_call(int i, const std::string& function, const std::string& first, const Asked& asked,
                  bool outputs);
  void write_packing(const plan::Operand& operand);

  // Coordinates.
  /// How the unit number `from` is taken apart at mode `m`, along which a unit has `per` elements:
  /// `count` units lie along the mode, and `quotient` is `from` divided by `count`.
  struct Split {
    std::string count, quotient;
  };
  [[nodiscard]] Split split_at(std::size_t m, std::int64_t per, const std::string& from,
                               const std::string& type) const;
  /// " + " and what mode `m` adds to an offset; empty if that is 0.
  [[nodiscard]] Code share_of(const plan::OperandMode& leaves, std::size_t m) const;
  [[nodiscard]] Code share_of(const plan::OperandMode& leaves, std::size_t m,
                              const std::string& coordinate) const;
  /// The offset, in elements, at the coordinates c0, c1, ...
  [[nodiscard]] Code offset_of(const std::vector<plan::OperandMode>& modes) const;
  /// If rows are peeled, declares `shift`: the elements of a row's first vector that lie before the
  /// row.
  [[nodiscard]] Code shift() const;
  /// Of rows that are peeled: a word whose bit i says whether element i of vector c0 exists.
  [[nodiscard]] std::string existing() const;
  /// Where the operand begins in memory.
  [[nodiscard]] static std::string base_of(const plan::Operand& operand);
  /// Where a vector of the operand lies in memory.
  [[nodiscard]] Code address_of(const plan::Operand& operand) const;
  /// Declares n<k>, the places of a vector's first element.
  [[nodiscard]] Code places(const Asked& asked) const;
  /// Which of plan::Plan::places `node` asks for.
  [[nodiscard]] std::size_t place_of(const expr::Node& node) const;
  /// The distance between the places of neighbours along mode 0.
  [[nodiscard]] std::string place_stride(const plan::Place& place) const;

  const plan::Plan& plan_;
  std::string out_;

 private:
  void write_includes(const std::string& code);
  void write_params();
  void write_formula();
  /// Elements in a word of a packed operand.
  [[nodiscard]] int per_word(const plan::Operand& operand) const;
  /// Whether an operand's vectors are loaded in pieces because its address is aligned to less.
  [[nodiscard]] bool is_split(const plan::Operand& operand) const;
  /// Whether the elements of a vector are loaded one by one, since they have no common stride.
  [[nodiscard]] bool is_gathered(const plan::Operand& operand) const;
  [[nodiscard]] Code gather_of(const plan::Operand& operand) const;
  /// The arguments of a load or store after the address: distance of neighbours and number of
  /// elements.
  [[nodiscard]] Code access_arguments(const plan::Operand& operand, Part part = Part::some) const;

  Budget& budget_;
};

}  // namespace tilejit::render
