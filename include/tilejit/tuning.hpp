#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "tilejit/layout.hpp"

namespace tilejit {

/// How the elements of a block's tile are divided among its threads: what make_layout_tv takes
/// (tilejit/tv.hpp). The tile's modes are the last axes of the iteration space, in their order.
struct ThreadValueLayouts {
  Layout thr = {};  ///< coordinates of the tile to threads: compact, 32 to 1024 of them
  Layout val = {};  ///< coordinates to the values of a thread: compact, at most 1024
  bool operator==(const ThreadValueLayouts&) const = default;
};

/// What a caller may pin; the planner chooses whatever is left empty.
struct Tuning {
  std::optional<int> threads = {};  ///< threads per block: a multiple of 32, 32..1024
  std::optional<int> vector =
      {};  ///< elements a thread takes at once along the innermost mode: 1,2,4,8,16
  std::optional<int> unroll = {};  ///< vectors a thread has in flight: 1..16
  /// If operands are contiguous along two modes: elements of a block's tile along the outputs'
  /// contiguous mode, then along the other; powers of two, 1..4096. Of products of matrices also
  /// multiples of 8.
  std::optional<std::array<int, 2>> tile = {};
  /// Instead of a plan of the library's own, for formulas without reductions: `threads` and `tile`
  /// follow from it.
  std::optional<ThreadValueLayouts> tv = {};
  // If the formula reduces (docs/planning-rules.md, "Rows"):
  std::optional<int> row_threads = {};  ///< threads of a block that share a row: a power of two
  std::optional<int> cluster = {};      ///< blocks of a cluster that share a row: 1, 2, 4 or 8
  std::optional<int> splits = {};       ///< blocks that share a row through memory: 1..8192
  /// Vectors of a row that a thread keeps in registers; 0: none.
  std::optional<int> register_vectors = {};
  /// Blocks that share a row through memory count themselves there, by an atomic addition, and the
  /// last one combines what they have left: one kernel instead of two, with the same results.
  /// Without effect if no blocks do.
  std::optional<bool> atomics = {};
  /// Of a CudaKernel: values of constants, as text: {"kThreads", "128"}.
  std::map<std::string, std::string> constants = {};
  bool operator==(const Tuning&) const = default;
};

}  // namespace tilejit
