#include "reference/packed_product.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tilejit::reference {
namespace {

using Pair = double __attribute__((vector_size(16)));
constexpr int kPairs = PackedRows::kWide / 2;

/// The sums of one panel of each side.
struct Sums {
  Pair values[PackedRows::kWide][kPairs] = {};

  void add(const double* a, const double* b) noexcept {
    Pair right[kPairs];
    std::memcpy(right, b, sizeof right);
    for (int i = 0; i < PackedRows::kWide; ++i) {
      const Pair left = {a[i], a[i]};
      for (int j = 0; j < kPairs; ++j) values[i][j] += left * right[j];
    }
  }
};

}  // namespace

void multiply_packed(const PackedRows& a, const PackedRows& b, std::span<double> out) noexcept {
  constexpr std::int64_t kWide = PackedRows::kWide;
  const std::int64_t columns = b.rows();
  for (std::int64_t q = 0; q < b.panels(); ++q) {
    for (std::int64_t p = 0; p < a.panels(); ++p) {
      Sums sums;
      const double *left = a.panel(p), *right = b.panel(q);
      for (std::int64_t k = 0; k < a.length(); ++k) sums.add(left + k * kWide, right + k * kWide);
      const std::int64_t rows = std::min(kWide, a.rows() - p * kWide);
      const auto width = static_cast<std::size_t>(std::min(kWide, columns - q * kWide));
      for (std::int64_t i = 0; i < rows; ++i) {
        double* const row = out.data() + (p * kWide + i) * columns + q * kWide;
        std::memcpy(row, sums.values[i], width * sizeof(double));
      }
    }
  }
}

}  // namespace tilejit::reference
