#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/handles.hpp"
#include "launch/assertions.hpp"
#include "operation/launch_plan.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::launch {

/// A cubin loaded into the driver, unloaded by the destructor. Shared by the kernels made from it.
struct Library {
  std::shared_ptr<const driver::Context> context;  // outlives the library
  /// Null if there are none. Its memory outlives the kernels, which write to it.
  std::unique_ptr<const Assertions> assertions;
  driver::UniqueLibrary handle;
  /// One kernel of the launch plan.
  struct Kernel {
    CUfunction entry = nullptr;
    CUfunction wide = nullptr;  ///< null if there is none
    unsigned most_blocks = 0;   ///< per launch, for GridRule::resident; otherwise 0
    /// Shared memory that a launch may ask for, in bytes, if it depends on symbols; otherwise 0.
    unsigned most_shared = 0;
  };
  std::vector<Kernel> kernels;  ///< one per step
};

/// Loads `artifact.cubin`, which was made from the plan, and finds its entry points. Throws
/// Error{no_driver} if the driver refuses the cubin (the driver is too old, or the cubin is for
/// another device), Error{driver_call}, and as require_tensor_maps if the plan has tensor maps.
[[nodiscard]] std::shared_ptr<const Library> load_library(
    std::shared_ptr<const driver::Context> context, const Artifact& artifact,
    const operation::LaunchPlan& plan);

/// The libraries of one Runtime by key. Each key is loaded once. Thread-safe.
class Libraries {
 public:
  explicit Libraries(std::shared_ptr<const driver::Context> context)
      : context_(std::move(context)) {}

  /// Throws as load_library.
  [[nodiscard]] std::shared_ptr<const Library> find_or_load(const Artifact& artifact,
                                                            const operation::LaunchPlan& plan);

 private:
  std::shared_ptr<const driver::Context> context_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Library>> loaded_;
};

}  // namespace tilejit::launch
