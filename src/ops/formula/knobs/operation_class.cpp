#include "knobs/knobs.hpp"

#include <array>
#include <bit>
#include <charconv>

#include "matmul/family.hpp"

namespace tilejit::knobs {
namespace {

/// FNV-1a with 64 bits. If two classes collide by chance, they only share knobs.
class Hash {
 public:
  void add(std::uint64_t value) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (value >> 8 * byte & 0xff)) * 0x100000001b3u;
    }
  }
  [[nodiscard]] std::string text() const {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value_, 16).ptr;
    return {digits.begin(), end};
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// The program without the values of its constants.
std::string structure_of(const expr::Program& program) {
  Hash hash;
  for (const expr::Node& node : program.nodes) {
    hash.add(static_cast<std::uint64_t>(node.op));
    hash.add(static_cast<std::uint64_t>(node.type));
    for (const expr::NodeId arg : node.args) hash.add(static_cast<std::uint64_t>(arg));
    hash.add(static_cast<std::uint64_t>(node.source));
  }
  for (const expr::Store& store : program.stores) {
    hash.add(static_cast<std::uint64_t>(store.tensor));
    hash.add(static_cast<std::uint64_t>(store.value));
  }
  return hash.text();
}

/// "2^12" for 2049 to 4096 elements; "?" for a symbol.
std::string size_of(const Dim& extent) {
  if (!extent.is_known()) return "?";
  const auto value = static_cast<std::uint64_t>(extent.value());
  return value == 0 ? "0" : "2^" + std::to_string(std::bit_width(value - 1));
}

/// How long the sums of a product are, and how its operands are read.
std::string product_text(const plan::Matmul& product) {
  const auto operand = [](const plan::OperandSource& source) {
    return (source.major == atoms::Major::k ? ":k" : ":mn") + std::to_string(source.run);
  };
  return " sums " + size_of(product.k) + operand(product.a) + operand(product.b);
}

}  // namespace

std::string class_of(const plan::Plan& plan) {
  const auto parts = plan::parts_of(plan);
  if (parts.size() == 1) return class_of(parts.front());
  std::string text(plan::template_name(plan));
  if (text.starts_with("fused_")) text.erase(0, 6);
  for (const plan::Operand& operand : plan.operands) {
    text += operand.read ? operand.written ? " inout:" : " in:" : " out:";
    (text += tilejit::to_string(operand.dtype)) += ':';
    (text += plan::to_string(operand.reach)) += ':';
    text += std::to_string(operand.access_bytes);
    if (operand.every_row) text += ":every_row";
    if (operand.per_row) text += ":per_row";
  }
  const plan::Rows* const rows = plan::rows_of(plan);
  text += " over";
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    text += ' ' + size_of(plan.extents[m]);
    if (rows != nullptr && rows->reduces(m)) text += ":reduced";
  }
  if (const plan::Matmul* const product = plan::matmul_of(plan)) text += product_text(*product);
  return text + " formula " + structure_of(plan.program);
}

}  // namespace tilejit::knobs
