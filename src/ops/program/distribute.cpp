#include "program/distribute.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tilejit::program {
namespace {

std::size_t index_of(int slot) {
  return static_cast<std::size_t>(slot);
}

/// `shape` with axes of 1 in front, up to `rank`.
Extents aligned(const Extents& shape, std::size_t rank) {
  if (shape.size() >= rank) return shape;
  Extents made(rank - shape.size(), 1);
  made.insert(made.end(), shape.begin(), shape.end());
  return made;
}

bool same_without_ones(const Extents& a, const Extents& b) {
  const auto without = [](Extents shape) {
    std::erase(shape, 1);
    return shape;
  };
  return without(a) == without(b);
}

/// Whether the elements of a window lie side by side along the tensor's axis.
bool is_contiguous(const Window& window, std::size_t axis, const Code& code,
                   const std::vector<Tensor>& tensors, const SetView* view) {
  if (view != nullptr) {
    if (view->stride.empty()) return axis + 1 == view->shape.size();
    const expr::Expression& stride = view->stride[axis].code;
    return stride.is_known() && expr::to_double(stride.literal) == 1;
  }
  const int tensor = code.views[index_of(window.view)].tensor;
  const Layout own = mode(tensors[index_of(tensor)].layout, axis);
  return own.leaves().size() == 1 && own.leaves().front().stride.is(1);
}

class Distributor {
 public:
  Distributor(const Code& code, const std::vector<Tensor>& tensors, std::int64_t threads,
              const std::map<const Gemm*, WarpProduct>& products)
      : code_(code),
        products_(products),
        tensors_(tensors),
        threads_(threads),
        views_(views_of(code)),
        found_(code.tiles.size()) {}

  std::vector<std::optional<Distribution>> run() {
    for_each_step(code_.body, [&](const Step& step) { pin(step); });
    for_each_step(code_.body, [&](const Step& step) {
      if (const auto* const gemm = std::get_if<Gemm>(&step.kind)) take_product(*gemm);
    });
    do {
      propagate();
    } while (choose_one());
    return std::move(found_);
  }

 private:
  [[nodiscard]] const TileSlot& tile(int slot) const { return code_.tiles[index_of(slot)]; }
  [[nodiscard]] bool is_open(int slot) const {
    return slot >= 0 && tile(slot).space == TileSpace::registers && !found_[index_of(slot)];
  }
  void give(int slot, Distribution distribution) {
    if (!is_open(slot)) return;
    found_[index_of(slot)] = std::move(distribution);
    changed_ = true;
  }

  void pin(const Step& step) {
    const auto* const load = std::get_if<Load>(&step.kind);
    const auto* const store = std::get_if<Store>(&step.kind);
    if (load != nullptr && load->tv) {
      give(load->tile, of_thread_value(load->tv->thr, load->tv->val, threads_));
    }
    if (store != nullptr && store->tv) {
      give(store->tile, of_thread_value(store->tv->thr, store->tv->val, threads_));
    }
  }

  /// Threads have squares of the result, since each element of an operand then serves several.
  void take_product(const Gemm& gemm) {
    const Extents& shape = tile(gemm.out).type.shape;
    if (const auto found = products_.find(&gemm); found != products_.end()) {
      return give(gemm.out, distribution_of(found->second, shape, threads_));
    }
    give(gemm.out, spread(shape, threads_, 1, shape[1] % 4 == 0 ? 4 : 1));
  }

  void propagate() {
    do {
      changed_ = false;
      for_each_step(code_.body, [&](const Step& step) { propagate(step); });
    } while (changed_);
  }

  void propagate(const Step& step) {
    if (const auto* const s = std::get_if<Compute>(&step.kind)) return share(s->value, s->out);
    if (const auto* const s = std::get_if<Fill>(&step.kind)) {
      if (s->value) share(*s->value, s->tile);
      return;
    }
    if (const auto* const s = std::get_if<Move>(&step.kind)) return alike(s->from, s->to);
    if (const auto* const s = std::get_if<AtomicUpdate>(&step.kind)) return alike(s->tile, s->out);
    if (const auto* const s = std::get_if<Rearrange>(&step.kind)) {
      if (tile(s->from).type.shape == tile(s->out).type.shape &&
          (s->kind == TileReshape::Kind::role || s->kind == TileReshape::Kind::shape ||
           s->kind == TileReshape::Kind::insert)) {
        alike(s->from, s->out);
      }
    }
  }

  void alike(int a, int b) {
    if (a < 0 || b < 0) return;
    if (found_[index_of(a)]) give(b, *found_[index_of(a)]);
    if (found_[index_of(b)]) give(a, *found_[index_of(b)]);
  }

  /// Tiles of one Compute: those of the size of its space decide, others have slices.
  void share(const Value& value, int out) {
    const Extents& made = tile(out).type.shape;
    std::vector<int> slots;
    for (const expr::Node& node : value.code.nodes) {
      if (node.op == expr::Op::load) slots.push_back(node.source);
    }
    std::optional<Distribution> space;
    const auto look = [&](int slot) {
      if (space || !found_[index_of(slot)]) return;
      if (aligned(tile(slot).type.shape, value.space.size()) != value.space) return;
      space = renamed(*found_[index_of(slot)], value.space);
    };
    if (made.size() <= value.space.size()) look(out);
    for (const int slot : slots) look(slot);
    if (!space) return;
    for (const int slot : slots) {
      if (is_open(slot))
        give(slot, renamed(slice_of(*space, tile(slot).type.shape), tile(slot).type.shape));
    }
    if (!is_open(out)) return;
    Extents result = value.space;
    if (!value.code.is_known()) result = shapes_of(value.code, value.space, code_.tiles).back();
    if (same_without_ones(result, made)) give(out, renamed(slice_of(*space, result), made));
  }

  /// Gives the largest tile that has none a distribution of its own; those that are loaded first.
  bool choose_one() {
    int best = -1;
    for (int slot = 0; slot < static_cast<int>(code_.tiles.size()); ++slot) {
      if (!is_open(slot)) continue;
      if (best < 0 || count_of(tile(slot).type.shape) > count_of(tile(best).type.shape)) {
        best = slot;
      }
    }
    if (best < 0) return false;
    give(best, copy_distribution(tile(best).type.shape, threads_, wishes_of(best)));
    return true;
  }

  /// What the copies of the tile, or else of tiles of its shape, would like best.
  [[nodiscard]] WindowFacts wishes_of(int slot) const {
    WindowFacts own;
    WindowFacts others;
    const auto look = [&](const Window& window, int of) {
      if (tile(of).space != TileSpace::registers) return;
      if (tile(of).type.shape != tile(slot).type.shape) return;
      const WindowFacts facts = facts_of(window, code_, tensors_, views_);
      if (facts.vector_axis < 0) return;
      WindowFacts& known = of == slot ? own : others;
      if (known.vector_axis < 0 ||
          (known.vector_axis == facts.vector_axis && facts.vector > known.vector)) {
        known = facts;
      }
    };
    for_each_step(code_.body, [&](const Step& step) {
      if (const auto* const s = std::get_if<Load>(&step.kind)) look(s->window, s->tile);
      if (const auto* const s = std::get_if<Store>(&step.kind)) look(s->window, s->tile);
    });
    return own.vector_axis >= 0 ? own : others;
  }

  const Code& code_;
  const std::map<const Gemm*, WarpProduct>& products_;
  const std::vector<Tensor>& tensors_;
  std::int64_t threads_;
  std::vector<const SetView*> views_;
  std::vector<std::optional<Distribution>> found_;
  bool changed_ = false;
};

}  // namespace

std::vector<const SetView*> views_of(const Code& code) {
  std::vector<const SetView*> views(code.views.size(), nullptr);
  for_each_step(code.body, [&](const Step& step) {
    if (const auto* const view = std::get_if<SetView>(&step.kind))
      views[index_of(view->view)] = view;
  });
  return views;
}

WindowFacts facts_of(const Window& window, const Code& code, const std::vector<Tensor>& tensors,
                     const std::vector<const SetView*>& views) {
  WindowFacts facts;
  const SetView* const view = views[index_of(window.view)];
  const Tensor& tensor = tensors[index_of(code.views[index_of(window.view)].tensor)];
  for (std::size_t i = 0; i < window.tile.size(); ++i) {
    const std::size_t axis = window.order.empty() ? i : index_of(window.order[i]);
    if (view == nullptr && mode(tensor.layout, axis).leaves().size() != 1) facts.nested = true;
    if (is_contiguous(window, axis, code, tensors, view) && window.tile[i] > 1) {
      facts.vector_axis = static_cast<int>(i);
    }
  }
  if (facts.nested || window.kind == TileIndex::Kind::gather) facts.vector_axis = -1;
  if (facts.vector_axis >= 0) {
    const std::int64_t bytes = std::min<std::int64_t>(16, tensor.align);
    facts.vector = std::max<std::int64_t>(1, bytes / size_bytes(tensor.dtype));
  }
  return facts;
}

Distribution copy_distribution(const Extents& shape, std::int64_t threads,
                               const WindowFacts& facts) {
  const int last = static_cast<int>(shape.size()) - 1;
  const int axis = facts.vector_axis < 0 ? last : facts.vector_axis;
  if (shape.empty()) return {.shape = shape, .threads = threads};
  // No thread is without work for the sake of wide accesses, and no vector is longer than its axis.
  const std::int64_t each = std::max<std::int64_t>(1, count_of(shape) / threads);
  const auto most = static_cast<std::uint64_t>(std::min(each, shape[index_of(axis)]));
  const auto vector =
      std::min<std::int64_t>(facts.vector, static_cast<std::int64_t>(std::bit_floor(most)));
  return spread(shape, threads, axis, vector);
}

std::vector<std::optional<Distribution>> distribute(
    const Code& code, const std::vector<Tensor>& tensors, std::int64_t threads,
    const std::map<const Gemm*, WarpProduct>& products) {
  return Distributor(code, tensors, threads, products).run();
}

}  // namespace tilejit::program
