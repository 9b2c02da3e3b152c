#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilejit/coordinate_layout.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/number.hpp"
#include "tilejit/print_tensor.hpp"

namespace tilejit {

/// One leaf of the place at which a tensor is sliced: a number or a symbol selects, `_` keeps.
class Selector {
 public:
  Selector() = default;
  Selector(Underscore) noexcept {}  // NOLINT: written as the `_` it is
  /// Throws Error{invalid_layout} if `number` is negative.
  Selector(std::integral auto number) : Selector(Dim(number)) {}  // NOLINT
  /// A symbol, such as "bidx". Throws Error{invalid_layout} if `symbol` is not an identifier.
  Selector(const char* symbol) : Selector(Dim(symbol)) {}  // NOLINT
  Selector(Dim at) noexcept : at_(at), keeps_(false) {}    // NOLINT

  [[nodiscard]] bool keeps() const noexcept { return keeps_; }
  /// Meaningful unless keeps().
  [[nodiscard]] const Dim& at() const noexcept { return at_; }
  bool operator==(const Selector&) const = default;

 private:
  Dim at_ = 0;
  bool keeps_ = true;
};

/// {{_, _}, "bidx"} is written "((_,_),bidx)".
using SliceCoordinate = Nested<Selector>;

[[nodiscard]] std::string to_string(const Selector& selector);
[[nodiscard]] std::string to_string(const SliceCoordinate& coordinate);
/// Takes "None" for "_", too. Throws Error{invalid_layout} with the position of the mistake; at
/// most 64 levels of nesting and 64 leaves.
[[nodiscard]] SliceCoordinate parse_slice_coordinate(std::string_view text);

/// The memory of a tensor.
struct Engine {
  DType dtype = f32;
  void* data = nullptr;  ///< of the element at index 0; null if it is not known
  MemorySpace space = MemorySpace::generic;
  int align = 0;  ///< bytes that `data` is a multiple of, a power of two; 0: an element
  bool read_only = false;
  bool operator==(const Engine&) const = default;
};

/// A tensor as a value, CuTe's engine o layout: memory, or coordinates that start at an origin, and
/// a layout over it. It owns no memory. All operations of the layout algebra give another view of
/// the same memory. Numbers at which it is sliced move the engine; symbols, such as a thread's
/// number, are kept until `substitute` gives them values. A value type; thread-safe as the memory
/// is.
class TensorView {
 public:
  /// A tensor in memory. Throws Error{invalid_argument} if `align` is no power of two, less than an
  /// element, or does not divide the address; Error{invalid_layout} for steps of coordinates.
  TensorView(const Engine& engine, Layout layout);
  /// A tensor whose elements are coordinates, from `origin` on. Throws Error{invalid_layout} if the
  /// strides are not those of a coordinate, or the origin is not nested as they are.
  [[nodiscard]] static TensorView of_coordinates(const Coordinate& origin, Layout layout);

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] bool has_coordinates() const noexcept { return has_coordinates_; }
  /// The memory from the first element on; `align` is what remains sure after slices. `data` is
  /// null if it was, or if symbols have no value yet. Throws Error{invalid_argument} for
  /// coordinates.
  [[nodiscard]] Engine engine() const;
  /// The first coordinate. Throws Error{invalid_argument} for memory, and if symbols have no value.
  [[nodiscard]] Coordinate origin() const;

  /// The same engine below another layout. Throws Error{invalid_layout} if its strides are steps of
  /// coordinates and the engine is memory, or the reverse.
  [[nodiscard]] TensorView with_layout(Layout layout) const;

  bool operator==(const TensorView&) const = default;

 private:
  friend TensorView slice(const SliceCoordinate& coordinate, const TensorView& tensor);
  friend TensorView substitute(const TensorView& tensor, const SymbolValues& values);
  friend std::int64_t index_of(const TensorView& tensor, const Coordinate& coordinate);
  friend Coordinate coordinate_at(const TensorView& tensor, const Coordinate& coordinate);
  friend std::string to_string(const TensorView& tensor);
  friend std::string describe(const TensorView& tensor);

  TensorView() = default;
  /// How far a slice has moved the engine: by part(at).
  struct Move {
    Layout part;
    Dim at;
    bool operator==(const Move&) const = default;
  };
  void move(const Layout& part, const Dim& at);
  void check_layout() const;
  void refuse_moves() const;

  Layout layout_;
  bool has_coordinates_ = false;
  Engine engine_ = {};       // of memory: as constructed
  std::int64_t index_ = 0;   // of memory: of the first element, without `moves_`
  Coordinate origin_ = {};   // of coordinates: without `moves_`
  std::vector<Move> moves_;  // those that wait for values of symbols
};

/// The identity tensor: each element is its own coordinate. Strides are those of coordinate_layout.
[[nodiscard]] TensorView make_identity_tensor(const IntTuple& shape);

// Everything below throws what the operation of the same name throws for layouts.

/// T(c) with `_` in it: the modes at `_`, over an engine moved by all others. A number must lie
/// inside its mode; a symbol is trusted to. Throws Error{invalid_layout} without a `_`.
[[nodiscard]] TensorView slice(const SliceCoordinate& coordinate, const TensorView& tensor);
/// With symbols of the layout and of slices filled in; all others stay. Throws
/// Error{invalid_layout} if a value lies outside its mode.
[[nodiscard]] TensorView substitute(const TensorView& tensor, const SymbolValues& values);

[[nodiscard]] TensorView logical_divide(const TensorView& tensor, const Tiler& tiler);
[[nodiscard]] TensorView zipped_divide(const TensorView& tensor, const Tiler& tiler);
[[nodiscard]] TensorView tiled_divide(const TensorView& tensor, const Tiler& tiler);
[[nodiscard]] TensorView flat_divide(const TensorView& tensor, const Tiler& tiler);
/// tensor o layout: (tile -> memory) o (thread,value -> tile) is (thread,value -> memory).
[[nodiscard]] TensorView composition(const TensorView& tensor, const Layout& layout);
[[nodiscard]] TensorView composition(const TensorView& tensor, const Tiler& tiler);
[[nodiscard]] TensorView composition(const TensorView& tensor, const char* layout);
[[nodiscard]] TensorView flatten(const TensorView& tensor);
[[nodiscard]] TensorView coalesce(const TensorView& tensor);
[[nodiscard]] TensorView coalesce(const TensorView& tensor, const IntTuple& profile);
[[nodiscard]] TensorView select(const TensorView& tensor, std::initializer_list<std::size_t> modes);

/// The index of T(c) in elements from the data that the first view was made of, which is what a
/// kernel computes. Takes 1-D, n-D and natural coordinates. Throws Error{invalid_argument} if
/// symbols have no value.
[[nodiscard]] std::int64_t index_of(const TensorView& tensor, const Coordinate& coordinate);
/// T(c) of a tensor of coordinates.
[[nodiscard]] Coordinate coordinate_at(const TensorView& tensor, const Coordinate& coordinate);
/// T(c) of a tensor in host memory: integers and bool exactly, others as double. Throws
/// Error{invalid_argument} if the data is not known, or lies in a space other than `generic`.
[[nodiscard]] Number element(const TensorView& tensor, const Coordinate& coordinate);
/// T(c) = value, rounded as casts are. Also throws Error{invalid_argument} if the dtype does not
/// take the value (`fits`), or the tensor is read-only.
void set_element(const TensorView& tensor, const Coordinate& coordinate, const Number& value);
/// Sets every element. Throws as set_element. Costs size(layout).
void fill(const TensorView& tensor, const Number& value);

/// The type, as CuTe DSL prints it: "tensor<ptr<f16, gmem, align<16>> o (4,3):(3,1)>", without an
/// alignment of one element; "tensor<(0,0) o (4,3):(1@0,1@1)>" for coordinates, "?{div=8}" where an
/// origin is not known.
[[nodiscard]] std::string to_string(const TensorView& tensor);
/// The type as CuTe DSL prints `tensor.type`: !cute.memref<f16, gmem, align<16>, "(4,3):(3,1)">.
/// Throws Error{invalid_argument} for coordinates.
[[nodiscard]] std::string memref_type(const TensorView& tensor);
/// Several lines: the type, the elements, the space and alignment, and how far the engine has
/// moved.
[[nodiscard]] std::string describe(const TensorView& tensor);
/// The tensor with its elements, as print_tensor prints memory. Space and alignment are the
/// tensor's, unless `options` has others. Reads `generic` memory alone.
[[nodiscard]] std::string print_tensor(const TensorView& tensor, const PrintOptions& options = {});
/// The same for device memory, as print_tensor of a Runtime: in the order of `stream`, and waits
/// for it.
[[nodiscard]] std::string print_tensor(const Runtime& runtime, Stream stream,
                                       const TensorView& tensor, const PrintOptions& options = {});

}  // namespace tilejit
