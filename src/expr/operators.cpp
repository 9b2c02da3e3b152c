#include "expr/operators.hpp"

#include <algorithm>
#include <limits>

namespace tilejit::expr {
namespace {

constexpr BinaryOperator kBinaryOperators[] = {
    {"or", 1, Op::logical_or},   {"and", 2, Op::logical_and}, {"<", kComparison, Op::lt},
    {"<=", kComparison, Op::le}, {"==", kComparison, Op::eq}, {"!=", kComparison, Op::ne},
    {">=", kComparison, Op::ge}, {">", kComparison, Op::gt},  {"|", 5, Op::bit_or},
    {"^", 6, Op::bit_xor},       {"&", 7, Op::bit_and},       {"<<", 8, Op::shl},
    {">>", 8, Op::shr},          {"+", 9, Op::add},           {"-", 9, Op::sub},
    {"*", 10, Op::mul},          {"/", 10, Op::div},          {"//", 10, Op::floor_div},
    {"%", 10, Op::mod},          {"@", 10, Op::matmul},       {"**", kPower, Op::pow},
};

}  // namespace

const BinaryOperator* find_binary(std::string_view spelling) noexcept {
  const auto* found = std::find_if(std::begin(kBinaryOperators), std::end(kBinaryOperators),
                                   [&](const BinaryOperator& o) { return o.spelling == spelling; });
  return found == std::end(kBinaryOperators) ? nullptr : found;
}

std::optional<Weak> find_constant(std::string_view name) noexcept {
  if (name == "true") return true;
  if (name == "false") return false;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "pi") return 3.14159265358979323846;
  return std::nullopt;
}

}  // namespace tilejit::expr
