#include "program/pipelines.hpp"

#include <algorithm>
#include <set>

#include "program/distribute.hpp"

namespace tilejit::program {
namespace {

std::vector<const Value*> values_of(const Window& window) {
  std::vector<const Value*> values;
  for (const Value& at : window.at) values.push_back(&at);
  if (window.mask) values.push_back(&*window.mask);
  return values;
}

/// Whether the step itself reads or writes the tile.
bool touches(const Step& step, int tile) {
  const auto in_value = [&](const Value& value) {
    return std::ranges::any_of(value.code.nodes, [&](const expr::Node& node) {
      return node.op == expr::Op::load && node.source == tile;
    });
  };
  const auto in_window = [&](const Window& window) {
    return std::ranges::any_of(values_of(window), [&](const Value* at) { return in_value(*at); });
  };
  struct Visit {
    const decltype(in_value)& value;
    const decltype(in_window)& window;
    int tile;
    bool operator()(const SetView&) const { return false; }
    bool operator()(const Fill& s) const { return s.tile == tile || (s.value && value(*s.value)); }
    bool operator()(const Load& s) const { return s.tile == tile || window(s.window); }
    bool operator()(const Store& s) const { return s.tile == tile || window(s.window); }
    bool operator()(const Move& s) const { return s.from == tile || s.to == tile; }
    bool operator()(const Gemm& s) const { return s.a == tile || s.b == tile || s.out == tile; }
    bool operator()(const Compute& s) const { return s.out == tile || value(s.value); }
    bool operator()(const Rearrange& s) const {
      return s.from == tile || s.out == tile || s.source == tile ||
             std::ranges::find(s.others, tile) != s.others.end();
    }
    bool operator()(const SetScalar& s) const { return value(s.value); }
    bool operator()(const Loop& s) const { return value(s.begin) || value(s.end) || value(s.step); }
    bool operator()(const WhileLoop& s) const { return value(s.condition); }
    bool operator()(const Branch& s) const { return value(s.condition); }
    bool operator()(const AtomicUpdate& s) const {
      return s.tile == tile || s.out == tile || window(s.window);
    }
    bool operator()(const PrintText& s) const {
      return std::ranges::any_of(s.arguments, [&](const auto& argument) {
        const auto* const slot = std::get_if<int>(&argument);
        return slot != nullptr ? *slot == tile : value(std::get<Value>(argument));
      });
    }
    bool operator()(const Check& s) const { return value(s.condition); }
    bool operator()(const Meet&) const { return false; }
  };
  return std::visit(Visit{in_value, in_window, tile}, step.kind);
}

class LoopReader {
 public:
  LoopReader(const Loop& loop, const Code& code) : loop_(loop), code_(code) {
    for_each_step(loop.body, [&](const Step& step) {
      if (const auto* const s = std::get_if<SetScalar>(&step.kind)) made_.insert(s->scalar);
      if (const auto* const s = std::get_if<Loop>(&step.kind)) made_.insert(s->scalar);
      if (const auto* const s = std::get_if<SetView>(&step.kind)) views_.insert(s->view);
      if (const auto* const s = std::get_if<Store>(&step.kind)) written_.insert(tensor(s->window));
      if (const auto* const s = std::get_if<AtomicUpdate>(&step.kind)) {
        written_.insert(tensor(s->window));
      }
    });
  }

  [[nodiscard]] bool goes_ahead(const Load& load) const {
    if (code_.tiles[static_cast<std::size_t>(load.tile)].space != TileSpace::shared) return false;
    if (views_.contains(load.window.view) || written_.contains(tensor(load.window))) return false;
    for (const Value* const value : values_of(load.window)) {
      for (const expr::Node& node : value->code.nodes) {
        if (node.op == expr::Op::load) return false;
        if (node.op == expr::Op::scalar && made_.contains(node.source)) return false;
      }
    }
    bool is_before = true;
    bool alone = true;
    for_each_step(loop_.body, [&](const Step& step) {
      const auto* const other = std::get_if<Load>(&step.kind);
      if (other == &load) {
        is_before = false;
        return;
      }
      const auto* const move = std::get_if<Move>(&step.kind);
      const auto* const fill = std::get_if<Fill>(&step.kind);
      const bool writes = (other != nullptr && other->tile == load.tile) ||
                          (move != nullptr && move->to == load.tile) ||
                          (fill != nullptr && fill->tile == load.tile);
      alone = alone && !writes && !(is_before && touches(step, load.tile));
    });
    return alone;
  }

 private:
  [[nodiscard]] int tensor(const Window& window) const {
    return code_.views[static_cast<std::size_t>(window.view)].tensor;
  }

  const Loop& loop_;
  const Code& code_;
  std::set<int> made_, views_, written_;
};

}  // namespace

std::map<const Load*, int> copies_ahead(const Code& code) {
  std::map<const Load*, int> ahead;
  for_each_step(code.body, [&](const Step& step) {
    const auto* const loop = std::get_if<Loop>(&step.kind);
    if (loop == nullptr || loop->stages < 2) return;
    const LoopReader reader(*loop, code);
    for (const Step& one : loop->body) {
      const auto* const load = std::get_if<Load>(&one.kind);
      if (load != nullptr && reader.goes_ahead(*load)) ahead.emplace(load, loop->stages);
    }
  });
  return ahead;
}

}  // namespace tilejit::program
