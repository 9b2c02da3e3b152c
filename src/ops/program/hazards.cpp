#include "program/hazards.hpp"

#include "program/distribute.hpp"

namespace tilejit::program {

void Hazards::join(const Hazards& other) {
  read_.insert(other.read_.begin(), other.read_.end());
  written_.insert(other.written_.begin(), other.written_.end());
  copies_ahead_ = copies_ahead_ || other.copies_ahead_;
}

void Hazards::enter_loop(const Steps& body, const Code& code) {
  const auto is_shared = [&](int tile) {
    return tile >= 0 && code.tiles[static_cast<std::size_t>(tile)].space == TileSpace::shared;
  };
  const auto tensor_of = [&](const Window& window) {
    return tensor(code.views[static_cast<std::size_t>(window.view)].tensor);
  };
  // Reductions, conversions and reshapes use scratch; which of them do shows only when they are
  // written.
  for (const Object object : {kScratch, exchange(0), exchange(1)}) {
    read(object);
    write(object);
  }
  for_each_step(body, [&](const Step& step) {
    if (const auto* const s = std::get_if<Load>(&step.kind)) {
      read(tensor_of(s->window));
      if (is_shared(s->tile)) {
        write(s->tile);
        copy_ahead();
      }
    } else if (const auto* const s = std::get_if<Store>(&step.kind)) {
      write(tensor_of(s->window));
    } else if (const auto* const s = std::get_if<AtomicUpdate>(&step.kind)) {
      write(tensor_of(s->window));
    } else if (const auto* const s = std::get_if<Move>(&step.kind)) {
      if (is_shared(s->to)) write(s->to);
    } else if (const auto* const s = std::get_if<Fill>(&step.kind)) {
      if (is_shared(s->tile)) write(s->tile);
    }
  });
  // What is not written in the loop was read and written before it only.
  for (std::size_t tile = 0; tile < code.tiles.size(); ++tile) {
    if (is_shared(static_cast<int>(tile)) && written_.contains(static_cast<int>(tile))) {
      read(static_cast<int>(tile));
    }
  }
}

}  // namespace tilejit::program
