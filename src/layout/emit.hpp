#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tilejit/swizzle.hpp"

// Layouts as CUDA text: the index arithmetic of a layout whose coordinates are expressions of a
// kernel. All functions are pure and thread-safe; the text depends on nothing but the arguments.

namespace tilejit::layout {

/// How the text of an index is spelled.
struct IndexStyle {
  /// The text of an extent or a stride, an operand of `*`, `/` and `%`. Without it a known integer
  /// is a literal, and everything else is refused.
  std::function<std::string(const Dim&)> dim = {};
  /// `value / divisor` and `value % divisor`, operands of `*`, for instance by a reciprocal.
  /// Without them the operators of CUDA.
  std::function<std::string(const std::string& value, const Dim& divisor)> quotient = {};
  std::function<std::string(const std::string& value, const Dim& divisor)> remainder = {};
  /// Powers of two divide by shifts and masks. That is shorter if coordinates have a signed type,
  /// since the compiler does not know that they are not negative. If their type is unsigned, it
  /// does the same with `/` and `%`.
  bool shifts = true;
  /// A mode of several leaves is written leaf by leaf: a division by each extent, a product with
  /// each stride. If false, known extents are divided by at once, and strides of 0 and 1 and
  /// extents of 1 are not written.
  bool leaf_by_leaf = false;
};

/// The element index at a coordinate within the layout, in elements: an expression, "0" if it is
/// always 0. `coordinates` are either one expression, the colexicographic number, or one for each
/// top-level mode; each is a product or binds tighter, such as "i", "i64(i)" or "(i + 1)", and has
/// no side effects. Their types decide the type of the index. A swizzle takes the text of its
/// argument twice, which compilers compute once.
///
/// Beyond the layout the last mode continues along its last leaf that has more than one element.
///
/// Throws std::logic_error for another number of coordinates, and Error{unsupported} for an extent
/// or a stride that has no text, or a known size beyond 2^63-1.
[[nodiscard]] std::string emit(const ComposedLayout& layout,
                               std::span<const std::string> coordinates,
                               const IndexStyle& style = {});
/// The same for one mode with these leaves; empty if the index is always 0.
[[nodiscard]] std::string emit(std::span<const Mode> leaves, const std::string& coordinate,
                               const IndexStyle& style = {});
/// swizzle(index), where `index` is a name or in parentheses; lower than `+` in precedence.
[[nodiscard]] std::string emit_swizzle(const Swizzle& swizzle, const std::string& index);

enum class IndexBits : std::uint8_t { b32 = 32, b64 = 64 };

/// A type `name` whose values are called with coordinates of the layout, for kernels of any author:
///
///     struct A {  // Sw<1,0,2> o 0 o (8,M):(1,8)
///       i64 dim_M;
///       static constexpr int rank = 2;
///       __device__ constexpr i64 extent(int mode) const;
///       __device__ constexpr i64 operator()(i64 c0) const;
///       __device__ constexpr i64 operator()(i64 c0, i64 c1) const;
///     };
///
/// Calls take the colexicographic number or a coordinate for each top-level mode, and return an
/// index in elements. `extent` is the size of a top-level mode, in coordinates; constants `size`
/// and `cosize` exist where they are known. A swizzled layout has the least `cosize` that holds all
/// indices whatever the swizzle does in its last block. Symbols are members, in the order of
/// their names, from which an aggregate is made: A{p.M}; without symbols the type is empty. i32 and
/// i64 are those of tile/types.cuh, in whose namespace `tile`, or with a `using namespace tile`,
/// the type is declared.
///
/// Throws Error{invalid_argument} if `name` is not an identifier; Error{unsupported} for '?',
/// functions of symbols, steps of coordinates, and beyond 2^(bits-1)-1.
[[nodiscard]] std::string emit_callable(std::string_view name, const ComposedLayout& layout,
                                        IndexBits bits = IndexBits::b64);

}  // namespace tilejit::layout
