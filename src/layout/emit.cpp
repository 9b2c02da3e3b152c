#include "layout/emit.hpp"

#include <bit>
#include <stdexcept>

#include "core/text.hpp"
#include "layout/checked.hpp"

namespace tilejit::layout {
namespace {

/// The exponent of a known power of two above 1; else 0.
int shift_of(const Dim& dim) noexcept {
  const auto value = static_cast<std::uint64_t>(dim.factor());
  return dim.is_known() && std::has_single_bit(value) ? std::countr_zero(value) : 0;
}

/// Texts of single operations.
class Speller {
 public:
  explicit Speller(const IndexStyle& style) : style_(style) {}

  [[nodiscard]] std::string dim(const Dim& dim) const {
    if (style_.dim) return style_.dim(dim);
    if (dim.is_known()) return std::to_string(dim.value());
    throw Error(ErrorCode::unsupported,
                "the arithmetic of an index needs known extents and strides, found " +
                    core::shortened(to_string(dim)) + "; substitute it, or say how it is spelled");
  }
  [[nodiscard]] std::string times(std::string value, const Dim& stride) const {
    return (value += " * ") += dim(stride);
  }
  [[nodiscard]] std::string quotient(std::string value, const Dim& divisor) const {
    const int bits = shift_of(divisor);
    if (style_.shifts && bits > 0) return '(' + value + " >> " + std::to_string(bits) + ')';
    if (style_.quotient) return style_.quotient(value, divisor);
    return (value += " / ") += dim(divisor);
  }
  [[nodiscard]] std::string remainder(std::string value, const Dim& divisor) const {
    if (style_.shifts && shift_of(divisor) > 0) {
      return '(' + value + " & " + std::to_string(divisor.value() - 1) + ')';
    }
    if (style_.remainder) return style_.remainder(value, divisor);
    return (value += " % ") += dim(divisor);
  }

 private:
  const IndexStyle& style_;
};

void add_term(std::string& sum, const std::string& term) {
  if (term.empty()) return;
  if (!sum.empty()) sum += " + ";
  sum += term;
}

/// Whether a leaf's coordinate is always 0. A leaf without elements has no coordinate at all.
bool is_single(const Mode& leaf) noexcept {
  return leaf.extent.is(1) || leaf.extent.is(0);
}

std::string emit_leaf(const std::string& coordinate, const Dim& stride, const Speller& speller) {
  if (stride.is(0)) return {};
  return stride.is(1) ? coordinate : speller.times(coordinate, stride);
}

std::string emit_leaf_by_leaf(std::span<const Mode> leaves, const std::string& coordinate,
                              const Speller& speller) {
  std::string sum, rest = coordinate;
  for (const Mode& leaf : leaves) {
    const bool is_last = &leaf == &leaves.back();
    add_term(sum,
             speller.times(is_last ? rest : speller.remainder(rest, leaf.extent), leaf.stride));
    if (!is_last) rest = speller.quotient(rest, leaf.extent);
  }
  return sum;
}

std::string emit_leaves(std::span<const Mode> leaves, const std::string& coordinate,
                        const Speller& speller) {
  while (!leaves.empty() && is_single(leaves.back())) leaves = leaves.first(leaves.size() - 1);
  std::string sum, rest = coordinate;
  std::int64_t before = 1;  // what `rest` is still to be divided by
  for (const Mode& leaf : leaves) {
    if (is_single(leaf)) continue;
    const std::string from = before == 1 ? rest : speller.quotient(rest, before);
    const bool is_last = &leaf == &leaves.back();
    if (!leaf.stride.is(0)) {
      add_term(sum, emit_leaf(is_last ? from : speller.remainder(from, leaf.extent), leaf.stride,
                              speller));
    }
    if (leaf.extent.is_known()) {
      before = checked_multiply(before, leaf.extent.value());
    } else if (!is_last) {
      rest = speller.quotient(from, leaf.extent);
      before = 1;
    }
  }
  return sum;
}

/// offset + layout(coordinates); "0" for nothing.
std::string emit_inside(const ComposedLayout& layout, std::span<const std::string> coordinates,
                        const IndexStyle& style) {
  const Layout& inside = layout.layout();
  if (coordinates.size() != 1 && coordinates.size() != rank(inside)) {
    throw std::logic_error("the layout " + to_string(inside) + " takes 1 or " +
                           std::to_string(rank(inside)) + " coordinates, found " +
                           std::to_string(coordinates.size()));
  }
  std::string sum;
  if (coordinates.size() == 1) {
    sum = emit(inside.leaves(), coordinates[0], style);
  } else {
    auto next = coordinates.begin();
    inside.modes().for_each_mode(
        [&](const Nested<Mode>& mode) { add_term(sum, emit(mode.leaves(), *next++, style)); });
  }
  if (layout.offset() != 0) add_term(sum, Speller(style).dim(layout.offset()));
  return sum.empty() ? "0" : sum;
}

}  // namespace

std::string emit_swizzle(const Swizzle& swizzle, const std::string& index) {
  const int shift = swizzle.shift();
  return index + " ^ ((" + index + " & " + std::to_string(swizzle.source_mask()) +
         (shift < 0 ? ") << " : ") >> ") + std::to_string(shift < 0 ? -shift : shift) + ')';
}

std::string emit(std::span<const Mode> leaves, const std::string& coordinate,
                 const IndexStyle& style) {
  const Speller speller(style);
  if (leaves.size() == 1) {
    return is_single(leaves[0]) && !style.leaf_by_leaf
               ? std::string()
               : emit_leaf(coordinate, leaves[0].stride, speller);
  }
  return style.leaf_by_leaf ? emit_leaf_by_leaf(leaves, coordinate, speller)
                            : emit_leaves(leaves, coordinate, speller);
}

std::string emit(const ComposedLayout& layout, std::span<const std::string> coordinates,
                 const IndexStyle& style) {
  const std::string index = emit_inside(layout, coordinates, style);
  if (layout.swizzle().bits() == 0) return index;
  const bool is_one = index.find(' ') == std::string::npos;
  return '(' + emit_swizzle(layout.swizzle(), is_one ? index : '(' + index + ')') + ')';
}

}  // namespace tilejit::layout
