// Contiguous elements at addresses that are aligned only to an element, as in rows of odd length.
// Memory is accessed in aligned chunks of a vector's size. A vector therefore lies in two chunks,
// and registers shift it into place. The first chunk of a tensor that is not aligned begins before
// it; that is memory of the same 16 bytes.
#pragma once

#include "tile/chunk.cuh"
#include "tile/elements.cuh"
#include "tile/types.cuh"
#include "tile/wide.cuh"

namespace tile {

template <class T, class Vector>
TILE_DEVICE u32 bytes_before(const T* p) {
  return u32(reinterpret_cast<u64>(p)) % u32(sizeof(Vector));
}

// Moves words down by `bytes`, which is less than kWords * 4. The lower half is the result.
template <int kElement, int kWords>
TILE_DEVICE void shift_down(u32 (&word)[2 * kWords], u32 bytes) {
#pragma unroll
  for (int step = kWords / 2; step > 0; step /= 2) {
    const bool moves = bytes & u32(4 * step);
#pragma unroll
    for (int i = 0; i < 2 * kWords - step; ++i) word[i] = moves ? word[i + step] : word[i];
  }
  if constexpr (kElement < 4) {
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      word[i] = __funnelshift_r(word[i], word[i + 1], 8 * (bytes % 4));
  }
}

// A vector that has been loaded but not shifted yet. Threads shift it when they use it, so that
// loads do not wait for each other.
template <class Vector>
struct Shifted;
template <template <class, int> class Form, class T, int kCount>
struct Shifted<Form<T, kCount>> {
  using Vector = Form<T, kCount>;
  static constexpr int kWords = int(sizeof(Vector) / 4);

  Vector chunk[2];
  u32 bytes;  // that the first chunk has before the vector

  // Loads the part of the vector at p that lies before the tensor's end, and behind its beginning
  // if that is given. kTail: tile/chunk.cuh.
  template <int kTail>
  TILE_DEVICE void load(const T* p, const T* end) {
    bytes = bytes_before<T, Vector>(p);
    const T* const from = p - bytes / u32(sizeof(T));
    load_chunk<kTail>(chunk[0], from, end);
    load_chunk<kTail>(chunk[1], from + kCount, end);
  }
  // The same with a branch instead of conditions: better in tiles, where a thread has loaded all of
  // its vectors before it uses one.
  template <int kTail>
  TILE_DEVICE void load_in_tile(const T* p, const T* end) {
    bytes = bytes_before<T, Vector>(p);
    const T* const from = p - bytes / u32(sizeof(T));
    if (from + 2 * kCount <= end) {
      chunk[0] = *reinterpret_cast<const Vector*>(from);
      chunk[1] = *reinterpret_cast<const Vector*>(from + kCount);
    } else {
      load_chunk<kTail>(chunk[0], from, end);
      load_chunk<kTail>(chunk[1], from + kCount, end);
    }
  }
  template <int kTail>
  TILE_DEVICE void load(const T* p, const T* begin, const T* end) {
    bytes = bytes_before<T, Vector>(p);
    const T* const from = p - bytes / u32(sizeof(T));
    if (from + kCount > begin) load_chunk<kTail>(chunk[0], from, end);
    load_chunk<kTail>(chunk[1], from + kCount, end);
  }
  // The same of a tensor that begins at an aligned address, if kTail is not negative. No branch
  // asks whether a chunk exists: in the place of others comes the first or the last one.
  template <int kTail>
  TILE_DEVICE void load_between(const T* p, const T* begin, const T* end) {
    if constexpr (kTail < 0) {
      load<kTail>(p, begin, end);
    } else {
      const i64 at = p - begin, last = end - begin - (kTail > 0 ? kTail : kCount);
      bytes = u32(at) * u32(sizeof(T)) % u32(sizeof(Vector));
      const i64 from = at - bytes / u32(sizeof(T));
      load_chunk_or_last<kTail>(chunk[0], begin, from < 0 ? 0 : from, last);
      load_chunk_or_last<kTail>(chunk[1], begin, from + kCount, last);
    }
  }

  // Loads the vector at p, both of whose chunks exist.
  TILE_DEVICE void load(const T* p) {
    bytes = bytes_before<T, Vector>(p);
    const Vector* const from =
        reinterpret_cast<const Vector*>(reinterpret_cast<const char*>(p) - bytes);
    chunk[0] = from[0];
    chunk[1] = from[1];
  }

  TILE_DEVICE Vector get() const {
    u32 word[2 * kWords];
#pragma unroll
    for (int i = 0; i < 2 * kWords; ++i) word[i] = reinterpret_cast<const u32*>(chunk)[i];
    shift_down<int(sizeof(T)), kWords>(word, bytes);
    Vector x;
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<u32*>(&x)[i] = word[i];
    return x;
  }
};

TILE_DEVICE u32 active_lanes() {
  u32 lanes;
  asm volatile("activemask.b32 %0;" : "=r"(lanes));
  return lanes;
}
TILE_DEVICE u32 word_of_left(u32 x, u32 lanes) {
  u32 y;
  asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, %2;" : "=r"(y) : "r"(x), "r"(lanes));
  return y;
}
TILE_DEVICE u32 word_of_right(u32 x, u32 lanes) {
  u32 y;
  asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, %2;" : "=r"(y) : "r"(x), "r"(lanes));
  return y;
}

// The thread that has a chunk's end stores it, together with the part that the thread before it
// has. Chunks that no neighbour in the warp completes are stored element by element. Threads that
// are not converged here, however the compiler made them diverge, do not count as neighbours.
template <class T, class Vector>
TILE_DEVICE void store_shifted(T* p, const Vector& x) {
  constexpr int kBytes = int(sizeof(Vector)), kWords = kBytes / 4;
  constexpr int kCount = kBytes / int(sizeof(T));
  const u32 bytes = bytes_before<T, Vector>(p);
  const u32 lanes = active_lanes(), lane = threadIdx.x % 32;
  const u64 address = reinterpret_cast<u64>(p);
  const u64 left =
      u64(word_of_left(u32(address >> 32), lanes)) << 32 | word_of_left(u32(address), lanes);
  const u64 right =
      u64(word_of_right(u32(address >> 32), lanes)) << 32 | word_of_right(u32(address), lanes);
  const bool has_left = lane > 0 && (lanes >> (lane - 1) & 1) && left + kBytes == address;
  const bool has_right = lane < 31 && (lanes >> (lane + 1) & 1) && right == address + kBytes;
  u32 word[2 * kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    word[kWords + i] = reinterpret_cast<const u32*>(&x)[i];
    word[i] = word_of_left(word[kWords + i], lanes);
  }
  const bool whole = bytes == 0;
  if (whole) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) word[i] = word[kWords + i];
  } else {
    shift_down<int(sizeof(T)), kWords>(word, kBytes - bytes);
  }
  if (whole || has_left) {
    Vector chunk;
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<u32*>(&chunk)[i] = word[i];
    store_wide(reinterpret_cast<T*>(reinterpret_cast<char*>(p) - bytes), chunk);
  }
  if (whole || (has_left && has_right)) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const bool in_first = i * int(sizeof(T)) < kBytes - int(bytes);
    if (in_first ? !has_left : !has_right) store_element(x, p, i);
  }
}
template <class T, class Vector>
TILE_DEVICE void store_shifted(T* p, const Vector& x, int valid) {
  constexpr int kCount = int(sizeof(Vector) / sizeof(T));
  if (valid == kCount) return store_shifted(p, x);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < valid) store_element(x, p, i);
  }
}

}  // namespace tile
