#include "reference/multiply_elsewhere.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "reference/execute.hpp"
#include "reference/operand_rows.hpp"
#include "reference/product_result.hpp"
#include "tilejit/error.hpp"

namespace tilejit::reference {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 26;  // elements of a matrix that is handed over

/// Calls work(i) for i below `count`, on all hardware threads. `work` must not throw.
void in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next = 0;
  const auto threads = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
  run_parallel(static_cast<std::size_t>(std::min(threads, count)), [&](std::size_t) {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  });
}

/// What of each element of an operand is multiplied.
enum class Part : std::uint8_t { value, magnitude, largest };

double part_of(const Approx& element, Part part) noexcept {
  if (part == Part::value) return element.value;
  return std::fabs(element.value) + (part == Part::largest ? element.bound : 0);
}

/// Matrices of one size, row-major, one after another.
struct Matrices {
  Matrices(std::int64_t count, std::int64_t rows, std::int64_t columns)
      : columns(columns), values(static_cast<std::size_t>(count * rows * columns)) {}

  [[nodiscard]] double* row(std::int64_t number) noexcept {
    return values.data() + number * columns;
  }
  [[nodiscard]] const double* row(std::int64_t number) const noexcept {
    return values.data() + number * columns;
  }

  std::int64_t columns;
  std::vector<double> values;
};

/// A part of the product that is handed over at once.
struct Block {
  std::int64_t batch, batches, m, rows, n, columns;
};

/// Compares sums with what a block's operands give.
class Check {
 public:
  Check(const Block& block, const Matrices& left, const Matrices& right, const Matrices& sums)
      : block_(block), left_(left), right_(right), sums_(sums) {
    std::uint64_t state = 0x2545F4914F6CDD1Du;
    for (std::int64_t n = 0; n < block.columns; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      signs_.push_back(state >> 63 == 0 ? 1 : -1);
    }
  }

  /// Throws Error{invalid_argument}.
  void run() {
    for (std::int64_t batch = 0; batch < block_.batches; ++batch) {
      add_columns(batch);
      in_parallel(block_.rows, [&](std::int64_t row) {
        const std::int64_t number = batch * block_.rows + row;
        if (!has_right_sum(number) || !has_right_element(number, batch)) wrong_ = row;
      });
      if (wrong_ < 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  "the function that multiplies for verify gives wrong sums in row " +
                      std::to_string(block_.m + wrong_) + " of batch " +
                      std::to_string(block_.batch + batch) +
                      ", as the CPU finds; correct it, or leave VerifyOptions::multiply empty");
    }
  }

 private:
  /// Rows of the right matrix, added up with signs.
  void add_columns(std::int64_t batch) {
    constexpr std::int64_t kTogether = 64;
    const std::int64_t columns = right_.columns;
    signed_.assign(static_cast<std::size_t>(columns), 0);
    magnitudes_.assign(static_cast<std::size_t>(columns), 0);
    in_parallel((columns + kTogether - 1) / kTogether, [&](std::int64_t part) {
      const std::int64_t first = part * kTogether, last = std::min(first + kTogether, columns);
      for (std::int64_t n = 0; n < block_.columns; ++n) {
        const double* const row = right_.row(batch * block_.columns + n);
        const double sign = signs_[static_cast<std::size_t>(n)];
        for (std::int64_t k = first; k < last; ++k) {
          signed_[static_cast<std::size_t>(k)] += sign * row[k];
          magnitudes_[static_cast<std::size_t>(k)] += std::fabs(row[k]);
        }
      }
    });
  }

  [[nodiscard]] static bool is_near(double got, double want, double magnitude,
                                    std::int64_t roundings) noexcept {
    return std::fabs(got - want) <= static_cast<double>(roundings + 2) * 0x1p-51 * magnitude;
  }

  [[nodiscard]] bool has_right_sum(std::int64_t number) const noexcept {
    const double *const row = left_.row(number), *const sums = sums_.row(number);
    double want = 0, magnitude = 0, got = 0;
    for (std::int64_t k = 0; k < left_.columns; ++k) {
      want += row[k] * signed_[static_cast<std::size_t>(k)];
      magnitude += std::fabs(row[k]) * magnitudes_[static_cast<std::size_t>(k)];
    }
    if (!std::isfinite(magnitude)) return true;  // elements tell
    for (std::int64_t n = 0; n < sums_.columns; ++n)
      got += signs_[static_cast<std::size_t>(n)] * sums[n];
    return is_near(got, want, magnitude, left_.columns + sums_.columns);
  }

  [[nodiscard]] bool has_right_element(std::int64_t number, std::int64_t batch) const noexcept {
    const auto n = static_cast<std::int64_t>((static_cast<std::uint64_t>(number) * 2654435761u) %
                                             static_cast<std::uint64_t>(sums_.columns));
    const double *const row = left_.row(number), *const column =
                                                     right_.row(batch * block_.columns + n);
    double want = 0, magnitude = 0;
    for (std::int64_t k = 0; k < left_.columns; ++k) {
      want += row[k] * column[k];
      magnitude += std::fabs(row[k] * column[k]);
    }
    const double got = sums_.row(number)[n];
    if (std::isfinite(magnitude)) return is_near(got, want, magnitude, left_.columns);
    return std::isnan(want) ? std::isnan(got) : got == want;
  }

  const Block& block_;
  const Matrices &left_, &right_, &sums_;
  std::vector<double> signs_;                // along N
  std::vector<double> signed_, magnitudes_;  // along K
  std::atomic<std::int64_t> wrong_ = -1;     // a row that is
};

class Elsewhere {
 public:
  Elsewhere(const Problem& problem, WithBounds with_bounds)
      : product_(*problem.product),
        with_bounds_(with_bounds),
        batches_(count_elements(std::span(problem.shape).first(problem.shape.size() - 2))),
        width_((product_.k + 1) / 2 * 2),
        a_(problem, product_.a),
        b_(problem, product_.b),
        exact_(!a_.is_bounded() && !b_.is_bounded()),
        result_(problem, with_bounds, exact_) {}

  Result run() && {
    if (result_.is_empty()) return std::move(result_).take();
    const std::int64_t largest = std::max(
        {product_.m * width_, product_.n * width_, product_.m * product_.n, std::int64_t{1}});
    const std::int64_t batches = std::clamp<std::int64_t>(kMost / largest, 1, batches_);
    const std::int64_t columns =
        std::clamp<std::int64_t>(kMost / std::max<std::int64_t>(width_, 1), 1, product_.n);
    const std::int64_t rows = std::clamp<std::int64_t>(
        kMost / std::max<std::int64_t>({width_, columns, 1}), 1, product_.m);
    for (std::int64_t batch = 0; batch < batches_; batch += batches) {
      for (std::int64_t n = 0; n < product_.n; n += columns) {
        for (std::int64_t m = 0; m < product_.m; m += rows) {
          run({.batch = batch,
               .batches = std::min(batches, batches_ - batch),
               .m = m,
               .rows = std::min(rows, product_.m - m),
               .n = n,
               .columns = std::min(columns, product_.n - n)});
        }
      }
    }
    return std::move(result_).take();
  }

 private:
  /// Rows of an operand, and the grain of each if asked for.
  [[nodiscard]] Matrices rows_of(const OperandRows& operand, const Block& block, std::int64_t first,
                                 std::int64_t count, Part part, std::vector<double>* grains) const {
    Matrices matrices(block.batches, count, width_);
    in_parallel(block.batches * count, [&](std::int64_t number) {
      Grain grain;
      double* const to = matrices.row(number);
      operand.visit(block.batch + number / count, first + number % count,
                    [&](std::int64_t k, const Approx& element) {
                      to[k] = part_of(element, part);
                      if (grains != nullptr) grain.add(element.value);
                    });
      if (grains != nullptr) (*grains)[static_cast<std::size_t>(number)] = grain.value();
    });
    return matrices;
  }

  [[nodiscard]] Matrices multiply(const Block& block, Part part, std::vector<double>* grains_of_a,
                                  std::vector<double>* grains_of_b) const {
    const Matrices left = rows_of(a_, block, block.m, block.rows, part, grains_of_a),
                   right = rows_of(b_, block, block.n, block.columns, part, grains_of_b);
    Matrices sums(block.batches, block.rows, block.columns);
    (*product_.multiply)({.left = left.values,
                          .right = right.values,
                          .sums = sums.values,
                          .batches = block.batches,
                          .m = block.rows,
                          .n = block.columns,
                          .k = width_});
    Check(block, left, right, sums).run();
    return sums;
  }

  void run(const Block& block) {
    std::vector<double> a(static_cast<std::size_t>(block.batches * block.rows)),
        b(static_cast<std::size_t>(block.batches * block.columns));
    const Matrices sums = multiply(block, Part::value, &a, &b);
    const bool bounded = with_bounds_ == WithBounds::yes;
    const auto others = [&](Part part, bool wanted) {
      return wanted ? multiply(block, part, nullptr, nullptr) : Matrices(0, 0, block.columns);
    };
    const Matrices magnitudes = others(Part::magnitude, bounded),
                   largest = others(Part::largest, bounded && !exact_);
    in_parallel(block.batches * block.rows, [&](std::int64_t number) {
      const std::int64_t batch = number / block.rows;
      const std::int64_t row = (block.batch + batch) * product_.m + block.m + number % block.rows;
      for (std::int64_t n = 0; n < block.columns; ++n) {
        ProductSum sum{.value = sums.row(number)[n]};
        if (bounded) {
          sum.magnitude = magnitudes.row(number)[n];
          sum.largest = exact_ ? sum.magnitude : largest.row(number)[n];
          sum.grain = a[static_cast<std::size_t>(number)] *
                      b[static_cast<std::size_t>(batch * block.columns + n)];
        }
        if (product_.skips_zeros && !std::isfinite(sum.value))
          sum = sum_without_zeros(a_, b_, block.batch + batch, block.m + number % block.rows,
                                  block.n + n);
        result_.write(row * product_.n + block.n + n, sum);
      }
    });
  }

  const ProductProblem& product_;
  WithBounds with_bounds_;
  std::int64_t batches_;
  std::int64_t width_;  // of rows that are handed over: K, or one more, which is zeros
  OperandRows a_, b_;
  bool exact_;  // the operands have no error
  ProductResult result_;
};

}  // namespace

Result multiply_elsewhere(const Problem& problem, WithBounds with_bounds) {
  return Elsewhere(problem, with_bounds).run();
}

}  // namespace tilejit::reference
