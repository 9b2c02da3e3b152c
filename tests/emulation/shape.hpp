// The shape of an emulated launch. Tests fill it, kernels' texts read it.
#pragma once

#include <cstddef>

namespace emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

struct Shape {
  Index grid, block;
  std::size_t cluster = 1, shared_bytes = 0;
  unsigned seed = 0;
};

}  // namespace emulation
