// Compute, Reduce and Scan.
#include <algorithm>

#include "expr/names.hpp"
#include "program/compiler.hpp"
#include "program/words.hpp"

namespace tilejit::program {
namespace {

/// The message of an error about a text that the author did not write: its first sentence.
std::string sentence_of(const Error& error) {
  std::string text = error.what();
  const std::size_t colon = text.find(": ");
  if (colon != std::string::npos) text.erase(0, colon + 2);
  return text.substr(0, text.find('\n'));
}

struct Operator {
  std::string_view name;
  std::string_view infix;
};
constexpr Operator kOperators[] = {{"Add", "+"}, {"Subtract", "-"}, {"Sub", "-"}, {"Multiply", "*"},
                                   {"Mul", "*"}, {"Divide", "/"},   {"Div", "/"}};

std::string called_text(const TileCompute& compute) {
  const auto* const infix = std::ranges::find(kOperators, compute.function, &Operator::name);
  if (infix != std::end(kOperators) && compute.arguments.size() == 2) {
    return "(" + compute.arguments[0].text() + ") " + std::string(infix->infix) + " (" +
           compute.arguments[1].text() + ")";
  }
  std::string text = compute.function + "(";
  for (std::size_t i = 0; i < compute.arguments.size(); ++i) {
    text += (i == 0 ? "" : ", ") + compute.arguments[i].text();
  }
  return text + ")";
}

}  // namespace

template <typename Make>
auto Compiler::synthetic(const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool placed = what.find("program line") == 0;
    if (placed) throw;
    source_.fail_at(place_.begin, sentence_of(error));
  }
}

void Compiler::compute(const TileCompute& compute, Steps& steps) {
  if (!compute.function.empty()) return call(compute, steps);
  if (!compute.value) fail("Compute", "a Compute has a value, as in 'Compute C = A + B'");
  const expr::SourceText text = source_.part(compute.value->place());
  assign(compute.out, text, scope_.facts_of(text.text), false, {}, steps);
}

void Compiler::call(const TileCompute& compute, Steps& steps) {
  const auto* const infix = std::ranges::find(kOperators, compute.function, &Operator::name);
  if (infix != std::end(kOperators) && compute.arguments.size() != 2) {
    fail(compute.function, "'" + compute.function + "' takes 2 arguments, not " +
                               std::to_string(compute.arguments.size()));
  }
  const std::string text = called_text(compute);
  synthetic([&] {
    assign(compute.out, {text, "call", source_.where()}, scope_.facts_of(text), false, {}, steps);
  });
}

void Compiler::assign(const std::string& out, const expr::SourceText& text, Facts facts,
                      bool drop_axes, const std::vector<int>& axes, Steps& steps) {
  TileBinding* known = scope_.find_tile(out, TileSpace::registers);
  if (known == nullptr && scope_.find_tile(out, TileSpace::shared) != nullptr) {
    known = scope_.find_tile(out, TileSpace::shared);
    if (known->declared && !known->facts.filled) {
      fail(out, "'" + out +
                    "' is in shared, and a Compute makes tiles in registers; compute another "
                    "name, and Copy that to shared");
    }
    known = nullptr;
  }
  const bool declared = known != nullptr && known->declared;
  if (declared) {
    const TileType type = scope_.code().tiles[static_cast<std::size_t>(known->slot)].type;
    if (drop_axes) {
      Compute step{.value = scope_.tile_value(text, std::nullopt, type.dtype), .out = known->slot};
      const auto shapes = shapes_of(step.value.code, step.value.space, scope_.code().tiles);
      Extents shape = shapes.empty() ? Extents() : shapes.back();
      for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
        shape.erase(shape.begin() + *axis);
      if (shape != type.shape) {
        fail(out, "'" + out + "' is allocated as " + to_string(type.shape) +
                      ", and the result is " + to_string(shape));
      }
      facts.filled = true;
      known->facts = std::move(facts);
      return add(steps, std::move(step));
    }
    // Reductions work on the shape of their tiles, not on that of the result.
    Compute step{.value = scope_.tile_value(text, std::nullopt, type.dtype), .out = known->slot};
    const auto shapes = shapes_of(step.value.code, step.value.space, scope_.code().tiles);
    const Extents own = shapes.empty() ? Extents() : shapes.back();
    const auto both = broadcast(own, type.shape);
    // iota counts over the tile that is assigned; a reduction over the tiles that it reads.
    const bool combines = std::ranges::any_of(step.value.code.nodes, [](const expr::Node& node) {
      return expr::combines_elements(node.op);
    });
    const bool smaller = own != type.shape && !combines;
    if (!both || *both != type.shape) {
      fail(out, "the value is " + to_string(own) + ", and '" + out + "' is allocated as " +
                    to_string(type.shape) + ": axes are equal, or 1, counted from the last");
    }
    if (smaller) step.value = scope_.tile_value(text, type.shape, type.dtype);
    facts.filled = true;
    known->facts = std::move(facts);
    return add(steps, std::move(step));
  }
  Value value = scope_.tile_value(text, std::nullopt, std::nullopt);
  if (value.space.empty()) {
    fail(out, "the value names no tile, so nothing says how large '" + out +
                  "' is; Allocate it first, or use Let for a scalar");
  }
  TileType type{.dtype = value.code.is_known() ? expr::default_type(value.code.literal)
                                               : value.code.nodes.back().type,
                .shape = value.space};
  if (!value.code.is_known()) {
    type.shape = shapes_of(value.code, value.space, scope_.code().tiles).back();
  }
  if (drop_axes) {
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      type.shape.erase(type.shape.begin() + *axis);
    }
  }
  TileBinding& tile = scope_.make_tile(out, TileSpace::registers, type, place_);
  facts.filled = true;
  tile.facts = std::move(facts);
  add(steps, Compute{.value = std::move(value), .out = tile.slot});
}

void Compiler::refuse_ragged(const TileBinding& tile, const std::string& name,
                             const std::string& what, std::string_view after) const {
  if (!tile.facts.ragged) return;
  fail(name,
       "'" + name + "' may reach beyond its tensor, and nothing is known of what it has there; " +
           what + " would use it: give the Copy of line " +
           std::to_string(expr::line_number(source_.text(), *tile.facts.ragged)) +
           " a pad, or promise that the extent is divisible",
       after);
}

std::vector<int> Compiler::axes_of(const TileBinding& tile, const std::vector<int>& axes) {
  const auto rank =
      static_cast<int>(scope_.code().tiles[static_cast<std::size_t>(tile.slot)].type.shape.size());
  std::vector<int> all;
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) all.push_back(axis);
    return all;
  }
  for (const int axis : axes) {
    const int from_first = axis < 0 ? axis + rank : axis;
    if (from_first < 0 || from_first >= rank) {
      fail("axis", "there is no axis " + std::to_string(axis) + ": the tile has " +
                       std::to_string(rank) + (rank == 1 ? " axis" : " axes") +
                       ", counted from 0, or from -1 backwards");
    }
    if (std::ranges::find(all, from_first) != all.end()) {
      fail("axis", "axis " + std::to_string(axis) + " is named twice");
    }
    all.push_back(from_first);
  }
  std::ranges::sort(all);
  return all;
}

void Compiler::reduce(const TileReduce& reduce, Steps& steps) {
  TileBinding& tile = scope_.read_tile(reduce.name, place_);
  refuse_ragged(tile, reduce.name, "the reduction", {});
  const std::vector<int> axes = axes_of(tile, reduce.axes);
  if (axes.empty()) fail(reduce.name, "the tile has no axis to reduce");
  std::string text =
      std::string(text_of(kReductions, reduce.kind)) + "(" + reduce.name + ", axis=(";
  for (std::size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(axes[i]);
  text += ")";
  if (reduce.init) text += ", init=" + reduce.init->text();
  text += ")";
  synthetic([&] {
    assign(reduce.out, {text, "reduction", source_.where()}, {.filled = true}, !reduce.keepdims,
           axes, steps);
  });
}

void Compiler::scan(const TileScan& scan, Steps& steps) {
  TileBinding& tile = scope_.read_tile(scan.name, place_);
  refuse_ragged(tile, scan.name, "the scan", {});
  const std::vector<int> axes = axes_of(tile, {scan.axis});
  std::string text = "cum" + std::string(text_of(kScans, scan.kind)) + "(" + scan.name +
                     ", axis=" + std::to_string(axes.front());
  if (scan.exclusive) text += ", exclusive=true";
  if (scan.reverse) text += ", reverse=true";
  text += ")";
  synthetic([&] {
    assign(scan.out, {text, "scan", source_.where()}, {.filled = true}, false, {}, steps);
  });
}

}  // namespace tilejit::program
