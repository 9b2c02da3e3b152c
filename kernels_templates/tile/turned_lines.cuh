// Lines of a tile whose memory begins anywhere, as those of a transposed matrix with odd sides.
// They are loaded in aligned words, shifted in registers and turned: shared memory holds rows
// across the lines. Vectors of a row may begin in any line.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Turns a square of words: word i becomes the elements i of all.
template <int kElement>
TILE_DEVICE void turn_words(u32 (&x)[4 / kElement]) {
  if constexpr (kElement == 2) {
    const u32 first = x[0];
    x[0] = __byte_perm(first, x[1], 0x5410);
    x[1] = __byte_perm(first, x[1], 0x7632);
  } else if constexpr (kElement == 1) {
    const u32 low01 = __byte_perm(x[0], x[1], 0x5140), high01 = __byte_perm(x[0], x[1], 0x7362);
    const u32 low23 = __byte_perm(x[2], x[3], 0x5140), high23 = __byte_perm(x[2], x[3], 0x7362);
    x[0] = __byte_perm(low01, low23, 0x5410);
    x[1] = __byte_perm(low01, low23, 0x7632);
    x[2] = __byte_perm(high01, high23, 0x5410);
    x[3] = __byte_perm(high01, high23, 0x7632);
  }
}

// Whether the word of which the bytes before `p` are the last goes on behind `end`.
template <class T>
TILE_DEVICE bool ends_in_word(const T* p, const T* end) {
  return (reinterpret_cast<u64>(p) + 3) / 4 * 4 > reinterpret_cast<u64>(end);
}

// kLines lines of kCount elements each, at most kMost of which exist, for blocks of kThreads
// threads. kMasks: which lines exist is held in masks.
template <class T, int kLines, int kCount, int kMost, bool kMasks, int kThreads>
struct TurnedLines {
  enum : int {
    kWarps = kThreads / 32,
    kBytes = kCount * int(sizeof(T)),
    kPerWord = 4 / int(sizeof(T)),
    kGroups = kLines / kPerWord,  // of lines whose words make squares
    kMine = (kGroups + kWarps - 1) / kWarps,
    kApart = kWarps * kPerWord,  // lines between two groups of a warp
    kWords = kBytes / 128,       // of a line, that a lane has
    kPitch = kGroups | 1,  // words of a row: with a word more for each 32 rows, those of squares
    kTails = (kMine * kPerWord + 31) / 32,  // that are side by side have own banks
    kGoesOn = kMost * int(sizeof(T)) + 4 - int(sizeof(T)) > kBytes,  // a line, in a tail
  };
  static_assert(kLines % kPerWord == 0 && kBytes % 128 == 0, "whole squares and parts");
  static_assert(kMine < 32, "a bit for each group");

  u32 word[kCount * kPitch + kCount / 32];

  TILE_DEVICE u32* row(int r) { return word + r * kPitch + r / 32; }
  TILE_DEVICE const u32* row(int r) const { return word + r * kPitch + r / 32; }

  // The lines that a warp has, on their way.
  struct Loads {
    u32 part[kMine * kPerWord][kWords];
    u32 tail[kTails];    // a line's word behind those, in the lane of its number
    u32 address, pitch;  // of the warp's first line, and from each line to the next, in bytes

    // The number of the warp's line i, counted from its first one.
    static TILE_DEVICE int line_of(int i) { return i / kPerWord * kApart + i % kPerWord; }
    static TILE_DEVICE int first_line() { return int(threadIdx.x) / 32 * kPerWord; }

    // A bit for each group of lines of which line `e` comes before `until`.
    static TILE_DEVICE u32 groups_before(int until, int e) {
      const int lines = until > e ? until - e : 0;
      return ~(~0u << u32(lines + kApart - 1) / kApart);
    }

    // Loads the words of lines, which are counted from the warp's first one, with a bit for each
    // line that exists: for several inputs, that takes fewer registers and instructions. Groups
    // of lines are whole words apart.
    TILE_DEVICE void load_by_masks(const char* line, i64 step, int from, int until, int bytes,
                                   int cut) {
      const int lane = threadIdx.x % 32;
#pragma unroll
      for (int e = 0; e < kPerWord; ++e) {
        const u32 before = (address + u32(e) * pitch) % 4;
        const int all = int(before) + bytes;
        const char* const p = line + (e * step + 4 * lane) - before;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          const int at = 4 * lane + 128 * w;
          u32 exist = at < all ? groups_before(until, e) & ~groups_before(from, e) : 0;
          if (at >= (all & ~3) && u32(cut - e) % kApart == 0)  // no cut line is no group's
            exist &= ~(1u << u32(cut - e) / kApart % 32);
#pragma unroll
          for (int g = 0; g < kMine; ++g) {
            if (exist >> g & 1)
              part[g * kPerWord + e][w] =
                  *reinterpret_cast<const u32*>(p + g * kApart * step + 128 * w);
          }
        }
      }
    }

    // Begins to load the first `count` elements of those lines that are not before `from` nor
    // behind `until`. Line 0 begins at `first`, the others `stride` apart. Nothing is read behind
    // the tensor's end: of line `cut`, only whole words.
    TILE_DEVICE void load(const T* first, i64 stride, int from, int until, int count, int cut) {
      const int lane = threadIdx.x % 32, bytes = count * int(sizeof(T));
      const i64 step = stride * i64(sizeof(T));
      const char* const line = reinterpret_cast<const char*>(first) + first_line() * step;
      address = u32(reinterpret_cast<u64>(line));
      pitch = u32(step);
      const u32 lines = u32(until - from);
      const int begin = first_line() - from;
      cut -= first_line();
      if (kMasks) load_by_masks(line, step, from - first_line(), until - first_line(), bytes, cut);
#pragma unroll
      for (int i = 0; i < (kMasks ? 0 : kMine * kPerWord); ++i) {
        const int l = line_of(i);
        const u32 before = (address + u32(l) * pitch) % 4;
        const int all = int(before) + bytes, some = l == cut ? all & ~3 : all;
        const int limit = u32(begin + l) < lines ? some - 4 * lane : 0;
        const char* const p = line + (l * step + 4 * lane) - before;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          if (limit > 128 * w) part[i][w] = *reinterpret_cast<const u32*>(p + 128 * w);
        }
      }
      if (!kGoesOn) return;
#pragma unroll
      for (int i = 0; i < kTails; ++i) {
        const int l = line_of(32 * i + lane);
        const u32 before = (address + u32(l) * pitch) % 4;
        const int all = int(before) + bytes, some = l == cut ? all & ~3 : all;
        const bool exists = u32(begin + l) < lines && 32 * i + lane < kMine * kPerWord;
        const char* const p = line + l * step - before;
        if (exists && some > kBytes) tail[i] = *reinterpret_cast<const u32*>(p + kBytes);
      }
    }

    // Shifts and turns them.
    TILE_DEVICE void put(TurnedLines& to) const {
      const int lane = threadIdx.x % 32;
      u32* const rows = to.row(kPerWord * lane);
#pragma unroll
      for (int g = 0; g < kMine; ++g) {
        u32 square[kWords][kPerWord];
#pragma unroll
        for (int e = 0; e < kPerWord; ++e) {
          const int i = g * kPerWord + e;
          const u32 before = (address + u32(kMasks ? e : line_of(i)) * pitch) % 4;
          u32 next[kWords + 1];
#pragma unroll
          for (int w = 0; w < kWords; ++w) next[w] = __shfl_sync(~0u, part[i][w], (lane + 1) % 32);
          next[kWords] = kGoesOn ? __shfl_sync(~0u, tail[i / 32], i % 32) : next[0];
#pragma unroll
          for (int w = 0; w < kWords; ++w)
            square[w][e] =
                __funnelshift_r(part[i][w], lane == 31 ? next[w + 1] : next[w], 8 * before);
        }
        const int group = g * kWarps + int(threadIdx.x) / 32;
        if (kGroups % kWarps != 0 && group >= kGroups) continue;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          turn_words<int(sizeof(T))>(square[w]);
#pragma unroll
          for (int e = 0; e < kPerWord; ++e)
            rows[(32 * kPerWord * w + e) * kPitch + kPerWord * w + group] = square[w][e];
        }
      }
    }
  };

  // What the last line has behind its last whole word, once all lines are there.
  TILE_DEVICE void put_end(const T* last, int line, int count) {
    const int bytes = int(u32(reinterpret_cast<u64>(last)) % 4) + count * int(sizeof(T));
    const int r = count - 1 - int(threadIdx.x);
    if (int(threadIdx.x) < bytes % 4 / int(sizeof(T)) && r >= 0)
      reinterpret_cast<T*>(row(r))[line] = last[r];
  }

  // As many elements of row r as the vector has, from `line` on.
  template <template <class, int> class Form, int kVector>
  TILE_DEVICE void get(Form<T, kVector>& x, int line, int r) const {
    constexpr int kWide = kVector / kPerWord;
    const u32* const from = row(r) + line / kPerWord;
    const int before = line % kPerWord;
    u32 in[kWide + 1];
#pragma unroll
    for (int i = 0; i < kWide; ++i) in[i] = from[i];
    in[kWide] = 0;
    if (before != 0) in[kWide] = from[kWide];
#pragma unroll
    for (int i = 0; i < kWide; ++i)
      reinterpret_cast<u32*>(&x)[i] =
          __funnelshift_r(in[i], in[i + 1], 8 * int(sizeof(T)) * before);
  }
};

}  // namespace tile
