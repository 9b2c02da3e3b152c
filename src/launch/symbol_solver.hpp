#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "launch/bound_tensor.hpp"

namespace tilejit::launch {

/// Finds the value of every symbol for one launch: first from values given by name, then from
/// tensor extents and strides that are a single symbol times a factor. The caller owns the arrays,
/// which have one value and one source per slot. Products of several symbols are checked later,
/// when each layout is compared.
class SymbolSolver {
 public:
  SymbolSolver(const SymbolTable& symbols, const DimTable& dims,
               std::span<const BoundTensor> tensors, std::span<std::int64_t> values,
               std::span<std::int64_t> sources);

  /// Throws Error{invalid_argument} for a name that the operation does not have, and as `solve`.
  void take_named(const SymbolValues& symbols);

  /// `args` have passed check_form. Throws Error{invalid_argument} if a symbol gets two values (the
  /// message names both tensors), a negative, fractional or no value, or one that breaks its
  /// promise. A symbol that occurs only in strides without effect may stay unset; it becomes 0.
  void solve(std::span<const Argument> args);

 private:
  /// True if there is nothing to learn and no conflict, as for most tensors after the first.
  [[nodiscard]] bool is_settled(int dim_number, std::int64_t given) const {
    const SlotDim& dim = dims_[dim_number];
    if (dim.alone() < 0) return dim.slots().size() != 1;
    return values_[static_cast<std::size_t>(dim.alone())] == given;
  }
  void take_extents(const BoundTensor& tensor, const Argument& argument);
  void take_strides(const BoundTensor& tensor, const Argument& argument);
  void take(const BoundTensor& tensor, const char* what, std::size_t leaf, int dim_number,
            std::int64_t given);
  void assign(int slot, std::int64_t value, std::int64_t source);
  void check_promise(std::size_t slot) const;
  void require_all() const;
  void require(int dim_number) const;
  [[noreturn]] void fail(int slot, const std::string& why) const;
  [[nodiscard]] std::string source_text(std::int64_t source) const;

  const SymbolTable& table_;
  const DimTable& dims_;
  std::span<const BoundTensor> tensors_;
  std::span<std::int64_t> values_;
  std::span<std::int64_t> sources_;  // index of the tensor, or kNamed
};

}  // namespace tilejit::launch
