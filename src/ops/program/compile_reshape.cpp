// Reshape.
#include <algorithm>
#include <numeric>

#include "program/compiler.hpp"

namespace tilejit::program {
namespace {

bool is_role(std::string_view name) {
  constexpr std::string_view kRoles[] = {"MMA_C", "MMA_A", "MMA_B", "mma_C", "mma_A", "mma_B"};
  return std::ranges::find(kRoles, name) != std::end(kRoles);
}

}  // namespace

void Compiler::check_roles(const TileReshape& reshape) const {
  for (const std::vector<std::string>* roles : {&reshape.from, &reshape.to}) {
    if (!roles->empty() && is_role(roles->front())) continue;
    const std::string name = roles->empty() ? std::string() : roles->front();
    fail(name, "'" + name +
                   "' is no role of a product's fragment; they are MMA_C of a result, MMA_A "
                   "and MMA_B of an operand, as in 'from (MMA_C, MMA_M, MMA_N) to (MMA_A, "
                   "MMA_M, MMA_N_new)'");
  }
  const std::string& from = reshape.from.front();
  const std::string& to = reshape.to.front();
  if (from.back() != 'C' || to.back() == 'C') {
    fail(from, "a Reshape makes an operand of a result: from MMA_C to MMA_A or MMA_B", "from");
  }
}

Extents Compiler::extracted(const TileReshape& reshape, const TileType& from, Rearrange& made) {
  const std::size_t rank = from.shape.size();
  if (reshape.at.size() != rank) {
    fail(reshape.name, "'" + reshape.name + "' has " + std::to_string(rank) +
                           " axes, and the part " + std::to_string(reshape.at.size()) +
                           " places; give one per axis, '_' for a whole one");
  }
  if (!reshape.shape.empty() && reshape.shape.size() != rank) {
    fail(reshape.name, "the shape of the part has an extent per axis of '" + reshape.name + "', " +
                           std::to_string(rank));
  }
  Extents shape;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool whole = reshape.at[i].text() == "_";
    std::int64_t extent = 1;
    if (!reshape.shape.empty()) {
      extent = scope_.extent(reshape.shape[i]);
      shape.push_back(extent);
    } else if (whole) {
      extent = from.shape[i];
      shape.push_back(extent);
    }
    made.at.push_back(whole ? std::nullopt
                            : std::optional(scope_.integer(reshape.at[i], "a place in a tile")));
    const bool known = !whole && made.at.back()->code.is_known();
    const double begin = known ? expr::to_double(made.at.back()->code.literal) : 0;
    if (begin < 0 || begin + static_cast<double>(extent) > static_cast<double>(from.shape[i])) {
      source_.fail_at(reshape.at[i].place().begin,
                      "the part ends at " +
                          std::to_string(static_cast<std::int64_t>(begin) + extent) + " of axis " +
                          std::to_string(i) + ", which has " + std::to_string(from.shape[i]) +
                          " elements");
    }
  }
  return shape;
}

Extents Compiler::reshaped(const TileReshape& reshape, const TileType& from, Rearrange& made) {
  using Kind = TileReshape::Kind;
  Extents shape;
  for (const TileExpression& extent : reshape.shape) {
    if (reshape.kind != Kind::extract) shape.push_back(scope_.extent(extent));
  }
  switch (reshape.kind) {
    case Kind::role: return from.shape;
    case Kind::shape:
      if (count_of(shape) != count_of(from.shape)) {
        fail(reshape.name, to_string(from.shape) + " has " + std::to_string(count_of(from.shape)) +
                               " elements, and " + to_string(shape) + " has " +
                               std::to_string(count_of(shape)) + "; a Reshape keeps all elements");
      }
      return shape;
    case Kind::permute: {
      std::vector<int> sorted = reshape.axes;
      std::ranges::sort(sorted);
      std::vector<int> all(from.shape.size());
      std::iota(all.begin(), all.end(), 0);
      if (sorted != all) {
        fail("permute", "permute names each of the " + std::to_string(all.size()) + " axes of '" +
                            reshape.name + "' once, as in 'permute (1, 0)'");
      }
      made.axes = reshape.axes;
      for (const int axis : reshape.axes)
        shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
      return shape;
    }
    case Kind::broadcast: {
      const auto both = broadcast(from.shape, shape);
      if (!both || *both != shape) {
        fail(reshape.name, to_string(from.shape) + " does not broadcast to " + to_string(shape) +
                               ": axes are equal, or 1, counted from the last");
      }
      return shape;
    }
    case Kind::extract: return extracted(reshape, from, made);
    case Kind::insert: {
      const TileBinding& source = scope_.read_tile(reshape.source, place_, "insert");
      const TileType& part = scope_.code().tiles[static_cast<std::size_t>(source.slot)].type;
      if (part.dtype != from.dtype || part.shape.size() != from.shape.size()) {
        fail(reshape.source,
             "'" + reshape.source + "' is " + to_string(part) + ", and '" + reshape.name + "' " +
                 to_string(from) + "; they have one dtype and as many axes",
             "insert");
      }
      made.source = source.slot;
      for (std::size_t i = 0; i < reshape.at.size() && i < from.shape.size(); ++i) {
        made.at.emplace_back(scope_.integer(reshape.at[i], "a place in a tile"));
        const expr::Expression& code = made.at.back()->code;
        if (!code.is_known()) continue;
        const double begin = expr::to_double(code.literal);
        if (begin < 0 ||
            begin + static_cast<double>(part.shape[i]) > static_cast<double>(from.shape[i])) {
          source_.fail_at(reshape.at[i].place().begin,
                          "the part does not fit: axis " + std::to_string(i) + " of '" +
                              reshape.name + "' has " + std::to_string(from.shape[i]) +
                              " elements");
        }
      }
      if (reshape.at.size() != from.shape.size()) {
        fail(
            reshape.source,
            "give a place per axis of '" + reshape.name + "': " + std::to_string(from.shape.size()),
            "insert");
      }
      return from.shape;
    }
    case Kind::cat: break;
  }
  const auto rank = static_cast<int>(from.shape.size());
  made.axis = reshape.axis < 0 ? reshape.axis + rank : reshape.axis;
  if (made.axis < 0 || made.axis >= rank) {
    fail("axis", "there is no axis " + std::to_string(reshape.axis) + ": '" + reshape.name +
                     "' has " + std::to_string(rank));
  }
  shape = from.shape;
  for (const std::string& name : reshape.others) {
    const TileBinding& other = scope_.read_tile(name, place_, "cat");
    const TileType& type = scope_.code().tiles[static_cast<std::size_t>(other.slot)].type;
    Extents expected = from.shape;
    if (type.shape.size() == expected.size()) {
      const auto axis = static_cast<std::size_t>(made.axis);
      expected[axis] = type.shape[axis];
      shape[axis] += type.shape[axis];
    }
    if (type.shape != expected || type.dtype != from.dtype) {
      fail(name,
           "'" + name + "' is " + to_string(type) + " and '" + reshape.name + "' " +
               to_string(from) + "; they differ along axis " + std::to_string(made.axis) + " only",
           "cat");
    }
    made.others.push_back(other.slot);
  }
  return shape;
}

void Compiler::reshape(const TileReshape& reshape, Steps& steps) {
  TileBinding& tile = scope_.read_tile(reshape.name, place_, "Reshape");
  if (reshape.kind == TileReshape::Kind::role) {
    check_roles(reshape);
    if (!tile.facts.product) {
      fail(reshape.name,
           "'" + reshape.name +
               "' is no result of a product, so it has no fragments to reshape; "
               "leave this line out",
           "Reshape");
    }
  }
  const TileType from = scope_.code().tiles[static_cast<std::size_t>(tile.slot)].type;
  Rearrange step{.kind = reshape.kind, .from = tile.slot};
  Facts facts{.filled = true, .ragged = tile.facts.ragged};
  const TileType type{from.dtype, reshaped(reshape, from, step)};
  const std::string& name = reshape.as.empty() ? reshape.name : reshape.as;
  step.out = fill(name, TileSpace::registers, type, std::move(facts)).slot;
  add(steps, std::move(step));
}

}  // namespace tilejit::program
