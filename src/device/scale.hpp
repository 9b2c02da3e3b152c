#pragma once

#include <cstdint>

namespace tilejit::device {

// The scale of the devices that planners assume: an H100, whose tables are in docs/performance.md.
// The numbers are the same for every target, so that a plan does not depend on one device.

inline constexpr std::int64_t kMultiprocessors = 132;
inline constexpr std::int64_t kManyBlocks = 128;  ///< about one per multiprocessor
inline constexpr std::int64_t kWantedBlocks = 4 * kMultiprocessors;
inline constexpr std::int64_t kManyTiles = 512;  ///< a few on every multiprocessor
/// Approximate number of threads that are resident at once.
inline constexpr std::int64_t kThreadsAtOnce = std::int64_t{1} << 17;
inline constexpr std::int64_t kThreadsOfMultiprocessor = 2048;  ///< of these, the most
inline constexpr std::int64_t kMostThreadsAtOnce = kThreadsOfMultiprocessor * kMultiprocessors;
inline constexpr std::int64_t kRegistersOfMultiprocessor = 65536;
/// Bytes of loads under way at once that keep the memory busy.
inline constexpr std::int64_t kBytesUnderWay = std::int64_t{3} << 20;
/// Shared memory that a block gets without asking for it, in bytes.
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;
inline constexpr int kMaxCluster = 8;  ///< blocks; every device with clusters supports as many
/// Bytes of which an L2 cache has the most when another kernel reads them again: half of it.
inline constexpr std::int64_t kBytesOfCache = std::int64_t{24} << 20;
/// Bytes that memory moves in a microsecond while much is under way.
inline constexpr double kBytesOfUs = 2.9e6;
/// Sectors that lanes store in parts, in a microsecond: the L2 cache takes each part by itself.
inline constexpr double kPartsOfUs = 50e3;
/// Microseconds that a kernel costs which another one follows.
inline constexpr double kKernelUs = 2.5;

}  // namespace tilejit::device
