// Host time of Kernel::launch against cuLaunchKernel itself: the same cubin, parameters and grid.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "driver/driver.hpp"
#include "plan/plan.hpp"
#include "spec/analysis.hpp"
#include "tilejit/tilejit.hpp"

namespace {

using namespace tilejit;
using Clock = std::chrono::steady_clock;

constexpr int kBatch = 200;    // launches between two synchronisations: below the queue's depth
constexpr int kBatches = 101;  // of each kind, by turns

Fused small_add() {
  return {.name = "add",
          .tensors = {{"a", f32, "4096:1"}, {"b", f32, "4096:1"}, {"c", f32, "4096:1"}},
          .formula = "c = a + b"};
}

// The parameter struct that the kernel gets from Kernel::launch.
std::vector<std::byte> parameters(const plan::Plan& plan, const std::vector<Argument>& args) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(plan.params_bytes));
  for (const plan::Param& param : plan.params) {
    std::byte* field = bytes.data() + param.offset;
    if (param.kind == plan::Param::Kind::pointer) {
      std::memcpy(field, &args.at(static_cast<std::size_t>(param.index)).address, 8);
    } else if (param.kind == plan::Param::Kind::total) {
      const std::int64_t total = plan::total_units(plan, {});
      std::memcpy(field, &total, 8);
    } else if (param.kind == plan::Param::Kind::divisor) {
      const plan::FastDivisor divisor = plan::make_divisor(param.dim.evaluate({}) / param.per);
      std::memcpy(field, &divisor, sizeof divisor);
    }
  }
  return bytes;
}

// The kernel as the driver alone would launch it.
class BareKernel {
 public:
  BareKernel(const Kernel& kernel, const std::vector<Argument>& args)
      : plan_(plan::make_plan(kernel.op(), spec::analyze(kernel.op()), kernel.artifact().target)),
        parameters_(parameters(plan_, args)) {
    const std::string& cubin = *kernel.artifact().cubin;
    check(driver_.cuLibraryLoadData_(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr,
                                     0));
    CUkernel loaded{};
    check(driver_.cuLibraryGetKernel_(&loaded, library_, kernel.artifact().kernel_name.c_str()));
    check(driver_.cuKernelGetFunction_(&function_, loaded));
    const std::int64_t covered = plan::units_per_block(plan_);
    blocks_ = static_cast<unsigned>((plan::total_units(plan_, {}) + covered - 1) / covered);
  }
  BareKernel(const BareKernel&) = delete;
  BareKernel& operator=(const BareKernel&) = delete;
  ~BareKernel() { (void)driver_.cuLibraryUnload_(library_); }

  void launch(CUstream stream) {
    void* arguments[] = {parameters_.data()};
    check(driver_.cuLaunchKernel_(function_, blocks_, 1, 1, static_cast<unsigned>(plan_.threads), 1,
                                  1, 0, stream, arguments, nullptr));
  }

 private:
  void check(CUresult result) const { driver::check(driver_, result, "launch_bench"); }

  const driver::Table& driver_ = driver::load_driver();
  plan::Plan plan_;
  std::vector<std::byte> parameters_;
  CUlibrary library_{};
  CUfunction function_{};
  unsigned blocks_ = 1;
};

double median(std::vector<double>& values) {
  std::ranges::nth_element(values, values.begin() + kBatches / 2);
  return values[kBatches / 2];
}

// Microseconds of one call in a batch; the stream is idle before and after.
template <typename Launch>
double batch_microseconds(const driver::Table& driver, CUstream stream, Launch launch) {
  driver::check(driver, driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
  const auto start = Clock::now();
  for (int i = 0; i < kBatch; ++i) launch();
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  driver::check(driver, driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
  return elapsed.count() / kBatch;
}

void measure(benchmark::State& state, Runtime& runtime) {
  const driver::Table& driver = driver::load_driver();
  runtime.make_current();
  const Kernel kernel = runtime.compile(small_add());
  std::vector<Buffer> buffers;
  std::vector<Argument> args;
  for (int i = 0; i < 3; ++i)
    args.emplace_back(buffers.emplace_back(runtime, 4096 * sizeof(float)));
  BareKernel bare(kernel, args);
  CUstream stream{};
  driver::check(driver, driver.cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  std::vector<double> ours, floor;
  for (auto _ : state) {
    for (int i = 0; i < kBatches; ++i) {  // by turns, so that clocks and noise meet both alike
      floor.push_back(batch_microseconds(driver, stream, [&] { bare.launch(stream); }));
      ours.push_back(batch_microseconds(driver, stream, [&] { kernel.launch(stream, args); }));
    }
  }
  driver::check(driver, driver.cuStreamDestroy_(stream), "cuStreamDestroy");
  state.counters["launch_us"] = median(ours);
  state.counters["cuLaunchKernel_us"] = median(floor);
  state.counters["ratio"] = median(ours) / median(floor);
}

void launch(benchmark::State& state) {
  try {
    Runtime runtime;
    measure(state, runtime);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}
BENCHMARK(launch)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
