#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilejit::reference {

/// Rows of a matrix in double, each of `length` elements, interleaved by kWide so that a product of
/// two such matrices reads memory in order. The last rows may be filled with zeros.
class PackedRows {
 public:
  static constexpr std::int64_t kWide = 4;

  PackedRows(std::int64_t rows, std::int64_t length)
      : rows_(rows),
        length_(length),
        values_(static_cast<std::size_t>(panels() * kWide * length)) {}

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t length() const noexcept { return length_; }
  [[nodiscard]] std::int64_t panels() const noexcept { return (rows_ + kWide - 1) / kWide; }
  [[nodiscard]] double& at(std::int64_t row, std::int64_t i) noexcept {
    return values_[static_cast<std::size_t>((row / kWide * length_ + i) * kWide + row % kWide)];
  }
  [[nodiscard]] const double* panel(std::int64_t p) const noexcept {
    return values_.data() + p * kWide * length_;
  }

 private:
  std::int64_t rows_, length_;
  std::vector<double> values_;
};

/// `out(i, j)`, row-major with a.rows() by b.rows() elements, gets the sum over k of a(i, k) * b(j,
/// k), added up in the order of k.
void multiply_packed(const PackedRows& a, const PackedRows& b, std::span<double> out) noexcept;

}  // namespace tilejit::reference
