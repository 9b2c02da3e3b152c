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

/// A descriptor that was asked for.
struct Known {
  Operation op;
  Target target;
  std::uint64_t uses = 0;
  bool served = false;  ///< there was a kernel for it
};

/// The descriptors that a process has asked for, each once, in memory: what it has, what is nearest
/// to one that it has not. Thread-safe.
class Index {
 public:
  /// Further ones are not taken: a program that makes descriptors without end must not grow.
  static constexpr std::size_t kMost = 100'000;

  struct Noted {
    std::size_t number = 0;  ///< of the descriptor; stays its own
    bool is_new = false;
  };
  /// Counts a use. Nothing if the index is full and has not got it.
  std::optional<Noted> note(const Operation& op, const Target& target, bool served);
  /// The number of one that was served; counts a use of it.
  std::optional<std::size_t> use(const Operation& op, const Target& target);
  /// The number of one that was served.
  [[nodiscard]] std::optional<std::size_t> served(const Operation& op, const Target& target) const;

  /// Of those that were served, one that differs in as few parts as any that is looked at: those
  /// that differ in one Kind only, else those of the same formula, else of the same name, else the
  /// last, and of each group at most the last 64. Nothing if none was served.
  [[nodiscard]] std::optional<NearestKernel> nearest(const Operation& op,
                                                     const Target& target) const;

  /// Numbers of those that were served and do the same to tensors that may differ (Kind::own), the
  /// last first, at most 64.
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
  Groups near_;  // of those that were served
  std::vector<std::uint32_t> served_;
};

}  // namespace tilejit::usage
