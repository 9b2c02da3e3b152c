#pragma once

#include <string>

#include "tilejit/number.hpp"

namespace tilejit::core {

/// Throws Error{invalid_argument}, naming the scalar, if `dtype` does not take `value`.
void check_scalar(const std::string& name, DType dtype, const Number& value);
/// Throws that error for `why`.
[[noreturn]] void refuse_scalar(const std::string& name, DType dtype, const std::string& why);

}  // namespace tilejit::core
