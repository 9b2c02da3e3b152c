// The blocks of keys that a tile of queries sees, from the last to the first. The lanes of a warp
// look at 32 of them at once, so that a mask which leaves few of them costs little.
#pragma once

#include "tile/interval.cuh"

namespace tile {

// Work has kKeys, the keys of a block; extent_k(p), the number of keys; and mask(p, tile, first,
// last): whether these keys may be seen, and may be masked, by the tile's rows. All lanes of a warp
// call these functions together.
template <class Work, class Params, class Tile>
class KeyWalk {
 public:
  TILE_DEVICE KeyWalk(const Params& p, const Tile& tile) : p_(p), tile_(tile) {
    top_ = i32((Work::extent_k(p) + Work::kKeys - 1) / Work::kKeys) - 1;
    look();
  }

  // Goes to the next block; false if there is none.
  TILE_DEVICE bool next() {
    while (seen_ == 0) {
      top_ -= 32;
      if (top_ < 0) return false;
      look();
    }
    const int bit = __ffs(int(seen_)) - 1;
    seen_ &= seen_ - 1;
    block_ = top_ - bit;
    masked_ = (masked_bits_ >> bit & 1) != 0;
    return true;
  }

  // The first key of the block, and whether some row does not see some key of it.
  TILE_DEVICE i32 first_key() const { return block_ * Work::kKeys; }
  TILE_DEVICE bool is_masked() const { return masked_; }

 private:
  TILE_DEVICE void look() {
    const i32 block = top_ - i32(threadIdx.x % 32);
    Truth of = {false, false};
    if (block >= 0) {
      const i64 first = i64(block) * Work::kKeys, end = Work::extent_k(p_);
      const bool cut = first + Work::kKeys > end;
      of = Work::mask(p_, tile_, first, (cut ? end : first + Work::kKeys) - 1);
      of.may_fail = of.may_fail || cut;
    }
    seen_ = __ballot_sync(0xffffffffu, of.may_hold);
    masked_bits_ = __ballot_sync(0xffffffffu, of.may_fail);
  }

  const Params& p_;
  const Tile& tile_;
  i32 top_, block_ = 0;
  u32 seen_ = 0, masked_bits_ = 0;
  bool masked_ = false;
};

}  // namespace tile
