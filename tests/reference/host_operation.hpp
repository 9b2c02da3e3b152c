#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "tilejit/reference.hpp"

namespace tilejit {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An operation with memory for its tensors, which are read and written as doubles.
class HostOperation {
 public:
  explicit HostOperation(Fused op, SymbolValues symbols = {}) : op_(std::move(op)) {
    args_.symbols = std::move(symbols);
    for (const Tensor& tensor : op_.tensors) {
      std::int64_t elements = 1;
      for (const Mode& leaf : tensor.layout.leaves()) {
        const std::int64_t extent = leaf.extent.evaluate(args_.symbols);
        elements = extent == 0 ? 0 : elements + (extent - 1) * leaf.stride.evaluate(args_.symbols);
        if (extent == 0) break;
      }
      counts_.push_back(static_cast<std::size_t>(elements));
      memory_.emplace_back(counts_.back() * static_cast<std::size_t>(size_bytes(tensor.dtype)) + 1);
      args_.tensors.push_back(memory_.back().data());
    }
  }

  void set(std::size_t tensor, std::size_t element, double value) {
    encode(op_.tensors[tensor].dtype, value, address(tensor, element));
  }
  void fill(std::size_t tensor, const std::vector<double>& values) {
    ASSERT_EQ(values.size(), counts_[tensor]) << op_.tensors[tensor].name;
    for (std::size_t i = 0; i < values.size(); ++i) set(tensor, i, values[i]);
  }
  [[nodiscard]] double get(std::size_t tensor, std::size_t element) {
    return decode(op_.tensors[tensor].dtype, address(tensor, element));
  }
  [[nodiscard]] std::vector<double> values(std::size_t tensor) {
    std::vector<double> out;
    for (std::size_t i = 0; i < counts_[tensor]; ++i) out.push_back(get(tensor, i));
    return out;
  }
  [[nodiscard]] std::vector<double> last() { return values(op_.tensors.size() - 1); }

  [[nodiscard]] void* address(std::size_t tensor, std::size_t element) {
    return memory_[tensor].data() +
           element * static_cast<std::size_t>(size_bytes(op_.tensors[tensor].dtype));
  }

  void run() { evaluate(op_, args_); }
  /// Reads outputs as they are; inputs must not have been overwritten.
  [[nodiscard]] Verification check() {
    std::vector<const void*> actual(args_.tensors.begin(), args_.tensors.end());
    return verify(op_, args_, actual);
  }

 private:
  Fused op_;
  HostArguments args_;
  std::vector<std::size_t> counts_;
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace tilejit
