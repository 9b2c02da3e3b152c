// The layout algebra's time for one operation.
#include <benchmark/benchmark.h>

#include "tilejit/layout_algebra.hpp"

namespace {

using namespace tilejit;

void composition_of_four_modes(benchmark::State& state) {
  const Layout a("(4,8,16,32):(1,64,4,512)"), b("(2,4,8,4):(4,512,32,8)");
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, b));
}
BENCHMARK(composition_of_four_modes);

void parse_divide_coalesce_print(benchmark::State& state) {
  for (auto _ : state) {
    const Layout layout("(128,(8,64)):(512,(64,1))");
    benchmark::DoNotOptimize(
        to_string(coalesce(logical_divide(layout, Tiler{32, "(8,16):(1,8)"}))));
  }
}
BENCHMARK(parse_divide_coalesce_print);

}  // namespace

BENCHMARK_MAIN();
