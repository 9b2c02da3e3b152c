#pragma once

#include <cstdint>

namespace tilejit::device {

// The scale of the devices that planners have in mind: an H100, whose tables are in
// docs/performance.md. They hold for every target, so that a plan depends on no one device.

inline constexpr std::int64_t kManyBlocks = 128;    ///< about one per multiprocessor
inline constexpr std::int64_t kWantedBlocks = 528;  ///< four per multiprocessor of 132
inline constexpr std::int64_t kManyTiles = 512;     ///< a few on every multiprocessor
/// Threads that are resident at once, about.
inline constexpr std::int64_t kThreadsAtOnce = std::int64_t{1} << 17;
/// Vectors, one per thread, for blocks of 1024 in 15 turns of 132 multiprocessors.
inline constexpr std::int64_t kManyVectors = std::int64_t{1} << 22;
/// Shared memory that a block has without asking, in bytes.
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;

}  // namespace tilejit::device
