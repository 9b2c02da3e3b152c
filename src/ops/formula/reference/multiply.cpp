#include "reference/multiply.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/bounds.hpp"
#include "reference/execute.hpp"
#include "reference/packed_product.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {
namespace {

constexpr std::int64_t kTile = 256;         // rows and columns of a task
constexpr std::int64_t kSampled = 16;       // rows, and columns, that are computed whole
constexpr std::int64_t kSampledBlock = 32;  // elsewhere, one element of a block of this side

using Places = std::vector<std::int64_t>;

Places all_of(std::int64_t extent) {
  Places places(static_cast<std::size_t>(extent));
  for (std::int64_t i = 0; i < extent; ++i) places[static_cast<std::size_t>(i)] = i;
  return places;
}

// A place in each of `count` parts of the extent, the first and the last among them.
Places some_of(std::int64_t extent, std::int64_t count) {
  Places places;
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = extent * i / count, last = extent * (i + 1) / count;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto within =
        static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(last - first));
    places.push_back(i == 0 ? 0 : i == count - 1 ? extent - 1 : first + within);
  }
  return places;
}

// The largest power of two that divides `value`; 0 for 0.
double last_bit(double value) noexcept {
  if (value == 0 || !std::isfinite(value)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

/// Some rows of an operand, along the axis that is added up.
struct Side {
  Side(std::int64_t rows, std::int64_t length, WithBounds with_bounds, bool exact)
      : values(rows, length),
        magnitudes(with_bounds == WithBounds::yes ? rows : 0, length),
        largest(with_bounds == WithBounds::yes && !exact ? rows : 0, length),
        grain(static_cast<std::size_t>(rows)) {}

  PackedRows values;
  PackedRows magnitudes;      // |x|; with bounds
  PackedRows largest;         // |x| + bound; if there are bounds above 0
  std::vector<double> grain;  // of each row, the smallest last bit; 0: all are 0
};

/// One product, cut into tasks.
class Multiplier {
 public:
  Multiplier(const Problem& problem, WithBounds with_bounds)
      : problem_(problem),
        product_(*problem.product),
        type_(problem.program.nodes[product_.node].type),
        with_bounds_(with_bounds),
        exact_(!is_bounded(product_.a) && !is_bounded(product_.b)) {}

  Result run() {
    const std::size_t rank = problem_.shape.size();
    result_.modes.resize(rank);
    std::int64_t count = 1;
    for (std::size_t axis = rank; axis-- > 0; count *= problem_.shape[axis]) {
      result_.modes[axis] = {{problem_.shape[axis], count}};
    }
    const auto elements = static_cast<std::size_t>(count);
    (is_floating(type_) ? result_.reals.resize(elements) : result_.integers.resize(elements));
    if (with_bounds_ == WithBounds::yes)
      result_.bounds.assign(elements, product_.sampled ? kInfinity : 0);
    if (count == 0) return std::move(result_);
    if (product_.sampled) {
      const auto blocks = [](std::int64_t extent) {
        return std::max<std::int64_t>(extent / kSampledBlock, 1);
      };
      const Places rows = some_of(product_.m, std::min(kSampled, product_.m));
      const Places columns = some_of(product_.n, std::min(kSampled, product_.n));
      add_tasks(rows, all_of(product_.n));
      add_tasks(all_of(product_.m), columns);
      add_tasks(some_of(product_.m, blocks(product_.m)), some_of(product_.n, blocks(product_.n)));
    } else {
      add_tasks(all_of(product_.m), all_of(product_.n));
    }
    run_tasks();
    return std::move(result_);
  }

 private:
  struct Task {
    Places rows, columns;
    std::int64_t batch = 0;
  };

  [[nodiscard]] bool is_bounded(const Factor& factor) const {
    const KeptValues* const kept = problem_.tensors[factor.tensor].kept;
    return kept != nullptr &&
           std::ranges::any_of(kept->bounds, [](double bound) { return bound != 0; });
  }

  void add_tasks(const Places& rows, const Places& columns) {
    const auto piece = [](const Places& places, std::size_t first) {
      const std::size_t last = std::min(first + kTile, places.size());
      return Places(places.begin() + static_cast<std::ptrdiff_t>(first),
                    places.begin() + static_cast<std::ptrdiff_t>(last));
    };
    const std::span batch_shape = std::span(problem_.shape).first(problem_.shape.size() - 2);
    const std::int64_t batches = count_elements(batch_shape);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      for (std::size_t i = 0; i < rows.size(); i += kTile) {
        for (std::size_t j = 0; j < columns.size(); j += kTile)
          tasks_.push_back({piece(rows, i), piece(columns, j), batch});
      }
    }
  }

  void run_tasks() {
    std::atomic<std::size_t> next = 0;
    const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
    run_parallel(std::min(threads, tasks_.size()), [&](std::size_t) {
      for (std::size_t i = next++; i < tasks_.size(); i = next++) run(tasks_[i]);
    });
  }

  void run(const Task& task) {
    const Side a = pack(product_.a, task.rows, task.batch);
    const Side b = pack(product_.b, task.columns, task.batch);
    const std::size_t elements = task.rows.size() * task.columns.size();
    std::vector<double> sums(elements), magnitudes, largest;
    multiply_packed(a.values, b.values, sums);
    if (with_bounds_ == WithBounds::yes) {
      magnitudes.resize(elements);
      multiply_packed(a.magnitudes, b.magnitudes, magnitudes);
      if (!exact_) {
        largest.resize(elements);
        multiply_packed(a.largest, b.largest, largest);
      }
    }
    for (std::size_t i = 0; i < task.rows.size(); ++i) {
      for (std::size_t j = 0; j < task.columns.size(); ++j) {
        const std::size_t at = i * task.columns.size() + j;
        Sum sum{.value = sums[at]};
        if (!magnitudes.empty()) {
          sum.magnitude = magnitudes[at];
          sum.largest = exact_ ? sum.magnitude : largest[at];
          sum.grain = a.grain[i] * b.grain[j];
        }
        write((task.batch * product_.m + task.rows[i]) * product_.n + task.columns[j], sum);
      }
    }
  }

  Side pack(const Factor& factor, const Places& rows, std::int64_t batch) const {
    const TensorView& tensor = problem_.tensors[factor.tensor];
    Side side(std::ssize(rows), product_.k, with_bounds_, exact_);
    const std::span batch_shape = std::span(problem_.shape).first(problem_.shape.size() - 2);
    const std::vector<std::int64_t> at = coordinate(batch_shape, batch);
    std::int64_t base = 0;
    for (std::size_t i = 0; i < at.size(); ++i) base += offset_in_mode(factor.batch[i], at[i]);
    std::vector<std::int64_t> inner(static_cast<std::size_t>(product_.k));
    for (std::size_t k = 0; k < inner.size(); ++k)
      inner[k] = offset_in_mode(factor.inner, static_cast<std::int64_t>(k));
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
      const std::int64_t row =
          base + offset_in_mode(factor.outer, rows[static_cast<std::size_t>(r)]);
      double grain = 0;
      for (std::size_t k = 0; k < inner.size(); ++k) {
        const Approx element = operand_element(tensor, row + inner[k]);
        const auto place = static_cast<std::int64_t>(k);
        side.values.at(r, place) = element.value;
        if (with_bounds_ == WithBounds::no) continue;
        side.magnitudes.at(r, place) = std::fabs(element.value);
        if (!exact_) side.largest.at(r, place) = std::fabs(element.value) + element.bound;
        const double bit = last_bit(element.value);
        if (bit != 0) grain = grain == 0 ? bit : std::min(grain, bit);
      }
      side.grain[static_cast<std::size_t>(r)] = grain;
    }
    return side;
  }

  struct Sum {
    double value = 0;
    double magnitude = 0;  // sum of the magnitudes of the products
    double largest = 0;    // the same, of the largest that the device may have
    double grain = 0;      // divides every product
  };

  void write(std::int64_t index, const Sum& sum) noexcept {
    const auto at = static_cast<std::size_t>(index);
    if (!is_floating(type_)) {
      result_.integers[at] =
          wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(sum.value)), type_);
      if (with_bounds_ == WithBounds::yes) result_.bounds[at] = sum.largest - sum.magnitude;
      return;
    }
    const Arithmetic& m = arithmetic(type_);
    result_.reals[at] = in_range(m, sum.value);
    if (with_bounds_ == WithBounds::yes) result_.bounds[at] = bound(m, sum);
  }

  // Every partial sum loses at most the last bit of the sum of magnitudes, and so do products where
  // they are rounded; the double sums here lose theirs.
  [[nodiscard]] double bound(const Arithmetic& m, const Sum& sum) const noexcept {
    if (std::isnan(sum.value)) return exact_ ? 0 : kInfinity;
    if (!std::isfinite(sum.value) || !std::isfinite(sum.largest)) return kInfinity;
    const double carried = sum.largest - sum.magnitude;
    const bool representable = sum.largest * m.unit <= sum.grain && sum.largest < m.overflow;
    if (exact_ && representable) return 0;
    const auto roundings = static_cast<double>(product_.k + 2);
    const double unit = 2 * m.unit + 2 * 0x1p-53;
    const double error = kSafety * (carried + roundings * (unit * sum.largest + m.tiny));
    return sum.largest + error >= m.overflow ? kInfinity : error;
  }

  const Problem& problem_;
  const ProductProblem& product_;
  DType type_;
  WithBounds with_bounds_;
  bool exact_;  // the operands have no error
  Result result_;
  std::vector<Task> tasks_;
};

}  // namespace

Approx operand_element(const TensorView& tensor, std::int64_t offset) {
  const auto at = static_cast<std::size_t>(offset);
  Approx element;
  if (tensor.kept != nullptr) {
    const KeptValues& kept = *tensor.kept;
    element.value = is_floating(tensor.dtype) ? kept.reals[at]
                                              : integer_to_real(kept.integers[at], tensor.dtype);
    if (!kept.bounds.empty()) element.bound = kept.bounds[at];
  } else {
    const auto* const base = static_cast<const std::byte*>(tensor.data);
    element.value = decode(tensor.dtype, base + offset * size_bytes(tensor.dtype));
  }
  if (tensor.dtype != tf32) return element;
  const double rounded = round_to(tf32, element.value);
  if (element.bound != 0) element.bound += 2 * 0x1p-11 * (std::fabs(rounded) + element.bound);
  element.value = rounded;
  return element;
}

Result multiply(const Problem& problem, WithBounds with_bounds) {
  return Multiplier(problem, with_bounds).run();
}

}  // namespace tilejit::reference
