#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "device/occupancy.hpp"
#include "operation/launch_shape.hpp"
#include "tilejit/dim.hpp"
#include "tilejit/tensor.hpp"

// What figures say of launches whose authors give their shape.

namespace tilejit::operation {

/// The value of number `i` of the launch; nothing if a symbol has no value, or if no launch is like
/// that.
[[nodiscard]] std::optional<std::int64_t> launch_number(const LaunchShape& shape, std::size_t i,
                                                        const SymbolValues& symbols);
/// The product of the three numbers from `first` on: the blocks of a launch, or the threads of a
/// block. Nothing as launch_number, or if it exceeds 2^63-1.
[[nodiscard]] std::optional<std::int64_t> launch_product(const LaunchShape& shape,
                                                         std::size_t first,
                                                         const SymbolValues& symbols);
/// These three as their author writes them: "(ceil_div(N,64), M, 1)".
[[nodiscard]] std::string launch_text(const LaunchShape& shape, std::size_t first);

/// "4 blocks, 512 threads a multiprocessor, 25 % of what it holds; limited by registers."
[[nodiscard]] std::string occupancy_text(const device::Occupancy& occupancy);

/// The bytes of all elements, each once; twice if it is read and written. A mode of stride 0 has
/// one element. Nothing if a symbol has no value, or above 2^63-1.
[[nodiscard]] std::optional<std::int64_t> bytes_moved(std::span<const Tensor> tensors,
                                                      const SymbolValues& symbols);

}  // namespace tilejit::operation
