// Brings the tiles of one operand of a matrix product from global to shared memory, step by step
// along K. Elements that the matrix does not have are 0.
//
// Source says where the matrix lies:
//   using Element;                                 its storage type
//   static constexpr int kRun;                     elements that are taken at once, side by side in
//                                                  memory, from a multiple of kRun on
//   static constexpr Along kAlong;                 rows are M of A, N of B, and columns are K
//   static constexpr bool kLinear;                 one stride for rows, one for columns
//   static i64 row_stride(p), column_stride(p);    if kLinear
//   static i64 place(p, i64 row, i64 column);      else
//   static constexpr bool kWholeRows, kWholeK;     every tile is full
#pragma once

#include "tile/barrier.cuh"
#include "tile/shared_facts.cuh"
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#include "tile/async_copy.cuh"
#endif

namespace tile {

// Targets without asynchronous copies have other ones, which are there when they end.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool kHasAsyncCopies = false;
template <int kBytes>
TILE_DEVICE void async_copy(u32, const void*) {}
template <int kBytes>
TILE_DEVICE void async_copy_or_zero(u32, const void*, u32) {}
TILE_DEVICE void async_copy_commit() {}
template <int kPending>
TILE_DEVICE void async_copy_wait() {}
#else
constexpr bool kHasAsyncCopies = true;
#endif

// What becomes of an element on its way to shared memory. Kernels have others, which compute it
// (kChanges), and may make something else of 0 than 0 (kKeepsZero).
//
// The value in type To.
template <class To>
struct Converted {
  using Type = To;
  static constexpr bool kChanges = true, kKeepsZero = true;
  template <class Params, class T>
  static TILE_DEVICE To from(const Params&, T x) {
    return To(to_compute(x));
  }
};
// The same, rounded to its own type first: tf32 in memory may have any bits.
template <class To>
struct Rounded {
  using Type = To;
  static constexpr bool kChanges = true, kKeepsZero = true;
  template <class Params, class T>
  static TILE_DEVICE To from(const Params&, T x) {
    return To(to_compute(store_as<T>(to_compute(x))));
  }
};
// Nothing: cp.async can take it.
template <class T>
struct Unchanged {
  using Type = T;
  static constexpr bool kChanges = false, kKeepsZero = true;
  template <class Params>
  static TILE_DEVICE T from(const Params&, T x) {
    return x;
  }
};

// Layout is that of the tile in shared memory, kRows x kDepth elements of Entry::Type.
template <class Source, class Entry, class Layout, int kRows, int kDepth, int kThreads>
struct OperandLoader {
  using Element = typename Source::Element;
  using Shared = typename Entry::Type;
  static constexpr bool kByColumns = Source::kAlong == Along::columns;
  static constexpr int kRun = Source::kRun;
  static constexpr int kBytes = kRun * int(sizeof(Element));
  // Runs that lie side by side in shared memory, too.
  static constexpr bool kAsync =
      kHasAsyncCopies && kBytes >= 4 && !Entry::kChanges &&
      (kRun == 1 || has_runs<Layout, Source::kAlong>(kByColumns ? kDepth : kRows,
                                                     kByColumns ? kRows : kDepth, kRun));
  static constexpr int kExtent = kByColumns ? kDepth : kRows, kLines = kByColumns ? kRows : kDepth;
  static constexpr int kPerLine = kExtent / kRun;      // threads
  static constexpr int kAtOnce = kThreads / kPerLine;  // lines that the block takes
  static constexpr int kCopies = kLines / kAtOnce;     // of a thread
  // Runs of other elements that lie side by side there: they are stored at once.
  static constexpr int kRunBytes = int(sizeof(Shared)) * kRun;
  static constexpr bool kWideStores = kRun > 1 && kRunBytes <= 16 &&
                                      has_runs<Layout, Source::kAlong>(kExtent, kLines, kRun);
  // A thread's elements that are computed stay in registers while others are multiplied.
  static constexpr bool kHolds = !Entry::kKeepsZero && kCopies * kRun <= 16;
  static_assert(kPerLine * kRun == kExtent && kAtOnce * kPerLine == kThreads,
                "threads divide lines");
  static_assert(kCopies * kAtOnce == kLines, "lines divide among threads");

  const Element* matrix;
  const Element* from;  // this thread's first run of the next tile
  i64 step;             // to the next tile, if linear
  i64 left_rows;        // from this thread's first row on
  i64 left_k;           // from the next tile's first column on
  i64 first_row, k;     // of the matrix, if not linear
  i32 along, across;    // in the tile

  template <class Params>
  TILE_DEVICE OperandLoader(const Params& p, const Element* start, i64 row, i64 rows, i64 first_k,
                            i64 K, i32 thread) {
    matrix = start;
    along = thread % kPerLine * kRun;
    across = thread / kPerLine;
    const i64 own_row = row + (kByColumns ? across : along);
    left_rows = rows - own_row;
    left_k = K - first_k;
    first_row = row;
    k = first_k;
    from = start;
    if constexpr (Source::kLinear) {
      from += own_row * Source::row_stride(p) +
              (first_k + (kByColumns ? along : across)) * Source::column_stride(p);
      step = kDepth * Source::column_stride(p);
    }
  }

  // Takes the next tile. The copies may still be under way.
  template <class Params>
  TILE_DEVICE void load(const Params& p, unsigned char* tile) {
    if constexpr (kAsync) {
#pragma unroll 8
      for (int i = 0; i < kCopies; ++i) copy(p, tile, i);
    } else {
      constexpr int kBatch = kCopies * kRun <= 16 ? kCopies : kRun >= 16 ? 1 : 16 / kRun;
#pragma unroll 1  // otherwise all addresses are kept in registers
      for (int i = 0; i < kCopies; i += kBatch) {
        Run run[kBatch];
#pragma unroll
        for (int j = 0; j < kBatch; ++j) read(p, run[j], i + j);
#pragma unroll
        for (int j = 0; j < kBatch; ++j) write(p, tile, run[j], i + j);
      }
    }
    advance();
  }

  struct alignas(kBytes <= 16 ? kBytes : 16) Run {
    Element element[kRun];
  };
  struct Held {
    Run run[kHolds ? kCopies : 1];
  };
  // load() in two: elements that are computed are there after finish().
  template <class Params>
  TILE_DEVICE void start(const Params& p, unsigned char* tile, Held& held) {
    if constexpr (kHolds) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) read(p, held.run[i], i);
    } else {
      load(p, tile);
    }
  }
  template <class Params>
  TILE_DEVICE void finish(const Params& p, unsigned char* tile, const Held& held) {
    if constexpr (kHolds) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) write(p, tile, held.run[i], i);
      advance();
    }
  }

 private:
  TILE_DEVICE void advance() {
    if constexpr (Source::kLinear) from += step;
    left_k -= kDepth;
    k += kDepth;
  }

  // How many elements of copy `i` exist.
  TILE_DEVICE i32 existing(int i) const {
    const i64 row = left_rows - (kByColumns ? i * kAtOnce : 0);
    const i64 column = left_k - (kByColumns ? along : across + i * kAtOnce);
    const i64 some = kByColumns ? column : row, line = kByColumns ? row : column;
    constexpr bool kWholeRuns = kByColumns ? Source::kWholeK : Source::kWholeRows;
    constexpr bool kWholeLines = kByColumns ? Source::kWholeRows : Source::kWholeK;
    if (!kWholeLines && line <= 0) return 0;
    if (kWholeRuns || some >= kRun) return kRun;
    return some < 0 ? 0 : i32(some);
  }
  template <class Params>
  TILE_DEVICE const Element* address(const Params& p, int i) const {
    if constexpr (Source::kLinear) {
      return from + i * kAtOnce * (kByColumns ? Source::row_stride(p) : Source::column_stride(p));
    } else {
      const i64 a = along, b = across + i * kAtOnce;
      return from + Source::place(p, first_row + (kByColumns ? b : a), k + (kByColumns ? a : b));
    }
  }
  TILE_DEVICE i32 place(int i) const {
    constexpr Along kAcross = kByColumns ? Along::rows : Along::columns;
    constexpr i32 kFar = distance<Layout, kAcross>(kLines, kAtOnce);
    constexpr bool kEven = is_even<Layout, kAcross>(kLines, kExtent, kAtOnce);
    const i32 line = across + (kEven ? 0 : i * kAtOnce);
    return Layout()(kByColumns ? line : along, kByColumns ? along : line) + (kEven ? i * kFar : 0);
  }

  template <class Params>
  TILE_DEVICE void copy(const Params& p, unsigned char* tile, int i) const {
    const u32 to = shared_address(tile) + u32(place(i)) * u32(sizeof(Element));
    const Element* const at = address(p, i);
    if constexpr (Source::kWholeRows && Source::kWholeK) {
      async_copy<kBytes>(to, at);
    } else {
      const i32 count = existing(i);
      async_copy_or_zero<kBytes>(to, count > 0 ? at : matrix, u32(count) * u32(sizeof(Element)));
    }
  }
  template <class Params>
  TILE_DEVICE void read(const Params& p, Run& run, int i) const {
    const i32 count = existing(i);
    const Element* const at = address(p, i);
    if (count == kRun) {
      run = *reinterpret_cast<const Run*>(at);
      return;
    }
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      run.element[e] = Element{};
      if (e < count) run.element[e] = at[e];
    }
  }
  template <class Params>
  TILE_DEVICE void write(const Params& p, unsigned char* tile, const Run& run, int i) const {
    Shared* const to = reinterpret_cast<Shared*>(tile);
    const i32 line = across + i * kAtOnce, count = Entry::kKeepsZero ? kRun : existing(i);
    struct alignas(kWideStores ? kRun * sizeof(Shared) : sizeof(Shared)) Stored {
      Shared element[kRun];
    } stored;
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      stored.element[e] = e < count ? Entry::from(p, run.element[e]) : Shared{};
    }
    if constexpr (kWideStores) {
      *reinterpret_cast<Stored*>(to + place(i)) = stored;
    } else {
#pragma unroll
      for (int e = 0; e < kRun; ++e) {
        to[kByColumns ? Layout()(line, along + e) : Layout()(along + e, line)] = stored.element[e];
      }
    }
  }
};

}  // namespace tile
