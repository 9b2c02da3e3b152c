#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/code.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::program {

/// How a tile is spread over the threads of a block. Each digit of a thread's number, and of the
/// number of one of its values, moves along one axis of the tile; the first digits run fastest. A
/// digit of no axis repeats elements, and so do threads beyond the product of the digits. Places
/// may lie beyond the tile: values there mean nothing. A value.
struct Distribution {
  struct Digit {
    std::int64_t extent = 1;
    int axis = -1;  ///< -1: repeats
    std::int64_t step = 0;
    bool operator==(const Digit&) const = default;
  };
  Extents shape = {};
  std::int64_t threads = 1;  ///< of the block
  std::vector<Digit> of_thread = {};
  std::vector<Digit> of_value = {};

  [[nodiscard]] std::int64_t values() const noexcept;
  /// Threads that the digits tell apart.
  [[nodiscard]] std::int64_t distinct_threads() const noexcept;
  /// Whether some places lie beyond the tile along `axis`.
  [[nodiscard]] bool overhangs(int axis) const noexcept;
  [[nodiscard]] bool overhangs() const noexcept;
  /// Whether several threads have the same element.
  [[nodiscard]] bool repeats() const noexcept;
  /// Neighbours along `axis` that begin each thread's values: the length of its vectors.
  [[nodiscard]] std::int64_t vector_along(int axis) const noexcept;
  bool operator==(const Distribution&) const = default;
};

/// Vectors of `vector` elements along `axis`, which come first; then threads, then values, along
/// that axis and then the others from the last. `vector` is a power of two.
[[nodiscard]] Distribution spread(const Extents& shape, std::int64_t threads, int axis,
                                  std::int64_t vector);
/// The distribution of a tile with an extent of 1 wherever `shape` has, in place of `of`'s, aligned
/// at the last axis. Each thread has the elements that it meets when the tile broadcasts.
[[nodiscard]] Distribution slice_of(const Distribution& of, const Extents& shape);
/// The same with axes of extent 1 left out or put in, so that the tile has `shape`.
[[nodiscard]] Distribution renamed(const Distribution& of, const Extents& shape);
/// CuTe's layouts of threads and values over the tile.
[[nodiscard]] Distribution of_thread_value(const Layout& thr, const Layout& val,
                                           std::int64_t threads);

/// The sums of a product by warps: `fragment` is an instruction's layout of them, (thread, value)
/// -> m + M n, of (m, n) elements; `warps` are arranged along both axes, those along the first next
/// to each other.
[[nodiscard]] Distribution of_fragments(const Extents& shape, const Layout& fragment,
                                        const Extents& instruction, const Extents& warps,
                                        std::int64_t threads);

/// The same elements of a tile whose axis axes[i] is axis i here.
[[nodiscard]] Distribution permuted(const Distribution& of, const std::vector<int>& axes);

/// From (thread, value) to the row-major place in the tile, rounded up to whole steps. A digit that
/// repeats has a stride of 0.
[[nodiscard]] Layout layout_of(const Distribution& of);
/// "(64, 64): ((8,16),(8,4)):((8,64),(1,1024))"
[[nodiscard]] std::string to_string(const Distribution& of);

/// The number of the element of `of`'s slice of `shape` that belongs to value `i`, as CUDA text;
/// "0" if it is always the first.
[[nodiscard]] std::string slice_index(const Distribution& of, const Extents& shape,
                                      const std::string& i);
/// The part of the coordinate along `axis` that a value or a thread adds, as CUDA text; empty for
/// 0.
[[nodiscard]] std::string digits_text(const std::vector<Distribution::Digit>& digits, int axis,
                                      const std::string& number);

}  // namespace tilejit::program
