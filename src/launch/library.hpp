#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/handles.hpp"
#include "plan/plan.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::launch {

/// A cubin in the driver, unloaded at the end of its life. Shared by the kernels made from it.
struct Library {
  std::shared_ptr<const driver::Context> context;  // outlives the library
  driver::UniqueLibrary handle;
  CUfunction entry = nullptr;
  CUfunction second = nullptr;  ///< the entry point that plan::second_entry names; null if none
  driver::UniquePool pool;      ///< for plan::partials_bytes and temporaries; null if none
  unsigned most_blocks = 0;     ///< of a launch, where blocks take one row after another; else 0
  /// The kernels of plan::Plan::stages, without a handle; else empty, and `entry` is not null.
  std::vector<std::shared_ptr<const Library>> stages;
};

/// Loads `artifact.cubin`, made of `plan`, and finds its entry points. Throws Error{no_driver} if
/// the driver refuses the cubin (too old, or made for another device), Error{driver_call}.
[[nodiscard]] std::shared_ptr<const Library> load_library(
    std::shared_ptr<const driver::Context> context, const Artifact& artifact,
    const plan::Plan& plan);

/// The libraries of one Runtime by key. Thread-safe; every key is loaded once.
class Libraries {
 public:
  explicit Libraries(std::shared_ptr<const driver::Context> context)
      : context_(std::move(context)) {}

  /// Throws as load_library.
  [[nodiscard]] std::shared_ptr<const Library> find_or_load(const Artifact& artifact,
                                                            const plan::Plan& plan);

 private:
  std::shared_ptr<const driver::Context> context_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Library>> loaded_;
};

}  // namespace tilejit::launch
