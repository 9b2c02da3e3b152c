#pragma once

#include "tilejit/int_tuple.hpp"

namespace tilejit::layout {

/// Compact strides of `shape`, faster where `order` is smaller. A leaf of `order` against a tuple
/// of the shape is column-major inside; equal orders start at the same stride. Throws
/// Error{invalid_layout} where `order` is nested otherwise than the shape, or is not known.
[[nodiscard]] IntTuple compact_order(const IntTuple& shape, const IntTuple& order);

}  // namespace tilejit::layout
