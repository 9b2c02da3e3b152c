#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cli {

/// NumPy's file format (numpy.lib.format, versions 1.0 to 3.0), as far as plain arrays of the
/// library's dtypes need it. Strict: little-endian, no pickled objects, no trailing bytes.

/// What the header of a .npy file says.
struct NpyHeader {
  std::string descr;                ///< "<f2"
  bool fortran_order = false;       ///< the first axis is the fastest
  std::vector<std::int64_t> shape;  ///< elements
  bool operator==(const NpyHeader&) const = default;
};

/// An array as its file holds it.
struct NpyArray {
  NpyHeader header;
  std::string data;  ///< packed elements
};

/// Parses the bytes of a .npy file; `name` is put into messages. Throws UsageError if they are not
/// one, or if header and size disagree. Allocates nothing that the file's size does not warrant.
[[nodiscard]] NpyArray parse_npy(std::string bytes, std::string_view name);

/// A .npy file of packed elements.
[[nodiscard]] std::string format_npy(const NpyHeader& header, std::string_view data);

/// How arrays of `dtype` are written: "<f2" and the like; bf16 and f8e4m3 as "<V2" and "|V1", as
/// ml_dtypes does, f8e5m2 as "|V1" (what ml_dtypes writes NumPy cannot load).
[[nodiscard]] std::string_view npy_descr(DType dtype) noexcept;
/// Whether an array of `descr` may be given for a tensor of `dtype`: the names NumPy and ml_dtypes
/// use, and for bf16 and f8 also the unsigned integers that hold their bits.
[[nodiscard]] bool npy_matches(std::string_view descr, DType dtype) noexcept;

/// The axes of an array for a tensor: one a top-level mode, a nested mode being one axis in
/// colexicographic order; none for a tensor of rank 0, whose layout is 1:0. `layout` has no
/// symbols.
[[nodiscard]] std::vector<std::int64_t> npy_shape(const Layout& layout);

/// Copies packed elements to where `layout`, that of `tensor`, puts them: `memory` holds
/// cosize(layout) elements. Throws UsageError that names the first coordinate where the array
/// differs from an element that the layout makes the same, as a stride of 0 does.
void scatter(const NpyArray& array, const Tensor& tensor, const Layout& layout, std::byte* memory);
/// The inverse: the tensor's elements packed in C order (last axis fastest).
[[nodiscard]] NpyArray gather(const std::byte* tensor, const Layout& layout, DType dtype);

}  // namespace tilejit::cli
