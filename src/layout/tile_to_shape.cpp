#include "core/text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

[[noreturn]] void refuse(ErrorCode code, const Layout& block, const IntTuple& shape) {
  throw Error(code, "tile_to_shape: the block " + core::shortened(to_string(block)) +
                        (code == ErrorCode::unsupported ? " does not divide for certain the shape "
                                                        : " does not divide the shape ") +
                        core::shortened(to_string(shape)));
}

/// How often the block is repeated along each mode of the shape.
IntTuple repetitions(const Layout& block, const IntTuple& shape) {
  if (rank(block) > rank(shape)) refuse(ErrorCode::invalid_layout, block, shape);
  IntTuple counts = IntTuple::empty_tuple();
  for (std::size_t i = 0; i < rank(shape); ++i) {
    const Dim whole = product(shape.mode(i));
    const Dim part = i < rank(block) ? size(mode(block, i)) : Dim(1);
    const auto count = Dim::divide(whole, part);
    if (!count) {
      const bool is_known = whole.is_known() && part.is_known();
      refuse(is_known ? ErrorCode::invalid_layout : ErrorCode::unsupported, block, shape);
    }
    counts.append(*count);
  }
  return counts;
}

Layout repeated(const Layout& block, const Layout& repetitions) {
  if (!block.modes().is_leaf() || rank(repetitions) > 1) {
    return blocked_product(block, repetitions);
  }
  // CuTe does not unpack the repetitions if the block is not a tuple.
  return blocked_product(make_layout({block}), make_layout({repetitions}));
}

}  // namespace

Layout tile_to_shape(const Layout& block, const IntTuple& shape, TileOrder order) {
  const IntTuple counts = repetitions(block, shape);
  return repeated(block, order == TileOrder::left ? column_major(counts) : row_major(counts));
}

Layout tile_to_shape(const Layout& block, const IntTuple& shape, const IntTuple& order) {
  const IntTuple counts = repetitions(block, shape);
  return repeated(block, make_ordered_layout(counts, order));
}

}  // namespace tilejit
