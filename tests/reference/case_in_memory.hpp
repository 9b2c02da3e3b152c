#pragma once

#include <random>
#include <utility>
#include <vector>

#include "support/product_case.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/reference.hpp"

namespace tilejit {

/// An operation with memory of its own.
class CaseInMemory {
 public:
  explicit CaseInMemory(Fused op, SymbolValues symbols = {}, std::vector<Number> scalars = {})
      : op_(std::move(op)), symbols_(std::move(symbols)), scalars_(std::move(scalars)) {
    for (const Tensor& tensor : op_.tensors) memory_.emplace_back(tensor, symbols_);
  }

  /// Small integers, whose products and sums every type holds.
  void fill_integers(test::Random& random) {
    for (std::size_t t = 0; t < memory_.size(); ++t) {
      const int least = category(op_.tensors[t].dtype) == Category::unsigned_integer ? 0 : -4;
      std::uniform_int_distribution<int> next(least, 4);
      memory_[t].fill([&] { return next(random); });
    }
  }
  void fill_reals(test::Random& random) {
    for (test::GuardedTensor& one : memory_) one.fill(random);
  }

  void evaluate() {
    before_ = memory_;
    tilejit::evaluate(Operation(op_), arguments(memory_));
  }
  [[nodiscard]] Verification verify() {
    std::vector<const void*> actual;
    for (test::GuardedTensor& one : memory_) actual.push_back(one.data());
    return tilejit::verify(Operation(op_), arguments(before_.empty() ? memory_ : before_), actual);
  }

  /// The element of tensor `t` at a coordinate along its top-level modes; mode extents are 1 where
  /// the coordinate repeats.
  [[nodiscard]] double at(std::size_t t, std::vector<std::int64_t> coordinate) {
    return decode(op_.tensors[t].dtype, element(t, std::move(coordinate)));
  }
  void set(std::size_t t, std::vector<std::int64_t> coordinate, double value) {
    encode(op_.tensors[t].dtype, value, element(t, std::move(coordinate)));
  }
  [[nodiscard]] test::GuardedTensor& memory(std::size_t t) { return memory_[t]; }

 private:
  [[nodiscard]] HostArguments arguments(std::vector<test::GuardedTensor>& memory) const {
    HostArguments args{.tensors = {}, .scalars = scalars_, .symbols = symbols_};
    for (test::GuardedTensor& one : memory) args.tensors.push_back(one.data());
    return args;
  }
  unsigned char* element(std::size_t t, std::vector<std::int64_t> coordinate) {
    const Layout layout = substitute(op_.tensors[t].layout, symbols_);
    const std::size_t extra = coordinate.size() - rank(layout);
    std::int64_t index = 0;
    for (std::size_t i = 0; i < rank(layout); ++i) {
      const Layout own = mode(layout, i);
      const std::int64_t extent = size(own).value();
      index += own(extent == 1 ? 0 : coordinate[extra + i]);
    }
    return memory_[t].data() + index * size_bytes(op_.tensors[t].dtype);
  }

  Fused op_;
  SymbolValues symbols_;
  std::vector<Number> scalars_;
  std::vector<test::GuardedTensor> memory_, before_;
};

}  // namespace tilejit
