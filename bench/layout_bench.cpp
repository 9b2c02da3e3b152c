// Measures the layout algebra's time for one operation, and its part of the time of a plan.
#include <benchmark/benchmark.h>

#include "formula/analysis.hpp"
#include "plan/iteration.hpp"
#include "tilejit/layout_algebra.hpp"

namespace {

using namespace tilejit;

void composition_of_four_modes(benchmark::State& state) {
  const Layout a("(4,8,16,32):(1,64,4,512)"), b("(2,4,8,4):(4,512,32,8)");
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, b));
}
BENCHMARK(composition_of_four_modes);

void complement_of_three_modes(benchmark::State& state) {
  const Layout a("(4,8,2):(2,64,16)");
  for (auto _ : state) benchmark::DoNotOptimize(complement(a, 4096));
}
BENCHMARK(complement_of_three_modes);

void right_inverse_of_three_modes(benchmark::State& state) {
  const Layout a("(4,8,16):(128,1,8)");
  for (auto _ : state) benchmark::DoNotOptimize(right_inverse(a));
}
BENCHMARK(right_inverse_of_three_modes);

void parse_divide_coalesce_print(benchmark::State& state) {
  for (auto _ : state) {
    const Layout layout("(128,(8,64)):(512,(64,1))");
    benchmark::DoNotOptimize(
        to_string(coalesce(logical_divide(layout, Tiler{32, "(8,16):(1,8)"}))));
  }
}
BENCHMARK(parse_divide_coalesce_print);

// Six tensors of four axes, each with another layout: the work of the algebra in one plan.
void plan_of_six_tensors(benchmark::State& state) {
  const IntTuple shape{16, 32, 64, 128};
  const auto tensor = [&](const char* name, std::initializer_list<int> order) {
    return Tensor{name, f32, ordered(shape, {order.begin(), order.size()})};
  };
  const Fused op{.name = "six",
                 .tensors = {tensor("a", {3, 2, 1, 0}),
                             tensor("b", {0, 1, 2, 3}),
                             tensor("c", {2, 3, 1, 0}),
                             tensor("d", {1, 0, 3, 2}),
                             {"e", f32, "(64,128):(0,1)"},
                             tensor("y", {3, 2, 1, 0})},
                 .formula = "y = a + b * c + d * e"};
  const formula::Analysis analysis = formula::analyze(op);
  for (auto _ : state)
    benchmark::DoNotOptimize(plan::iterate_together(op, analysis, {0, 1, 2, 3}, 5));
}
BENCHMARK(plan_of_six_tensors);

}  // namespace

BENCHMARK_MAIN();
