// The blocks of keys that a tile of queries sees, from the last to the first. The lanes of a warp
// look at 32 of them at once, so that a mask which leaves few of them costs little.
#pragma once

#include "tile/interval.cuh"

namespace tile {

// Work has kKeys, the keys of a block; extent_k(p), the number of keys; MaskTensors, what integers
// that the mask reads may be, by the functions below: of a tile's rows after rows(p, tile), of the
// blocks up to `top`, one per lane, after keys(p, tile, top); and mask(p, tile, tensors, first,
// last): whether these keys may be seen, and may be masked, by the tile's rows. A tile that sees
// nothing has one block, all of which is masked. All lanes of a warp call these functions together,
// with the same arguments.
template <class Work, class Params, class Tile>
class KeyWalk {
 public:
  // At the tile's first block.
  TILE_DEVICE KeyWalk(const Params& p, const Tile& tile) {
    tensors_.rows(p, tile);
    top_ = i32((Work::extent_k(p) + Work::kKeys - 1) / Work::kKeys) - 1;
    look(p, tile);
    if (next(p, tile)) return;
    block_ = 0;
    masked_ = true;
  }

  // Goes to the next block; false if there is none.
  TILE_DEVICE bool next(const Params& p, const Tile& tile) {
    while (seen_ == 0) {
      if (top_ < 32) return false;
      top_ -= 32;
      look(p, tile);
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
  TILE_DEVICE void look(const Params& p, const Tile& tile) {
    tensors_.keys(p, tile, top_);
    const i32 block = top_ - i32(threadIdx.x % 32);
    Truth of = {false, false};
    if (block >= 0) {
      const i64 first = i64(block) * Work::kKeys, end = Work::extent_k(p);
      const bool cut = first + Work::kKeys > end;
      of = Work::mask(p, tile, tensors_, first, (cut ? end : first + Work::kKeys) - 1);
      of.may_fail = of.may_fail || cut;
    }
    seen_ = __ballot_sync(0xffffffffu, of.may_hold);
    masked_bits_ = __ballot_sync(0xffffffffu, of.may_fail);
  }

  typename Work::MaskTensors tensors_;
  i32 top_ = 0, block_ = 0;
  u32 seen_ = 0, masked_bits_ = 0;
  bool masked_ = false;
};

// The least and the greatest of value(i) for i from `first` to `last`.
template <class Value>
TILE_DEVICE Interval interval_of(i64 first, i64 last, const Value& value) {
  i64 low = kUnbounded, high = -kUnbounded;
#pragma unroll 4
  for (i64 i = first + threadIdx.x % 32; i <= last; i += 32) {
    const i64 x = i64(value(i));
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const i64 other_low = __shfl_xor_sync(0xffffffffu, low, lanes),
              other_high = __shfl_xor_sync(0xffffffffu, high, lanes);
    low = other_low < low ? other_low : low;
    high = other_high > high ? other_high : high;
  }
  return interval(low, high);
}

// The same of block `top` of kKeys keys for lane 0, of the one before for lane 1, ...
template <int kKeys, class Value>
TILE_DEVICE Interval interval_of_block(i32 top, i64 end, const Value& value) {
  Interval own;
  if constexpr (sizeof(value(i64(0))) > 4) {
#pragma unroll 1
    for (i32 i = 0; i < 32 && i <= top; ++i) {
      const i64 first = i64(top - i) * kKeys;
      const Interval one =
          interval_of(first, (first + kKeys < end ? first + kKeys : end) - 1, value);
      if (threadIdx.x % 32 == u32(i)) own = one;
    }
  } else {  // some blocks at once, so that loads overlap
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (i32 i = 0; i < 32 && i <= top; i += kAtOnce) {
      i32 low[kAtOnce], high[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        low[j] = 0x7fffffff;
        high[j] = -0x7fffffff - 1;
        const i64 first = i64(top - i - j) * kKeys + threadIdx.x % 32;
#pragma unroll
        for (int k = 0; k < kKeys; k += 32) {
          if (first < 0 || first + k >= end) continue;
          const i32 x = i32(value(first + k));
          low[j] = x < low[j] ? x : low[j];
          high[j] = x > high[j] ? x : high[j];
        }
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const i32 least = __reduce_min_sync(0xffffffffu, low[j]),
                  greatest = __reduce_max_sync(0xffffffffu, high[j]);
        if (threadIdx.x % 32 == u32(i + j)) own = interval(least, greatest);
      }
    }
  }
  return own;
}

}  // namespace tile
