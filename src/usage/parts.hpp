#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilejit/nested.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit::usage {

/// The parts in which descriptors may differ, in the order of Parts::hashes. After them come the
/// operation's own parts, then kTensorParts for each tensor.
enum class Part : std::uint8_t { target, name, symbols, scalars, tuning, count };
inline constexpr std::size_t kFirstOwn = static_cast<std::size_t>(Part::count);
inline constexpr std::size_t kTensorParts = 3;  // name, access and alignment; dtype; layout

/// Kinds of parts: two descriptors are near if they differ in one kind only. `own`: the operation's
/// own parts, such as a formula.
enum class Kind : std::uint8_t { target, name, own, tuning, dtypes, layouts, other, count };
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::count);

/// Hashes of a descriptor and its target: equal for equal parts within this process. Examples are
/// not included, since they have no effect on the kernel.
struct Parts {
  SmallVector<std::uint64_t, kFirstOwn + 3 + 8 * kTensorParts> hashes;
  std::array<std::uint64_t, kKinds> kinds = {};  ///< of all parts of each kind together
  std::uint64_t all = 0;

  /// A hash of everything except one kind.
  [[nodiscard]] std::uint64_t without(Kind kind) const noexcept;
};

[[nodiscard]] Parts parts_of(const Operation& op, const Target& target) noexcept;

/// True if nothing differs except examples.
[[nodiscard]] bool same_operation(const Operation& a, const Operation& b);

/// The place of a part in the descriptor, "/tensors/x/layout", and its value for people.
[[nodiscard]] std::string place_of(const Operation& op, std::size_t part);
[[nodiscard]] std::string text_of(const Operation& op, const Target& target, std::size_t part);

}  // namespace tilejit::usage
