// out(c) = formula(in(c)) for every coordinate c of the iteration space, for operands that are
// contiguous along two different modes: most along mode 0, the transposed ones along another.
// A block takes one tile of kColumns (mode 0) by kRows elements. Squares of the transposed inputs
// pass through shared memory; then each thread has vectors along mode 0 of every operand, as in
// fused_map.cu. Transposed outputs go back the same way. A thread issues all its loads before it
// waits, and a block does so before it stores, so in-place operation is safe. That holds for the
// squares that the edge of the space cuts off, too: their elements that do not exist are left out,
// or loaded again from the last column. Vectors that it cuts off are processed in a loop that is
// not unrolled.
#include "plan.cuh"  // generated: constants, Params, Shared, Tile, Square, Vector, with the formula

constexpr int kVectorsAcross = kColumns / kVector;
constexpr int kSquaresDown = kRows / kVector;
constexpr int kSquares = kVectorsAcross * kSquaresDown / kThreads;  // per thread
constexpr int kVectors = kVectorsAcross * kRows / kThreads;         // per thread

// Number threadIdx.x + step * kThreads as a place in lines of kLength. If threads are whole lines,
// or lines take whole blocks of threads, what lies between two steps is known when compiling.
template <int kLength>
struct LinePlace {
  int line, at;
  TILE_DEVICE explicit LinePlace(int step) {
    if constexpr (kThreads % kLength == 0) {
      line = threadIdx.x / kLength + step * (kThreads / kLength);
      at = threadIdx.x % kLength;
    } else if constexpr (kLength % kThreads == 0) {
      line = step / (kLength / kThreads);
      at = threadIdx.x + step % (kLength / kThreads) * kThreads;
    } else {
      line = (threadIdx.x + step * kThreads) / kLength;
      at = (threadIdx.x + step * kThreads) % kLength;
    }
  }
};

// Square s and vector v of this thread, in units of squares and vectors. They exist only if whole;
// a square that only begins in the tile is cut off.
struct SquarePlace {
  int row, column;
  TILE_DEVICE explicit SquarePlace(int s) {
    if constexpr ((kSquaresDown & (kSquaresDown - 1)) == 0) {  // loads keep some distance
      row = (threadIdx.x + s * kThreads) % kSquaresDown;
      column = (threadIdx.x + s * kThreads) / kSquaresDown;
    } else {
      const LinePlace<kSquaresDown> place(s);
      row = place.at, column = place.line;
    }
  }
  TILE_DEVICE bool exists(const Tile& tile) const {
    return kWhole || ((column + 1) * kVector <= tile.columns && (row + 1) * kVector <= tile.rows);
  }
  TILE_DEVICE bool begins(const Tile& tile) const {
    return kWhole || (column * kVector < tile.columns && row * kVector < tile.rows);
  }
};
struct VectorPlace {
  int row, column;
  TILE_DEVICE explicit VectorPlace(int v) {
    const LinePlace<kVectorsAcross> place(v);
    row = place.line, column = place.at;
  }
  TILE_DEVICE bool exists(const Tile& tile) const {
    return kWhole || ((column + 1) * kVector <= tile.columns && row < tile.rows);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const Tile tile = tile_at(p, blockIdx.x);
  Square squares[kSquares];
  Vector vectors[kAhead ? kVectors : 1];
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const SquarePlace at(s);
    if (!kOneWay && at.exists(tile)) {
      squares[s].load(p, tile, at.row, at.column);
    } else if (kRagged && at.begins(tile)) {
      squares[s].load_cut(p, tile, at.row, at.column);
    }
  }
  if constexpr (kAhead) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const VectorPlace at(v);
      if (at.exists(tile)) vectors[v].load(p, tile, at.row, at.column, kVector);
    }
  }
  // Where loads lie a known distance apart, ptxas would put each of them behind the last one's
  // store, so that a thread waits as often as it has squares.
  if constexpr (kSquares > 1 && (kSquaresDown & (kSquaresDown - 1)) != 0) __syncwarp();
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const SquarePlace at(s);
    if (at.begins(tile)) squares[s].put(shared, at.row, at.column);
  }
  if constexpr (kMovesElements) {
#pragma unroll 1
    for (int s = 0; s < kSquares; ++s) {
      const SquarePlace at(s);
      if (at.begins(tile) && !at.exists(tile)) move_cut(p, tile, shared, at.row, at.column);
    }
  }
  __syncthreads();
#pragma unroll kCopies
  for (int v = 0; v < kVectors; ++v) {
    const VectorPlace at(v);
    if (!at.exists(tile)) continue;
    Vector& vector = vectors[kAhead ? v : 0];
    if (!kAhead) vector.load(p, tile, at.row, at.column, kVector);
    vector.map(p, tile, shared, at.row, at.column, kVector);
  }
  if constexpr (kRaggedColumns) {
    const int column = tile.columns / kVector, valid = tile.columns % kVector;
#pragma unroll 1
    for (int row = valid == 0 ? kRows : threadIdx.x; row < tile.rows; row += kThreads) {
      Vector vector;
      vector.load(p, tile, row, column, valid);
      vector.map(p, tile, shared, row, column, valid);
    }
  }
  if constexpr (kTransposedOutputs) {
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSquares; ++s) {
      const SquarePlace at(s);
      if (at.exists(tile)) {
        store_square(p, tile, shared, at.row, at.column);
      } else if (kRagged && at.begins(tile)) {
        store_cut(p, tile, shared, at.row, at.column);
      }
    }
  }
}
