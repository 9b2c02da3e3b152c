#include "reference/multiply.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "reference/execute.hpp"
#include "reference/multiply_elsewhere.hpp"
#include "reference/operand_rows.hpp"
#include "reference/packed_product.hpp"
#include "reference/product_result.hpp"

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
        with_bounds_(with_bounds),
        a_(problem, product_.a),
        b_(problem, product_.b),
        exact_(!a_.is_bounded() && !b_.is_bounded()),
        result_(problem, with_bounds, exact_) {}

  Result run() && {
    if (result_.is_empty()) return std::move(result_).take();
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
    return std::move(result_).take();
  }

 private:
  struct Task {
    Places rows, columns;
    std::int64_t batch = 0;
  };

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
    const Side a = pack(a_, task.rows, task.batch);
    const Side b = pack(b_, task.columns, task.batch);
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
        ProductSum sum{.value = sums[at]};
        if (!magnitudes.empty()) {
          sum.magnitude = magnitudes[at];
          sum.largest = exact_ ? sum.magnitude : largest[at];
          sum.grain = a.grain[i] * b.grain[j];
        }
        if (product_.skips_zeros && !std::isfinite(sum.value))
          sum = sum_without_zeros(a_, b_, task.batch, task.rows[i], task.columns[j]);
        result_.write((task.batch * product_.m + task.rows[i]) * product_.n + task.columns[j], sum);
      }
    }
  }

  [[nodiscard]] Side pack(const OperandRows& operand, const Places& rows,
                          std::int64_t batch) const {
    Side side(std::ssize(rows), product_.k, with_bounds_, exact_);
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
      const std::int64_t row = rows[static_cast<std::size_t>(r)];
      Grain grain;
      operand.visit(batch, row, [&](std::int64_t k, const Approx& element) {
        side.values.at(r, k) = element.value;
        if (with_bounds_ == WithBounds::no) return;
        side.magnitudes.at(r, k) = std::fabs(element.value);
        if (!exact_) side.largest.at(r, k) = std::fabs(element.value) + element.bound;
        grain.add(element.value);
      });
      side.grain[static_cast<std::size_t>(r)] = grain.value();
    }
    return side;
  }

  const Problem& problem_;
  const ProductProblem& product_;
  WithBounds with_bounds_;
  OperandRows a_, b_;
  bool exact_;  // the operands have no error
  ProductResult result_;
  std::vector<Task> tasks_;
};

}  // namespace

Result multiply(const Problem& problem, WithBounds with_bounds) {
  if (problem.product->multiply != nullptr) return multiply_elsewhere(problem, with_bounds);
  return Multiplier(problem, with_bounds).run();
}

}  // namespace tilejit::reference
