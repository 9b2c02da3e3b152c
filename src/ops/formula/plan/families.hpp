#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::plan {

struct Plan;

/// Which width the number of a vector needs. `both`: known at launch; the cubin has two entry
/// points, `kernel_name` for totals below 2^31 and `kernel_name` + "_wide".
enum class IndexWidth : std::uint8_t { narrow, wide, both };
[[nodiscard]] std::string_view to_string(IndexWidth width) noexcept;

/// Vectors are taken in any order (template fused_map.cu).
struct Map {
  IndexWidth index = IndexWidth::narrow;
  bool light = false;  ///< vectors of one element, where a full plan has tiles
  bool operator==(const Map&) const = default;
};

/// What a block takes where operands are contiguous along two modes (template fused_tile.cu).
struct Tile {
  std::size_t mode = 1;  ///< the mode along which the crossed operands are contiguous
  int columns = 1;       ///< elements along mode 0, a power of two
  int rows = 1;          ///< elements along `mode`, a power of two
  bool ragged = true;    ///< the last vector along `mode` may be partial
  int copies = 1;        ///< vectors of a thread whose code is written out; all: loaded ahead
  bool operator==(const Tile&) const = default;
};

/// How threads share rows, the parts of the space over which the formula reduces (template
/// fused_rows.cu). Plan::threads / lanes groups of lanes are in a block.
struct Rows {
  std::size_t first = 0;  ///< modes first .. first + count - 1 are reduced over
  std::size_t count = 1;
  int lanes = 32;   ///< threads of a block that share a row, a power of two
  int cluster = 1;  ///< blocks that share a row, with as many lanes each
  /// Blocks that share a row and leave what they have in memory, for a second kernel to combine.
  int shares = 1;
  bool atomics = false;  ///< the last one of them combines it, and there is no second kernel
  int held = 0;  ///< vectors of a row that a lane keeps in registers; 0: it reads them in each pass
  /// Blocks take one row after another and load the next while they work on one; as many are
  /// launched as the device runs at once. Else they take one row each.
  bool ahead = false;
  /// Vectors lie along the row; else each of their elements belongs to a row of its own.
  [[nodiscard]] bool along() const noexcept { return first == 0; }
  [[nodiscard]] bool reduces(std::size_t m) const noexcept {
    return m >= first && m < first + count;
  }
  bool operator==(const Rows&) const = default;
};

/// Whether a scan goes from the first element of a row to the last, or back.
enum class Direction : std::uint8_t { forward, backward };

/// Rows that are scanned (template fused_scan.cu): in chunks of Plan::unroll vectors a lane, or in
/// one of Rows::held. No cluster shares them, and nobody counts blocks or loads ahead.
struct Scan : Rows {
  Direction direction = Direction::forward;
  bool operator==(const Scan&) const = default;
};

/// The least code, not the most speed, of rows (template fused_light.cu): vectors of one element,
/// and one block a row, which holds nothing of it.
struct Light : Rows {
  std::optional<Direction> direction = {};  ///< of formulas that scan
  bool operator==(const Light&) const = default;
};

/// Which elements of a block's tile its threads have, as the caller asked (template fused_tv.cu).
struct ThreadValue {
  IntTuple tiler;                  ///< the tile, one extent a mode
  Layout layout;                   ///< (thread, value) to the column-major index in the tile
  std::vector<std::size_t> modes;  ///< of the space, one a mode of the tile
  int run = 1;                     ///< most values that are neighbours along mode 0 of the space
  bool operator==(const ThreadValue&) const = default;
};

/// Values that a kernel leaves in memory for those after it, for the time of a launch.
struct Temporary {
  DType dtype = f32;
  Dim elements = 1;
  bool operator==(const Temporary&) const = default;
};

/// Where no template does all of it: the plans of several kernels, launched one after another. The
/// plan itself then has the operation's space, operands and arguments, and no kernel of its own;
/// its params are tensors, scalars and one Kind::dim a symbol.
struct Several {
  std::vector<Plan> stages;
  std::vector<Temporary> temporaries;  ///< between the stages
  bool operator==(const Several& other) const;
};

using Family = std::variant<Map, Tile, Rows, Scan, Light, ThreadValue, Several>;

}  // namespace tilejit::plan
