// c = a + b, compiled while this program runs; on the GPU where there is one, else on the CPU.
#include <tilejit/tilejit.hpp>

#include <cstdio>
#include <vector>

using namespace tilejit;

int main() try {
  const Fused add{.name = "add",
                  .tensors = {{"a", f32, "4096:1"}, {"b", f32, "4096:1"}, {"c", f32, "4096:1"}},
                  .formula = "c = a + b"};
  std::vector<float> a(4096), b(4096, 2.5F), c(4096);
  for (int i = 0; i < 4096; ++i) a[i] = static_cast<float>(i);
  const char* where = "GPU";
  const std::size_t bytes = a.size() * sizeof(float);
  try {
    Runtime runtime;
    const Kernel kernel = runtime.compile(add);
    Buffer da(runtime, bytes), db(runtime, bytes), dc(runtime, bytes);
    da.copy_from_host(a.data(), bytes);
    db.copy_from_host(b.data(), bytes);
    kernel.launch(nullptr, {da, db, dc});
    dc.copy_to_host(c.data(), bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    where = "CPU";
    evaluate(add, {.tensors = {a.data(), b.data(), c.data()}, .scalars = {}, .symbols = {}});
  }
  std::printf("c[1234] = %g, on the %s\n", c[1234], where);
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
