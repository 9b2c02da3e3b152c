#include "support/guarded_tensor.hpp"

#include <algorithm>
#include <span>

#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

/// Bytes of a guard zone. The default keeps the alignment of device memory.
std::size_t bytes_of_guard() {
  return number_from_env("TILEJIT_TEST_GUARD", 256);
}

void append_indices(std::span<const Mode> modes, std::size_t m, std::int64_t base,
                    std::vector<std::int64_t>& out) {
  if (m == modes.size()) return out.push_back(base);
  for (std::int64_t c = 0; c < modes[m].extent.value(); ++c) {
    append_indices(modes, m + 1, base + c * modes[m].stride.value(), out);
  }
}

}  // namespace

GuardedTensor::GuardedTensor(const Tensor& tensor, const SymbolValues& symbols)
    : dtype_(tensor.dtype),
      guard_(bytes_of_guard() + (tensor.align < 16 ? static_cast<std::size_t>(tensor.align) : 0)) {
  const Layout layout = substitute(tensor.layout, symbols);
  const auto size =
      static_cast<std::size_t>(cosize(layout)) * static_cast<std::size_t>(size_bytes(dtype_));
  bytes_.assign(size + guard_ + bytes_of_guard(), kPoison);
  append_indices(layout.leaves(), 0, 0, elements_);
  std::ranges::sort(elements_);
}

void GuardedTensor::fill(Random& random) {
  std::uniform_real_distribution<double> real(-2.0, 2.0);
  std::uniform_int_distribution<int> integer(category(dtype_) == Category::signed_integer ? -60 : 0,
                                             60);
  fill([&] {
    return dtype_ == b8          ? static_cast<double>(random() & 1)
           : is_floating(dtype_) ? real(random)
                                 : integer(random);
  });
}

void GuardedTensor::fill(const std::function<double()>& next) {
  for (const std::int64_t i : elements_) encode(dtype_, next(), data() + i * size_bytes(dtype_));
}

std::vector<double> GuardedTensor::values() const {
  std::vector<double> values;
  for (const std::int64_t i : elements_) {
    values.push_back(decode(dtype_, data() + i * size_bytes(dtype_)));
  }
  return values;
}

std::string GuardedTensor::check_guards() const {
  std::vector<bool> reached(bytes_.size(), false);
  for (const std::int64_t i : elements_) {
    for (int b = 0; b < size_bytes(dtype_); ++b) {
      reached[guard_ + static_cast<std::size_t>(i * size_bytes(dtype_) + b)] = true;
    }
  }
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    if (!reached[at] && bytes_[at] != kPoison) {
      return "byte " +
             std::to_string(static_cast<std::int64_t>(at) - static_cast<std::int64_t>(guard_)) +
             " was written";
    }
  }
  return {};
}

}  // namespace tilejit::test
