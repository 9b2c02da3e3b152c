#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "compile/nvrtc.hpp"
#include "compile/workers.hpp"
#include "tilejit/compile_service.hpp"

namespace tilejit::compile {

struct PoolOptions {
  int jobs = 1;                   ///< compiles at the same time
  int threads = 1;                ///< how many of them run in this process
  std::filesystem::path program;  ///< the worker program; empty: find_worker()
  WorkerLimits limits = {};
  /// The NVRTC of this process, and the one that workers must load. Throw Error{no_compiler}.
  std::function<const Nvrtc&()> nvrtc;
  std::function<CompilerId()> compiler;
  /// Called once if workers are not available.
  std::function<void(const std::string&)> warn;
};

struct PoolCounters {
  std::uint64_t in_process = 0, in_workers = 0;  ///< compiles
  TimeHistogram compiled = {};                   ///< NVRTC's time for compiles that succeeded
  WorkerCounters workers = {};
};

/// Decides who gets the next free place.
enum class Urgency : std::uint8_t { high, low };

/// Places to compile in: some in this process, the others in worker processes. If workers are not
/// available, all places are in this process. Thread-safe.
class Pool {
 public:
  explicit Pool(PoolOptions options);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Waits for a place, then compiles. Throws as Nvrtc::compile and Workers::compile.
  [[nodiscard]] Compiled compile(const Request& request, Urgency urgency);
  /// Makes waiting compiles, and those of workers, fail soon with Error{cancelled}.
  void stop();
  [[nodiscard]] PoolCounters counters() const;

 private:
  enum class Place : std::uint8_t { here, worker };
  class Taken;

  Compiled compile_at(Place place, const Request& request);
  Place take(Urgency urgency);
  void give_back(Place place);
  [[nodiscard]] bool has(Place place) const;
  Workers& workers();
  void do_without_workers(const std::string& why);

  const PoolOptions options_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable free_;
  std::array<int, 2> taken_ = {};  // by place
  std::array<int, 2> waits_ = {};  // by urgency
  bool stopped_ = false;
  bool without_workers_ = false;
  PoolCounters counters_;
  std::unique_ptr<Workers> workers_;  // created when a worker is first needed
};

}  // namespace tilejit::compile
