// Atomic.
#include "program/compiler.hpp"
#include "program/words.hpp"

namespace tilejit::program {

void Compiler::atomic(const TileAtomic& atomic, Steps& steps) {
  using Kind = TileAtomic::Kind;
  TileBinding& tile = scope_.read_tile(atomic.name, place_);
  refuse_ragged(tile, atomic.name, "Atomic", "Atomic");
  const int slot = tile.slot;
  const TileType type = scope_.code().tiles[static_cast<std::size_t>(slot)].type;
  AtomicUpdate step{.kind = atomic.kind,
                    .window = window(atomic.as, atomic.tile, atomic.index, {}, std::nullopt, "as"),
                    .tile = slot};
  if (step.window.tile != type.shape) {
    fail(atomic.name, "'" + atomic.name + "'" + " is " + to_string(type.shape) +
                          ", and the tile of the tensor " + to_string(step.window.tile));
  }
  const Tensor& tensor =
      scope_.program().tensors[static_cast<std::size_t>(scope_.tensor_index(atomic.as))];
  if (tensor.dtype != type.dtype) {
    fail(atomic.name, "'" + atomic.name + "'" + " is " + std::string(to_string(type.dtype)) +
                          " and tensor " + "'" + atomic.as + "'" + " " +
                          std::string(to_string(tensor.dtype)) +
                          "; an Atomic has one type: cast the tile first");
  }
  const bool bits =
      atomic.kind == Kind::bit_and || atomic.kind == Kind::bit_or || atomic.kind == Kind::bit_xor;
  const bool whole = is_integer(type.dtype) && size_bytes(type.dtype) >= 4;
  const bool adds =
      whole || type.dtype == f32 || type.dtype == f64 || type.dtype == f16 || type.dtype == bf16;
  const bool exchanges = whole || type.dtype == f32 || type.dtype == f64;
  if ((bits && !whole) || (atomic.kind == Kind::add && !adds) ||
      (atomic.kind == Kind::exchange && !exchanges) ||
      ((atomic.kind == Kind::max || atomic.kind == Kind::min) && !whole)) {
    fail("Atomic", "there is no atomic " + std::string(text_of(kAtomics, atomic.kind)) + " of " +
                       std::string(to_string(type.dtype)) +
                       "; add takes 32- and 64-bit integers, f16, bf16, f32 and f64, xchg all of "
                       "these but the 16-bit floats, the others only the integers");
  }
  Use& use = use_of(atomic.as);
  if (!use.stored && !use.updated) use.place = place_;
  use.updated = true;
  if (!atomic.out.empty()) {
    step.out = fill(atomic.out, TileSpace::registers, type, {}).slot;
  }
  add(steps, std::move(step));
}

}  // namespace tilejit::program
