// The blocks of keys that a tile of queries sees, from the last to the first. The lanes of a warp
// look at 32 of them at once, so that a mask which leaves few of them costs little.
#pragma once

#include "tile/interval.cuh"

namespace tile {

// What a tile's rows may see of the blocks of keys `top`, `top` - 1, ..., one per bit from the
// lowest on: whether they may see some of the keys, and whether they may not see some.
struct KeysSeen {
  u32 some, not_all;
};

// Work has kKeys, the keys of a block; extent_k(p), the number of keys; MaskTensors, what integers
// that the mask reads may be, by the functions below: of a tile's rows after rows(p, tile), of the
// blocks up to `top`, one per lane, after keys(p, tile, top, wanted) if kReadsKeys, any before; and
// mask(p, tile, tensors, first, last): whether these keys may be seen, and may be masked, by the
// tile's rows. All lanes of a warp call this together, with the same arguments.
template <class Work, class Params, class Tile, class Tensors>
TILE_DEVICE KeysSeen look_at_keys(const Params& p, const Tile& tile, Tensors tensors, i32 top) {
  const i32 block = top - i32(threadIdx.x % 32);
  KeysSeen seen = {0, 0};
  // Keys are read only of blocks that may be seen whatever they are.
#pragma unroll 1
  for (bool reads = Tensors::kReadsKeys;; reads = false) {
    Truth of = {false, false};
    if (block >= 0) {
      const i64 first = i64(block) * Work::kKeys, end = Work::extent_k(p);
      const bool cut = first + Work::kKeys > end;
      of = Work::mask(p, tile, tensors, first, (cut ? end : first + Work::kKeys) - 1);
      of.may_fail = of.may_fail || cut;
    }
    seen = {__ballot_sync(0xffffffffu, of.may_hold), __ballot_sync(0xffffffffu, of.may_fail)};
    if (!reads || seen.some == 0) return seen;
    tensors.keys(p, tile, top, seen.some);
  }
}

// The last block of keys; 0 if there are no keys.
template <class Work, class Params>
TILE_DEVICE i32 last_block_of_keys(const Params& p) {
  const i64 end = Work::extent_k(p);
  return end > 0 ? i32((end - 1) / Work::kKeys) : 0;
}

// A tile that sees nothing has one block, all of which is masked.
template <class Work, class Params, class Tile>
class KeyWalk {
 public:
  // At the tile's first block.
  TILE_DEVICE KeyWalk(const Params& p, const Tile& tile) {
    tensors_.rows(p, tile);
    top_ = last_block_of_keys<Work>(p);
    seen_ = look_at_keys<Work>(p, tile, tensors_, top_);
    if (next(p, tile)) return;
    block_ = 0;
    masked_ = true;
  }

  // Goes to the next block; false if there is none.
  TILE_DEVICE bool next(const Params& p, const Tile& tile) {
    while (seen_.some == 0) {
      if (top_ < 32) return false;
      top_ -= 32;
      seen_ = look_at_keys<Work>(p, tile, tensors_, top_);
    }
    const int bit = __ffs(int(seen_.some)) - 1;
    seen_.some &= seen_.some - 1;
    block_ = top_ - bit;
    masked_ = (seen_.not_all >> bit & 1) != 0;
    return true;
  }

  // The first key of the block, and whether some row does not see some key of it.
  TILE_DEVICE i32 first_key() const { return block_ * Work::kKeys; }
  TILE_DEVICE bool is_masked() const { return masked_; }

 private:
  typename Work::MaskTensors tensors_;
  KeysSeen seen_ = {0, 0};
  i32 top_ = 0, block_ = 0;
  bool masked_ = false;
};

// The least and the greatest of value(i) for i from `first` to `last`.
template <class Value>
TILE_DEVICE Interval interval_of(i64 first, i64 last, const Value& value) {
  using Integer = decltype(value(first));
  constexpr bool kShort = sizeof(Integer) <= 4;
  Integer low = kShort ? Integer(0x7fffffff) : Integer(kUnbounded), high = -low;
#pragma unroll 4
  for (i64 i = first + threadIdx.x % 32; i <= last; i += 32) {
    const Integer x = value(i);
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  if constexpr (kShort) {
    return interval(__reduce_min_sync(0xffffffffu, low), __reduce_max_sync(0xffffffffu, high));
  } else {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      const i64 other_low = __shfl_xor_sync(0xffffffffu, low, lanes),
                other_high = __shfl_xor_sync(0xffffffffu, high, lanes);
      low = other_low < low ? other_low : low;
      high = other_high > high ? other_high : high;
    }
    return interval(low, high);
  }
}

// The same of block `top` of kKeys keys for lane 0, of the one before for lane 1, ... Of blocks
// whose bits are not in `wanted` it may be anything.
template <int kKeys, class Value>
TILE_DEVICE Interval interval_of_block(i32 top, i64 end, u32 wanted, const Value& value) {
  Interval own;
  if constexpr (sizeof(value(i64(0))) > 4) {
#pragma unroll 1
    for (i32 i = 0; i < 32 && i <= top; ++i) {
      if ((wanted >> i & 1) == 0) continue;
      const i64 first = i64(top - i) * kKeys;
      const Interval one =
          interval_of(first, (first + kKeys < end ? first + kKeys : end) - 1, value);
      if (threadIdx.x % 32 == u32(i)) own = one;
    }
  } else {  // some blocks at once, so that loads overlap
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (i32 i = 0; i < 32; i += kAtOnce) {
      if ((wanted >> i & ((1u << kAtOnce) - 1)) == 0) continue;
      i32 low[kAtOnce], high[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        // What lies outside is read where the nearest key lies.
        const i32 first = (top - i - j) * kKeys + i32(threadIdx.x % 32), last = i32(end) - 1;
#pragma unroll
        for (int k = 0; k < kKeys; k += 32) {
          const i32 inside = first + k < last ? first + k : last;
          const i32 x = i32(value(i64(inside < 0 ? 0 : inside)));
          low[j] = k == 0 || x < low[j] ? x : low[j];
          high[j] = k == 0 || x > high[j] ? x : high[j];
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
