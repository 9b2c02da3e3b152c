// Uses the installed library like any other project: headers, a rendered source, the CPU reference.
#include <tilejit/tilejit.hpp>

#include <cstdio>
#include <vector>

int main() {
  using namespace tilejit;
  const Fused twice{
      .name = "twice", .tensors = {{"x", f32, "4:1"}, {"y", f32, "4:1"}}, .formula = "y = x * 2.0"};
  const std::string source = render_source(twice, parse_target("sm_80"));
  std::vector<float> x = {1, 2, 3, 4}, y(4);
  evaluate(twice, {.tensors = {x.data(), y.data()}, .scalars = {}, .symbols = {}});
  const bool right =
      y == std::vector<float>{2, 4, 6, 8} && source.find("__global__") != source.npos;
  std::printf("tilejit %s: %s\n", std::string(version()).c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
