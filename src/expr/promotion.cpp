#include "expr/promotion.hpp"

namespace tilejit::expr {
namespace {

bool is_restricted(DType type) {
  return type == f8e4m3 || type == f8e5m2 || type == tf32;
}

int rank(DType type) {
  switch (category(type)) {
    case Category::boolean: return 0;
    case Category::floating: return 2;
    default: return 1;
  }
}

}  // namespace

std::optional<DType> promote(DType a, DType b) noexcept {
  if (a == b) return a;
  if (is_restricted(a) || is_restricted(b)) return std::nullopt;
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  if (category(a) != category(b) || size_bytes(a) == size_bytes(b)) return std::nullopt;
  return size_bytes(a) > size_bytes(b) ? a : b;
}

std::optional<DType> product_type(DType a, DType b) noexcept {
  const auto both = [&](DType first, DType second) {
    return (a == first || a == second) && (b == first || b == second);
  };
  if (both(f8e4m3, f8e5m2) || both(tf32, tf32)) return f32;
  if (both(i8, u8)) return i32;
  const bool gives_itself = a == f16 || a == bf16 || a == f32 || a == f64;
  return a == b && gives_itself ? std::optional(a) : std::nullopt;
}

}  // namespace tilejit::expr
