#pragma once

#include <cstdint>
#include <optional>

#include "device/scale.hpp"
#include "rows/row_shape.hpp"

namespace tilejit::plan {

// How threads share columns (column_shape.cpp), those that they hold (held_columns.cpp), and those
// that are read once (read_columns.cpp); and what these have in common.

inline constexpr int kBytesOfLargeBatch = 64;  ///< of which half keeps the memory busy
inline constexpr int kThreadsAcross = 512;
inline constexpr int kThreadsOfStrip = 256;
inline constexpr int kThreadsOfShort = 128;  ///< the fewest threads of a block
inline constexpr int kLeastGroups = 4;       ///< 64 bytes side by side with vectors of 16 bytes
/// Registers that hold a thread's part of a column.
inline constexpr int kRegistersHeld = 32;
inline constexpr int kMostAcross = 8;  ///< elements of a vector, which accumulate apart
inline constexpr int kMostElements =
    4;  ///< of a vector that is held, or shifted if columns are short
inline constexpr std::int64_t kFewOfThread = 8;  ///< vectors of a column
inline constexpr int kRegistersOfBlock = 40;     ///< of odd columns, instead of a cluster
inline constexpr int kNarrowestAccess = 4;
/// With fewer threads than this, columns of twice as many still find room on the device.
inline constexpr std::int64_t kFewThreads = device::kThreadsAtOnce / 4;
/// Longer columns have several threads anyway.
inline constexpr int kFewestOfWhole = 1, kMostOfWhole = 16;

/// Bytes of a vector of the narrowest operand that is contiguous across rows.
[[nodiscard]] int bytes_of_vector(const Plan& plan, const Rows& rows);
/// Whether elements of an input follow each other along columns, of which a sector has several, so
/// that lanes share sectors and come back to them for each element of their columns.
[[nodiscard]] bool shares_sectors_along(const Plan& plan, const Rows& rows);
/// Whether blocks are up to half more than run at once, two on each multiprocessor.
[[nodiscard]] bool has_last_turn(std::int64_t blocks);
/// Whether columns come by single elements, and their neighbours' runs begin anywhere in sectors.
[[nodiscard]] bool are_odd_elements(const Plan& plan);
/// Vectors of the innermost kept modes that follow one another in every operand of the full space,
/// up to a gap of a sector in inputs: a column's neighbour is its neighbour in memory, also from
/// one mode to the next. Those of more modes are not counted once there are as many as a warp has
/// lanes.
[[nodiscard]] std::int64_t vectors_in_sequence(const Plan& plan, const Rows& rows);
/// Vectors that lie side by side along the innermost of several kept modes. With the next mode's,
/// which are far away, a warp would access many pieces of memory at a time. (A power of two; kWarp
/// if they are enough, or if rows are short.)
[[nodiscard]] int groups_side_by_side(const Plan& plan, const Rows& rows);
/// Registers for one vector of each input that a thread holds. Shifted ones come in two chunks, and
/// vectors of less than a register have one each.
[[nodiscard]] int registers_of_held(const Plan& plan, const Rows& rows);
/// The most vectors of a column that a thread may hold: beside them, it has an accumulator and all
/// results for each element of a vector.
[[nodiscard]] std::int64_t most_of_thread(const Plan& plan, const Rows& rows,
                                          std::int64_t most_held);

/// Columns that are read more than once: threads hold them in registers, so that memory is read
/// once. The blocks of a cluster share columns that are too long for one.
[[nodiscard]] std::optional<RowShape> shape_held(const Plan& plan, Rows rows,
                                                 std::int64_t most_held);

/// The most elements of a vector of columns that are read once: fewer if they would have large
/// accumulators, or if the device would have room for more threads.
[[nodiscard]] int most_of_read_columns(const Plan& plan, const Rows& rows);
/// Short columns that are read once: a thread loads all of a column at once.
[[nodiscard]] std::optional<RowShape> shape_whole(const Plan& plan, Rows rows,
                                                  std::int64_t most_held);
/// Short odd columns that are read once: their vectors are shifted, so a thread has several batches
/// of them, for which it keeps its place in a row.
[[nodiscard]] std::optional<RowShape> shape_shifted(const Plan& plan, Rows rows);

/// Loads that a thread has in flight of columns that are not held. `plan` must have its rows and
/// threads.
[[nodiscard]] int batch_of_columns(const Plan& plan);
/// Blocks of columns that are read once that a multiprocessor has at once, about.
[[nodiscard]] int blocks_together(Plan plan, const RowShape& shape);
/// Blocks that share each strip of columns if one block a strip would leave the device mostly idle
/// in a second turn: the shorter blocks are, the sooner the last ones are done.
[[nodiscard]] int cluster_of_turns(Plan plan, const RowShape& shape);
/// Whether blocks of columns that are read once take more than one turn, and one if they have half
/// as many threads, each with twice as much of a column. Of long columns, more threads have more
/// bytes under way; calls of sines take more registers than the turns are estimated by.
[[nodiscard]] bool runs_at_once_by_half(Plan plan, const RowShape& shape);

}  // namespace tilejit::plan
