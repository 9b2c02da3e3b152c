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
/// library's dtypes need it. The parser is strict: little-endian, no pickled objects, no trailing
/// bytes.

/// The contents of a .npy file's header.
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

/// Parses the bytes of a .npy file. Messages name `name`. Throws UsageError if the bytes are not a
/// .npy file, or if header and size disagree. Allocates no more than the file's size warrants.
[[nodiscard]] NpyArray parse_npy(std::string bytes, std::string_view name);

/// A .npy file of packed elements.
[[nodiscard]] std::string format_npy(const NpyHeader& header, std::string_view data);

/// The descr with which arrays of `dtype` are written: "<f2" and the like. bf16 and f8e4m3 are
/// "<V2" and "|V1", as in ml_dtypes. f8e5m2 is "|V1", because NumPy cannot load what ml_dtypes
/// writes.
[[nodiscard]] std::string_view npy_descr(DType dtype) noexcept;
/// Whether an array of `descr` may be given for a tensor of `dtype`. Accepts the names that NumPy
/// and ml_dtypes use, and for bf16 and f8 also the unsigned integers that hold their bits.
[[nodiscard]] bool npy_matches(std::string_view descr, DType dtype) noexcept;

/// The extents of an array for a tensor: one axis per top-level mode. A nested mode is one axis in
/// colexicographic order. A tensor of rank 0, whose layout is 1:0, has no axes. `layout` has no
/// symbols.
[[nodiscard]] std::vector<std::int64_t> npy_shape(const Layout& layout);

/// Copies packed elements to where `layout`, the layout of `tensor`, puts them. `memory` holds
/// cosize(layout) elements. A layout may put several elements of the array at one place, as a
/// stride of 0 does; throws UsageError, naming the first coordinate, if such elements differ.
void scatter(const NpyArray& array, const Tensor& tensor, const Layout& layout, std::byte* memory);
/// The inverse of scatter: the tensor's elements, packed in C order (last axis fastest).
[[nodiscard]] NpyArray gather(const std::byte* tensor, const Layout& layout, DType dtype);

}  // namespace tilejit::cli
