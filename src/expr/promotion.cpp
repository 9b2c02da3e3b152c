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

}  // namespace tilejit::expr
