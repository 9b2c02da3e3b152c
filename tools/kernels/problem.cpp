#include "kernels/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "common/command.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kHostAlignment = 64;
// Random contents repeat after this many elements. The number is prime, so no stride falls in step
// with it.
constexpr std::size_t kRandomPeriod = 1048573;

// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30u)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27u)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31u);
}

double random_value(DType dtype, std::uint64_t bits) noexcept {
  switch (category(dtype)) {
    case Category::boolean: return static_cast<double>(bits >> 63u);
    case Category::signed_integer: return static_cast<double>(bits % 201) - 100.0;
    case Category::unsigned_integer: return static_cast<double>(bits % 101);
    case Category::floating: break;
  }
  return static_cast<double>(bits >> 11u) * 0x1p-52 - 1.0;
}

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// The number of elements that the layout touches. A mode of stride 0 touches its element once.
std::int64_t unique_elements(const Layout& layout) {
  std::int64_t count = 1;
  for (const Mode& leaf : layout.leaves()) {
    if (leaf.extent.is(0)) return 0;
    if (!leaf.stride.is(0)) count = saturating_multiply(count, leaf.extent.value());
  }
  return std::min(count, cosize(layout));
}

std::int64_t bytes_moved(const Problem& problem) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < problem.layouts.size(); ++i) {
    const int times = problem.access[i] == Access::inout ? 2 : 1;
    const std::int64_t bytes = size_bytes(problem.op.tensors()[i].dtype) * times;
    total = saturating_add(total, saturating_multiply(unique_elements(problem.layouts[i]), bytes));
  }
  return total;
}

std::int64_t storage_bytes(const Problem& problem, std::size_t i) {
  return saturating_multiply(cosize(problem.layouts[i]), size_bytes(problem.op.tensors()[i].dtype));
}

// Outputs count three times: before the launch, after it, and in the reference.
void check_memory(const Problem& problem) {
  std::int64_t need = 0;
  for (std::size_t i = 0; i < problem.layouts.size(); ++i) {
    const int copies = problem.access[i] == Access::in ? 1 : 3;
    need = saturating_add(need, saturating_multiply(storage_bytes(problem, i), copies));
  }
  const std::uint64_t available = available_memory();
  if (static_cast<std::uint64_t>(need) > available) {
    constexpr double kGiB = 1u << 30;
    throw UsageError(
        fmt::format("kernel {} needs {:.1f} GiB of host memory, and {:.1f} GiB are "
                    "available; use smaller extents",
                    problem.op.name(), static_cast<double>(need) / kGiB,
                    static_cast<double>(available) / kGiB));
  }
}

void check_inputs(const Operation& op, const std::vector<Access>& access, const Arrays& arrays) {
  for (std::size_t i = 0; i < op.tensors().size(); ++i) {
    if (access[i] != Access::out || !arrays.contains(op.tensors()[i].name)) continue;
    throw UsageError(
        fmt::format("--in {0}: {0} is an output that the formula never reads; leave it out",
                    op.tensors()[i].name));
  }
}

void fill_inputs(Problem& problem, const Inputs& inputs) {
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.op.tensors()[i];
    const HostTensor& memory = problem.tensors[i];
    if (problem.access[i] != Access::out) {
      fill_random(tensor.dtype, memory.data(), memory.size_bytes(), inputs.seed * 1000003u + i);
    }
    if (const auto array = inputs.arrays.find(tensor.name); array != inputs.arrays.end()) {
      scatter(array->second, tensor, problem.layouts[i], memory.data());
    }
  }
}

}  // namespace

HostTensor::HostTensor(std::size_t bytes) : bytes_(bytes) {
  const std::size_t rounded = (bytes / kHostAlignment + 1) * kHostAlignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kHostAlignment, rounded)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, rounded);
}

HostArguments Problem::arguments() const {
  HostArguments result{.tensors = {}, .scalars = {}, .symbols = symbols};
  for (const HostTensor& tensor : tensors) result.tensors.push_back(tensor.data());
  for (const Argument& scalar : scalars) result.scalars.push_back(scalar.number());
  return result;
}

void fill_random(DType dtype, std::byte* data, std::size_t bytes, std::uint64_t seed) {
  const auto width = static_cast<std::size_t>(size_bytes(dtype));
  const std::size_t period = std::min(bytes, kRandomPeriod * width);
  std::uint64_t state = seed;
  for (std::size_t at = 0; at < period; at += width) {
    encode(dtype, random_value(dtype, next_random(state)), data + at);
  }
  for (std::size_t at = period; at < bytes; at += period) {
    std::memcpy(data + at, data, std::min(period, bytes - at));
  }
}

Problem make_problem(const Operation& op, std::vector<Access> access, const Inputs& inputs) {
  check_inputs(op, access, inputs.arrays);
  Problem problem{.op = op,
                  .access = std::move(access),
                  .symbols = bind_symbols(op, inputs.dims, inputs.arrays),
                  .layouts = {},
                  .scalars = bind_scalars(op, inputs.scalars),
                  .tensors = {}};
  for (const Tensor& tensor : problem.op.tensors()) {
    problem.layouts.push_back(substitute(tensor.layout, problem.symbols));
    if (const auto array = inputs.arrays.find(tensor.name); array != inputs.arrays.end()) {
      check_array(array->second, tensor, problem.layouts.back());
    }
  }
  check_memory(problem);
  for (std::size_t i = 0; i < problem.layouts.size(); ++i) {
    problem.tensors.emplace_back(static_cast<std::size_t>(storage_bytes(problem, i)));
  }
  problem.bytes_moved = bytes_moved(problem);
  fill_inputs(problem, inputs);
  return problem;
}

}  // namespace tilejit::cli
