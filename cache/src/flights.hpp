#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// One request that misses in memory, and whoever asks for the same key meanwhile; afterwards, for
/// a moment, its failure. Guarded by the mutex of its Store.
struct Flight {
  std::condition_variable landed;
  bool done = false;
  EntryPtr entry;                                        ///< done: this, or
  std::exception_ptr error;                              ///< this,
  std::chrono::steady_clock::time_point forgotten = {};  ///< which answers until then

  void land(EntryPtr made);
  void fail(std::exception_ptr thrown, std::chrono::milliseconds ttl);
};

/// The flights of a Store by key. Not thread-safe: its Store locks.
class Flights {
 public:
  using Clock = std::chrono::steady_clock;

  /// The flight of `key` that is under way, or failed a moment ago; else a new one, which the
  /// caller leads: `leads` says so.
  [[nodiscard]] std::shared_ptr<Flight> join(const std::string& key, bool& leads);
  /// Takes a flight that its leader has landed off the list.
  void erase(const std::string& key) { flights_.erase(key); }

 private:
  void forget_failures(Clock::time_point now);

  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
  std::size_t many_ = 64;  // beyond as many, failures that are over are looked for
};

}  // namespace tilejit::cache
