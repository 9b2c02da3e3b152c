#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilejit::core {

/// The nearest of `known`, if it is near enough for a slip of the hand; else empty. Capital letters
/// equal small ones. One letter is near no other.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> known);

/// The dtype that other libraries call `name`, such as f16 for "float16"; else empty.
[[nodiscard]] std::string_view dtype_called(std::string_view name);
/// The same, or else the dtype of the nearest name; else empty. Names of up to three letters have
/// no nearest: f33 is none of ours.
[[nodiscard]] std::string_view nearest_dtype(std::string_view name);

/// "; did you mean 'scale'?", or nothing for an empty name.
[[nodiscard]] std::string did_you_mean(std::string_view name);

}  // namespace tilejit::core
