// Parts of tensors: where they begin, which of their elements exist, and whether vectors are
// aligned.
#include <algorithm>

#include "layout/emit.hpp"
#include "program/kernel_window.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {

using expr::Op;

std::string KernelWriter::dim_text(const Dim& dim) const {
  if (dim.is_known()) return std::to_string(dim.value()) + "ll";
  std::string text = dim.factor() == 1 ? "" : std::to_string(dim.factor()) + "ll";
  for (const std::string& symbol : dim.symbols()) {
    const auto found = std::ranges::find(plan_.code.symbols, symbol);
    if (found == plan_.code.symbols.end()) {
      throw Error(ErrorCode::unsupported,
                  "the extent '" + to_string(dim) +
                      "' of a tensor is no product of symbols; write it with plain symbols",
                  "/tensors");
    }
    text += (text.empty() ? "" : " * ") + std::string("p.d") +
            std::to_string(found - plan_.code.symbols.begin());
  }
  return "(" + text + ")";
}

bool KernelWriter::may_be_negative(const Value& value) const {
  if (value.code.is_known()) return expr::to_double(value.code.literal) < 0;
  std::vector<bool> may;
  for (const expr::Node& node : value.code.nodes) {
    const auto arg = [&](std::size_t i) { return may[static_cast<std::size_t>(node.args[i])]; };
    switch (node.op) {
      case Op::constant: {
        const auto* const integer = std::get_if<std::int64_t>(&node.constant);
        may.push_back(integer == nullptr || *integer < 0);
        break;
      }
      case Op::scalar:
        may.push_back(node.source >= plan_.code.first_scalar && !counts_up_.contains(node.source));
        break;
      case Op::index:
      case Op::extent: may.push_back(false); break;
      case Op::cast: may.push_back(arg(0)); break;
      case Op::add:
      case Op::mul:
      case Op::floor_div:
      case Op::min: may.push_back(arg(0) || arg(1)); break;
      case Op::mod: may.push_back(arg(1)); break;
      case Op::max: may.push_back(arg(0) && arg(1)); break;
      default: may.push_back(true); break;
    }
  }
  return may.back();
}

KernelWriter::Texts KernelWriter::origin_of(const Window& window, const Texts& extents) {
  using Kind = TileIndex::Kind;
  const std::size_t rank = window.tile.size();
  Texts origin(rank);
  if (window.kind == Kind::gather) return Texts(rank, "0");
  std::string number;
  if (window.kind == Kind::linear) {
    number = fresh("n");
    line("const i64 " + number + " = " + integer(window.at.front()) + ";");
  }
  for (std::size_t i = rank; i-- > 0;) {
    const std::string tile = std::to_string(window.tile[i]);
    std::string text;
    if (window.kind == Kind::linear && rank > 1) {
      // Tiles along the last axis come first; the first axis takes what is left.
      const std::string tiles = fresh("n");
      line("const i64 " + tiles + " = " + extents[i] + " > 0 ? (" + extents[i] + " + " + tile +
           " - 1) / " + tile + " : 1;");
      const std::string next = fresh("n");
      line("const i64 " + next + " = " + number + " / " + tiles + ";");
      text = "(" + (i == 0 ? number : number + " % " + tiles) + ") * " + tile;
      number = next;
    } else if (window.kind == Kind::linear) {
      text = number + " * " + tile;
    } else {
      text = integer(window.at[i]) + (window.kind == Kind::tile ? " * " + tile : "");
    }
    origin[i] = fresh("o");
    line("const i64 " + origin[i] + " = " + text + ";");
  }
  return origin;
}

KernelWriter::Opened KernelWriter::open_window(const Window& window, const Distribution& of) {
  const ViewSlot& view = plan_.code.views[static_cast<std::size_t>(window.view)];
  const SetView* const made = views_[static_cast<std::size_t>(window.view)];
  const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(view.tensor)];
  const std::size_t rank = window.tile.size();
  Opened opened{.facts = facts_of(window, plan_.code, plan_.signature.tensors, views_)};
  const std::string name = "w" + std::to_string(window.view);
  opened.tensor = "p.t" + std::to_string(view.tensor);
  const std::string offset = made != nullptr ? name + "_offset" : "";
  std::int64_t multiple = 1 << 20;  // of every stride but that of vectors, and of the offset
  const auto narrow = [&](std::int64_t of_value) {
    std::int64_t power = 1;
    while (of_value != 0 && of_value % (2 * power) == 0 && power < multiple) power *= 2;
    if (of_value != 0) multiple = std::min(multiple, power);
  };
  const bool begins_at_zero =
      made == nullptr || !made->offset ||
      (made->offset->code.is_known() && expr::to_double(made->offset->code.literal) == 0);
  if (!begins_at_zero) narrow(multiple_of(*made->offset, plan_.code));
  std::int64_t below = 1;  // what row-major strides of a view are multiples of
  Texts by_axis_stride(rank), by_axis_extent(rank);
  std::vector<std::int64_t> stride_multiples(rank, 1), extent_multiples(rank, 1);
  const bool counts_tiles =
      window.kind == TileIndex::Kind::tile || window.kind == TileIndex::Kind::linear;
  for (std::size_t axis = rank; axis-- > 0;) {
    if (made != nullptr) {
      by_axis_extent[axis] = name + "_extent" + std::to_string(axis);
      by_axis_stride[axis] = name + "_stride" + std::to_string(axis);
      stride_multiples[axis] =
          made->stride.empty() ? below : multiple_of(made->stride[axis], plan_.code);
      extent_multiples[axis] = multiple_of(made->shape[axis], plan_.code);
      below *= std::min<std::int64_t>(1 << 20, extent_multiples[axis]);
      below = std::min<std::int64_t>(below, 1 << 20);
    } else {
      const Layout own = mode(tensor.layout, axis);
      by_axis_extent[axis] = dim_text(product(own.shape()));
      extent_multiples[axis] = multiple_of(product(own.shape()), plan_.code);
      const Dim& stride = own.leaves().front().stride;
      by_axis_stride[axis] = dim_text(stride);
      stride_multiples[axis] = multiple_of(stride, plan_.code);
    }
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = window.order.empty() ? i : static_cast<std::size_t>(window.order[i]);
    opened.extents.push_back(by_axis_extent[axis]);
    opened.strides.push_back(by_axis_stride[axis]);
    const bool is_vector = static_cast<int>(i) == opened.facts.vector_axis;
    if (is_vector) opened.strides.back() = "1";
    if (!is_vector) narrow(stride_multiples[axis]);
  }
  opened.origin = origin_of(window, opened.extents);
  if (opened.facts.nested || window.kind == TileIndex::Kind::gather) {
    opened.tensor += offset.empty() ? "" : " + " + offset;
    return opened;
  }
  const int vector = opened.facts.vector_axis;
  if (vector >= 0) {
    const auto i = static_cast<std::size_t>(vector);
    if (window.kind == TileIndex::Kind::element) {
      narrow(multiple_of(window.at[i], plan_.code));
    } else {
      narrow(window.tile[i]);
    }
  }
  std::string start = offset;
  for (std::size_t i = 0; i < rank; ++i) {
    start += (start.empty() ? "" : " + ") + opened.origin[i] +
             (opened.strides[i] == "1" ? "" : " * " + opened.strides[i]);
  }
  const std::string at = fresh("o");
  line("const i64 " + at + " = " + (start.empty() ? "0" : start) + ";");
  opened.base = opened.tensor + " + " + at;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool negative = window.kind == TileIndex::Kind::linear
                              ? may_be_negative(window.at.front())
                              : may_be_negative(window.at[i]);
    const std::string tile = std::to_string(window.tile[i]);
    headers_.insert("math");
    const auto clamped = [&](const std::string& value) {
      const std::string number = fresh("n");
      line("const int " + number + " = int(math::clamp<i64>(" + value + ", 0, " + tile + "));");
      return number;
    };
    opened.below.push_back(negative ? clamped("-" + opened.origin[i]) : "");
    opened.above.push_back(clamped(opened.extents[i] + " - " + opened.origin[i]));
  }
  const std::int64_t count =
      vector < 0 ? 1 : std::min(of.vector_along(vector), opened.facts.vector);
  opened.all_or_none = counts_tiles;
  const bool from_front =
      std::ranges::all_of(opened.below, [](const std::string& one) { return one.empty(); });
  if (from_front) {
    std::string whole;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t tile = window.tile[i];
      const std::size_t axis = window.order.empty() ? i : static_cast<std::size_t>(window.order[i]);
      opened.all_or_none = opened.all_or_none && extent_multiples[axis] % tile == 0;
      whole += (whole.empty() ? "" : " && ") + opened.above[i] + " == " + std::to_string(tile);
    }
    opened.whole = fresh("whole");
    line("const bool " + opened.whole + " = " + (whole.empty() ? "true" : whole) + ";");
  }
  if (count > 1 && from_front) {
    if (multiple % count == 0) {
      opened.wide = "true";
    } else {
      std::string bits = at;
      for (std::size_t i = 0; i < rank; ++i) {
        if (static_cast<int>(i) != vector && window.tile[i] > 1) bits += " | " + opened.strides[i];
      }
      opened.wide = fresh("wide");
      line("const bool " + opened.wide + " = (" + bits + ") % " + std::to_string(count) + " == 0;");
    }
  }
  return opened;
}

KernelWriter::Address KernelWriter::address(const Opened& opened, const Window& window,
                                            const Distribution& of) {
  std::string first = opened.base;
  std::string of_value;
  for (std::size_t i = 0; i < window.tile.size(); ++i) {
    const int axis = static_cast<int>(i);
    const std::string by = opened.strides[i] == "1" ? "" : " * " + opened.strides[i];
    const std::string thread = thread_coordinate(of, axis);
    const std::string value = digits_text(of.of_value, axis, "i");
    if (!thread.empty()) first += " + " + thread + by;
    if (!value.empty()) of_value += " + (" + value + ")" + by;
  }
  const std::string name = fresh("from");
  line("const auto " + name + " = " + first + ";");
  return {name, of_value};
}

void KernelWriter::choose_path(const Opened& opened, const Distribution& of, std::int64_t count,
                               const std::function<void()>& fast,
                               const std::function<void()>& usual,
                               const std::function<void()>& absent) {
  const auto loop = [&](const std::function<void()>& body) {
    open_values(of.values(), count);
    body();
    close();
  };
  const int vector = opened.facts.vector_axis;
  // A vector over the edge of the tile may reach beyond the tensor.
  const bool straddles = count > 1 && of.shape[static_cast<std::size_t>(vector)] % count != 0;
  if (opened.whole.empty() || straddles) return loop(usual);
  const bool aligned = count == 1 || opened.wide == "true";
  open("if (" + opened.whole + (aligned ? "" : " && " + opened.wide) + ") {");
  const std::string is_inside = inside(of, "i");
  loop([&] {
    if (is_inside != "true") open("if (" + is_inside + ") {");
    fast();
    if (is_inside != "true") close();
  });
  const std::size_t end = out_.size();
  close("} else {");
  const std::size_t begin = out_.size();
  ++depth_;
  if (opened.all_or_none && aligned && absent) {
    absent();
  } else {
    loop(usual);
  }
  if (out_.size() == begin) out_.resize(end);  // nothing to do for a tile that is outside
  close();
}

/// How many elements exist from value `i` on along the axis of vectors; 0 if it lies outside along
/// another axis.
std::string KernelWriter::valid_text(const Opened& opened, const Distribution& of) {
  std::string inside;
  std::string valid = "1";
  for (std::size_t axis = 0; axis < of.shape.size(); ++axis) {
    const std::string at = coordinate(of, static_cast<int>(axis), "i");
    if (static_cast<int>(axis) == opened.facts.vector_axis && opened.below[axis].empty()) {
      valid = opened.above[axis] + " - (" + at + ")";
      continue;
    }
    inside += (inside.empty() ? "" : " && ") + at + " < " + opened.above[axis];
    if (!opened.below[axis].empty()) inside += " && " + at + " >= " + opened.below[axis];
  }
  return inside.empty() ? valid : inside + " ? " + valid + " : 0";
}

/// Element by element: for windows with a mask, an index tile or nested modes.
void KernelWriter::each_element(
    const Opened& opened, const Window& window, const Distribution& of,
    const std::function<void(const std::string& inside, const std::string& at)>& use) {
  const ViewSlot& view = plan_.code.views[static_cast<std::size_t>(window.view)];
  const SetView* const made = views_[static_cast<std::size_t>(window.view)];
  const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(view.tensor)];
  Texts indices;
  std::string mask;
  if (window.kind == TileIndex::Kind::gather) {
    for (const Value& at : window.at) indices.push_back(evaluated(at, of, i64).name);
  }
  if (window.mask) mask = evaluated(*window.mask, of, b8).name;
  open_values(of.values());
  std::string is_inside = inside(of, "i");
  if (is_inside == "true") is_inside.clear();
  const auto require = [&](const std::string& text) {
    is_inside += (is_inside.empty() ? "" : " && ") + text;
  };
  if (!mask.empty()) require("to_compute(" + mask + "[i])");
  std::string place;
  for (std::size_t i = 0; i < window.tile.size(); ++i) {
    const std::string at = "e" + std::to_string(i);
    line("const i64 " + at + " = " +
         (indices.empty()
              ? opened.origin[i] + " + (" + coordinate(of, static_cast<int>(i), "i") + ")"
              : indices[i] + "[i]") +
         ";");
    require(at + " >= 0 && " + at + " < " + opened.extents[i]);
    const std::size_t axis = window.order.empty() ? i : static_cast<std::size_t>(window.order[i]);
    std::string part;
    if (made == nullptr) {
      const Layout own = mode(tensor.layout, axis);
      part = layout::emit(own.leaves(), at, {.dim = [&](const Dim& dim) { return dim_text(dim); }});
    } else {
      part = at + " * " + opened.strides[i];
    }
    if (!part.empty()) place += (place.empty() ? "" : " + ") + part;
  }
  use(is_inside, "(" + opened.tensor + ")[" + (place.empty() ? "0" : place) + "]");
  close();
}

}  // namespace tilejit::program
