#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/random_case.hpp"
#include "tilejit/tilejit.hpp"

namespace tilejit::test {

/// Tests that need a device; without one they skip with the reason. They share one Runtime.
class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (runtime() == nullptr) GTEST_SKIP() << "no GPU: " << reason();
    runtime()->make_current();
  }

  static Runtime* runtime() { return shared().runtime.get(); }
  static const std::string& reason() { return shared().reason; }

  /// Runs `c` on the device over fresh random inputs and poisoned outputs, and checks every element
  /// against the reference, every other byte against the poison, and that a second launch leaves
  /// the same bits.
  static void run_and_verify(const RandomCase& c, Random& random);
  /// The same over inputs from `next`. Returns the tensors after the launch.
  static std::vector<GuardedTensor> run_and_verify(const RandomCase& c,
                                                   const std::function<double()>& next);

 private:
  using Fill = std::function<void(GuardedTensor&)>;
  static std::vector<GuardedTensor> run_filled(const RandomCase& c, const Fill& fill);

  struct Shared {
    std::unique_ptr<Runtime> runtime;
    std::string reason;
  };
  static Shared& shared() {
    static Shared instance = [] {
      Shared made;
      try {
        Options options = Options::from_env();
        options.cache_folder.reset();
        options.tuning_file.reset();
        made.runtime = std::make_unique<Runtime>(options);
      } catch (const Error& error) {
        made.reason = error.what();
      }
      return made;
    }();
    return instance;
  }
};

}  // namespace tilejit::test
