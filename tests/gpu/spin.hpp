#pragma once

#include <memory>
#include <string>

#include "compile/nvrtc.hpp"
#include "driver/handles.hpp"
#include "launch/internals.hpp"
#include "tilejit/tilejit.hpp"

namespace tilejit::test {

/// A kernel that runs until it is released, for 5 seconds at most, so that a test that waits for it
/// fails instead of hanging.
class Spin {
 public:
  explicit Spin(const Runtime& runtime)
      : context_(launch::Internals::context(runtime)),
        flag_(runtime, sizeof(int)),
        signal_(runtime, {.priority = 0}) {
    const std::string source = R"(
extern "C" __global__ void spin(volatile int* released) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (*released == 0 && now - begin < 5000000000ull);
})";
    const compile::Compiled made =
        compile::Nvrtc().compile({.source = {.name = "spin.cu", .text = source, .headers = {}},
                                  .target = to_string(runtime.device().target),
                                  .options = {}});
    CUlibrary library = nullptr;
    driver::check(driver_,
                  driver_.cuLibraryLoadData_(&library, made.cubin.data(), nullptr, nullptr, 0,
                                             nullptr, nullptr, 0),
                  "cuLibraryLoadData");
    library_ = driver::UniqueLibrary(library, {context_.get()});
    CUkernel kernel = nullptr;
    driver::check(driver_, driver_.cuLibraryGetKernel_(&kernel, library, "spin"),
                  "cuLibraryGetKernel");
    driver::check(driver_, driver_.cuKernelGetFunction_(&function_, kernel), "cuKernelGetFunction");
  }

  void start(Stream stream) {
    set(0);
    void* flag = flag_.data();
    void* arguments[] = {&flag};
    driver::check(
        driver_,
        driver_.cuLaunchKernel_(function_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
        "cuLaunchKernel");
  }
  void release() { set(1); }

 private:
  void set(unsigned char value) {
    driver::check(driver_,
                  driver_.cuMemsetD8Async_(reinterpret_cast<CUdeviceptr>(flag_.data()), value,
                                           sizeof(int), signal_),
                  "cuMemsetD8Async");
    signal_.synchronize();
  }

  const driver::Table& driver_ = driver::load_driver();
  std::shared_ptr<const driver::Context> context_;
  Buffer flag_;
  OwnedStream signal_;
  driver::UniqueLibrary library_;
  CUfunction function_ = nullptr;
};

}  // namespace tilejit::test
