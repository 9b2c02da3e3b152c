// Tiles between registers and shared memory, and reshapes.
#include <algorithm>

#include "layout/emit.hpp"
#include "operation/tile_header.hpp"
#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"
#include "program/shared_layout.hpp"

namespace tilejit::program {
std::string KernelWriter::storage(DType dtype) {
  headers_.emplace(operation::tile_header(dtype));
  return std::string(expr::storage_type(dtype));
}

KernelWriter::Array KernelWriter::declare(DType dtype, const Distribution& spread) {
  Array made{fresh("a"), dtype, spread};
  line(storage(dtype) + " " + made.name + "[" + std::to_string(spread.values()) + "];");
  return made;
}

KernelWriter::Place KernelWriter::scratch(DType dtype, const Extents& shape, std::int64_t offset,
                                          const std::optional<ComposedLayout>& layout) {
  Place made{.pointer = fresh("m"),
             .dtype = dtype,
             .shape = shape.empty() ? Extents{1} : shape,
             .layout = {},
             .object = Hazards::kScratch};
  made.layout = layout.value_or(shared_layout({dtype, made.shape}));
  const std::int64_t bytes = cosize(made.layout.layout()) * size_bytes(dtype);
  scratch_bytes_ = std::max(scratch_bytes_, offset + bytes);
  const std::string type = storage(dtype);
  line(type + "* const " + made.pointer + " = reinterpret_cast<" + type + "*>(scratch" +
       (offset == 0 ? "" : " + " + std::to_string(offset)) + ");");
  return made;
}

std::string KernelWriter::index_in(const Place& place, const Texts& coordinates) const {
  Texts operands;
  for (const std::string& one : coordinates) operands.push_back("(" + one + ")");
  if (operands.empty()) operands.emplace_back("0");
  if (rank(place.layout.layout()) == operands.size()) {
    return layout::emit(place.layout, operands);
  }
  // A layout of another rank takes elements by their number, the first axis fastest.
  std::string number;
  for (std::size_t axis = operands.size(); axis-- > 0;) {
    number = number.empty() ? operands[axis]
                            : "(" + number + " * " + std::to_string(place.shape[axis]) + " + " +
                                  operands[axis] + ")";
  }
  return layout::emit(place.layout, Texts{number});
}

void KernelWriter::put(const Array& from, const Place& to) {
  const Distribution& of = from.spread;
  const int last = static_cast<int>(of.shape.size()) - 1;
  std::int64_t count = last < 0 ? 1 : of.vector_along(last);
  while (count > 1 && !keeps_vectors(to.layout, to.shape, count)) count /= 2;
  before_write(to.object);
  const std::string owner = is_owner(of);
  if (owner != "true") open("if (" + owner + ") {");
  open_values(of.values(), count);
  const std::string is_inside = inside(of, "i");
  Texts at;
  for (int axis = 0; axis <= last; ++axis) at.push_back(coordinate(of, axis, "i"));
  const std::string element = to.pointer + "[" + index_in(to, at) + "]";
  const std::string guard = is_inside == "true" ? "" : "if (" + is_inside + ") ";
  if (count > 1) {
    headers_.insert("neighbours");
    line(guard + "store_neighbours<" + std::to_string(count) + ">(&" + element + ", &" + from.name +
         "[i], " + std::to_string(count) + ", true);");
  } else {
    line(guard + element + " = " + from.name + "[i];");
  }
  close();
  if (owner != "true") close();
  hazards_.write(to.object);
}

void KernelWriter::get(const Place& from, const Array& to) {
  const Distribution& of = to.spread;
  const int last = static_cast<int>(of.shape.size()) - 1;
  std::int64_t count = last < 0 ? 1 : of.vector_along(last);
  while (count > 1 && !keeps_vectors(from.layout, from.shape, count)) count /= 2;
  before_read(from.object);
  open_values(of.values(), count);
  const std::string is_inside = inside(of, "i");
  Texts at;
  for (int axis = 0; axis <= last; ++axis) at.push_back(coordinate(of, axis, "i"));
  const std::string element = from.pointer + "[" + index_in(from, at) + "]";
  const std::string guard = is_inside == "true" ? "" : "if (" + is_inside + ") ";
  if (count > 1) {
    headers_.insert("neighbours");
    line(guard + "load_wide<" + std::string(expr::storage_type(from.dtype)) + ", " +
         std::to_string(count) + ">(&" + to.name + "[i], &" + element + ");");
  } else {
    line(guard + to.name + "[i] = " + element + ";");
  }
  close();
  hazards_.read(from.object);
}

KernelWriter::Array KernelWriter::as(const Array& from, const Distribution& wanted) {
  if (from.spread == wanted) return from;
  const Array made = declare(from.dtype, wanted);
  const Place between =
      scratch(from.dtype, from.spread.shape, 0,
              exchange_layout({from.dtype, from.spread.shape}, from.spread, wanted));
  put(from, between);
  get(between, made);
  return made;
}

/// As a cast does.
KernelWriter::Array KernelWriter::converted(const Array& from, DType to) {
  if (from.dtype == to) return from;
  const Array made = declare(to, from.spread);
  open_values(from.spread.values());
  const expr::Program cast{
      .nodes = {{.op = expr::Op::load, .type = from.dtype},
                {.op = expr::Op::cast, .type = to, .args = {0, expr::kNoNode, expr::kNoNode}}},
      .stores = {}};
  lines(expr::emit_cuda(cast, {.nodes = {true, true},
                               .stores = {},
                               .given =
                                   [&](expr::NodeId id) {
                                     return id == 0 ? "to_compute(" + from.name + "[i])"
                                                    : std::string();
                                   },
                               .results = {1}}));
  line(made.name + "[i] = " + stored_text("v1", to) + ";");
  close();
  return made;
}

KernelWriter::Array KernelWriter::operand(int tile, const Distribution& wanted) {
  if (!is_shared(tile)) return as(array(tile), wanted);
  const Array made = declare(slot(tile).type.dtype, wanted);
  get(place(tile), made);
  return made;
}

/// Gives the tile `to` the values of `from`, which has its dtype and as many elements, or
/// broadcasts to it.
void KernelWriter::assign(const Array& from, int to) {
  const Array target = array(to);
  const Extents& shape = target.spread.shape;
  if (count_of(from.spread.shape) == count_of(shape)) {
    const Array same = as({from.name, from.dtype, renamed(from.spread, shape)}, target.spread);
    open_values(target.spread.values());
    line(target.name + "[i] = " + same.name + "[i];");
    return close();
  }
  const Place between = scratch(from.dtype, from.spread.shape);
  put(from, between);
  before_read(between.object);
  open_values(target.spread.values());
  Texts at;
  const std::size_t missing = shape.size() - from.spread.shape.size();
  for (std::size_t axis = 0; axis < from.spread.shape.size(); ++axis) {
    at.push_back(from.spread.shape[axis] == 1
                     ? "0"
                     : coordinate(target.spread, static_cast<int>(axis + missing), "i"));
  }
  const std::string is_inside = inside(target.spread, "i");
  line((is_inside == "true" ? "" : "if (" + is_inside + ") ") + target.name +
       "[i] = " + between.pointer + "[" + index_in(between, at) + "];");
  close();
  hazards_.read(between.object);
}

void KernelWriter::write_step(const Move& step) {
  if (is_shared(step.from) && is_shared(step.to)) {
    const Distribution of = copy_distribution(slot(step.from).type.shape, plan_.threads, {});
    return put(converted(operand(step.from, of), slot(step.to).type.dtype), place(step.to));
  }
  const Distribution of =
      *plan_.distributions[static_cast<std::size_t>(is_shared(step.to) ? step.from : step.to)];
  const Array values = converted(operand(step.from, of), slot(step.to).type.dtype);
  if (is_shared(step.to)) return put(values, place(step.to));
  assign(values, step.to);
}

/// Where a part begins: inside the tile, whatever the program says.
KernelWriter::Texts KernelWriter::part_origin(const Rearrange& step, const Extents& whole,
                                              const Extents& part) {
  Texts origin;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const bool known = axis < step.at.size() && step.at[axis];
    if (!known) {
      origin.emplace_back("0");
      continue;
    }
    const std::string name = fresh("z");
    headers_.insert("math");
    line("const int " + name + " = int(math::clamp<i64>(" + integer(*step.at[axis]) + ", 0, " +
         std::to_string(whole[axis] - part[axis]) + "));");
    origin.push_back(name);
  }
  return origin;
}

void KernelWriter::put_part(int tile, const Place& to, const Texts& origin) {
  const Distribution of = is_shared(tile)
                              ? copy_distribution(slot(tile).type.shape, plan_.threads, {})
                              : *plan_.distributions[static_cast<std::size_t>(tile)];
  const Array from = operand(tile, of);
  before_write(to.object);
  const std::string owner = is_owner(of);
  if (owner != "true") open("if (" + owner + ") {");
  open_values(of.values());
  Texts at;
  for (std::size_t axis = 0; axis < of.shape.size(); ++axis) {
    const std::string own = coordinate(of, static_cast<int>(axis), "i");
    at.push_back(origin[axis] == "0" ? own : origin[axis] + " + " + own);
  }
  const std::string is_inside = inside(of, "i");
  line((is_inside == "true" ? "" : "if (" + is_inside + ") ") + to.pointer + "[" +
       index_in(to, at) + "] = " + from.name + "[i];");
  close();
  if (owner != "true") close();
  hazards_.write(to.object);
}

void KernelWriter::write_step(const Rearrange& step) {
  using Kind = TileReshape::Kind;
  const TileType& source = slot(step.from).type;
  const TileType& result = slot(step.out).type;
  const Array out = array(step.out);
  const Extents& whole = step.kind == Kind::cat ? result.shape : source.shape;
  const std::size_t rank = whole.size();
  const bool same =
      source.shape == result.shape &&
      (step.kind == Kind::role || step.kind == Kind::shape || step.kind == Kind::broadcast);
  if (same) return assign(operand(step.from, out.spread), step.out);
  // All others pass through shared memory, in the shape of the source.
  Place between = is_shared(step.from) ? place(step.from) : Place();
  Texts origin(rank, "0");
  if (step.kind == Kind::cat) {
    between = scratch(result.dtype, whole);
    std::vector<int> parts = {step.from};
    parts.insert(parts.end(), step.others.begin(), step.others.end());
    const auto axis = static_cast<std::size_t>(step.axis);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      origin[axis] = std::to_string(begin);
      // Parts do not overlap, so one barrier after the last is enough.
      put_beside(parts[i], between, origin, i > 0);
      begin += slot(parts[i]).type.shape[axis];
    }
  } else if (step.kind == Kind::insert) {
    between = scratch(result.dtype, whole);
    put_beside(step.from, between, origin, false);
    const Extents& part = slot(step.source).type.shape;
    put_part(step.source, between, part_origin(step, whole, part));
  } else if (!is_shared(step.from)) {
    const Array from = array(step.from);
    std::optional<ComposedLayout> layout;
    if (step.kind == Kind::permute) {
      layout = exchange_layout(source, from.spread, permuted(out.spread, step.axes));
    }
    between = scratch(source.dtype, whole, 0, layout);
    put(from, between);
  }
  if (step.kind == Kind::extract) {
    Extents part = whole;
    for (std::size_t i = 0; i < rank; ++i) {
      part[i] = result.shape.size() == rank ? result.shape[i] : step.at[i] ? 1 : whole[i];
    }
    origin = part_origin(step, whole, part);
  }
  before_read(between.object);
  open_values(out.spread.values());
  const Texts at = source_coordinates(step, out.spread, whole, origin);
  const std::string is_inside = inside(out.spread, "i");
  line((is_inside == "true" ? "" : "if (" + is_inside + ") ") + out.name +
       "[i] = " + between.pointer + "[" + index_in(between, at) + "];");
  close();
  hazards_.read(between.object);
}

/// put_part with places that no other part has: without a barrier if one has been there before.
void KernelWriter::put_beside(int tile, const Place& to, const Texts& origin, bool is_next) {
  if (is_next && !is_shared(tile)) {
    const Hazards pending = hazards_;
    hazards_.clear();
    put_part(tile, to, origin);
    hazards_.join(pending);
  } else {
    put_part(tile, to, origin);
  }
}

/// For each axis of the source, the coordinate of the element that value `i` of the result takes.
KernelWriter::Texts KernelWriter::source_coordinates(const Rearrange& step, const Distribution& of,
                                                     const Extents& whole, const Texts& origin) {
  using Kind = TileReshape::Kind;
  Texts own;
  for (std::size_t axis = 0; axis < of.shape.size(); ++axis) {
    own.push_back("(" + coordinate(of, static_cast<int>(axis), "i") + ")");
  }
  const std::size_t rank = whole.size();
  Texts at(rank, "0");
  switch (step.kind) {
    case Kind::permute:
      for (std::size_t i = 0; i < rank; ++i) at[static_cast<std::size_t>(step.axes[i])] = own[i];
      return at;
    case Kind::broadcast: {
      const std::size_t missing = own.size() - rank;
      for (std::size_t i = 0; i < rank; ++i) {
        if (whole[i] != 1) at[i] = own[i + missing];
      }
      return at;
    }
    case Kind::shape: {
      std::string number = "0";
      for (std::size_t i = 0; i < own.size(); ++i) {
        number = i == 0 ? own[0]
                        : "(" + number + " * " + std::to_string(of.shape[i]) + " + " + own[i] + ")";
      }
      std::int64_t below = 1;
      for (std::size_t i = rank; i-- > 0;) {
        at[i] = number + (below > 1 ? " / " + std::to_string(below) : "") +
                (i > 0 ? " % " + std::to_string(whole[i]) : "");
        below *= whole[i];
      }
      return at;
    }
    case Kind::extract: {
      std::size_t next = 0;
      const bool keeps = own.size() == rank;
      for (std::size_t i = 0; i < rank; ++i) {
        const bool is_part = keeps || !step.at[i];
        at[i] = origin[i];
        if (is_part) at[i] = origin[i] == "0" ? own[next++] : origin[i] + " + " + own[next++];
      }
      return at;
    }
    default: return own;
  }
}

}  // namespace tilejit::program
