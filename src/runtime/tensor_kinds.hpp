#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tilejit/fused.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit::runtime {

/// What a descriptor says of the tensors of a launch, in bytes: of a tensor its dtype, alignment
/// and rank, of a mode what is known of its extent and its stride (tensor_kinds.cpp). Launches of
/// equal kinds have one descriptor, and one kernel.
class TensorKinds {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {bytes_.data(), size_};
  }
  [[nodiscard]] std::uint64_t hash() const noexcept;
  friend bool operator==(const TensorKinds& a, const TensorKinds& b) noexcept {
    return a.size_ == b.size_ && std::memcmp(a.bytes_.data(), b.bytes_.data(), a.size_) == 0;
  }

  /// Bytes beyond kMaxBytes are counted only.
  void add(std::uint8_t byte) noexcept {
    if (size_ < kMaxBytes) bytes_[size_] = byte;
    ++size_;
  }
  [[nodiscard]] bool fits() const noexcept { return size_ <= kMaxBytes; }

 private:
  std::array<std::uint8_t, kMaxBytes> bytes_;  // written as far as it is used
  std::size_t size_ = 0;
};

/// The descriptors of one operation for tensors given at run time.
class Specializer {
 public:
  static constexpr std::int64_t kMaxKnownExtent = 64;
  static constexpr std::size_t kMaxRank = 32;

  /// Throws Error{invalid_argument} for a known_extent out of range, Error{invalid_formula}.
  Specializer(Fused operation, std::int64_t known_extent);

  /// Allocates nothing. Throws Error{invalid_argument} for a wrong number of arguments, for tensors
  /// without shape, and above kMaxRank modes; Error{unsupported} beyond TensorKinds::kMaxBytes.
  void classify(std::span<const Argument> args, TensorKinds& kinds) const;
  [[nodiscard]] Fused descriptor(const TensorKinds& kinds) const;

 private:
  void check(std::span<const Argument> args) const;
  [[nodiscard]] bool names_by_value(std::span<const Argument> args) const noexcept;

  Fused operation_;
  std::int64_t known_extent_;
  std::vector<bool> only_written_;  // one a tensor
};

}  // namespace tilejit::runtime
