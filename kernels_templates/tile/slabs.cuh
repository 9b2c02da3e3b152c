// Slabs: the rows that lie side by side in memory, element by element. A block's slabs are one run,
// which kThreads threads copy to shared memory and back, 16 bytes at a time. Runs may begin and end
// within 16 bytes, and then begin there in shared memory, too.
#pragma once

#include "tile/async_copy.cuh"
#include "tile/barrier.cuh"
#include "tile/contiguous.cuh"
#include "tile/wide.cuh"

namespace tile {

// Where the block's run begins in shared memory, if each block has kCount elements. `place` is a
// multiple of 16 bytes.
template <class T, u32 kCount>
TILE_DEVICE T* run_of_block(unsigned char* place) {
  return reinterpret_cast<T*>(place + (blockIdx.x * (kCount * u32(sizeof(T))) & 15));
}

// The chunks of 16 bytes in which a run lies.
template <class T>
struct Chunks {
  static constexpr int kElements = 16 / int(sizeof(T));
  using Chunk = Contiguous<T, kElements>;
  int begin, end;  // of the run, in elements from the first chunk's begin on
  int count;

  TILE_DEVICE Chunks(const T* run, int elements) {
    begin = int(reinterpret_cast<u64>(run) % 16 / sizeof(T));
    end = begin + elements;
    count = (end + kElements - 1) / kElements;
  }
};

// Where chunk i lies in shared memory. After each slab of kSlab chunks, kPad chunks are left free:
// threads that read several slabs ask different banks.
template <int kSlab, int kPad>
TILE_DEVICE int padded_chunk(int i) {
  return kPad == 0 ? i : i + i / kSlab * kPad;
}

// Elements of the chunks at `from` that come before `tensor_end`. All but a rest of the last chunk
// can be copied 16 bytes at a time.
template <class T>
TILE_DEVICE int existing(const Chunks<T>& chunks, const T* from, const T* tensor_end) {
  const int all = chunks.count * Chunks<T>::kElements;
  return tensor_end - from < all ? int(tensor_end - from) : all;
}

// Begins to copy `count` elements to shared memory. Nothing is read from `tensor_end` on.
template <int kThreads, int kSlab, int kPad, class T>
TILE_DEVICE void bring_slabs(T* to, const T* from, int count, const T* tensor_end) {
  const Chunks<T> chunks(from, count);
  constexpr int kElements = Chunks<T>::kElements;
  from -= chunks.begin;
  to -= chunks.begin;
  const int exist = existing(chunks, from, tensor_end), whole = exist / kElements;
#pragma unroll 1
  for (int i = threadIdx.x; i < whole; i += kThreads)
    async_copy<16>(shared_address(to + padded_chunk<kSlab, kPad>(i) * kElements),
                   from + i * kElements);
  const int tail = int(threadIdx.x);
  if (tail < exist - whole * kElements)
    to[padded_chunk<kSlab, kPad>(whole) * kElements + tail] = from[whole * kElements + tail];
}

// The same of a slab's chunk, whose neighbours follow soon: with less code.
template <int kThreads, class T>
TILE_DEVICE void bring_chunk(T* to, const T* from, int count, const T* tensor_end) {
  const Chunks<T> chunks(from, count);
  constexpr int kElements = Chunks<T>::kElements;
  from -= chunks.begin;
  to -= chunks.begin;
  const int exist = existing(chunks, from, tensor_end), whole = exist / kElements;
#pragma unroll 4
  for (int i = threadIdx.x; i < whole; i += kThreads)
    async_copy<16>(shared_address(to + i * kElements), from + i * kElements);
  const int tail = whole * kElements + int(threadIdx.x);
  if (tail < exist) to[tail] = from[tail];
}

// Copies a chunk from shared memory. A thread has one element at most of what begins or ends within
// 16 bytes.
template <int kThreads, class T>
TILE_DEVICE void take_chunk(T* to, const T* from, int count) {
  const Chunks<T> chunks(to, count);
  constexpr int kElements = Chunks<T>::kElements;
  to -= chunks.begin;
  from -= chunks.begin;
  const int begin = (chunks.begin + kElements - 1) / kElements * kElements;
  const int end = chunks.end / kElements * kElements;
#pragma unroll 4
  for (int i = begin + int(threadIdx.x) * kElements; i < end; i += kThreads * kElements)
    store_wide(to + i, *reinterpret_cast<const typename Chunks<T>::Chunk*>(from + i));
  const int head = chunks.begin + int(threadIdx.x), tail = end + int(threadIdx.x);
  if (head < begin && head < chunks.end) to[head] = from[head];
  if (tail >= begin && tail < chunks.end) to[tail] = from[tail];
}

// Strips: slabs cut in pieces of kColumns columns at most. Rows are kSide elements apart in memory,
// and each begins in shared memory within 16 bytes as it does there. A chunk's first row begins as
// the strip does, since chunks have 16 rows.
template <class T, int kColumns>
constexpr int kPitchOfStrip = (kColumns + 2 * (16 / int(sizeof(T)) - 1)) / (16 / int(sizeof(T))) *
                              (16 / int(sizeof(T)));  // elements

// Row `r` of a chunk, if the strip's first element has number `from` in memory.
template <class T, int kColumns>
TILE_DEVICE T* row_of_strip(unsigned char* chunk, u32 from, u32 side, u32 r) {
  return reinterpret_cast<T*>(chunk) + r * u32(kPitchOfStrip<T, kColumns>) +
         (from + r * side) % (16 / u32(sizeof(T)));
}

// Begins to copy `rows` rows of a strip to shared memory, a warp each at a time. Nothing is read
// from `tensor_end` on.
template <int kThreads, int kColumns, class T>
TILE_DEVICE void bring_strip(unsigned char* to, const T* from, u32 side, int rows, int columns,
                             const T* tensor_end) {
  constexpr int kElements = Chunks<T>::kElements, kPitch = kPitchOfStrip<T, kColumns>;
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < rows; r += kThreads / 32) {
    const Chunks<T> chunks(from + i64(r) * side, columns);
    const T* const row = from + i64(r) * side - chunks.begin;
    T* const copy = reinterpret_cast<T*>(to) + r * kPitch;
    const int exist = existing(chunks, row, tensor_end), whole = exist / kElements;
#pragma unroll
    for (int n = 0; n < (kPitch / kElements + 31) / 32; ++n) {
      const int i = n * 32 + lane;
      if (i >= whole) break;
      async_copy<16>(shared_address(copy + i * kElements), row + i * kElements);
    }
    const int tail = whole * kElements + lane;
    if (tail < exist) copy[tail] = row[tail];
  }
}

// Copies rows of a strip from shared memory. A lane has one element at most of what begins or ends
// within 16 bytes.
template <int kThreads, int kColumns, class T>
TILE_DEVICE void take_strip(const unsigned char* from, T* to, u32 side, int rows, int columns) {
  constexpr int kElements = Chunks<T>::kElements, kPitch = kPitchOfStrip<T, kColumns>;
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < rows; r += kThreads / 32) {
    const Chunks<T> chunks(to + i64(r) * side, columns);
    T* const row = to + i64(r) * side - chunks.begin;
    const T* const copy = reinterpret_cast<const T*>(from) + r * kPitch;
#pragma unroll
    for (int n = 0; n < (kPitch / kElements + 31) / 32; ++n) {
      const int first = (n * 32 + lane) * kElements;
      if (first >= chunks.begin && first + kElements <= chunks.end)
        store_wide(row + first, *reinterpret_cast<const typename Chunks<T>::Chunk*>(copy + first));
    }
    const int begin = (chunks.begin + kElements - 1) / kElements * kElements;
    const int end = chunks.end / kElements * kElements;
    const int head = chunks.begin + lane, tail = end + lane;
    if (head < begin && head < chunks.end) row[head] = copy[head];
    if (tail >= begin && tail < chunks.end) row[tail] = copy[tail];
  }
}

// Copies `count` elements from shared memory. A thread has one element at most of what begins or
// ends within 16 bytes.
template <int kThreads, int kSlab, int kPad, class T>
TILE_DEVICE void take_slabs(T* to, const T* from, int count) {
  using Words = Contiguous<u32, 4>;
  const Chunks<T> chunks(to, count);
  constexpr int kElements = Chunks<T>::kElements;
  to -= chunks.begin;
  from -= chunks.begin;
  const int begin = chunks.begin > 0 ? 1 : 0, end = chunks.end / kElements;
#pragma unroll 1
  for (int i = begin + int(threadIdx.x); i < end; i += kThreads) {
    Words words;
    words.load(reinterpret_cast<const u32*>(from + padded_chunk<kSlab, kPad>(i) * kElements));
    store_wide(to + i * kElements, words);
  }
  const int head = chunks.begin + int(threadIdx.x), tail = int(threadIdx.x);
  if (head < begin * kElements && head < chunks.end) to[head] = from[head];
  if (end >= begin && tail < chunks.end - end * kElements)
    to[end * kElements + tail] = from[padded_chunk<kSlab, kPad>(end) * kElements + tail];
}

}  // namespace tile
