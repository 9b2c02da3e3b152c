#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "common/command.hpp"
#include "kernels/npy.hpp"

namespace tilejit::cli {
namespace {

// The loops over the elements of `layout` in the order of an array, the fastest first. The first
// leaf of a mode is its fastest. The last mode is the fastest, or in Fortran order the first.
std::vector<Mode> loops(const Layout& layout, bool fortran_order) {
  std::vector<Mode> result;
  const auto modes = static_cast<std::size_t>(rank(layout));
  for (std::size_t i = 0; i < modes; ++i) {
    const Layout own = mode(layout, fortran_order ? i : modes - 1 - i);
    result.insert(result.end(), own.leaves().begin(), own.leaves().end());
  }
  std::erase_if(result, [](const Mode& m) { return m.extent.is(1); });
  return result;
}

std::int64_t count_of(const std::vector<Mode>& loops) {
  if (std::ranges::any_of(loops, [](const Mode& loop) { return loop.extent.is(0); })) return 0;
  std::int64_t count = 1;
  for (const Mode& loop : loops) count *= loop.extent.value();
  return count;
}

// Calls visit(offset of the element in the tensor) for each element, in the order of the array.
template <typename Visit>
void for_each_offset(const std::vector<Mode>& loops, Visit visit) {
  std::vector<std::int64_t> coord(loops.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t left = count_of(loops); left > 0; --left) {
    visit(offset);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      offset += loops[i].stride.value();
      if (++coord[i] < loops[i].extent.value()) break;
      offset -= coord[i] * loops[i].stride.value();
      coord[i] = 0;
    }
  }
}

// Whether two elements may share a place: true unless each stride steps over everything that
// smaller strides reach.
bool may_repeat(std::vector<Mode> loops) {
  std::ranges::sort(loops, {}, [](const Mode& loop) { return loop.stride.value(); });
  std::int64_t span = 1;
  for (const Mode& loop : loops) {
    if (loop.stride.value() < span) return true;
    span += (loop.extent.value() - 1) * loop.stride.value();
  }
  return false;
}

// The coordinate of an element, from its number in the array's file.
std::vector<std::int64_t> coordinate(const NpyHeader& header, std::int64_t number) {
  std::vector<std::int64_t> result(header.shape.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t axis = header.fortran_order ? i : result.size() - 1 - i;
    result[axis] = number % header.shape[axis];
    number /= header.shape[axis];
  }
  return result;
}

[[noreturn]] void refuse_contradiction(const NpyArray& array, const Tensor& tensor,
                                       const Layout& layout, std::int64_t number) {
  throw UsageError(fmt::format(
      "the array for {} has another value at ({}) than before, but the layout {} has one element "
      "for both; pass an array that repeats, or another stride",
      tensor.name, fmt::join(coordinate(array.header, number), ", "), to_string(layout)));
}

// Copies a constant number of bytes, which is one move. NumPy's bool bytes other than 1 become 1.
template <std::size_t kBytes>
void copy_elements(const NpyArray& array, const Tensor& tensor, const Layout& layout,
                   std::byte* memory) {
  const std::vector<Mode> order = loops(layout, array.header.fortran_order);
  std::vector<bool> written(may_repeat(order) ? static_cast<std::size_t>(cosize(layout)) : 0);
  const char* from = array.data.data();
  std::int64_t number = 0;
  for_each_offset(order, [&](std::int64_t offset) {
    std::array<std::byte, kBytes> element;
    std::memcpy(element.data(), from, kBytes);
    if (tensor.dtype == b8) element[0] = std::byte{*from != 0};
    std::byte* const to = memory + offset * static_cast<std::int64_t>(kBytes);
    if (!written.empty()) {
      const auto at = static_cast<std::size_t>(offset);
      if (written[at] && std::memcmp(to, element.data(), kBytes) != 0) {
        refuse_contradiction(array, tensor, layout, number);
      }
      written[at] = true;
    }
    std::memcpy(to, element.data(), kBytes);
    from += kBytes;
    ++number;
  });
}

}  // namespace

std::string_view npy_descr(DType dtype) noexcept {
  switch (dtype) {
    case b8: return "|b1";
    case i8: return "|i1";
    case i16: return "<i2";
    case i32: return "<i4";
    case i64: return "<i8";
    case u8: return "|u1";
    case u16: return "<u2";
    case u32: return "<u4";
    case u64: return "<u8";
    case f16: return "<f2";
    case bf16: return "<V2";
    case f32:
    case tf32: return "<f4";
    case f64: return "<f8";
    case f8e4m3:
    case f8e5m2: return "|V1";
  }
  return "";
}

bool npy_matches(std::string_view descr, DType dtype) noexcept {
  const auto one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, descr) != names.end();
  };
  switch (dtype) {
    case bf16: return one_of({"<V2", "|V2", "bfloat16", "<u2"});
    case f8e4m3: return one_of({"<V1", "|V1", "float8_e4m3fn", "|u1"});
    case f8e5m2: return one_of({"<f1", "|f1", "<V1", "|V1", "float8_e5m2", "|u1"});
    default: return descr == npy_descr(dtype);
  }
}

std::vector<std::int64_t> npy_shape(const Layout& layout) {
  std::vector<std::int64_t> shape;
  if (layout == Layout()) return shape;
  for (std::size_t i = 0; i < rank(layout); ++i) shape.push_back(size(mode(layout, i)).value());
  return shape;
}

void scatter(const NpyArray& array, const Tensor& tensor, const Layout& layout, std::byte* memory) {
  switch (size_bytes(tensor.dtype)) {
    case 1: return copy_elements<1>(array, tensor, layout, memory);
    case 2: return copy_elements<2>(array, tensor, layout, memory);
    case 4: return copy_elements<4>(array, tensor, layout, memory);
    default: return copy_elements<8>(array, tensor, layout, memory);
  }
}

NpyArray gather(const std::byte* tensor, const Layout& layout, DType dtype) {
  NpyArray array;
  array.header = {
      .descr = std::string(npy_descr(dtype)), .fortran_order = false, .shape = npy_shape(layout)};
  const std::vector<Mode> order = loops(layout, false);
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype));
  array.data.reserve(static_cast<std::size_t>(count_of(order)) * bytes);
  const char* base = reinterpret_cast<const char*>(tensor);
  for_each_offset(order, [&](std::int64_t offset) {
    array.data.append(base + offset * static_cast<std::int64_t>(bytes), bytes);
  });
  return array;
}

}  // namespace tilejit::cli
