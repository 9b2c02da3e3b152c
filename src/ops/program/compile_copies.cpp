// Allocate and Copy.
#include <algorithm>
#include <numeric>

#include "program/compiler.hpp"
#include "program/words.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::program {
namespace {

std::string in_quotes(const std::string& name) {
  return "'" + name + "'";
}

std::string axes_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " axis" : " axes");
}

/// A type that elements of `from` are stored in without a cast that the author would have to write.
bool stores_without_cast(DType from, DType to) {
  if (is_floating(from) == is_floating(to)) return true;
  return is_floating(to) || to == b8;
}

}  // namespace

void Compiler::allocate(const TileAllocate& made, Steps& steps) {
  if (made.space == TileSpace::global) return allocate_view(made, steps);
  allocate_tile(made, steps);
}

void Compiler::allocate_view(const TileAllocate& made, Steps& steps) {
  const auto refuse = [&](bool given, const char* what, const char* advice) {
    if (given) fail(made.name, std::string("a view in global has no ") + what + "; " + advice);
  };
  refuse(made.dtype.has_value(), "dtype of its own", "it has its tensor's");
  refuse(made.init.has_value(), "value to start with", "use 'zeroed' of its tensor");
  refuse(made.layout.has_value(), "layout", "give a stride, as in 'stride (1, M)'");
  if (made.shape.empty()) fail(made.name, "a view has at least one axis");
  if (!made.stride.empty() && made.stride.size() != made.shape.size()) {
    fail("stride", "the view has " + axes_text(made.shape.size()) + ", and " +
                       std::to_string(made.stride.size()) + " strides; give one per axis");
  }
  (void)scope_.read_view(made.name, place_);
  SetView step;
  ViewBinding view;
  for (const TileExpression& extent : made.shape) {
    step.shape.push_back(scope_.integer(extent, "an extent of a view"));
    const Value& value = step.shape.back();
    const bool known = value.code.is_known();
    view.multiples.push_back(scope_.multiple_of(value));
    view.extents.push_back(known ? "" : extent.text());
    view.known.push_back(
        known ? std::optional(static_cast<std::int64_t>(expr::to_double(value.code.literal)))
              : std::nullopt);
    if (known && expr::to_double(value.code.literal) < 0) {
      source_.fail_at(extent.place().begin, "an extent of a view is not negative");
    }
  }
  if (made.offset) step.offset = scope_.integer(*made.offset, "an offset");
  for (const TileExpression& stride : made.stride) {
    step.stride.push_back(scope_.integer(stride, "a stride"));
  }
  step.view = scope_.declare_view(made.name, std::move(view), place_).slot;
  add(steps, std::move(step));
}

void Compiler::allocate_tile(const TileAllocate& made, Steps& steps) {
  if (made.offset || !made.stride.empty()) {
    fail(made.offset ? "offset" : "stride",
         "only a view in global has an offset and strides; leave it out");
  }
  if (!made.dtype) {
    fail(made.name, "tile " + in_quotes(made.name) + " has no dtype; add one, as in ': f32'");
  }
  TileType type{.dtype = *made.dtype};
  for (const TileExpression& extent : made.shape) type.shape.push_back(scope_.extent(extent));
  if (count_of(type.shape) > std::int64_t{1} << 24) {
    fail(made.name,
         "tile " + in_quotes(made.name) + " has more than 2^24 elements; use smaller ones");
  }
  if (made.layout) {
    if (made.space != TileSpace::shared) {
      fail("layout",
           "only tiles in shared have a layout; threads of a register tile are given by "
           "'tv' of its Copy");
    }
    const Dim size = product(made.layout->layout().shape());
    if (!size.is(count_of(type.shape))) {
      fail("layout", "the layout has " + tilejit::to_string(size) + " elements, and the tile " +
                         std::to_string(count_of(type.shape)));
    }
  }
  Fill step;
  if (made.init) {
    const expr::SourceText text = source_.part(made.init->place());
    step.value = scope_.tile_value(text, type.shape, type.dtype);
  }
  TileBinding& tile = scope_.declare_tile(made.name, made.space, type, place_);
  tile.facts.filled = made.init.has_value();
  scope_.code().tiles[static_cast<std::size_t>(tile.slot)].layout = made.layout;
  step.tile = tile.slot;
  add(steps, std::move(step));
}

void Compiler::copy(const TileCopy& copy, Steps& steps) {
  const bool from_global = copy.from == TileSpace::global;
  const bool to_global = copy.to == TileSpace::global;
  if (from_global && to_global) {
    fail(copy.name, "a Copy from global to global has no tile between; copy to register first",
         "Copy");
  }
  if (from_global) return load(copy, steps);
  if (to_global) return store(copy, steps);
  stage(copy, steps);
}

Compiler::Use& Compiler::use_of(const std::string& tensor) {
  return uses_[static_cast<std::size_t>(scope_.tensor_index(tensor))];
}

Window Compiler::window(const std::string& tensor, const std::vector<TileExpression>& tile,
                        const TileIndex& index, const std::vector<int>& order,
                        const std::optional<TileExpression>& mask, std::string_view after) {
  const ViewBinding view = scope_.read_view(tensor, place_, after);
  Window made{.view = view.slot, .kind = index.kind, .order = order};
  if (tile.empty()) {
    fail(tensor,
         "which part of " + in_quotes(tensor) + "? Name the tile and its place, as in '" + tensor +
             " (64, 64) in coordinate [0, 0]'",
         after);
  }
  for (const TileExpression& extent : tile) made.tile.push_back(scope_.extent(extent));
  if (count_of(made.tile) > std::int64_t{1} << 24) {
    fail(tensor, "the tile has more than 2^24 elements; use smaller ones", after);
  }
  check_window(view, tensor, made, index, after);
  for (const TileExpression& at : index.at) {
    if (index.kind == TileIndex::Kind::gather) {
      made.at.push_back(scope_.tile_value(source_.part(at.place()), made.tile, std::nullopt));
      const expr::Expression& code = made.at.back().code;
      if (!code.is_known() && !is_integer(code.nodes.back().type)) {
        source_.fail_at(at.place().begin, "an index is an integer, not " +
                                              std::string(to_string(code.nodes.back().type)));
      }
    } else {
      made.at.push_back(scope_.integer(at, "a coordinate"));
    }
  }
  if (mask) made.mask = scope_.tile_value(source_.part(mask->place()), made.tile, b8);
  return made;
}

void Compiler::check_window(const ViewBinding& view, const std::string& tensor,
                            const Window& window, const TileIndex& index,
                            std::string_view after) const {
  const std::size_t rank = view.multiples.size();
  const std::string whose = in_quotes(tensor) + " has " + axes_text(rank);
  if (window.tile.size() != rank) {
    fail(tensor,
         whose + ", and the tile " + axes_text(window.tile.size()) +
             "; give the tile an extent per axis, 1 where it has only one element",
         after);
  }
  if (index.kind == TileIndex::Kind::none) {
    fail(tensor, "the place of the tile is missing, as in 'in coordinate [block_idx.x]'", after);
  }
  if (index.kind != TileIndex::Kind::linear && index.at.size() != rank) {
    fail(tensor,
         whose + ", and its place " + std::to_string(index.at.size()) +
             " numbers; give one per axis, or count tiles: [L = i]",
         after);
  }
  if (window.order.empty()) return;
  std::vector<int> sorted = window.order;
  std::ranges::sort(sorted);
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    fail("order", "order names each of the " + axes_text(rank) + " once, as in 'order (1, 0)'");
  }
}

bool Compiler::may_be_ragged(const ViewBinding& view, const Window& window) const {
  if (window.mask) return true;
  const bool counts_tiles =
      window.kind == TileIndex::Kind::linear || window.kind == TileIndex::Kind::tile;
  for (std::size_t i = 0; i < window.tile.size(); ++i) {
    const std::size_t axis = window.order.empty() ? i : static_cast<std::size_t>(window.order[i]);
    const std::int64_t tile = window.tile[i];
    if (counts_tiles && view.multiples[axis] % tile == 0) continue;
    if (tile == 1 && counts_tiles) continue;
    const bool at_zero = window.kind == TileIndex::Kind::element && window.at[i].code.is_known() &&
                         expr::to_double(window.at[i].code.literal) == 0;
    if (at_zero && view.known[axis] && tile <= *view.known[axis]) continue;
    return true;
  }
  return false;
}

TileBinding& Compiler::fill(const std::string& name, TileSpace space, const TileType& type,
                            Facts facts) {
  TileBinding* tile = scope_.find_tile(name, space);
  if (tile != nullptr && tile->declared) {
    const TileType& own = scope_.code().tiles[static_cast<std::size_t>(tile->slot)].type;
    if (own.shape != type.shape) {
      fail(name, in_quotes(name) + " is allocated as " + to_string(own.shape) +
                     ", and the tile that it gets is " + to_string(type.shape));
    }
    if (!stores_without_cast(type.dtype, own.dtype)) {
      fail(name, in_quotes(name) + " is allocated as " + std::string(to_string(own.dtype)) +
                     " and gets " + std::string(to_string(type.dtype)) +
                     "; copy to another name, and cast");
    }
  } else {
    tile = &scope_.make_tile(name, space, type, place_);
  }
  facts.filled = true;
  tile->facts = std::move(facts);
  return *tile;
}

void Compiler::load(const TileCopy& copy, Steps& steps) {
  const std::string& name = copy.as.empty() ? copy.name : copy.as;
  const bool is_part = !copy.tile.empty();
  (void)scope_.read_view(copy.name, place_, "Copy");
  if (!is_part) (void)window(copy.name, copy.tile, copy.index, copy.order, copy.mask, "Copy");
  Load step{.window = window(copy.name, copy.tile, copy.index, copy.order, copy.mask, "Copy"),
            .pad = copy.pad};
  const Tensor& tensor =
      scope_.program().tensors[static_cast<std::size_t>(scope_.tensor_index(copy.name))];
  const bool needs_float = copy.pad == TilePad::nan || copy.pad == TilePad::pos_inf ||
                           copy.pad == TilePad::neg_inf || copy.pad == TilePad::neg_zero;
  if (needs_float && !is_floating(tensor.dtype)) {
    fail("pad", "a pad of " + std::string(text_of(kPads, copy.pad)) +
                    " needs a floating type, and " + in_quotes(copy.name) + " is " +
                    std::string(to_string(tensor.dtype)) + "; use zero or one");
  }
  step.tv = known_tv(copy, step.window.tile);
  if (copy.to == TileSpace::shared) check_staged_load(copy, name);
  const ViewBinding& view = scope_.read_view(copy.name, place_, "Copy");
  Facts facts{.filled = true};
  if (copy.pad == TilePad::none && may_be_ragged(view, step.window)) facts.ragged = place_.begin;
  for (std::size_t i = 0; i < step.window.tile.size(); ++i) {
    facts.axes.push_back(
        view.extents[copy.order.empty() ? i : static_cast<std::size_t>(copy.order[i])]);
  }
  use_of(copy.name).loaded = true;
  step.tile = fill(name, copy.to, {tensor.dtype, step.window.tile}, std::move(facts)).slot;
  if (copy.to == TileSpace::shared) {
    int& buffers = buffers_[step.tile];
    buffers = std::max({buffers, stages_, 1});
  }
  add(steps, std::move(step));
}

void Compiler::check_staged_load(const TileCopy& copy, const std::string& name) {
  if (stages_ < 2) return;
  if (!staged_.insert(name).second) {
    fail(
        copy.name,
        "the shared tile " + in_quotes(name) +
            " is overwritten while its readers remain: a loop with stages copies it once per step; "
            "give the second copy another name with 'as'",
        "Copy");
  }
}

std::optional<ThreadValueLayouts> Compiler::known_tv(const TileCopy& copy,
                                                     const Extents& tile) const {
  if (!copy.tv) return std::nullopt;
  try {
    const SymbolValues constants = scope_.known_integers();
    const ThreadValueLayouts known{substitute(copy.tv->thr, constants),
                                   substitute(copy.tv->val, constants)};
    const LayoutTV tv = make_layout_tv(known.thr, known.val);
    Extents covered;
    for (std::size_t i = 0; i < rank(tv.layout_mn); ++i) {
      covered.push_back(product(mode(tv.layout_mn, i).shape()).value());
    }
    if (covered != tile) {
      fail("tv", "the threads and values of 'tv' cover " + to_string(covered) +
                     ", and the tile is " + to_string(tile));
    }
    return known;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_formula) throw;
    const bool is_unknown = error.code() == ErrorCode::invalid_argument;
    fail("tv", (is_unknown ? "the layouts of 'tv' are of integers and constants, which are known "
                             "before the launch: "
                           : "") +
                   std::string(error.what()));
  }
}

void Compiler::store(const TileCopy& copy, Steps& steps) {
  const std::string& target = copy.as.empty() ? copy.name : copy.as;
  const std::string_view after = copy.as.empty() ? "Copy" : "as";
  if (copy.pad != TilePad::none) {
    fail("pad", "a store has no pad: what is outside the tensor is not written; leave it out");
  }
  TileBinding* tile = scope_.find_tile(copy.name, copy.from);
  if (tile == nullptr) {
    const TileSpace other =
        copy.from == TileSpace::shared ? TileSpace::registers : TileSpace::shared;
    const bool elsewhere = scope_.find_tile(copy.name, other) != nullptr;
    if (elsewhere) {
      fail(copy.name,
           in_quotes(copy.name) + " is in " + std::string(text_of(kSpaces, other)) + ", not in " +
               std::string(text_of(kSpaces, copy.from)) + "; write 'from " +
               std::string(text_of(kSpaces, other)) + "'",
           "Copy");
    }
  }
  tile = &scope_.read_tile(copy.name, place_, "Copy");
  if (TileBinding* const named = scope_.find_tile(copy.name, copy.from)) tile = named;
  const TileType type = scope_.code().tiles[static_cast<std::size_t>(tile->slot)].type;
  const int slot = tile->slot;
  (void)scope_.read_view(target, place_, after);
  Store step{.window = window(target, copy.tile, copy.index, copy.order, copy.mask, after),
             .tile = slot};
  if (step.window.tile != type.shape) {
    fail(copy.name,
         in_quotes(copy.name) + " is " + to_string(type.shape) + ", and the tile to store " +
             to_string(step.window.tile) + "; they are equal",
         "Copy");
  }
  const Tensor& tensor =
      scope_.program().tensors[static_cast<std::size_t>(scope_.tensor_index(target))];
  if (!stores_without_cast(type.dtype, tensor.dtype)) {
    fail(copy.name,
         in_quotes(copy.name) + " is " + std::string(to_string(type.dtype)) + " and tensor " +
             in_quotes(target) + " " + std::string(to_string(tensor.dtype)) +
             "; say how it is rounded: 'Compute x = cast(" + copy.name + ", " +
             std::string(to_string(tensor.dtype)) + ")'",
         "Copy");
  }
  step.tv = known_tv(copy, step.window.tile);
  Use& use = use_of(target);
  if (!use.stored && !use.updated) use.place = place_;
  use.stored = true;
  add(steps, std::move(step));
}

void Compiler::stage(const TileCopy& copy, Steps& steps) {
  if (!copy.tile.empty() || copy.index.kind != TileIndex::Kind::none || copy.mask ||
      copy.pad != TilePad::none || !copy.order.empty()) {
    fail(copy.name,
         "a Copy between shared and register takes the whole tile; use Reshape to take a part",
         "Copy");
  }
  TileBinding* from = scope_.find_tile(copy.name, copy.from);
  if (from == nullptr || !from->facts.filled) {
    const bool elsewhere = from == nullptr && scope_.find_tile(copy.name, copy.to) != nullptr;
    if (elsewhere) {
      fail(copy.name,
           in_quotes(copy.name) + " is in " + std::string(text_of(kSpaces, copy.to)) +
               " already, and not in " + std::string(text_of(kSpaces, copy.from)),
           "Copy");
    }
    from = &scope_.read_tile(copy.name, place_, "Copy");
  }
  const std::string& name = copy.as.empty() ? copy.name : copy.as;
  if (copy.from == copy.to && name == copy.name) {
    fail(copy.name, "the Copy changes nothing; name what it makes with 'as'", "Copy");
  }
  if (copy.to == TileSpace::shared) check_staged_load(copy, name);
  const TileType type = scope_.code().tiles[static_cast<std::size_t>(from->slot)].type;
  Facts facts = from->facts;
  facts.product = false;  // in memory, or read from it, as an operand needs it
  Move step{.from = from->slot};
  step.to = fill(name, copy.to, type, std::move(facts)).slot;
  add(steps, step);
}

}  // namespace tilejit::program
