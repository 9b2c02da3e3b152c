#include "operation/launch_shape.hpp"

#include <string>

#include "tilejit/error.hpp"

namespace tilejit::operation {
namespace {

/// The place of a number in the descriptor, and the values that it may have.
struct NumberLimit {
  const char* place;
  const char* what;
  std::int64_t least, most;
};
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr NumberLimit kNumberLimits[LaunchShape::kCount] = {
    {"/launch/grid/0", "blocks along x", 1, 2147483647},
    {"/launch/grid/1", "blocks along y", 1, 65535},
    {"/launch/grid/2", "blocks along z", 1, 65535},
    {"/launch/block/0", "threads along x", 1, 1024},
    {"/launch/block/1", "threads along y", 1, 1024},
    {"/launch/block/2", "threads along z", 1, 64},
    {"/launch/shared", "bytes of shared memory", 0, 2147483647},
};
constexpr std::int64_t kMostThreads = 1024;

}  // namespace

void check_launch_number(const LaunchShape& shape, std::size_t i, std::int64_t value) {
  const NumberLimit& limit = kNumberLimits[i];
  if (value >= limit.least && value <= limit.most) return;
  throw Error(ErrorCode::invalid_argument,
              "a launch has " + std::to_string(limit.least) + " to " + std::to_string(limit.most) +
                  " " + limit.what + ", and '" + shape.numbers[i].text() + "' is " +
                  std::to_string(value) +
                  (value == 0 ? "; leave out launches that have nothing to do" : ""),
              limit.place);
}

void check_launch_numbers(const LaunchShape& shape, const std::int64_t* values) {
  const std::int64_t* const block = values + LaunchShape::block;
  const std::int64_t threads = block[0] * block[1] * block[2];
  if (threads > kMostThreads) {
    throw Error(ErrorCode::invalid_argument,
                "a block has at most 1024 threads, and this one has " + std::to_string(threads),
                "/launch/block");
  }
  if (values[LaunchShape::grid] % shape.cluster != 0) {
    throw Error(ErrorCode::invalid_argument,
                "the grid of " + std::to_string(values[LaunchShape::grid]) +
                    " blocks along x is not a multiple of a cluster of " +
                    std::to_string(shape.cluster),
                "/launch/grid/0");
  }
}

}  // namespace tilejit::operation
