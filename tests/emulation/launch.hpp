// Launches of kernels: one cluster of blocks after another.
#pragma once

#include "shared_memory.hpp"

namespace emulation {

/// A header that keeps something of a cluster adds what forgets it before the next one; and what is
/// done when a thread has ended.
inline std::vector<std::function<void()>> forgetting, ending;

/// In random order. Shared memory begins with values that mean nothing, and a block's is lost when
/// the block ends. Throws what is wrong with a kernel.
inline void launch(const std::function<void()>& kernel, const Shape& shape) {
  std::mt19937 random(shape.seed);
  const Index& grid = shape.grid;
  std::vector<std::size_t> order(grid.x / shape.cluster * grid.y * grid.z);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i * shape.cluster;
  std::shuffle(order.begin(), order.end(), random);
  ++launches;
  declared_end = kDeclared;
  Block::grid = grid;
  Block::extents = shape.block;
  for (const std::size_t first : order) {
    const auto number = static_cast<unsigned>(first);
    Block::block = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    for (std::size_t rank = 0; rank < shape.cluster; ++rank) {
      std::memset(shared_memory[rank], 0xff, shape.shared_bytes + kGuard);
      std::memset(shared_memory[rank] + kDeclared, 0xff, kAllBytes - kDeclared);
    }
    for (const auto& forget : forgetting) forget();
    Cluster cluster(shape.cluster, shape.block.x * shape.block.y * shape.block.z, random, kernel);
    cluster.on_end = [&] {
      const std::size_t rank = cluster.rank();
      if (cluster.has_ended(rank)) std::memset(shared_memory[rank], kUnknown, shape.shared_bytes);
      for (const auto& end : ending) end();
    };
    cluster.run();
    for (std::size_t rank = 0; rank < shape.cluster; ++rank) {
      for (std::size_t i = 0; i < kGuard; ++i) {
        if (shared_memory[rank][shape.shared_bytes + i] != 0xff) {
          fail("a write beyond shared memory");
        }
      }
    }
  }
}
template <class Params>
void launch(void (*kernel)(Params), const void* params, const Shape& shape) {
  launch([&] { kernel(*static_cast<const std::remove_cvref_t<Params>*>(params)); }, shape);
}
inline void launch(void (*kernel)(), const void*, const Shape& shape) {
  launch([&] { kernel(); }, shape);
}
/// Returns what is wrong with the kernel; empty if nothing is.
template <class Kernel>
const char* try_launch(Kernel kernel, const void* params, const Shape& shape) {
  static std::string wrong;
  wrong.clear();
  try {
    launch(kernel, params, shape);
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  Cluster::running = nullptr;
  return wrong.c_str();
}

}  // namespace emulation
