#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launch/slot_dim.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/tensor.hpp"

namespace tilejit::launch {

/// What a launch checks about one tensor argument.
struct BoundTensor {
  std::string name;
  DType dtype = f32;
  int element_bytes = 4;
  int argument = 0;  ///< position in the argument list
  int align = 16;    ///< bytes, a power of two
  bool read = false;
  bool written = false;
  std::vector<int> extents;  ///< numbers in a DimTable, one per leaf
  std::vector<int> strides;  ///< the same, in elements; as many as extents
  std::vector<Mode> leaves;  ///< the same with names, for messages
  std::string layout;        ///< text, for messages
  std::size_t rank = 0;      ///< top-level modes

  /// `tensor` belongs to a signature; `argument` is its position in the argument list.
  BoundTensor(const Tensor& tensor, int argument);

  /// How messages name this tensor: "tensor 'x' (argument 0)", and its place in the descriptor.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string where() const;

  /// Throws Error{invalid_argument} that names this tensor: "tensor 'x' (argument 0) <why>".
  [[noreturn]] void fail(const std::string& why) const;

  /// Checks what needs no symbol: kind, dtype, and the number of extents and strides. Accepts a
  /// bare pointer. Throws Error{invalid_argument}.
  void check_form(const Argument& argument) const;

  /// Compares shape and strides with those of the descriptor; `dims` are the values of the
  /// DimTable. The strides of extents up to 1, and all strides of a tensor without elements, do not
  /// matter. Throws Error{invalid_argument}.
  void check_layout(const Argument& argument, std::span<const std::int64_t> dims) const;
};

/// True if one of the extents is 0.
[[nodiscard]] bool has_no_elements(std::span<const std::int64_t> extents) noexcept;

}  // namespace tilejit::launch
