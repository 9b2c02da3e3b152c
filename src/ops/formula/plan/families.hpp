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

/// The integer width that the number of a vector needs. `both`: the width is known only at launch,
/// so the cubin has two entry points: `kernel_name` for totals below 2^31, and `kernel_name` +
/// "_wide".
enum class IndexWidth : std::uint8_t { narrow, wide, both };
[[nodiscard]] std::string_view to_string(IndexWidth width) noexcept;

/// Threads take vectors in any order (template fused_map.cu).
struct Map {
  static constexpr std::string_view kTemplate = "fused_map";
  IndexWidth index = IndexWidth::narrow;
  bool light = false;  ///< vectors of one element; the full plan has tiles
  bool operator==(const Map&) const = default;
};

/// What a block takes if some operands are contiguous along one mode and some along another
/// (template fused_tile.cu).
struct Tile {
  static constexpr std::string_view kTemplate = "fused_tile";
  std::size_t mode = 1;  ///< the mode along which the crossed operands are contiguous
  int columns = 1;       ///< elements along mode 0, a power of two
  int rows = 1;          ///< elements along `mode`, a power of two
  bool ragged = true;    ///< the last vector along `mode` may be partial
  int copies = 1;  ///< vectors of a thread that are unrolled; if all are, they are loaded ahead
  bool operator==(const Tile&) const = default;
};

/// How threads share rows, the parts of the space over which the formula reduces (template
/// fused_rows.cu). A block has Plan::threads / lanes groups of lanes.
struct Rows {
  static constexpr std::string_view kTemplate = "fused_rows";
  std::size_t first = 0;  ///< modes first .. first + count - 1 are reduced
  std::size_t count = 1;
  int lanes = 32;   ///< threads of a block that share a row, a power of two
  int cluster = 1;  ///< blocks that share a row, with as many lanes each
  /// Blocks that share a row. Each leaves its partial result in memory, and a second kernel
  /// combines them.
  int shares = 1;
  bool atomics = false;  ///< the last of these blocks combines instead of a second kernel
  int held = 0;  ///< vectors of a row that a lane keeps in registers; 0: it reads them in each pass
  /// Blocks take one row after another and load the next row while they work on the current one;
  /// the launch has as many blocks as the device runs at once. If false, each block takes one row.
  bool ahead = false;
  /// Whether vectors lie along the row. If not, each element of a vector belongs to another row.
  [[nodiscard]] bool along() const noexcept { return first == 0; }
  [[nodiscard]] bool reduces(std::size_t m) const noexcept {
    return m >= first && m < first + count;
  }
  bool operator==(const Rows&) const = default;
};

/// Whether a scan goes from the first element of a row to the last, or from the last to the first.
enum class Direction : std::uint8_t { forward, backward };

/// Rows that are scanned (template fused_scan.cu). A row is scanned in chunks of Plan::unroll
/// vectors per lane, or in one chunk of Rows::held vectors per lane. `cluster`, `atomics` and
/// `ahead` are not used.
struct Scan : Rows {
  static constexpr std::string_view kTemplate = "fused_scan";
  Direction direction = Direction::forward;
  bool operator==(const Scan&) const = default;
};

/// Rows with the least code rather than the most speed (template fused_light.cu): vectors have one
/// element, and one block takes each row and holds nothing of it in registers.
struct Light : Rows {
  static constexpr std::string_view kTemplate = "fused_light";
  std::optional<Direction> direction = {};  ///< of formulas that scan
  bool operator==(const Light&) const = default;
};

/// Which elements of a block's tile each thread has, as the caller asked (template fused_tv.cu).
struct ThreadValue {
  static constexpr std::string_view kTemplate = "fused_tv";
  IntTuple tiler;                  ///< the tile, one extent per mode
  Layout layout;                   ///< (thread, value) to the column-major index in the tile
  std::vector<std::size_t> modes;  ///< of the space, one per mode of the tile
  int run = 1;  ///< the most values that are neighbours along mode 0 of the space
  bool operator==(const ThreadValue&) const = default;
};

/// Values that a kernel leaves in memory for later kernels of the same launch.
struct Temporary {
  DType dtype = f32;
  Dim elements = 1;
  bool operator==(const Temporary&) const = default;
};

/// The plans of several kernels, launched one after another, if no template does the whole
/// operation. The outer plan then has the operation's space, operands and arguments, and no kernel
/// of its own; its params are tensors, scalars and one Kind::dim per symbol.
struct Several {
  static constexpr std::string_view kTemplate = "fused_stages";
  std::vector<Plan> stages;
  std::vector<Temporary> temporaries;  ///< between the stages
  bool operator==(const Several& other) const;
};

using Family = std::variant<Map, Tile, Rows, Scan, Light, ThreadValue, Several>;

}  // namespace tilejit::plan
