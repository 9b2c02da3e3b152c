// Let x be exact values, M their mean, and m the device's mean, at most b from M. Let e = x - m,
// and let E be the sum of e^2, which equals the sum of squares about M plus n (M - m)^2. With a
// factor g for all roundings of a sum, its terms and further operations, the device computes
//   sum e^2    within g E
//   sum e      within g sum |e| <= g sqrt(n E),  and |sum e| = n |M - m| <= n b
//   its square over n  within 2 b g sqrt(n E) + g^2 E + 4 u (b sqrt(n) + g sqrt(E))^2
// so that their difference, in which m cancels, is within g (1 + g) (sqrt(E) + b sqrt(n))^2, and m
// + sum e / n is within g sqrt(E / n), in addition to the roundings of a mean.
#include "reference/corrected_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "arithmetic/format.hpp"
#include "reference/accumulator.hpp"

namespace tilejit::reference {
namespace {

using expr::Node;
using expr::Op;

// Roundings of an element's distance and square and of the operations on sums. Counts both sides,
// as the reference may round as coarsely as the device.
constexpr double kFurtherRoundings = 24;

struct Spread {
  double growth = 0;  // g
  double shift = 0;   // b
  double energy = 0;  // upper bound of E
  double count = 0;
  bool known = false;
};

Spread spread_of(const Arithmetic& m, const CorrectedRow& row) noexcept {
  Spread spread;
  spread.count = static_cast<double>(row.count);
  spread.growth = (reduction_depth(row.count) + kFurtherRoundings) * m.unit;
  spread.shift = (std::fabs(row.sum.value) + row.sum.bound) / spread.count;
  spread.energy = std::fabs(row.squares.value) + spread.count * spread.shift * spread.shift;
  spread.known = row.count > 0 && std::isfinite(row.sum.value) && spread.energy * 4 < m.overflow;
  return spread;
}

}  // namespace

bool has_exact_values(const expr::Program& program, const expr::Correction& correction) noexcept {
  const auto at = [&](expr::NodeId id) -> const Node& {
    return program.nodes[static_cast<std::size_t>(id)];
  };
  const Node& value = at(correction.value);
  if (value.op == Op::load) return true;
  if (value.op != Op::cast || at(value.args[0]).op != Op::load) return false;
  const DType from = at(value.args[0]).type, to = value.type;
  if (is_floating(from)) return to == f64 || (to == f32 && from != f64);
  return size_bytes(from) <= (to == f64 ? 4 : to == f32 ? 2 : 0);
}

double corrected_squares_bound(DType type, const CorrectedRow& row) noexcept {
  const Arithmetic& m = arithmetic(type);
  const Spread s = spread_of(m, row);
  if (!s.known) return kInfinity;
  const double reach = std::sqrt(s.energy) + s.shift * std::sqrt(s.count);
  return s.growth * (1 + s.growth) * reach * reach + 2 * s.count * m.tiny;
}

double corrected_mean_bound(DType type, const CorrectedRow& row) noexcept {
  const Arithmetic& m = arithmetic(type);
  const Spread s = spread_of(m, row);
  if (!s.known || !std::isfinite(row.mean.value)) return kInfinity;
  // A shift is not corrected if its square is below (8 u)^2 / 4 of the mean square, or is not a
  // number.
  const double left_alone = 4 * m.unit * (1 + s.growth) + s.growth;
  return left_alone * std::sqrt(s.energy / s.count) + std::sqrt(m.tiny) +
         m.unit * (2 * std::fabs(row.mean.value) + 8 * s.shift);
}

}  // namespace tilejit::reference
