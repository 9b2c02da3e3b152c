// Two kernels beside each other on streams of their own, and a third that waits for both. The host
// waits once, at the end.
#include <tilejit/tilejit.hpp>

#include <cstdio>
#include <vector>

using namespace tilejit;

namespace {

const Fused kScale{.name = "scale",
                   .tensors = {{"x", f32, "4096:1"}, {"y", f32, "4096:1"}},
                   .scalars = {{"s", f32}},
                   .formula = "y = x * s"};
const Fused kAdd{.name = "add",
                 .tensors = {{"a", f32, "4096:1"}, {"b", f32, "4096:1"}, {"c", f32, "4096:1"}},
                 .formula = "c = a + b"};

/// z = 2 x + 3 x.
void on_the_gpu(const std::vector<float>& x, std::vector<float>& z) {
  Runtime runtime;
  const std::size_t bytes = x.size() * sizeof(float);
  Buffer in(runtime, bytes), twice(runtime, bytes), thrice(runtime, bytes), sum(runtime, bytes);
  in.copy_from_host(x.data(), bytes);
  const Kernel scale = runtime.compile(kScale), add = runtime.compile(kAdd);
  const OwnedStream stream(runtime), beside(runtime);
  Event scaled(runtime);
  scale.launch(stream, {in, twice, 2.0});
  scale.launch(beside, {in, thrice, 3.0});  // may run at the same time
  scaled.record(beside);
  scaled.wait(stream);  // what follows on `stream` runs after it; the host goes on
  add.launch(stream, {twice, thrice, sum});
  stream.synchronize();
  sum.copy_to_host(z.data(), bytes);
}

void on_the_cpu(std::vector<float>& x, std::vector<float>& z) {
  std::vector<float> twice(x.size()), thrice(x.size());
  evaluate(kScale, {.tensors = {x.data(), twice.data()}, .scalars = {2.0}, .symbols = {}});
  evaluate(kScale, {.tensors = {x.data(), thrice.data()}, .scalars = {3.0}, .symbols = {}});
  evaluate(kAdd,
           {.tensors = {twice.data(), thrice.data(), z.data()}, .scalars = {}, .symbols = {}});
}

}  // namespace

int main() try {
  std::vector<float> x(4096), z(4096);
  for (int i = 0; i < 4096; ++i) x[i] = static_cast<float>(i);
  const char* where = "GPU";
  try {
    on_the_gpu(x, z);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    where = "CPU";
    on_the_cpu(x, z);
  }
  std::printf("z[100] = %g, on the %s\n", z[100], where);
  return z[100] == 500 ? 0 : 1;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
