#pragma once

#include <string>

#include "tilejit/number.hpp"

namespace tilejit::core {

/// Throws Error{invalid_argument}, which names the scalar, if `dtype` cannot hold `value`.
void check_scalar(const std::string& name, DType dtype, const Number& value);
/// Throws the error of check_scalar with the reason `why`.
[[noreturn]] void refuse_scalar(const std::string& name, DType dtype, const std::string& why);

}  // namespace tilejit::core
