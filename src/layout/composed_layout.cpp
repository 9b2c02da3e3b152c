#include <algorithm>
#include <bit>
#include <cstdlib>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/coordinate_index.hpp"
#include "layout/int_tuple_reader.hpp"
#include "layout/swizzle_reader.hpp"
#include "tilejit/error.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit {
namespace {

ComposedLayout with_layout(const ComposedLayout& composed, Layout layout) {
  return {composed.swizzle(), composed.offset(), std::move(layout)};
}

bool starts_with_swizzle(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin).starts_with("S<") || text.substr(begin).starts_with("Sw<");
}

/// A layout on the left of a swizzle, as a sum of terms: one for each bit of an index that the
/// swizzle may touch, and one for each mode above these bits.
class SwizzledFromLeft {
 public:
  /// Considers indices below `end`.
  SwizzledFromLeft(const Layout& layout, const Swizzle& swizzle, std::int64_t end)
      : layout_(layout), swizzle_(swizzle) {
    const int bits = swizzle.base() + swizzle.bits() + std::abs(swizzle.shift());
    block_ = std::int64_t{1} << bits;
    for (std::int64_t bit = 1; bit < block_; bit *= 2) terms_.push_back({at(bit), 1});
    add_modes(layout::checked_multiply(layout::checked_add(end, block_ - 1) / block_, block_));
  }

  /// The swizzle that changes the layout's indices as this one changes its arguments.
  [[nodiscard]] Swizzle swizzle() const {
    const int from = first_image(swizzle_.source_mask());
    const int to = first_image(swizzle_.target_mask());
    return {swizzle_.bits(), std::min(from, to), from - to};
  }

 private:
  /// `stride` times a number from 0 to `most`.
  struct Term {
    std::int64_t stride, most;
  };

  [[nodiscard]] std::int64_t at(std::int64_t i) const { return layout::open_index(layout_, i); }

  void add_modes(std::int64_t end) {
    const std::span<const Mode> leaves = layout_.leaves();
    std::int64_t begin = 1;
    for (std::size_t i = 0; i < leaves.size() && begin < end; ++i) {
      const bool goes_on = i + 1 == leaves.size() || leaves[i].extent.value() > end / begin;
      const std::int64_t behind = goes_on ? end : begin * leaves[i].extent.value();
      // A mode that ends elsewhere would carry when a bit is flipped.
      if (behind % block_ != 0 && block_ % behind != 0) refuse();
      const std::int64_t step = std::max(begin, block_);
      if (behind > step) {
        terms_.push_back({layout::checked_multiply(leaves[i].stride.value(), step / begin),
                          (behind - 1) / step});
      }
      begin = behind;
    }
  }

  /// The position of the bit to which the layout maps the lowest bit of `mask`. Higher bits of the
  /// mask must map to the next positions.
  [[nodiscard]] int first_image(std::int64_t mask) const {
    const std::int64_t lowest = mask & -mask, image = at(lowest);
    if (!std::has_single_bit(static_cast<std::uint64_t>(image))) refuse();
    for (int i = 0; i < swizzle_.bits(); ++i) {
      const std::int64_t bit = at(lowest << i);
      if (bit % image != 0 || bit / image != std::int64_t{1} << i) refuse();
      check_apart(bit);
    }
    return std::countr_zero(static_cast<std::uint64_t>(image));
  }

  /// Refuses if a term other than `bit` itself changes this bit of the sum.
  void check_apart(std::int64_t bit) const {
    if (bit > std::int64_t{1} << 61) refuse();
    // Reach of the other terms; starts at -bit, since `bit` is itself a term.
    std::int64_t below = -bit;
    for (const Term& term : terms_) {
      if (term.stride % (2 * bit) == 0) continue;
      below = layout::checked_add(below, layout::checked_multiply(term.stride, term.most));
    }
    if (below >= bit) refuse();
  }

  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::invalid_layout,
                "composition: the layout " + core::shortened(to_string(layout_)) +
                    " on the left of the swizzle " + to_string(swizzle_) +
                    " does not keep the swizzled bits as bits of their own");
  }

  const Layout& layout_;
  const Swizzle& swizzle_;
  std::int64_t block_;
  SmallVector<Term, 32> terms_;
};

/// layout(swizzle(i)) for i < end, as a swizzle applied after the layout.
ComposedLayout composed(const Layout& layout, const Swizzle& swizzle, std::int64_t end) {
  return {SwizzledFromLeft(layout, swizzle, end).swizzle(), 0, layout};
}

void check_known(const Layout& layout) {
  const auto is_unknown = [](const Mode& leaf) {
    return !leaf.extent.is_known() || !leaf.stride.is_known();
  };
  if (std::ranges::none_of(layout.leaves(), is_unknown)) return;
  throw Error(ErrorCode::unsupported, "a swizzle moves through known extents and strides, found " +
                                          core::shortened(to_string(layout)));
}

void check_movable(const ComposedLayout& layout) {
  check_known(layout.layout());
  if (layout.offset() == 0) return;
  throw Error(ErrorCode::unsupported,
              core::shortened(to_string(layout)) +
                  " has an offset, and no layout is its inverse or what follows it");
}

}  // namespace

ComposedLayout::ComposedLayout(Layout layout) noexcept : layout_(std::move(layout)) {}

ComposedLayout::ComposedLayout(Swizzle swizzle, std::int64_t offset, Layout layout)
    : swizzle_(swizzle), offset_(offset), layout_(std::move(layout)) {
  if (offset < 0) {
    throw Error(ErrorCode::invalid_layout,
                "an offset is not negative, found " + std::to_string(offset));
  }
  if (is_plain()) swizzle_ = {};
}

std::int64_t ComposedLayout::operator()(std::int64_t coordinate) const {
  return swizzle_(layout::checked_add(offset_, layout::open_index(layout_, coordinate)));
}

std::int64_t ComposedLayout::operator()(const Coordinate& coordinate) const {
  return swizzle_(layout::checked_add(offset_, layout::open_index(layout_, coordinate)));
}

ComposedLayout slice(const Coordinate& coordinate, const ComposedLayout& layout) {
  const Slice inside = slice(coordinate, layout.layout());
  return {layout.swizzle(), layout::checked_add(layout.offset(), inside.offset), inside.layout};
}

std::string to_string(const ComposedLayout& layout) {
  if (layout.is_plain()) return to_string(layout.layout());
  return to_string(layout.swizzle()) + " o " + std::to_string(layout.offset()) + " o " +
         to_string(layout.layout());
}

ComposedLayout parse_composed_layout(std::string_view text) {
  if (!starts_with_swizzle(text)) return parse_layout(text);
  layout::Reader reader(text);
  const Swizzle swizzle = layout::read_swizzle(reader);
  if (!reader.accept('o')) reader.fail("'o' and an offset");
  const std::int64_t offset = reader.read_integer();
  if (!reader.accept('o')) reader.fail("'o' and a layout");
  const IntTuple shape = layout::read_int_tuple(reader);
  if (!reader.accept(':')) reader.fail("':' and a stride");
  const IntTuple stride = layout::read_int_tuple(reader);
  reader.expect_end();
  return {swizzle, offset, {shape, stride}};
}

ComposedLayout composition(const ComposedLayout& a, const Tiler& b, Exactness exactness) {
  return with_layout(a, composition(a.layout(), b, exactness));
}
ComposedLayout logical_divide(const ComposedLayout& layout, const Tiler& tiler) {
  return with_layout(layout, logical_divide(layout.layout(), tiler));
}
ComposedLayout zipped_divide(const ComposedLayout& layout, const Tiler& tiler) {
  return with_layout(layout, zipped_divide(layout.layout(), tiler));
}
ComposedLayout tiled_divide(const ComposedLayout& layout, const Tiler& tiler) {
  return with_layout(layout, tiled_divide(layout.layout(), tiler));
}
ComposedLayout flat_divide(const ComposedLayout& layout, const Tiler& tiler) {
  return with_layout(layout, flat_divide(layout.layout(), tiler));
}
ComposedLayout tile_to_shape(const ComposedLayout& block, const IntTuple& shape, TileOrder order) {
  return with_layout(block, tile_to_shape(block.layout(), shape, order));
}
ComposedLayout tile_to_shape(const ComposedLayout& block, const IntTuple& shape,
                             const IntTuple& order) {
  return with_layout(block, tile_to_shape(block.layout(), shape, order));
}

ComposedLayout upcast(const ComposedLayout& layout, std::int64_t n) {
  const Swizzle swizzle = upcast(layout.swizzle(), n);
  if (layout.offset() % n != 0) {
    throw Error(ErrorCode::invalid_layout, "upcast by " + std::to_string(n) +
                                               " does not divide the offset of " +
                                               core::shortened(to_string(layout)));
  }
  return {swizzle, layout.offset() / n, upcast(layout.layout(), n)};
}
ComposedLayout downcast(const ComposedLayout& layout, std::int64_t n) {
  return {downcast(layout.swizzle(), n), layout::checked_multiply(layout.offset(), n),
          downcast(layout.layout(), n)};
}

ComposedLayout composition(const Layout& a, const ComposedLayout& b) {
  if (b.is_plain()) return composition(a, b.layout());
  check_known(a);
  check_movable(b);
  const ComposedLayout left = composed(a, b.swizzle(), cosize(b.layout()));
  return with_layout(left, composition(a, b.layout()));
}

ComposedLayout right_inverse(const ComposedLayout& layout) {
  if (layout.is_plain()) return right_inverse(layout.layout());
  check_movable(layout);
  const Layout inverse = right_inverse(layout.layout());
  const std::int64_t end = size(inverse).value(), mask = layout.swizzle().target_mask();
  if (end % static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(mask) + 1)) != 0) {
    throw Error(ErrorCode::invalid_layout,
                "right_inverse: the swizzle of " + core::shortened(to_string(layout)) +
                    " leads out of the " + std::to_string(end) + " indices that have an inverse");
  }
  return composed(inverse, layout.swizzle(), end);
}

ComposedLayout left_inverse(const ComposedLayout& layout) {
  if (layout.is_plain()) return left_inverse(layout.layout());
  check_movable(layout);
  return composed(left_inverse(layout.layout()), layout.swizzle(), cosize(layout.layout()));
}

}  // namespace tilejit
