#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace tilejit::graph {

/// The contents of a drawing of a graph. Works for any graph of the driver.
struct GraphPicture {
  struct Node {
    std::string label = {};   ///< "tilejit_add_f32"; for other nodes what they do
    std::string detail = {};  ///< "8 x 256 threads"; may be empty
    bool kernel = false;
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    bool overlapping = false;  ///< the second kernel may start while the first one ends
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// Throws Error{driver_call}.
[[nodiscard]] GraphPicture picture_of(const driver::Table& driver, CUgraph graph);

[[nodiscard]] std::string to_dot(const GraphPicture& picture);
/// The row of a node is the length of the longest path to it.
[[nodiscard]] std::string to_svg(const GraphPicture& picture);

}  // namespace tilejit::graph
