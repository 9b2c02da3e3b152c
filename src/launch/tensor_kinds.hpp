#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tilejit/kernel.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::launch {

/// What a descriptor says about the tensors of a launch, encoded in bytes. Launches of equal kinds
/// share one descriptor and one kernel.
///
/// The first byte says how extents are named. 0: by the axis, counted from the last. 1: by their
/// values; used if an output has fewer modes than the space, since only the values tell which axes
/// it lacks. Then follow, for each tensor, the dtype, log2 of the alignment (0..4), the rank, and
/// for each mode
///   extent  its value up to the known extent; else kSymbol + log2 of what divides it
///   stride  kNoStride if the extent is 1; kZero; kUnit; kContiguous + j if it is extent *
///           stride of mode j; else kSymbol + log2 of what divides it
/// If extents are named by their values, the last part holds, for each mode of all tensors, the
/// first mode with that extent. Zeros fill the last word.
class TensorKinds {
 public:
  static constexpr std::size_t kMaxBytes = 1024;
  enum Code : std::uint8_t { kNoStride = 0, kZero = 1, kUnit = 2, kContiguous = 16, kSymbol = 128 };

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {bytes_.data(), 8 * words_};
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t hash = 0x9E3779B97F4A7C15u;
    for (std::size_t i = 0; i < words_; ++i) {
      hash = std::rotl(hash ^ word(i), 29) * 0xBF58476D1CE4E5B9u;
    }
    return hash ^ (hash >> 32);
  }
  friend bool operator==(const TensorKinds& a, const TensorKinds& b) noexcept {
    if (a.words_ != b.words_) return false;
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < a.words_; ++i) differing |= a.word(i) ^ b.word(i);
    return differing == 0;
  }

 private:
  friend class Specializer;
  [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + 8 * i, 8);
    return word;
  }

  std::size_t words_ = 0;
  std::array<std::uint8_t, kMaxBytes> bytes_;  // initialised only as far as it is used
};

/// The extents and strides of a launch's tensors, in the order of the arguments.
struct TensorSizes {
  static constexpr std::size_t kMaxModes = TensorKinds::kMaxBytes / 3;
  static constexpr std::size_t kMaxTensors = TensorKinds::kMaxBytes / 3;
  /// Room for numbers that are computed from them.
  static constexpr std::size_t kMaxComputed = 64;

  /// True if all numbers are below 2^27: then sums of kMaxRank products of two are below 2^60.
  [[nodiscard]] bool are_moderate() const noexcept { return all >> 27 == 0; }

  /// A 1, then the extent and stride of each mode of each tensor. Initialised as far as it is used.
  std::array<std::int64_t, 1 + 2 * kMaxModes + kMaxComputed> numbers;
  /// Bytes of each tensor from its first to its last; meaningless unless are_moderate().
  std::array<std::uint64_t, kMaxTensors> bytes;
  std::uint64_t all = 0;  ///< the bits of all strides, and of all extents less 1
};

/// Makes descriptors of one operation for tensors given at run time.
class Specializer {
 public:
  static constexpr std::int64_t kMaxKnownExtent = 64;
  static constexpr std::size_t kMaxRank = 32;

  /// Throws Error{invalid_argument} for a known_extent out of range, and as Descriptor::outputs.
  Specializer(Operation operation, std::int64_t known_extent);

  /// Classifies the tensors of `args`. Allocates nothing; `kinds` and `sizes` are newly
  /// constructed. Throws Error{invalid_argument} for a wrong number of arguments, for tensors
  /// without a shape, and above kMaxRank modes; Error{unsupported} beyond TensorKinds::kMaxBytes.
  void classify(std::span<const Argument> args, TensorKinds& kinds, TensorSizes& sizes) const;
  [[nodiscard]] Operation descriptor(const TensorKinds& kinds) const;

 private:
  /// What each launch reads.
  struct Shape {
    std::size_t arguments = 0, tensors = 0;
    std::int64_t known_extent = 1;  // a lower bound
    std::uint64_t log2_bytes = 0;   // of an element; 4 bits per dtype
    std::vector<std::size_t> outputs = {};
  };
  [[noreturn]] void refuse_count(std::size_t given) const;
  [[noreturn]] void refuse_tensor(std::size_t t, const Argument& given) const;

  Shape shape_;
  Operation operation_;
};

}  // namespace tilejit::launch
