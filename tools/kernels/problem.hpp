#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/bindings.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::cli {

/// Host memory of one tensor: zeroed, aligned to 64 bytes, never null. Move-only.
class HostTensor {
 public:
  explicit HostTensor(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_;
};

/// A descriptor with a value for everything that it leaves open.
struct Problem {
  Operation op;
  std::vector<Access> access;  ///< of each tensor, never automatic
  SymbolValues symbols;
  std::vector<Layout> layouts;  ///< of each tensor, symbols filled in
  std::vector<Argument> scalars;
  std::vector<HostTensor> tensors;  ///< contents before the launch
  std::int64_t bytes_moved = 0;     ///< each input read once, each output written once

  /// For the CPU reference.
  [[nodiscard]] HostArguments arguments() const;
};

/// Where the contents of tensors come from.
struct Inputs {
  Assignments dims;
  Assignments scalars;
  Arrays arrays;
  std::uint64_t seed = 1;
};

/// Binds symbols and scalars, allocates the tensors and fills those that are read: from their
/// array, else with pseudo-random values that depend on seed and position only. Throws UsageError
/// for values that contradict the descriptor, an array for a tensor that is not read, and if the
/// host has not the memory.
[[nodiscard]] Problem make_problem(const Operation& op, std::vector<Access> access,
                                   const Inputs& inputs);

/// Fills `bytes` bytes with `dtype` values: floats uniform in [-1,1), signed integers in
/// [-100,100], unsigned ones in [0,100], bool fair.
void fill_random(DType dtype, std::byte* data, std::size_t bytes, std::uint64_t seed);

/// Bytes that this process may still allocate: what is available, within its control group's bound.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace tilejit::cli
