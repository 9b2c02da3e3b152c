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

/// A descriptor with values for everything that it leaves open.
struct Problem {
  Operation op;
  std::vector<Access> access;  ///< per tensor, never automatic
  SymbolValues symbols;
  std::vector<Layout> layouts;  ///< per tensor, symbols filled in
  std::vector<Argument> scalars;
  std::vector<HostTensor> tensors;  ///< contents before the launch
  std::int64_t bytes_moved = 0;     ///< each input read once, each output written once

  /// For the CPU reference.
  [[nodiscard]] HostArguments arguments() const;
};

/// The sources of tensors' contents and of other values.
struct Inputs {
  Assignments dims;
  Assignments scalars;
  Arrays arrays;
  std::uint64_t seed = 1;
};

/// Binds symbols and scalars, allocates the tensors, and fills those that are read: from their
/// array, else with pseudo-random values that depend only on seed and position. Throws UsageError
/// for values that contradict the descriptor, for an array of a tensor that is not read, and if the
/// host lacks the memory.
[[nodiscard]] Problem make_problem(const Operation& op, std::vector<Access> access,
                                   const Inputs& inputs);

/// Fills `bytes` bytes with `dtype` values: floats uniform in [-1,1), signed integers in
/// [-100,100], unsigned integers in [0,100], and bool with equal chances.
void fill_random(DType dtype, std::byte* data, std::size_t bytes, std::uint64_t seed);

/// Bytes that this process may still allocate: the system's available memory, within the bound of
/// the process's control group.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace tilejit::cli
