#include "launch/symbol_solver.hpp"

#include <algorithm>
#include <string>

#include "core/json_pointer.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

constexpr std::int64_t kNamed = -1;  // the value was given by name

}  // namespace

SymbolSolver::SymbolSolver(const SymbolTable& symbols, const DimTable& dims,
                           std::span<const BoundTensor> tensors, std::span<std::int64_t> values,
                           std::span<std::int64_t> sources)
    : table_(symbols), dims_(dims), tensors_(tensors), values_(values), sources_(sources) {
  std::fill(values_.begin(), values_.end(), kUnset);
}

void SymbolSolver::take_named(const SymbolValues& symbols) {
  for (const auto& [name, value] : symbols) {
    const int slot = table_.find(name);
    if (slot < 0) {
      throw Error(ErrorCode::invalid_argument,
                  "the operation has no symbol '" + name + "'; leave it out",
                  core::pointer_to("/symbols", name));
    }
    assign(slot, value, kNamed);
  }
}

void SymbolSolver::solve(std::span<const Argument> args) {
  // Extents first: they decide which strides matter.
  for (const BoundTensor& tensor : tensors_) take_extents(tensor, args[tensor.argument]);
  for (const BoundTensor& tensor : tensors_) take_strides(tensor, args[tensor.argument]);
  bool complete = true;
  for (std::size_t slot = 0; slot < values_.size(); ++slot) {
    if (values_[slot] == kUnset) {
      complete = false;
    } else {
      check_promise(slot);
    }
  }
  if (complete) [[likely]]
    return;
  require_all();
  std::replace(values_.begin(), values_.end(), kUnset, std::int64_t{0});
}

void SymbolSolver::take_extents(const BoundTensor& tensor, const Argument& argument) {
  for (std::size_t i = 0; i < argument.shape.size(); ++i) {
    if (argument.shape[i] < 0) {
      tensor.fail("has the negative extent " + std::to_string(argument.shape[i]));
    }
    if (is_settled(tensor.extents[i], argument.shape[i])) [[likely]]
      continue;
    take(tensor, "extent", i, tensor.extents[i], argument.shape[i]);
  }
}

void SymbolSolver::take_strides(const BoundTensor& tensor, const Argument& argument) {
  if (has_no_elements(argument.shape)) return;
  for (std::size_t i = 0; i < argument.stride.size(); ++i) {
    if (argument.shape[i] <= 1) continue;
    if (argument.stride[i] < 0) {
      tensor.fail("has the negative stride " + std::to_string(argument.stride[i]));
    }
    if (is_settled(tensor.strides[i], argument.stride[i])) [[likely]]
      continue;
    take(tensor, "stride", i, tensor.strides[i], argument.stride[i]);
  }
}

void SymbolSolver::take(const BoundTensor& tensor, const char* what, std::size_t leaf,
                        int dim_number, std::int64_t given) {
  const SlotDim& dim = dims_[dim_number];
  const std::int64_t source = &tensor - tensors_.data();
  if (dim.alone() >= 0) return assign(dim.alone(), given, source);  // saves two divisions
  if (dim.slots().size() != 1) return;
  if (given % dim.factor() != 0) {
    const Mode& mode = tensor.leaves[leaf];
    tensor.fail("has " + std::string(what) + " " + std::to_string(given) + " in mode " +
                std::to_string(leaf) + ", which is not a multiple of " +
                std::to_string(dim.factor()) + " as " +
                to_string(what[0] == 'e' ? mode.extent : mode.stride) + " must be");
  }
  assign(dim.slots()[0], given / dim.factor(), source);
}

void SymbolSolver::assign(int slot, std::int64_t value, std::int64_t source) {
  if (value < 0) fail(slot, "cannot be " + std::to_string(value) + "; it is a size");
  if (values_[slot] == value) return;
  if (values_[slot] != kUnset) {
    fail(slot, "is " + std::to_string(values_[slot]) + " by " + source_text(sources_[slot]) +
                   " but " + std::to_string(value) + " by " + source_text(source));
  }
  values_[slot] = value;
  sources_[slot] = source;
}

void SymbolSolver::check_promise(std::size_t slot) const {
  const std::int64_t divisor = table_.divisors[slot];
  if (divisor <= 1 || values_[slot] % divisor == 0) [[likely]]
    return;
  fail(static_cast<int>(slot),
       "is " + std::to_string(values_[slot]) + " by " + source_text(sources_[slot]) +
           "; the descriptor promises a multiple of " + std::to_string(divisor));
}

void SymbolSolver::require_all() const {
  for (const BoundTensor& tensor : tensors_) {
    bool empty = false;
    for (const int extent : tensor.extents) {
      require(extent);
      empty = empty || dims_[extent].evaluate(values_) == 0;
    }
    if (empty) continue;
    for (std::size_t i = 0; i < tensor.strides.size(); ++i) {
      if (dims_[tensor.extents[i]].evaluate(values_) > 1) require(tensor.strides[i]);
    }
  }
}

void SymbolSolver::require(int dim_number) const {
  for (const int slot : dims_[dim_number].slots()) {
    if (values_[slot] != kUnset) continue;
    fail(slot, "has no value: pass a tensor that has it with its shape, or the value by name");
  }
}

void SymbolSolver::fail(int slot, const std::string& why) const {
  const std::string& name = table_.names[slot];
  throw Error(ErrorCode::invalid_argument, "symbol '" + name + "' " + why,
              core::pointer_to("/symbols", name));
}

std::string SymbolSolver::source_text(std::int64_t source) const {
  return source == kNamed ? "name" : "tensor '" + tensors_[source].name + "'";
}

}  // namespace tilejit::launch
