#pragma once

#include <map>
#include <optional>
#include <vector>

#include "program/code.hpp"
#include "program/distribution.hpp"
#include "program/products.hpp"

namespace tilejit::program {

/// Calls `visit` with every step, those of loops and branches after the step that holds them.
template <typename Visit>
void for_each_step(const Steps& steps, const Visit& visit) {
  for (const Step& step : steps) {
    visit(step);
    if (const auto* const loop = std::get_if<Loop>(&step.kind)) for_each_step(loop->body, visit);
    if (const auto* const loop = std::get_if<WhileLoop>(&step.kind)) {
      for_each_step(loop->body, visit);
    }
    if (const auto* const branch = std::get_if<Branch>(&step.kind)) {
      for_each_step(branch->then, visit);
      for_each_step(branch->otherwise, visit);
    }
  }
}

/// What is known of a window before the launch.
struct WindowFacts {
  int vector_axis = -1;     ///< the tile's axis along which its tensor is contiguous; -1: none
  std::int64_t vector = 1;  ///< the most elements of a wide access along it: 16 bytes of them
  bool nested = false;      ///< an axis of the tensor has several modes
};
/// `views` are the steps that made views, by view; null for whole tensors.
[[nodiscard]] WindowFacts facts_of(const Window& window, const Code& code,
                                   const std::vector<Tensor>& tensors,
                                   const std::vector<const SetView*>& views);
/// The step that made each view; null for whole tensors.
[[nodiscard]] std::vector<const SetView*> views_of(const Code& code);

/// The distribution of a copy of a tile of `shape` between global and shared memory.
[[nodiscard]] Distribution copy_distribution(const Extents& shape, std::int64_t threads,
                                             const WindowFacts& facts);

/// How each tile in registers is spread, in the order of code.tiles; empty for shared tiles.
/// Pinned ones come first, then results of products; a Compute gives what it reads and makes one
/// distribution, of which tiles that broadcast have slices; what is left takes vectors of 16 bytes
/// along the axis along which the tensors it is loaded from or stored to are contiguous.
/// `products` are those by tensor cores.
[[nodiscard]] std::vector<std::optional<Distribution>> distribute(
    const Code& code, const std::vector<Tensor>& tensors, std::int64_t threads,
    const std::map<const Gemm*, WarpProduct>& products);

}  // namespace tilejit::program
