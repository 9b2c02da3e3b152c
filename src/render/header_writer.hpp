#pragma once

#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace tilejit::render {

/// Writes `plan.cuh`: the names that the template `fused_map.cu` expects.
class HeaderWriter {
 public:
  explicit HeaderWriter(const plan::Plan& plan) : plan_(plan) {}
  [[nodiscard]] std::string write();

 private:
  void write_includes(const std::string& body);
  void write_constants();
  void write_params();
  void write_coord();
  void write_valid();
  void write_formula(const std::string& body);
  void write_fragments(bool inputs);
  void write_map();

  void line(std::string_view text) { (out_ += text) += '\n'; }
  /// A known dimension as a literal, a symbolic one as the parameter that holds it.
  [[nodiscard]] std::string value_of(const Dim& dim) const;
  /// Offset in elements of the operand's first element at coordinate `c`.
  [[nodiscard]] std::string offset_of(const plan::Operand& operand) const;
  [[nodiscard]] std::string share_of(const plan::OperandMode& leaves, std::size_t m) const;
  /// What a load or store takes behind the address: distance of neighbours, number of elements.
  [[nodiscard]] std::string access_arguments(const plan::Operand& operand) const;
  [[nodiscard]] std::string fragment_type(const plan::Operand& operand) const;
  [[nodiscard]] bool touched(const plan::Operand& operand, bool inputs) const {
    return inputs ? operand.read : operand.written;
  }

  const plan::Plan& plan_;
  std::string out_;
};

}  // namespace tilejit::render
