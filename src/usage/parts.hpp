#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilejit/nested.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit::usage {

/// The parts of a descriptor that may differ from another's, in the order of Parts::hashes; behind
/// them those that only its operation has, and then kTensorParts of each tensor.
enum class Part : std::uint8_t { target, name, symbols, scalars, tuning, count };
inline constexpr std::size_t kFirstOwn = static_cast<std::size_t>(Part::count);
inline constexpr std::size_t kTensorParts = 3;  // its name, access and alignment; dtype; layout

/// Parts that are alike: descriptors are near if they differ in one kind only. `own`: what only its
/// operation has, as a formula.
enum class Kind : std::uint8_t { target, name, own, tuning, dtypes, layouts, other, count };
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::count);

/// A descriptor and its target as numbers: equal for equal parts in this process. Examples, which
/// have no effect on the kernel, are no part.
struct Parts {
  SmallVector<std::uint64_t, kFirstOwn + 3 + 8 * kTensorParts> hashes;
  std::array<std::uint64_t, kKinds> kinds = {};  ///< of all parts of a kind together
  std::uint64_t all = 0;

  /// Of everything but one kind.
  [[nodiscard]] std::uint64_t without(Kind kind) const noexcept;
};

[[nodiscard]] Parts parts_of(const Operation& op, const Target& target) noexcept;

/// True if nothing but examples differs.
[[nodiscard]] bool same_operation(const Operation& a, const Operation& b);

/// Where a part stands in the descriptor, "/tensors/x/layout", and its value for people.
[[nodiscard]] std::string place_of(const Operation& op, std::size_t part);
[[nodiscard]] std::string text_of(const Operation& op, const Target& target, std::size_t part);

}  // namespace tilejit::usage
