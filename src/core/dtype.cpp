#include "tilejit/dtype.hpp"

#include <string>

#include "core/suggestion.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

Category category(DType dtype) noexcept {
  switch (dtype) {
    case b8: return Category::boolean;
    case i8:
    case i16:
    case i32:
    case i64: return Category::signed_integer;
    case u8:
    case u16:
    case u32:
    case u64: return Category::unsigned_integer;
    default: return Category::floating;
  }
}

bool is_integer(DType dtype) noexcept {
  const Category c = category(dtype);
  return c == Category::signed_integer || c == Category::unsigned_integer;
}

bool is_floating(DType dtype) noexcept {
  return category(dtype) == Category::floating;
}

int size_bytes(DType dtype) noexcept {
  switch (dtype) {
    case b8:
    case i8:
    case u8:
    case f8e4m3:
    case f8e5m2: return 1;
    case i16:
    case u16:
    case f16:
    case bf16: return 2;
    case i32:
    case u32:
    case f32:
    case tf32: return 4;
    case i64:
    case u64:
    case f64: return 8;
  }
  return 0;
}

std::string_view to_string(DType dtype) noexcept {
  switch (dtype) {
    case b8: return "bool";
    case i8: return "i8";
    case i16: return "i16";
    case i32: return "i32";
    case i64: return "i64";
    case u8: return "u8";
    case u16: return "u16";
    case u32: return "u32";
    case u64: return "u64";
    case f16: return "f16";
    case bf16: return "bf16";
    case f32: return "f32";
    case f64: return "f64";
    case f8e4m3: return "f8e4m3";
    case f8e5m2: return "f8e5m2";
    case tf32: return "tf32";
  }
  return "unknown";
}

DType parse_dtype(std::string_view text, std::string_view where) {
  for (const DType dtype : kAllDTypes) {
    if (text == to_string(dtype)) return dtype;
  }
  const std::string name(text.substr(0, 40));
  if (text == "i128" || text == "u128") {
    throw Error(
        ErrorCode::unsupported,
        "dtype '" + name + "' is unsupported: 128-bit integers are not available; use i64 or u64",
        std::string(where));
  }
  if (const std::string_view nearest = core::nearest_dtype(text); !nearest.empty()) {
    throw Error(ErrorCode::invalid_spec,
                "unknown dtype '" + name + "'" + core::did_you_mean(nearest), std::string(where));
  }
  std::string known;
  for (const DType dtype : kAllDTypes)
    known += (known.empty() ? "" : ", ") + std::string(to_string(dtype));
  throw Error(ErrorCode::invalid_spec, "unknown dtype '" + name + "'; use one of " + known,
              std::string(where));
}

}  // namespace tilejit
