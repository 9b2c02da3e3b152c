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

/// A request that missed in memory, shared by all callers who ask for the same key meanwhile. A
/// failure stays for a moment afterwards. Guarded by the mutex of its Store.
struct Flight {
  std::condition_variable landed;
  bool done = false;
  EntryPtr entry;                                        ///< the result if done, or
  std::exception_ptr error;                              ///< the failure,
  std::chrono::steady_clock::time_point forgotten = {};  ///< which answers requests until then

  void land(EntryPtr made);
  void fail(std::exception_ptr thrown, std::chrono::milliseconds ttl);
};

/// The flights of a Store by key. Not thread-safe: the Store locks.
class Flights {
 public:
  using Clock = std::chrono::steady_clock;

  /// The flight of `key` that is under way or failed a moment ago. If there is none, a new one,
  /// which the caller leads; then `leads` is set.
  [[nodiscard]] std::shared_ptr<Flight> join(const std::string& key, bool& leads);
  /// Removes a flight that its leader has landed.
  void erase(const std::string& key) { flights_.erase(key); }

 private:
  void forget_failures(Clock::time_point now);

  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
  std::size_t many_ = 64;  // above this size, expired failures are removed
};

}  // namespace tilejit::cache
