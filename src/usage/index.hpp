#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilejit/miss.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"
#include "usage/parts.hpp"

namespace tilejit::usage {

/// A descriptor that was requested.
struct Known {
  Operation op;
  Target target;
  std::uint64_t uses = 0;
  bool served = false;  ///< a kernel was returned for it
};

/// The distinct descriptors that a process has requested, in memory: which it has, and which is
/// nearest to a missing one. Thread-safe.
class Index {
 public:
  /// Largest number of descriptors; further ones are ignored, so that a program that makes
  /// descriptors without end does not grow.
  static constexpr std::size_t kMost = 100'000;

  struct Noted {
    std::size_t number = 0;  ///< the descriptor's number, which never changes
    bool is_new = false;
  };
  /// Counts a use. Nothing if the index is full and does not have the descriptor.
  std::optional<Noted> note(const Operation& op, const Target& target, bool served);
  /// The number of a descriptor that was served; counts a use of it.
  std::optional<std::size_t> use(const Operation& op, const Target& target);
  /// The number of a descriptor that was served.
  [[nodiscard]] std::optional<std::size_t> served(const Operation& op, const Target& target) const;

  /// The served descriptor that differs in the fewest parts. Looks first at those that differ in
  /// one Kind only; if there are none, at those of the same formula, then of the same name, then at
  /// the last ones; of each group at most the last 64. Nothing if none was served.
  [[nodiscard]] std::optional<NearestKernel> nearest(const Operation& op,
                                                     const Target& target) const;

  /// Numbers of served descriptors that do the same operation and may differ in their tensors
  /// (Kind::own): the last first, at most 64.
  [[nodiscard]] std::vector<std::size_t> alike(const Operation& op, const Target& target) const;

  [[nodiscard]] Known at(std::size_t number) const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    Entry(const Operation& op, const Target& target, const Parts& of_both)
        : known{.op = op, .target = target}, parts(of_both) {}
    Known known;
    Parts parts;
  };
  using Groups = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;

  [[nodiscard]] std::optional<std::size_t> find(const Operation& op, const Target& target,
                                                const Parts& parts) const;
  void serve(std::size_t number);
  [[nodiscard]] const Entry* nearest_of(const Parts& parts) const;

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  Groups by_all_;
  Groups near_;  // of served descriptors
  std::vector<std::uint32_t> served_;
};

}  // namespace tilejit::usage
