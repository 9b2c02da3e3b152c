#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilejit/kernel.hpp"
#include "tilejit/tilejit.h"

namespace tilejit::capi {

/// Arguments of the C interface as those of the library, valid as long as the caller's arrays.
/// Allocates only for more than 16 arguments, or if more than 64 strides are left out.
class Arguments {
 public:
  /// Throws Error{invalid_argument}, which names the argument by its number.
  Arguments(const tj_argument* first, std::size_t count);
  Arguments(const Arguments&) = delete;  // spans point into this object
  Arguments& operator=(const Arguments&) = delete;

  [[nodiscard]] std::span<const Argument> get() const noexcept { return {begin_, count_}; }
  /// The first argument. Throws Error{invalid_argument} unless it is a TJ_TENSOR.
  [[nodiscard]] const Argument& only_tensor() const;

 private:
  [[nodiscard]] Argument convert(const tj_argument& given);
  [[nodiscard]] Argument convert_tensor(const tj_argument& given);
  [[nodiscard]] std::span<std::int64_t> take_strides(std::size_t count);

  std::array<Argument, 16> few_;
  std::vector<Argument> many_;
  std::array<std::int64_t, 64> few_strides_;
  std::vector<std::vector<std::int64_t>> many_strides_;
  std::size_t strides_taken_ = 0;
  Argument* begin_ = few_.data();
  std::size_t count_;
};

/// Throws Error{invalid_argument} for a name that is NULL.
[[nodiscard]] SymbolValues symbol_values(const tj_symbol* symbols, std::size_t count);

/// Throws Error{invalid_argument} unless `code` is one of TJ_BOOL, ...
[[nodiscard]] DType dtype_of(std::int32_t code);

}  // namespace tilejit::capi
