#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/print_tensor.hpp"

namespace tilejit::interop {

/// Returns the element at `offset`, in elements, from the tensor's address.
using Reader = std::function<const std::byte*(std::int64_t offset)>;

/// Returns the text of the element at `offset`.
using ElementText = std::function<std::string(std::int64_t offset)>;

/// "generic", "gmem", ...
[[nodiscard]] std::string_view name_of(MemorySpace space);
/// to_string, but a single mode is a tuple, as CuTe writes it.
[[nodiscard]] std::string layout_text(const Layout& layout);
/// `heading`, and the elements of `layout` below it. Throws as print_tensor.
[[nodiscard]] std::string text_after(const std::string& heading, const Layout& layout,
                                     const PrintOptions& options, const ElementText& element);
/// What print_tensor returns. Calls `read` for the shown elements in the order of the text. Throws
/// as print_tensor.
[[nodiscard]] std::string tensor_text(DType dtype, const Layout& layout, std::uint64_t address,
                                      const PrintOptions& options, const Reader& read);

/// The offsets that tensor_text reads: ascending and distinct.
[[nodiscard]] std::vector<std::int64_t> shown_offsets(const Layout& layout,
                                                      const PrintOptions& options);

/// The text of one element: a place for the sign, then the value.
[[nodiscard]] std::string element_text(DType dtype, const std::byte* element);

}  // namespace tilejit::interop
