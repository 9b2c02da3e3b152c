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
constexpr double kOfShortTanh = 0x1p-16;
constexpr double kOfReciprocal = 4 * kUnit;
constexpr double kOfStep = 8 * kUnit;  // of a block of keys: a factor by ex2.approx, two products
constexpr std::int64_t kKeysOfStep = 64;
constexpr double kFlushed = 0x1p-126;  // ex2.approx.ftz

/// Of rounding to a type of 16 bits.
OwnError rounding_to(DType type) noexcept {
  return type == f16    ? OwnError{0x1p-11, 0x1p-25}
         : type == bf16 ? OwnError{0x1p-8, 0x1p-134}
                        : OwnError{};
}

}  // namespace

std::vector<OwnError> attention_errors(const formula::Step& weights,
                                       const formula::Attention& attention, std::int64_t keys) {
  const std::vector<Node>& nodes = weights.analysis.program.nodes;
  std::vector<OwnError> errors(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == Op::tanh) errors[i].relative = kOfShortTanh;
    if (nodes[i].op == Op::div) errors[i].relative = kOfReciprocal;
  }
  errors[static_cast<std::size_t>(attention.exponent)].relative += kOfScore;
  const expr::Store& store = weights.analysis.program.stores.front();
  OwnError& own = errors[static_cast<std::size_t>(attention.weight)];
  const OwnError rounding =
      rounding_to(weights.op.tensors[static_cast<std::size_t>(store.tensor)].dtype);
  const auto steps = static_cast<double>(keys / kKeysOfStep + 1);
  own.relative += rounding.relative + kOfStep * steps;
  own.absolute = rounding.absolute + kFlushed;
  own.overflows = attention.sum;
  return errors;
}

}  // namespace tilejit::reference
