// Whether coordinates of a layout share indices, and how its indices are aligned.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kMostSteps = 4096;

/// A mode of known extent above 1 and known stride above 0.
struct Term {
  std::int64_t extent, stride;
  [[nodiscard]] std::int64_t reach() const noexcept { return (extent - 1) * stride; }
};
using Terms = std::span<const Term>;

Wide floor_div(Wide a, Wide b) {
  return a / b - (a % b < 0);
}
Wide modulo(Wide a, Wide m) {
  return a - floor_div(a, m) * m;
}

/// 1/a modulo m, for coprime a and m.
Wide inverse(Wide a, Wide m) {
  Wide before = m, now = a % m, x_before = 0, x = 1;
  while (now > 1) {
    const Wide quotient = before / now;
    before = std::exchange(now, before - quotient * now);
    x_before = std::exchange(x, x_before - quotient * x);
  }
  return x;
}

/// Throws if a sum in this file could exceed 2^63-1.
void check_sums(Terms terms) {
  std::int64_t reached = 0;
  for (const Term& term : terms) {
    reached = layout::checked_add(reached, layout::checked_multiply(term.extent - 1, term.stride));
  }
  (void)layout::checked_add(reached, 1);
}

/// Whether x * a.stride + y * b.stride == sum for some |x| < a.extent and |y| < b.extent.
bool is_reached(std::int64_t sum, const Term& a, const Term& b) {
  const std::int64_t common = std::gcd(a.stride, b.stride);
  if (sum % common != 0) return false;
  const Wide period = b.stride / common;
  const Wide some_x =
      modulo(sum / common, period) * modulo(inverse(a.stride / common, period), period);
  const Wide low = std::max<Wide>(1 - a.extent, -floor_div(Wide(b.reach()) - sum, a.stride));
  const Wide high = std::min<Wide>(a.extent - 1, floor_div(Wide(b.reach()) + sum, a.stride));
  return low + modulo(some_x - low, period) <= high;
}

/// Whether two coordinates of these two modes have the same index.
bool collide(const Term& a, const Term& b) {
  const std::int64_t common = std::gcd(a.stride, b.stride);
  return b.stride / common < a.extent && a.stride / common < b.extent;
}

bool any_pair_collides(Terms terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (collide(terms[i], terms[k])) return true;
    }
  }
  return false;
}

/// True if each stride exceeds what all smaller ones reach together. Terms are sorted by stride.
bool are_apart(Terms terms) {
  std::int64_t reached = 0;
  for (const Term& term : terms) {
    if (term.stride <= reached) return false;
    reached += term.reach();
  }
  return true;
}

/// True if there are more coordinates than indices.
bool are_too_many(Terms terms) {
  std::int64_t indices = 1;
  for (const Term& term : terms) indices += term.reach();
  Wide coordinates = 1;
  for (const Term& term : terms) {
    coordinates *= term.extent;
    if (coordinates > indices) return true;
  }
  return false;
}

/// Tries every difference of coordinates in `rest`, with a pair of modes that may cancel it.
class Search {
 public:
  Search(Terms rest, const Term& a, const Term& b) : rest_(rest), a_(a), b_(b) {}

  /// Whether some difference that is not all 0 in `rest` has index 0.
  [[nodiscard]] bool finds_collision() const { return finds_collision(0, 0, false); }

 private:
  [[nodiscard]] bool finds_collision(std::size_t i, std::int64_t sum, bool moved) const {
    if (i == rest_.size()) return moved && is_reached(-sum, a_, b_);
    const Term& term = rest_[i];
    // x and -x are equivalent.
    for (std::int64_t x = moved ? 1 - term.extent : 0; x < term.extent; ++x) {
      if (finds_collision(i + 1, sum + x * term.stride, moved || x != 0)) return true;
    }
    return false;
  }

  Terms rest_;
  const Term &a_, &b_;
};

std::optional<bool> search(Terms group) {
  std::vector<Term> terms(group.begin(), group.end());
  std::ranges::sort(terms, {}, &Term::extent);
  const Terms rest = Terms(terms).first(terms.size() - 2);
  std::int64_t steps = 1;
  for (const Term& term : rest) {
    if (term.extent > kMostSteps / (2 * steps)) return std::nullopt;
    steps *= 2 * term.extent;
  }
  return !Search(rest, terms[terms.size() - 2], terms.back()).finds_collision();
}

std::optional<bool> is_injective_group(Terms terms) {
  if (are_apart(terms)) return true;
  if (any_pair_collides(terms) || are_too_many(terms)) return false;
  return search(terms);
}

/// Ends of groups of terms, by ascending strides, that cannot cancel each other: all strides after
/// an end are multiples of a number above the reach of all terms before it.
std::vector<std::size_t> ends_of_groups(Terms terms) {
  std::vector<std::int64_t> common(terms.size() + 1, 0);  // gcd of the strides from here on
  for (std::size_t i = terms.size(); i-- > 0;) {
    common[i] = std::gcd(common[i + 1], terms[i].stride);
  }
  std::vector<std::size_t> ends;
  std::int64_t reached = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    reached += terms[i].reach();
    if (i + 1 == terms.size() || reached < common[i + 1]) ends.push_back(i + 1);
  }
  return ends;
}

std::optional<bool> is_injective_known(std::vector<Term> terms) {
  std::ranges::sort(terms, {}, &Term::stride);
  bool is_decided = true;
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_groups(terms)) {
    const auto answer = is_injective_group(Terms(terms).subspan(begin, end - begin));
    if (answer == false) return false;
    is_decided = is_decided && answer.has_value();
    begin = end;
  }
  if (!is_decided) return std::nullopt;
  return true;
}

/// True if the strides of all other modes are multiples of the end of mode `i`.
bool is_below_others(std::span<const Mode> modes, std::size_t i) {
  const Dim end = modes[i].stride * modes[i].extent;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (k != i && !Dim::divide(modes[k].stride, end)) return false;
  }
  return true;
}

/// True if, in some order, each stride is a multiple of the end of the mode before it.
bool is_chain(std::vector<Mode> modes) {
  while (!modes.empty()) {
    std::size_t i = 0;
    while (i < modes.size() && !is_below_others(modes, i)) ++i;
    if (i == modes.size()) return false;
    modes.erase(modes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

bool is_empty(const Layout& layout) {
  return std::ranges::any_of(layout.leaves(), [](const Mode& leaf) { return leaf.extent.is(0); });
}

std::vector<Mode> without_ones(const Layout& layout) {
  std::vector<Mode> modes;
  for (const Mode& leaf : layout.leaves()) {
    if (!leaf.extent.is(1)) modes.push_back(leaf);
  }
  return modes;
}

}  // namespace

std::optional<bool> is_injective(const Layout& layout) {
  if (is_empty(layout)) return true;
  const std::vector<Mode> modes = without_ones(layout);
  std::vector<Term> terms;
  bool may_be_zero = false;
  for (const Mode& mode : modes) {
    if (mode.stride.is(0) && mode.extent.is_known()) return false;
    may_be_zero =
        may_be_zero || mode.stride.is(0) || (!mode.stride.is_known() && !mode.stride.is_named());
    if (mode.stride.is_known() && mode.extent.is_known()) {
      terms.push_back({mode.extent.value(), mode.stride.value()});
    }
  }
  if (terms.size() == modes.size()) {
    check_sums(terms);
    return is_injective_known(std::move(terms));
  }
  if (may_be_zero || !is_chain(modes)) return std::nullopt;
  return true;
}

bool is_compact(const Layout& layout) {
  if (is_empty(layout)) return true;
  std::vector<Mode> modes = without_ones(layout);
  for (Dim next = 1; !modes.empty();) {
    const auto found =
        std::ranges::find_if(modes, [&](const Mode& mode) { return mode.stride.same_value(next); });
    if (found == modes.end()) return false;
    next = next * found->extent;
    modes.erase(found);
  }
  return true;
}

Dim contiguous_vector(const Layout& layout) {
  Dim length = 1;
  for (const Mode& leaf : layout.leaves()) {
    if (leaf.extent.is(1)) continue;
    if (!leaf.stride.same_value(length)) break;
    length = length * leaf.extent;
  }
  return length;
}

std::int64_t common_alignment(const Layout& layout, std::int64_t offset) {
  if (offset < 0) {
    throw Error(ErrorCode::invalid_argument,
                "an offset is not negative, found " + std::to_string(offset));
  }
  constexpr std::int64_t kLargest = std::int64_t{1} << 62;
  std::int64_t alignment = std::gcd(kLargest, offset);
  std::optional<Dim> next;  // stride that would continue the vectors, once they have begun
  for (const Mode& leaf : layout.leaves()) {
    if (leaf.extent.is(1)) continue;
    if (next ? leaf.stride.same_value(*next) : leaf.stride.is(1)) {
      next = leaf.stride * leaf.extent;
      continue;
    }
    if (next) next = Dim::unknown();  // nothing continues them any more
    alignment = std::gcd(alignment, leaf.stride.factor());
  }
  return alignment;
}

}  // namespace tilejit
