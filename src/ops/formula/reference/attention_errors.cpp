#include "reference/attention_errors.hpp"

#include <cmath>

#include "arithmetic/format.hpp"

namespace tilejit::reference {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr double kUnit = 0x1p-24;  // of f32
constexpr double kOfScore = 6 * kUnit;
constexpr double kOfShortTanh = 0x1p-11;  // PTX ISA, "tanh"
constexpr double kOfReciprocal = 4 * kUnit;
constexpr double kOfStep = 8 * kUnit;  // of a block of keys: a factor by ex2.approx, two products
constexpr std::int64_t kKeysOfStep = 64;
constexpr double kFlushed = 0x1p-126;  // ex2.approx.ftz

/// Of functions, without those of softmax.
std::vector<OwnError> errors_of_functions(const formula::Step& step) {
  std::vector<OwnError> errors;
  for (const Node& node : step.analysis.program.nodes) {
    errors.push_back({.relative = node.op == Op::tanh                        ? kOfShortTanh
                                  : node.op == Op::div || node.op == Op::mul ? kOfReciprocal
                                                                             : 0});
  }
  return errors;
}

OwnError error_of_term(std::int64_t keys) noexcept {
  const auto steps = static_cast<double>(keys / kKeysOfStep + 1);
  return {.relative = kOfStep * steps, .absolute = kFlushed};
}

}  // namespace

std::vector<OwnError> attention_errors(const formula::Step& weights,
                                       const formula::Attention& attention, std::int64_t keys) {
  std::vector<OwnError> errors = errors_of_functions(weights);
  errors[static_cast<std::size_t>(attention.exponent)].relative += kOfScore;
  const OwnError of_term = error_of_term(keys);
  errors[static_cast<std::size_t>(attention.term)] = of_term;
  OwnError& own = errors[static_cast<std::size_t>(attention.weight)];
  own = {.relative = own.relative + of_term.relative,
         .absolute = kFlushed,
         .overflows = attention.sum};
  return errors;
}

std::vector<OwnError> errors_of_rows(const formula::Step& rows, std::int64_t keys) {
  std::vector<OwnError> errors = errors_of_functions(rows);
  for (const Node& node : rows.analysis.program.nodes) {
    if (node.args[0] == expr::kNoNode) continue;
    OwnError& own = errors[static_cast<std::size_t>(node.args[0])];
    if (node.op == Op::reduce_max) own.relative += kOfScore;
    if (node.op == Op::reduce_sum) own = error_of_term(keys);
  }
  return errors;
}

// Neither the reference's rounding of the quotient, nor that of the exponential, is the other's.
OwnError error_of_kept_weights(DType type) noexcept {
  if (type == f16) return {2 * 0x1p-11, 2 * 0x1p-25};
  return type == bf16 ? OwnError{2 * 0x1p-8, 2 * 0x1p-134} : OwnError{};
}

}  // namespace tilejit::reference
