#include "reference/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/bounds.hpp"
#include "reference/execute.hpp"
#include "reference/operand_rows.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {
namespace {

/// A sum with signs, and the sum of the magnitudes.
struct SignedSum {
  double sum = 0, magnitude = 0;
};

class RowComparison {
 public:
  RowComparison(const Problem& problem, const expr::Store& store, const void* actual)
      : problem_(problem),
        product_(*problem.product),
        output_(problem.tensors[static_cast<std::size_t>(store.tensor)]),
        actual_(static_cast<const std::byte*>(actual)),
        type_(problem.program.nodes[static_cast<std::size_t>(product_.node)].type) {
    std::uint64_t state = 0x2545F4914F6CDD1Du;
    for (std::int64_t n = 0; n < product_.n; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      signs_.push_back(state >> 63 == 0 ? 1 : -1);
    }
    along_n_of_b_ = offsets_along(product_.b.outer, product_.n);
    along_k_of_a_ = offsets_along(product_.a.inner, product_.k);
    along_n_ = offsets_along(output_.modes.back(), product_.n);
  }

  RowSums run() {
    const std::span batches = std::span(problem_.shape).first(problem_.shape.size() - 2);
    for (std::int64_t batch = 0; batch < count_elements(batches); ++batch) {
      at_ = coordinate(batches, batch);
      sum_columns();
      rows_.assign(static_cast<std::size_t>(product_.m), RowSums());
      in_parallel(product_.m,
                  [&](std::int64_t m) { rows_[static_cast<std::size_t>(m)] = compare(m); });
      for (std::int64_t m = 0; m < product_.m; ++m) {
        const RowSums& row = rows_[static_cast<std::size_t>(m)];
        if (row.mismatches == 0) continue;
        if (result_.mismatches == 0) {
          result_ = row;
          result_.row = batch * product_.m + m;
        } else {
          ++result_.mismatches;
        }
      }
    }
    return result_;
  }

 private:
  static std::vector<std::int64_t> offsets_along(const ModeLeaves& leaves, std::int64_t extent) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < extent; ++i) offsets.push_back(offset_in_mode(leaves, i));
    return offsets;
  }

  template <class Work>
  static void in_parallel(std::int64_t count, const Work& work) {
    constexpr std::int64_t kRows = 1 << 16;  // split() counts elements
    const std::vector<Range> ranges = split(count * kRows);
    run_parallel(ranges.size(), [&](std::size_t i) {
      for (std::int64_t row = ranges[i].first / kRows; row < ranges[i].last / kRows; ++row)
        work(row);
    });
  }

  [[nodiscard]] std::int64_t base_of(const std::vector<ModeLeaves>& batch) const {
    std::int64_t base = 0;
    for (std::size_t i = 0; i < at_.size(); ++i) base += offset_in_mode(batch[i], at_[i]);
    return base;
  }

  void sum_columns() {
    const TensorView& tensor = problem_.tensors[static_cast<std::size_t>(product_.b.tensor)];
    const std::int64_t base = base_of(product_.b.batch);
    columns_.assign(static_cast<std::size_t>(product_.k), {});
    in_parallel(product_.k, [&](std::int64_t k) {
      SignedSum sum;
      const std::int64_t row = base + offset_in_mode(product_.b.inner, k);
      for (std::int64_t n = 0; n < product_.n; ++n) {
        const double x =
            operand_element(tensor, row + along_n_of_b_[static_cast<std::size_t>(n)]).value;
        sum.sum += signs_[static_cast<std::size_t>(n)] * x;
        sum.magnitude += std::fabs(x);
      }
      columns_[static_cast<std::size_t>(k)] = sum;
    });
  }

  [[nodiscard]] RowSums compare(std::int64_t m) const {
    const TensorView& tensor = problem_.tensors[static_cast<std::size_t>(product_.a.tensor)];
    const std::int64_t row = base_of(product_.a.batch) + offset_in_mode(product_.a.outer, m);
    SignedSum want;
    for (std::int64_t k = 0; k < product_.k; ++k) {
      const double x =
          operand_element(tensor, row + along_k_of_a_[static_cast<std::size_t>(k)]).value;
      want.sum += x * columns_[static_cast<std::size_t>(k)].sum;
      want.magnitude += std::fabs(x) * columns_[static_cast<std::size_t>(k)].magnitude;
    }
    if (!is_bounded(want.magnitude)) return {};
    RowSums result{.want = want.sum};
    double stores = 0;
    const std::size_t rank = problem_.shape.size();
    std::int64_t base = offset_in_mode(output_.modes[rank - 2], m);
    for (std::size_t i = 0; i < at_.size(); ++i) base += offset_in_mode(output_.modes[i], at_[i]);
    for (std::int64_t n = 0; n < product_.n; ++n) {
      const double x = element(base + along_n_[static_cast<std::size_t>(n)]);
      result.got += signs_[static_cast<std::size_t>(n)] * x;
      if (is_floating(output_.dtype)) stores += half_ulp(output_.dtype, std::fabs(x));
    }
    if (is_floating(type_)) {
      const Arithmetic& a = arithmetic(type_);
      const auto roundings = static_cast<double>(product_.k + 2);
      const auto elements = static_cast<double>(product_.n + 2);
      const double unit = roundings * (2 * a.unit + 0x1p-51) + elements * 0x1p-51;
      result.allowed = kSafety * (stores + unit * want.magnitude + roundings * elements * a.tiny);
    }
    result.mismatches = std::fabs(result.got - result.want) <= result.allowed ? 0 : 1;
    return result;
  }

  /// Whether no element can overflow, and sums in double are exact for integers.
  [[nodiscard]] bool is_bounded(double magnitude) const noexcept {
    if (!std::isfinite(magnitude)) return false;
    if (!is_floating(type_)) return magnitude < 0x1p31;
    const double least = std::min(arithmetic(type_).overflow, max_finite(output_.dtype));
    return magnitude < least / 2;
  }

  [[nodiscard]] double element(std::int64_t offset) const {
    const std::byte* const at = actual_ + offset * size_bytes(output_.dtype);
    if (is_floating(output_.dtype)) return decode(output_.dtype, at);
    return integer_to_real(load_integer(output_.dtype, at), output_.dtype);
  }

  const Problem& problem_;
  const ProductProblem& product_;
  const TensorView& output_;
  const std::byte* actual_;
  DType type_;
  std::vector<double> signs_;                                        // along N
  std::vector<std::int64_t> along_n_of_b_, along_k_of_a_, along_n_;  // offsets
  std::vector<std::int64_t> at_;                                     // the batch
  std::vector<SignedSum> columns_;                                   // along K
  std::vector<RowSums> rows_;
  RowSums result_;
};

}  // namespace

RowSums compare_row_sums(const Problem& problem, const expr::Store& store, const void* actual) {
  return RowComparison(problem, store, actual).run();
}

}  // namespace tilejit::reference
