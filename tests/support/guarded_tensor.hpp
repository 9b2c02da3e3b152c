#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tilejit/fused.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::test {

using Random = std::mt19937_64;

/// Host memory of one tensor with a guard zone at either end, all filled with a poison pattern. The
/// tensor is aligned to no more bytes than it promises. TILEJIT_TEST_GUARD is the bytes of a zone:
/// 0 has memory end with its tensor, so that compute-sanitizer sees what is read beyond it.
class GuardedTensor {
 public:
  GuardedTensor(const Tensor& tensor, const SymbolValues& symbols);

  [[nodiscard]] unsigned char* data() { return bytes_.data() + guard_; }
  [[nodiscard]] const unsigned char* data() const { return bytes_.data() + guard_; }
  [[nodiscard]] std::vector<unsigned char>& bytes() { return bytes_; }  ///< guards included
  /// Random values in every element that the layout reaches.
  void fill(Random& random);
  /// The same with values from `next`, rounded to the dtype.
  void fill(const std::function<double()>& next);
  /// The elements that the layout reaches, in the order of memory.
  [[nodiscard]] std::vector<double> values() const;
  /// Empty if all bytes that the layout does not reach still hold the poison; otherwise a message
  /// that says which do not.
  [[nodiscard]] std::string check_guards() const;

  /// Bytes before the tensor.
  [[nodiscard]] std::size_t guard() const { return guard_; }

  static constexpr unsigned char kPoison = 0xa5;

 private:
  DType dtype_;
  std::size_t guard_;
  std::vector<std::int64_t> elements_;  ///< indices that the layout reaches
  std::vector<unsigned char> bytes_;
};

}  // namespace tilejit::test
