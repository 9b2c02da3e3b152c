#pragma once

#include <set>

#include "program/code.hpp"

namespace tilejit::program {

/// Which accesses to memory that threads share have no barrier after them yet.
class Hazards {
 public:
  /// A shared tile by its slot; scratch; a tensor.
  using Object = int;
  static constexpr Object kScratch = -1;
  static constexpr Object kAhead = -2;  ///< buffers of a loop with stages, which has its barriers
  /// Two places in which threads combine their values in turns.
  [[nodiscard]] static Object exchange(int number) noexcept { return -3 - number; }
  [[nodiscard]] static Object tensor(int number) noexcept { return -5 - number; }

  /// Whether a barrier has to come before the access.
  [[nodiscard]] bool read_waits(Object object) const { return written_.contains(object); }
  [[nodiscard]] bool write_waits(Object object) const {
    return written_.contains(object) || read_.contains(object);
  }
  void read(Object object) { read_.insert(object); }
  void write(Object object) { written_.insert(object); }
  /// Copies to shared tiles are under way that threads have to wait for before they meet.
  void copy_ahead() noexcept { copies_ahead_ = true; }
  [[nodiscard]] bool copies_ahead() const noexcept { return copies_ahead_; }
  /// After a barrier.
  void clear() {
    read_.clear();
    written_.clear();
    copies_ahead_ = false;
  }
  void forget(Object object) {
    read_.erase(object);
    written_.erase(object);
  }
  /// What is pending on either of two ways.
  void join(const Hazards& other);
  /// Before a loop: everything that its body touches may be pending from the step before.
  void enter_loop(const Steps& body, const Code& code);

 private:
  std::set<Object> read_;
  std::set<Object> written_;
  bool copies_ahead_ = false;
};

}  // namespace tilejit::program
