#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake/fake_driver.hpp"
#include "fake/hand_plans.hpp"
#include "launch/internals.hpp"
#include "operation/descriptor.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {

/// Common setup of tests that launch kernels on a FakeDriver.

inline const Options kInMemory{.cache_folder = std::nullopt};

/// y = f(x, alpha): 8 blocks of 256 threads.
inline HandPlan hand_plan() {
  HandPlan plan;
  plan.in("x", "(64,32):(32,1)").out("y", "(64,32):(32,1)").scalar("alpha", f32);
  return plan;
}

inline Artifact hand_artifact() {
  Artifact artifact;
  artifact.key = "key";
  artifact.kernel_name = "tilejit_hand";
  artifact.cubin = std::make_shared<const std::string>("cubin");
  artifact.metadata = std::make_shared<const std::string>("{}");
  return artifact;
}

/// A kernel of hand_artifact() for `plan`.
inline Kernel load(const Runtime& runtime, const HandPlan& plan) {
  const operation::Plan planned = plan.planned();
  const operation::LaunchPlan launch = planned.body->launch();
  auto library = launch::load_library(launch::Internals::context(runtime), hand_artifact(), launch);
  return launch::Internals::make_kernel(std::move(library), hand_artifact(), plan.op, planned,
                                        launch);
}

/// The same for an operation, with its plan for sm_90a.
inline Kernel load(const Runtime& runtime, const Operation& op) {
  const Target target{.major = 9, .minor = 0, .feature = 'a'};
  const operation::Plan planned = op.descriptor().plan(target);
  const operation::LaunchPlan launch = planned.body->launch();
  auto library = launch::load_library(launch::Internals::context(runtime), hand_artifact(), launch);
  return launch::Internals::make_kernel(std::move(library), hand_artifact(), op, planned, launch);
}

inline std::vector<Argument> hand_arguments() {
  return {on_device(0x10000), on_device(0x20000), 0.5};
}

inline const Stream kStream = reinterpret_cast<Stream>(0x77);

}  // namespace tilejit
