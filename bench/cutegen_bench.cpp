// The cases of layout_bench.cpp in cutegen, the run-time layout library of the CUTLASS repository.
// bench/layout_peers.py compiles it.
#include <benchmark/benchmark.h>

#include "cutegen/cutegen_base_dynamic.hpp"

namespace {

cutegen::layout parse(const char* text) {
  return cutegen::from_string<cutegen::layout>(text).value();
}

void composition_of_four_modes(benchmark::State& state) {
  const auto a = parse("(4,8,16,32):(1,64,4,512)"), b = parse("(2,4,8,4):(4,512,32,8)");
  for (auto _ : state) benchmark::DoNotOptimize(composition(a, b));
}
BENCHMARK(composition_of_four_modes);

void complement_of_three_modes(benchmark::State& state) {
  const auto a = parse("(4,8,2):(2,64,16)");
  for (auto _ : state) benchmark::DoNotOptimize(complement(a, cutegen::shape(4096)));
}
BENCHMARK(complement_of_three_modes);

void right_inverse_of_three_modes(benchmark::State& state) {
  const auto a = parse("(4,8,16):(128,1,8)");
  for (auto _ : state) benchmark::DoNotOptimize(right_inverse(a));
}
BENCHMARK(right_inverse_of_three_modes);

void parse_divide_coalesce_print(benchmark::State& state) {
  for (auto _ : state) {
    const auto layout = parse("(128,(8,64)):(512,(64,1))");
    const auto tiler = cutegen::from_string<cutegen::tile>("[32:1;(8,16):(1,8)]").value();
    benchmark::DoNotOptimize(cutegen::to_string(coalesce(logical_divide(layout, tiler))));
  }
}
BENCHMARK(parse_divide_coalesce_print);

}  // namespace

BENCHMARK_MAIN();
