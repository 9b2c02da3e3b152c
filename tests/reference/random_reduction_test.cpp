// Reductions of random tensors over random axes, against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "reference/host_operation.hpp"

namespace tilejit {
namespace {

/// The definition of a reduction, one value after the other.
double naive(const std::string& name, const std::vector<double>& values) {
  double sum = 0, product = 1, largest = -kInf, smallest = kInf;
  std::size_t first_largest = 0, first_smallest = 0;
  bool any = false, all = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    product *= values[i];
    any = any || values[i] != 0;
    all = all && values[i] != 0;
    if (values[i] > largest) first_largest = i;
    if (values[i] < smallest) first_smallest = i;
    largest = std::max(largest, values[i]);
    smallest = std::min(smallest, values[i]);
  }
  if (name == "sum") return sum;
  if (name == "prod") return product;
  if (name == "max") return largest;
  if (name == "min") return smallest;
  if (name == "argmax") return static_cast<double>(first_largest);
  if (name == "argmin") return static_cast<double>(first_smallest);
  return name == "any" ? any : all;
}

/// A tensor with random extents and strides and small integer values, reduced over random axes.
class RandomReduction {
 public:
  explicit RandomReduction(std::uint64_t seed) : random_(seed) {
    const int rank = pick(1, 4);
    for (int i = 0; i < rank; ++i) {
      shape_.push_back(pick(0, 12) == 0 ? 0 : pick(1, 6));
      reduced_.push_back(pick(0, 1) == 1);
    }
    if (std::ranges::count(reduced_, true) == 0) reduced_[0] = true;
  }

  void check() {
    static const char* const kNames[] = {"sum", "prod", "max",    "min",
                                         "any", "all",  "argmax", "argmin"};
    const std::string name = kNames[pick(0, 7)];
    Fused op{.formula = "y = " + name + "(x, axis=" + axes() + ")"};
    SCOPED_TRACE(op.formula);
    op.tensors.push_back({"x", pick(0, 1) == 1 ? f64 : i64, input_layout()});
    op.tensors.push_back({"y", f64, output_layout()});
    const Layout layout = op.tensors[0].layout;
    SCOPED_TRACE(to_string(layout) + " to " + to_string(op.tensors[1].layout));
    HostOperation operation(op);
    std::vector<std::vector<double>> gathered(operation.last().size());
    for (std::int64_t i = 0, n = count(shape_); i < n; ++i) {
      const std::vector<std::int64_t> at = coordinate(i);
      const double value = pick(-2, 3);
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides_[axis];
      operation.set(0, static_cast<std::size_t>(offset), value);
      gathered[result_of(at)].push_back(value);
    }
    operation.run();
    for (std::size_t r = 0; r < gathered.size(); ++r) {
      const bool wraps = op.tensors[0].dtype == i64 && gathered[r].empty();
      if (wraps && (name == "max" || name == "min")) continue;
      EXPECT_EQ(operation.get(1, r), naive(name, gathered[r])) << r;
    }
    const Verification verification = operation.check();
    EXPECT_TRUE(verification.passed) << verification.first_mismatch;
    EXPECT_EQ(verification.elements, static_cast<std::int64_t>(gathered.size()));
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  [[nodiscard]] static std::int64_t count(const std::vector<std::int64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  [[nodiscard]] std::vector<std::int64_t> coordinate(std::int64_t index) const {
    std::vector<std::int64_t> at(shape_.size());
    for (std::size_t axis = at.size(); axis-- > 0; index /= shape_[axis]) {
      at[axis] = index % shape_[axis];
    }
    return at;
  }
  [[nodiscard]] std::size_t result_of(const std::vector<std::int64_t>& at) const {
    std::int64_t result = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (!reduced_[axis]) result = result * shape_[axis] + at[axis];
    }
    return static_cast<std::size_t>(result);
  }
  std::string axes() {
    std::string text;
    const auto rank = static_cast<int>(shape_.size());
    for (int axis = 0; axis < rank; ++axis) {
      if (!reduced_[static_cast<std::size_t>(axis)]) continue;
      text += (text.empty() ? "(" : ", ") + std::to_string(pick(0, 1) == 1 ? axis : axis - rank);
    }
    return text + ")";
  }
  // Axes in a random order of speed, with occasional gaps.
  Layout input_layout() {
    std::vector<std::size_t> order(shape_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    strides_.assign(shape_.size(), 0);
    std::int64_t next = 1;
    for (const std::size_t axis : order) {
      strides_[axis] = next;
      next *= std::max<std::int64_t>(shape_[axis], 1) + pick(0, 1);
    }
    return layout_of(shape_, strides_);
  }
  // Row-major, with the reduced axes or without.
  Layout output_layout() {
    const bool keeps = pick(0, 1) == 1;
    std::vector<std::int64_t> shape, strides;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      if (!reduced_[axis]) shape.push_back(shape_[axis]);
      if (reduced_[axis] && keeps) shape.push_back(1);
    }
    if (shape.empty()) shape.push_back(1);
    strides.assign(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i-- > 0;) {
      strides[i] = strides[i + 1] * std::max<std::int64_t>(shape[i + 1], 1);
    }
    return layout_of(shape, strides);
  }
  static Layout layout_of(const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
    std::string extents, steps;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      extents += (i == 0 ? "" : ",") + std::to_string(shape[i]);
      steps += (i == 0 ? "" : ",") + std::to_string(strides[i]);
    }
    return parse_layout("(" + extents + "):(" + steps + ")");
  }

  std::mt19937_64 random_;
  std::vector<std::int64_t> shape_, strides_;
  std::vector<bool> reduced_;
};

TEST(Reduction, AgreesWithALoop) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomReduction(seed).check();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tilejit
