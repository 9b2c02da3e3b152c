// Statements that make and move tiles.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"
#include "program/interpreter.hpp"

namespace tilejit::program {
namespace {

constexpr std::int64_t kOutside = -1;

std::int64_t padded_integer(TilePad pad) {
  return pad == TilePad::one ? 1 : 0;
}

double padded_real(TilePad pad) {
  switch (pad) {
    case TilePad::zero: return 0.0;
    case TilePad::neg_zero: return -0.0;
    case TilePad::one: return 1.0;
    case TilePad::pos_inf: return std::numeric_limits<double>::infinity();
    case TilePad::neg_inf: return -std::numeric_limits<double>::infinity();
    case TilePad::nan:
    case TilePad::none: break;  // what is unknown shows up as NaN
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t offset_in_axis(const std::vector<ViewData::Leaf>& leaves, std::int64_t coord) {
  std::int64_t offset = 0;
  for (const ViewData::Leaf& leaf : leaves) {
    offset += coord % leaf.extent * leaf.stride;
    coord /= leaf.extent;
  }
  return offset;
}

std::int64_t extent_of(const std::vector<ViewData::Leaf>& leaves) {
  std::int64_t extent = 1;
  for (const ViewData::Leaf& leaf : leaves) extent *= leaf.extent;
  return extent;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace

void Interpreter::assign(int slot, TileData value) {
  const TileSlot& of = code_.tiles[static_cast<std::size_t>(slot)];
  if (count_of(value.type.shape) == count_of(of.type.shape)) {
    value.type.shape = of.type.shape;  // axes of 1 that the result does not keep
  } else {
    value = expanded(value, of.type.shape);
  }
  tile(slot) = converted(std::move(value), of.type.dtype);
  trace_tile(slot);
}

void Interpreter::run_step(const SetView& step) {
  ViewData view;
  if (step.offset) view.offset = integer(*step.offset);
  std::int64_t stride = 1;
  for (std::size_t i = step.shape.size(); i-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(0, integer(step.shape[i]));
    const std::int64_t own = step.stride.empty() ? stride : integer(step.stride[i]);
    view.axes.insert(view.axes.begin(), {{extent, own}});
    if (__builtin_mul_overflow(stride, extent, &stride)) {
      fail(ErrorCode::unsupported, "the view has more than 2^63-1 elements");
    }
  }
  views_[static_cast<std::size_t>(step.view)] = std::move(view);
}

void Interpreter::run_step(const Fill& step) {
  const TileType& type = code_.tiles[static_cast<std::size_t>(step.tile)].type;
  if (step.value) return assign(step.tile, evaluate(*step.value));
  TileData data(type);
  std::ranges::fill(data.reals, padded_real(TilePad::none));
  tile(step.tile) = std::move(data);
}

/// For each axis of the tile, the coordinate of every element in the tensor's axis.
std::vector<std::vector<std::int64_t>> Interpreter::coordinates(const Window& window,
                                                                const ViewData& view) {
  const std::size_t rank = window.tile.size();
  const auto count = static_cast<std::size_t>(count_of(window.tile));
  const auto axis_of = [&](std::size_t i) {
    return window.order.empty() ? i : static_cast<std::size_t>(window.order[i]);
  };
  std::vector<std::vector<std::int64_t>> result(rank);
  if (window.kind == TileIndex::Kind::gather) {
    for (std::size_t i = 0; i < rank; ++i) {
      result[i] = expanded(evaluate(window.at[i]), window.tile).integers;
    }
    return result;
  }
  Extents origin(rank, 0);
  if (window.kind == TileIndex::Kind::linear) {
    std::int64_t number = integer(window.at.front());
    for (std::size_t i = rank; i-- > 0;) {
      const std::int64_t tiles =
          std::max<std::int64_t>(1, ceil_div(extent_of(view.axes[axis_of(i)]), window.tile[i]));
      // The first axis takes what is left, so that a number beyond the last tile is outside.
      origin[i] = i == 0 ? number : number % tiles;
      if (number < 0) origin[i] = number;
      number /= tiles;
    }
  } else {
    for (std::size_t i = 0; i < rank; ++i) origin[i] = integer(window.at[i]);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const bool counts_tiles = window.kind != TileIndex::Kind::element;
    const bool overflows =
        counts_tiles && __builtin_mul_overflow(origin[i], window.tile[i], &origin[i]);
    if (overflows || origin[i] > INT64_MAX / 2) origin[i] = INT64_MAX / 2;
    result[i].resize(count);
  }
  Extents coord(rank, 0);
  for (std::size_t element = 0; element < count; ++element) {
    for (std::size_t i = 0; i < rank; ++i) result[i][element] = origin[i] + coord[i];
    for (std::size_t i = rank; i-- > 0;) {
      if (++coord[i] < window.tile[i]) break;
      coord[i] = 0;
    }
  }
  return result;
}

std::vector<std::int64_t> Interpreter::offsets(const Window& window) {
  const ViewData view = views_[static_cast<std::size_t>(window.view)];
  const auto places = coordinates(window, view);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count_of(window.tile)));
  const int tensor = code_.views[static_cast<std::size_t>(window.view)].tensor;
  TileData mask;
  if (window.mask) mask = expanded(evaluate(*window.mask), window.tile);
  count(static_cast<std::int64_t>(offsets.size()));
  for (std::size_t element = 0; element < offsets.size(); ++element) {
    std::int64_t offset = view.offset;
    bool inside = !window.mask || mask.integers[element] != 0;
    for (std::size_t i = 0; i < places.size() && inside; ++i) {
      const auto& axis =
          view.axes[window.order.empty() ? i : static_cast<std::size_t>(window.order[i])];
      const std::int64_t coord = places[i][element];
      inside = coord >= 0 && coord < extent_of(axis);
      if (inside) offset += offset_in_axis(axis, coord);
    }
    offsets[element] = inside ? offset : kOutside;
    const bool in_memory =
        !inside || (offset >= 0 && offset < cosizes_[static_cast<std::size_t>(tensor)]);
    if (!in_memory) {
      fail(ErrorCode::invalid_argument,
           "element " + std::to_string(offset) + " lies outside the memory of tensor '" +
               program_.tensors[static_cast<std::size_t>(tensor)].name + "', which has " +
               std::to_string(cosizes_[static_cast<std::size_t>(tensor)]) +
               "; check the offset and strides of its Allocate");
    }
  }
  return offsets;
}

std::byte* Interpreter::element(int tensor, std::int64_t offset) const {
  const auto t = static_cast<std::size_t>(tensor);
  return static_cast<std::byte*>(args_.tensors[t]) + offset * size_bytes(program_.tensors[t].dtype);
}

void Interpreter::run_step(const Load& step) {
  const std::vector<std::int64_t> places = offsets(step.window);
  const int tensor = code_.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = program_.tensors[static_cast<std::size_t>(tensor)].dtype;
  TileData data({dtype, step.window.tile});
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool outside = places[i] == kOutside;
    const std::byte* const from = outside ? nullptr : element(tensor, places[i]);
    if (data.is_real()) {
      data.reals[i] = outside ? padded_real(step.pad) : decode(dtype, from);
    } else {
      data.integers[i] = outside ? padded_integer(step.pad) : arithmetic::load_integer(dtype, from);
    }
  }
  assign(step.tile, std::move(data));
}

void Interpreter::run_step(const Store& step) {
  const std::vector<std::int64_t> places = offsets(step.window);
  const int tensor = code_.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = program_.tensors[static_cast<std::size_t>(tensor)].dtype;
  const TileData data = converted(tile(step.tile), dtype);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == kOutside) continue;
    std::byte* const to = element(tensor, places[i]);
    if (data.is_real()) {
      encode(dtype, data.reals[i], to);
    } else {
      arithmetic::store_integer(dtype, data.integers[i], to);
    }
  }
}

void Interpreter::run_step(const Move& step) {
  assign(step.to, tile(step.from));
}

void Interpreter::run_step(const Compute& step) {
  TileData value = evaluate(step.value);
  assign(step.out, std::move(value));
}

void Interpreter::run_step(const Gemm& step) {
  const TileData& a = tile(step.a);
  const TileData& b = tile(step.b);
  const TileType& type = code_.tiles[static_cast<std::size_t>(step.out)].type;
  const auto rows = static_cast<std::size_t>(type.shape[0]);
  const auto columns = static_cast<std::size_t>(type.shape[1]);
  const auto sums = static_cast<std::size_t>(a.type.shape[step.a_transposed ? 0 : 1]);
  const auto at_a = [&](std::size_t m, std::size_t k) {
    return step.a_transposed ? k * rows + m : m * sums + k;
  };
  const auto at_b = [&](std::size_t k, std::size_t n) {
    return step.b_transposed ? n * sums + k : k * columns + n;
  };
  TileData out(type);
  if (step.accumulate) out = tile(step.out);
  for (std::size_t m = 0; m < rows; ++m) {
    for (std::size_t k = 0; k < sums; ++k) {
      for (std::size_t n = 0; n < columns; ++n) {
        const std::size_t to = m * columns + n;
        if (out.is_real()) {
          out.reals[to] += a.reals[at_a(m, k)] * b.reals[at_b(k, n)];
        } else {
          const auto product = static_cast<std::uint64_t>(a.integers[at_a(m, k)]) *
                               static_cast<std::uint64_t>(b.integers[at_b(k, n)]);
          out.integers[to] =
              arithmetic::wrap(static_cast<std::uint64_t>(out.integers[to]) + product, type.dtype);
        }
      }
    }
  }
  count(static_cast<std::int64_t>(rows * columns * sums));
  assign(step.out, std::move(out));
}

void Interpreter::run_step(const Rearrange& step) {
  using Kind = TileReshape::Kind;
  const TileData source = tile(step.from);
  const TileType type{source.type.dtype,
                      code_.tiles[static_cast<std::size_t>(step.out)].type.shape};
  const std::size_t rank = source.type.shape.size();
  if (step.kind == Kind::role || step.kind == Kind::shape || step.kind == Kind::broadcast) {
    return assign(step.out, source);
  }
  // Row-major strides of the source.
  std::vector<std::size_t> strides(rank, 1);
  for (std::size_t i = rank; i-- > 1;) {
    strides[i - 1] = strides[i] * static_cast<std::size_t>(source.type.shape[i]);
  }
  TileData out(type);
  if (step.kind == Kind::cat) {
    std::vector<const TileData*> parts = {&source};
    for (const int other : step.others) parts.push_back(&tile(other));
    const auto axis = static_cast<std::size_t>(step.axis);
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < rank; ++i) {
      inner *= static_cast<std::size_t>(source.type.shape[i]);
    }
    const std::size_t outer =
        source.size() / (strides[axis] * static_cast<std::size_t>(source.type.shape[axis]));
    std::size_t to = 0;
    for (std::size_t row = 0; row < outer; ++row) {
      for (const TileData* const part : parts) {
        const std::size_t run = inner * static_cast<std::size_t>(part->type.shape[axis]);
        for (std::size_t i = 0; i < run; ++i) copy_element(*part, row * run + i, out, to++);
      }
    }
    return assign(step.out, std::move(out));
  }
  Extents begin(rank, 0);
  for (std::size_t i = 0; i < step.at.size(); ++i) {
    if (step.at[i]) begin[i] = integer(*step.at[i]);
  }
  // The extents of the part, per axis of the source.
  Extents part(rank, 1);
  if (step.kind == Kind::permute) {
    for (std::size_t i = 0; i < rank; ++i) {
      part[i] = source.type.shape[static_cast<std::size_t>(step.axes[i])];
    }
  } else if (step.kind == Kind::insert) {
    part = tile(step.source).type.shape;
  } else if (type.shape.size() == rank) {
    part = type.shape;
  } else {
    for (std::size_t i = 0; i < rank; ++i) part[i] = step.at[i] ? 1 : source.type.shape[i];
  }
  if (step.kind != Kind::permute) {
    for (std::size_t i = 0; i < rank; ++i) {
      if (begin[i] >= 0 && begin[i] + part[i] <= source.type.shape[i]) continue;
      fail(ErrorCode::invalid_argument, "the part from " + std::to_string(begin[i]) +
                                            " is outside axis " + std::to_string(i) + " of " +
                                            std::to_string(source.type.shape[i]) + " elements");
    }
  }
  if (step.kind == Kind::insert) out = source;
  Extents coord(rank, 0);
  const auto elements = static_cast<std::size_t>(count_of(part));
  for (std::size_t element = 0; element < elements; ++element) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t axis =
          step.kind == Kind::permute ? static_cast<std::size_t>(step.axes[i]) : i;
      place += static_cast<std::size_t>(begin[i] + coord[i]) * strides[axis];
    }
    if (step.kind == Kind::insert) {
      copy_element(tile(step.source), element, out, place);
    } else {
      copy_element(source, place, out, element);
    }
    for (std::size_t i = rank; i-- > 0;) {
      if (++coord[i] < part[i]) break;
      coord[i] = 0;
    }
  }
  assign(step.out, std::move(out));
}

void Interpreter::run_step(const AtomicUpdate& step) {
  using Kind = TileAtomic::Kind;
  using expr::Op;
  const std::vector<std::int64_t> places = offsets(step.window);
  const int tensor = code_.views[static_cast<std::size_t>(step.window.view)].tensor;
  const DType dtype = program_.tensors[static_cast<std::size_t>(tensor)].dtype;
  const TileData value = tile(step.tile);
  TileData old(value.type);
  const Op op = step.kind == Kind::add       ? Op::add
                : step.kind == Kind::max     ? Op::max
                : step.kind == Kind::min     ? Op::min
                : step.kind == Kind::bit_and ? Op::bit_and
                : step.kind == Kind::bit_or  ? Op::bit_or
                                             : Op::bit_xor;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == kOutside) continue;
    std::byte* const at = element(tensor, places[i]);
    if (value.is_real()) {
      old.reals[i] = decode(dtype, at);
      encode(dtype, step.kind == Kind::exchange ? value.reals[i] : old.reals[i] + value.reals[i],
             at);
    } else {
      old.integers[i] = arithmetic::load_integer(dtype, at);
      const std::int64_t made =
          step.kind == Kind::exchange
              ? value.integers[i]
              : arithmetic::apply(op, dtype, {old.integers[i], value.integers[i], 0});
      arithmetic::store_integer(dtype, made, at);
    }
  }
  if (step.out >= 0) assign(step.out, std::move(old));
}

}  // namespace tilejit::program
