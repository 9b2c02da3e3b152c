// Facts about benchmarks that need a device.
#include "tilejit/benchmark.hpp"

#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"
#include "tilejit/explain.hpp"

namespace tilejit::test {
namespace {

constexpr BenchmarkOptions kShort{.min_samples = 20, .min_ms = 1, .max_ms = 200};

BenchmarkOptions in_graph() {
  BenchmarkOptions options = kShort;
  options.timed_in = TimedIn::graph;
  return options;
}

class BenchmarksOnGpu : public Gpu {
 protected:
  static Fused copy_of(std::int64_t elements) {
    const std::string layout = "(" + std::to_string(elements) + "):(1)";
    return make_op(f32, {{"x", layout}, {"y", layout}}, "y = x");
  }
  static Workspaces workspaces_of(std::int64_t elements, L2State l2 = L2State::cold) {
    const auto bytes = static_cast<std::size_t>(4 * elements);
    const WorkspaceTensor tensors[] = {{bytes}, {bytes}};
    return {*runtime(), tensors, {}, l2};
  }
};

TEST_F(BenchmarksOnGpu, LargeCopiesReachTheCeilingInStreamAndGraph) {
  constexpr std::int64_t kElements = std::int64_t{1} << 26;
  const Kernel kernel = runtime()->compile(copy_of(kElements));
  const Workspaces workspaces = workspaces_of(kElements);
  EXPECT_TRUE(workspaces.are_cold());
  for (const BenchmarkOptions& options : {kShort, in_graph()}) {
    const BenchmarkResult result =
        benchmark(*runtime(), kernel, workspaces.arguments(), {}, options);
    EXPECT_EQ(result.work.bytes, 8 * kElements);
    EXPECT_GT(result.percent_of_copy(), 80);
    EXPECT_LT(result.percent_of_copy(), 125);
    EXPECT_GT(result.percent_of_read(), 70);
    EXPECT_GT(result.occupancy, 0.3);
    EXPECT_LE(result.occupancy, 1);
    EXPECT_LE(result.time.low_ms, result.time.median_ms);
    EXPECT_GE(result.time.high_ms, result.time.median_ms);
  }
}

// Power keeps long products some way below what short kernels reach.
TEST_F(BenchmarksOnGpu, ProductsStayBelowThePeak) {
  const Fused op{.tensors = {{"a", bf16, "(4096,4096)"},
                             {"b", bf16, "(4096,4096)"},
                             {"d", bf16, "(4096,4096)"}},
                 .formula = "d = a @ b"};
  const WorkspaceTensor tensors[] = {{2u << 24}, {2u << 24}, {2u << 24}};
  const Workspaces workspaces(*runtime(), tensors);
  const BenchmarkResult result =
      benchmark(*runtime(), runtime()->compile(op), workspaces.arguments(), {}, kShort);
  ASSERT_TRUE(result.work.matrices.has_value());
  EXPECT_EQ(*result.work.matrices, (MatrixTypes{bf16, bf16}));
  EXPECT_GT(result.percent_of_peak(), 20);
  EXPECT_LT(result.percent_of_peak(), 110);
  for (const MatrixTypes types :
       {MatrixTypes{f16, f16}, MatrixTypes{tf32, tf32}, MatrixTypes{f32, f32},
        MatrixTypes{f64, f64}, MatrixTypes{f8e4m3, f8e5m2}, MatrixTypes{i8, u8}}) {
    SCOPED_TRACE(std::string(to_string(types.a)));
    const double peak = measure_peak(*runtime(), types, kShort);
    EXPECT_GT(peak, 0.1);
    RecordProperty("peak_" + std::string(to_string(types.a)), std::to_string(peak));
  }
}

TEST_F(BenchmarksOnGpu, AGraphLeavesTheLaunchOut) {
  constexpr std::int64_t kElements = 1 << 14;
  const Kernel kernel = runtime()->compile(copy_of(kElements));
  const Workspaces workspaces = workspaces_of(kElements, L2State::warm);
  const auto median = [&](const BenchmarkOptions& options) {
    return time_launches(*runtime(), kernel, workspaces.arguments(), {}, options).median_ms;
  };
  EXPECT_LT(median(in_graph()), median(kShort));
}

TEST_F(BenchmarksOnGpu, WarmIsFasterThanColdBelowTheCachesSize) {
  const std::int64_t elements = runtime()->device().l2_bytes / 32;  // both tensors: a quarter of L2
  const Kernel kernel = runtime()->compile(copy_of(elements));
  const auto median = [&](L2State l2) {
    const Workspaces workspaces = workspaces_of(elements, l2);
    return time_launches(*runtime(), kernel, workspaces.arguments(), {}, in_graph()).median_ms;
  };
  EXPECT_LT(median(L2State::warm), 0.9 * median(L2State::cold));
}

// Kernels that allocate memory for the launch itself.
TEST_F(BenchmarksOnGpu, SharedRowsAreTimedInAGraph) {
  const Fused op = make_op(f32, {{"x", "(3,1000000):(1000000,1)"}, {"y", "(3):(1)"}}, "y = sum(x)");
  const Kernel kernel = runtime()->compile(op);
  const WorkspaceTensor tensors[] = {{12000000}, {12}};
  const Workspaces workspaces(*runtime(), tensors);
  EXPECT_GT(time_launches(*runtime(), kernel, workspaces.arguments(), {}, in_graph()).median_ms, 0);
}

TEST_F(BenchmarksOnGpu, OccupancyIsTheDrivers) {
  const std::string square = "(4096,4096):(4096,1)";
  const Fused ops[] = {
      copy_of(1 << 20),
      make_op(f16, {{"x", "(4096,4096):(1,4096)"}, {"y", square}}, "y = x"),
      make_op(f32, {{"x", square}, {"y", square}}, "e = exp(x - max(x)); y = e / sum(e)"),
  };
  for (const Fused& op : ops) {
    const Kernel kernel = runtime()->compile(op);
    const std::string text =
        explain_plan(op, runtime()->device().target, resources_of(kernel.artifact()));
    const std::string blocks = std::to_string(kernel.info().blocks_per_sm) + " block";
    EXPECT_NE(text.find("occupancy  " + blocks), std::string::npos) << blocks << "\n" << text;
  }
}

}  // namespace
}  // namespace tilejit::test
