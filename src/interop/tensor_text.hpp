#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilejit/print_tensor.hpp"

namespace tilejit::interop {

/// The element at an offset from a tensor's address, in elements.
using Reader = std::function<const std::byte*(std::int64_t offset)>;

/// What print_tensor returns; asks `read` for the shown elements, in the order of the text. Throws
/// as print_tensor.
[[nodiscard]] std::string tensor_text(DType dtype, const Layout& layout, std::uint64_t address,
                                      const PrintOptions& options, const Reader& read);

/// The offsets that tensor_text asks for: ascending, each once.
[[nodiscard]] std::vector<std::int64_t> shown_offsets(const Layout& layout,
                                                      const PrintOptions& options);

/// One element: the sign's place, then the value.
[[nodiscard]] std::string element_text(DType dtype, const std::byte* element);

}  // namespace tilejit::interop
