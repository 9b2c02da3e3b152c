// Compares results with expected ones, element by element.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/layout_functions.hpp"
#include "tilejit/reference.hpp"

namespace tilejit {
namespace {

struct Compared {
  const Tensor& tensor;
  const Layout& layout;
  const std::byte* expected;
  const std::byte* actual;
};

/// The difference over the one that is allowed; 0 for equal values, infinite if none is allowed.
double ratio_of(double want, double got, double allowed) {
  if (want == got || (std::isnan(want) && std::isnan(got))) return 0;
  const double difference = std::abs(want - got);
  if (!std::isfinite(difference) || allowed == 0) return HUGE_VAL;
  return difference / allowed;
}

/// "(3,17)"
std::string place_text(std::int64_t i, const Layout& layout) {
  const std::string text = to_string(idx2crd(i, layout.shape()));
  return text.starts_with('(') ? text : '(' + text + ')';
}

void compare_tensor(const Compared& pair, const ExpectedResults& within, Verification& result) {
  const std::int64_t count = size(pair.layout).value();
  const auto bytes = static_cast<std::size_t>(size_bytes(pair.tensor.dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(pair.layout(i)) * bytes;
    if (std::memcmp(pair.expected + at, pair.actual + at, bytes) == 0) continue;
    const double want = decode(pair.tensor.dtype, pair.expected + at);
    const double got = decode(pair.tensor.dtype, pair.actual + at);
    const bool exact = !is_floating(pair.tensor.dtype);
    const double allowed = exact ? 0 : within.absolute + within.relative * std::abs(want);
    // Integers beyond 2^53 may differ although their values as double do not.
    const double ratio = exact ? HUGE_VAL : ratio_of(want, got, allowed);
    if (std::isfinite(want - got)) {
      result.max_error = std::max(result.max_error, std::abs(want - got));
    }
    result.max_ratio = std::max(result.max_ratio, ratio);
    if (ratio <= 1) continue;
    if (result.mismatches++ > 0) continue;
    result.first_mismatch = pair.tensor.name + place_text(i, pair.layout) + ": got " +
                            to_string(Number(got)) + ", want " + to_string(Number(want)) + " +- " +
                            to_string(Number(allowed));
  }
  result.elements += count;
}

}  // namespace

Verification compare(const Operation& op, const SymbolValues& symbols,
                     std::span<const void* const> expected, std::span<const void* const> actual,
                     const ExpectedResults& within) {
  const std::vector<Access> access = resolve_access(op);
  Verification result{.passed = false, .first_mismatch = {}};
  for (std::size_t i = 0; i < access.size(); ++i) {
    if (access[i] == Access::in) continue;
    const Tensor& tensor = op.tensors()[i];
    const Layout layout = substitute(tensor.layout, symbols);
    compare_tensor({.tensor = tensor,
                    .layout = layout,
                    .expected = static_cast<const std::byte*>(expected[i]),
                    .actual = static_cast<const std::byte*>(actual[i])},
                   within, result);
  }
  result.passed = result.mismatches == 0;
  return result;
}

}  // namespace tilejit
