// The blocks of keys that a block of threads attends to, tile after tile. With a mask, one warp
// looks at it ahead of the others, and they read what it found from a ring in shared memory.
#pragma once

#include "tile/attention_order.cuh"
#include "tile/key_walk.cuh"
#include "tile/pipeline.cuh"

namespace tile {

// A block of keys, for a tile of queries.
struct KeyBlock {
  u32 tile;  // its number
  i32 first_key;
  bool is_masked;  // some row does not see some key
};

// Some blocks of a tile: block `top` - i is bit i of `seen`, which has the blocks that it sees, and
// of `masked`. The tile is kNoTile after the last one.
struct KeyWindow {
  static constexpr u32 kNoTile = ~0u;
  u32 tile;
  i32 top;
  u32 seen, masked;
};

// Windows on their way from the warp that looks at the mask to those that use them.
struct WindowRing {
  static constexpr int kWindows = 1;
  using Ring = Pipeline<kWindows>;
  static constexpr u32 kBytes = kWindows * 16 + Ring::kBytes;  // of shared memory, aligned to 16
  u32 start;

  TILE_DEVICE Ring ring() const { return {start + kWindows * 16}; }
  TILE_DEVICE void put(typename Ring::State& at, KeyWindow window, bool leads) const {
    if (leads) {
      ring().acquire(at);
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(start + 16 * at.stage),
                   "r"(window.tile), "r"(window.top), "r"(window.seen), "r"(window.masked)
                   : "memory");
      ring().commit(at);
    }
    at.advance();
  }
  // By all lanes of a warp, which counts as one consumer.
  TILE_DEVICE KeyWindow take(typename Ring::State& at) const {
    ring().wait(at);
    KeyWindow window;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(window.tile), "=r"(window.top), "=r"(window.seen), "=r"(window.masked)
                 : "r"(start + 16 * at.stage)
                 : "memory");
    __syncwarp();
    if (threadIdx.x % 32 == 0) ring().release(at);
    at.advance();
    return window;
  }
};

// The blocks of all tiles of a block of threads, in the order in which they are attended to. Work
// has kHasMask; rows(p), heads(p), bytes_of_head(p) for the order of tiles; and what key_walk.cuh
// asks for. All lanes of a warp call these functions together, `next` first of all.
// Without a mask: all blocks, last one first.
template <class Work, class Params>
class AllKeyBlocks {
 public:
  TILE_DEVICE AllKeyBlocks(const Params& p, WindowRing)
      : turn_(blockIdx.x - gridDim.x),
        count_(Work::rows(p) * Work::heads(p)),
        last_(last_block_of_keys<Work>(p)),
        is_cut_(Work::extent_k(p) != i64(last_ + 1) * Work::kKeys) {}
  TILE_DEVICE bool has_ended() const { return turn_ >= count_; }
  TILE_DEVICE bool is_first() const { return block_ == last_; }
  TILE_DEVICE bool is_masked() const { return is_first() && is_cut_; }
  TILE_DEVICE KeyBlock block() const { return {tile_, block_ * Work::kKeys, is_masked()}; }
  TILE_DEVICE void next(const Params& p) {
    if (--block_ >= 0) return;
    turn_ += gridDim.x;
    tile_ = attention_tile<Work>(p, turn_);
    block_ = last_;
  }

 private:
  u32 turn_, count_, tile_;
  i32 last_, block_ = 0;
  bool is_cut_;
};

// With a mask.
template <class Work, class Params>
class SeenKeyBlocks {
 public:
  TILE_DEVICE SeenKeyBlocks(const Params&, WindowRing windows) : windows_(windows) {}
  TILE_DEVICE bool has_ended() const { return window_.tile == KeyWindow::kNoTile; }
  // Whether the block is the first one of its tile; so it is after the last tile.
  TILE_DEVICE bool is_first() const { return is_first_; }
  TILE_DEVICE bool is_masked() const { return block_.is_masked; }
  TILE_DEVICE KeyBlock block() const { return block_; }
  TILE_DEVICE void next(const Params&) {
    is_first_ = false;
    if (window_.seen == 0) {
      const KeyWindow next = windows_.take(at_);
      is_first_ = next.tile != window_.tile;
      window_ = next;
    }
    const int bit = __ffs(int(window_.seen)) - 1;
    window_.seen &= window_.seen - 1;
    block_.tile = window_.tile;
    block_.first_key = (window_.top - bit) * Work::kKeys;
    block_.is_masked = (window_.masked >> bit & 1) != 0;
  }

 private:
  WindowRing windows_;
  typename WindowRing::Ring::State at_;
  KeyWindow window_ = {KeyWindow::kNoTile - 1, 0, 0, 0};
  KeyBlock block_;
  bool is_first_ = true;
};

template <class Work, class Params, bool kHasMask = Work::kHasMask>
struct KeyBlocksOf {
  using Type = AllKeyBlocks<Work, Params>;
};
template <class Work, class Params>
struct KeyBlocksOf<Work, Params, true> {
  using Type = SeenKeyBlocks<Work, Params>;
};
template <class Work, class Params>
using KeyBlocks = typename KeyBlocksOf<Work, Params>::Type;

// Looks at the mask for all tiles that this block of threads takes: the first one is its own, later
// ones are those that no other block has taken. `tickets` counts these; it is 0 before and after.
template <class Work, class Params>
TILE_DEVICE void look_for_blocks(const Params& p, WindowRing windows, u32* tickets) {
  const bool leads = threadIdx.x % 32 == 0;
  typename WindowRing::Ring::State at;
  const u32 count = Work::rows(p) * Work::heads(p);
  u32 turn = blockIdx.x;
#pragma unroll 1
  while (turn < count) {
    const u32 number = attention_tile<Work>(p, turn);
    const auto tile = Work::tile_at(p, number);
    typename Work::MaskTensors tensors;
    tensors.rows(p, tile);
    bool sees_any = false;
#pragma unroll 1
    for (i32 top = last_block_of_keys<Work>(p); top >= 0; top -= 32) {
      KeysSeen of = look_at_keys<Work>(p, tile, tensors, top);
      if (of.some == 0 && (sees_any || top >= 32)) continue;
      // A tile that sees nothing has one block, all of which is masked.
      if (of.some == 0) of = {1u << top, 1u << top};
      sees_any = true;
      windows.put(at, {number, top, of.some, of.not_all}, leads);
    }
    // Not before a window is free: tiles that wait here are taken from blocks that end earlier.
    if (leads) {
      windows.ring().acquire(at);
      turn = gridDim.x + atomicAdd(tickets, 1u);
      if (turn == gridDim.x + count - 1) *tickets = 0;  // the last one
    }
    turn = __shfl_sync(0xffffffffu, turn, 0);
  }
  windows.put(at, {KeyWindow::kNoTile, 0, 1, 0}, leads);
}

}  // namespace tile
