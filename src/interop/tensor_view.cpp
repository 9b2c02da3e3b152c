#include "tilejit/tensor_view.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/text.hpp"
#include "interop/tensor_origin.hpp"
#include "layout/checked.hpp"
#include "layout/coordinate_index.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

bool is_known(const Layout& layout) {
  return std::ranges::all_of(layout.leaves(), [](const Mode& leaf) {
    const auto step = coordinate_step(leaf.stride);
    return leaf.extent.is_known() && (step ? step->steps : leaf.stride).is_known();
  });
}

/// The modes at `_`, as a tuple. Calls `move(part, at)` for all others.
template <typename Moves>
void cut(const SliceCoordinate& coordinate, const Nested<Mode>& modes, Nested<Mode>& kept,
         const Moves& move) {
  if (coordinate.is_leaf()) {
    if (coordinate.leaf().keeps()) return kept.append(modes);
    return move(Layout(modes), coordinate.leaf().at());
  }
  const std::vector<SliceCoordinate> leaves = layout::modes_of(coordinate);
  if (modes.is_leaf() || modes.rank() != leaves.size()) {
    throw Error(ErrorCode::invalid_layout, "slice: " + layout::short_text(coordinate) +
                                               " is not nested as " +
                                               core::shortened(to_string(Layout(modes))) +
                                               "; give each mode a number, a "
                                               "symbol or '_'");
  }
  auto next = leaves.begin();
  modes.for_each_mode([&](const Nested<Mode>& mode) { cut(*next++, mode, kept, move); });
}

/// The value of `dim`, or itself as long as a symbol in it has none.
Dim filled(const Dim& dim, const SymbolValues& values) {
  if (dim.is_known() || dim.is_unknown()) return dim;
  if (const auto step = coordinate_step(dim))
    return coordinate_stride({filled(step->steps, values), step->path});
  try {
    return dim.evaluate(values);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return dim;
  }
}

Layout filled(const Layout& layout, const SymbolValues& values) {
  return layout.modes().map([&](const Mode& leaf) {
    return Mode{filled(leaf.extent, values), filled(leaf.stride, values)};
  });
}

void check_engine(const Engine& engine) {
  const auto align = static_cast<unsigned>(engine.align);
  if (engine.align < size_bytes(engine.dtype) || !std::has_single_bit(align)) {
    throw Error(ErrorCode::invalid_argument,
                "align is " + std::to_string(engine.align) + "; use a power of two from the " +
                    std::to_string(size_bytes(engine.dtype)) + " bytes of an element on");
  }
  if (reinterpret_cast<std::uintptr_t>(engine.data) % align == 0) return;
  throw Error(ErrorCode::invalid_argument, "the tensor's address is no multiple of its align, " +
                                               std::to_string(engine.align) + " bytes");
}

}  // namespace

std::string to_string(const Selector& selector) {
  return selector.keeps() ? "_" : to_string(selector.at());
}

std::string to_string(const SliceCoordinate& coordinate) {
  return layout::nested_text(coordinate);
}

SliceCoordinate parse_slice_coordinate(std::string_view text) {
  const auto read_leaf = [](layout::Reader& reader) -> Selector {
    if (reader.accept('_')) return Underscore{};
    const Dim at = reader.read_dim();
    if (coordinate_step(at)) reader.fail("a number, a symbol or '_'");
    if (to_string(at) == "None") return Underscore{};
    return at;
  };
  layout::Reader reader(text);
  int leaves = 0;
  SliceCoordinate coordinate = layout::read_nested<Selector>(reader, read_leaf, "leaves", leaves);
  reader.expect_end();
  return coordinate;
}

TensorView::TensorView(const Engine& engine, Layout layout)
    : layout_(std::move(layout)), engine_(engine) {
  if (engine_.align == 0) engine_.align = size_bytes(engine_.dtype);
  check_engine(engine_);
  check_layout();
}

TensorView TensorView::of_coordinates(const Coordinate& origin, Layout layout) {
  for (const CoordinateLeaf& leaf : origin.leaves()) {
    if (leaf.is_underscore())
      throw Error(ErrorCode::invalid_layout, "an origin has numbers, not '_'");
  }
  TensorView result;
  result.layout_ = std::move(layout);
  result.has_coordinates_ = true;
  result.origin_ = origin;
  result.check_layout();
  return result;
}

void TensorView::check_layout() const {
  const auto paths = has_coordinates_ ? interop::leaf_paths(origin_) : interop::Paths{{}};
  for (const Mode& leaf : layout_.leaves()) {
    const auto step = coordinate_step(leaf.stride);
    const bool fits = step ? std::ranges::find(paths, step->path) != paths.end()
                           : !has_coordinates_ || leaf.stride.is(0);
    if (fits) continue;
    throw Error(
        ErrorCode::invalid_layout,
        "the stride " + to_string(leaf.stride) + " of " + core::shortened(to_string(layout_)) +
            (has_coordinates_ ? " is no step of a coordinate such as " + layout::short_text(origin_)
                              : " is a step of a coordinate; memory has distances"));
  }
}

TensorView TensorView::with_layout(Layout layout) const {
  TensorView result = *this;
  result.layout_ = std::move(layout);
  result.check_layout();
  return result;
}

void TensorView::move(const Layout& part, const Dim& at) {
  if (at.is(0)) return;
  if (!at.is_known() || !is_known(part)) return moves_.push_back({part, at});
  if (has_coordinates_) {
    origin_ = interop::moved(origin_, part, at.value());
  } else {
    index_ = layout::checked_add(index_, part(at.value()));
  }
}

void TensorView::refuse_moves() const {
  if (moves_.empty()) return;
  throw Error(ErrorCode::invalid_argument, "the tensor is sliced at " +
                                               core::shortened(to_string(moves_.front().at)) +
                                               ", which has no value; use substitute");
}

Engine TensorView::engine() const {
  if (has_coordinates_) {
    throw Error(ErrorCode::invalid_argument,
                "a tensor of coordinates has no memory; use coordinate_at");
  }
  const std::int64_t bytes = size_bytes(engine_.dtype);
  std::int64_t align = engine_.align;
  const auto move_by = [&](std::int64_t elements) {
    align = std::gcd(align, elements % align * bytes);
  };
  move_by(index_);
  for (const Move& move : moves_) move_by(interop::divisor(move.part, move.at));
  Engine result = engine_;
  result.align = static_cast<int>(align);
  if (result.data != nullptr) result.data = static_cast<std::byte*>(result.data) + index_ * bytes;
  if (!moves_.empty()) result.data = nullptr;
  return result;
}

Coordinate TensorView::origin() const {
  if (!has_coordinates_)
    throw Error(ErrorCode::invalid_argument, "a tensor in memory has no origin; use engine");
  refuse_moves();
  return origin_;
}

TensorView make_identity_tensor(const IntTuple& shape) {
  const Coordinate zeros = shape.map([](const Dim&) { return CoordinateLeaf(0); });
  return TensorView::of_coordinates(shape.is_leaf() ? Coordinate{zeros} : zeros,
                                    coordinate_layout(shape));
}

TensorView slice(const SliceCoordinate& coordinate, const TensorView& tensor) {
  TensorView result = tensor;
  if (coordinate.is_leaf() && coordinate.leaf().keeps()) return result;
  auto kept = Nested<Mode>::empty_tuple();
  cut(coordinate, tensor.layout_.modes(), kept,
      [&](const Layout& part, const Dim& at) { result.move(part, at); });
  if (kept.rank() == 0) {
    throw Error(ErrorCode::invalid_layout, "slice: " + layout::short_text(coordinate) +
                                               " leaves no mode; use element, or a '_'");
  }
  result.layout_ = Layout(std::move(kept));
  return result;
}

TensorView substitute(const TensorView& tensor, const SymbolValues& values) {
  TensorView result = tensor.with_layout(filled(tensor.layout_, values));
  result.moves_.clear();
  for (const TensorView::Move& move : tensor.moves_)
    result.move(filled(move.part, values), filled(move.at, values));
  return result;
}

TensorView logical_divide(const TensorView& tensor, const Tiler& tiler) {
  return tensor.with_layout(logical_divide(tensor.layout(), tiler));
}
TensorView zipped_divide(const TensorView& tensor, const Tiler& tiler) {
  return tensor.with_layout(zipped_divide(tensor.layout(), tiler));
}
TensorView tiled_divide(const TensorView& tensor, const Tiler& tiler) {
  return tensor.with_layout(tiled_divide(tensor.layout(), tiler));
}
TensorView flat_divide(const TensorView& tensor, const Tiler& tiler) {
  return tensor.with_layout(flat_divide(tensor.layout(), tiler));
}
TensorView composition(const TensorView& tensor, const Layout& layout) {
  return tensor.with_layout(composition(tensor.layout(), layout));
}
TensorView composition(const TensorView& tensor, const Tiler& tiler) {
  return tensor.with_layout(composition(tensor.layout(), tiler));
}
TensorView composition(const TensorView& tensor, const char* layout) {
  return composition(tensor, Layout(layout));
}
TensorView flatten(const TensorView& tensor) {
  return tensor.with_layout(flatten(tensor.layout()));
}
TensorView coalesce(const TensorView& tensor) {
  return tensor.with_layout(coalesce(tensor.layout()));
}
TensorView coalesce(const TensorView& tensor, const IntTuple& profile) {
  return tensor.with_layout(coalesce(tensor.layout(), profile));
}
TensorView select(const TensorView& tensor, std::initializer_list<std::size_t> modes) {
  return tensor.with_layout(select(tensor.layout(), modes));
}

std::int64_t index_of(const TensorView& tensor, const Coordinate& coordinate) {
  tensor.refuse_moves();
  if (!tensor.has_coordinates_)
    return layout::checked_add(tensor.index_, tensor.layout_(coordinate));
  throw Error(ErrorCode::invalid_argument,
              "a tensor of coordinates has no indices; use coordinate_at");
}

Coordinate coordinate_at(const TensorView& tensor, const Coordinate& coordinate) {
  const Coordinate origin = tensor.origin();
  return interop::moved(origin, tensor.layout_, coordinate);
}

}  // namespace tilejit
