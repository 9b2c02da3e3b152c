// The C interface on a device, against its CPU reference.
#include "gpu/gpu_fixture.hpp"
#include "tilejit/tilejit.h"

namespace tilejit::test {
namespace {

using CApi = Gpu;

constexpr const char* kSpec = R"json({"name": "capi",
  "tensors": {"x": {"dtype": "f32", "layout": "(M,N):(N,1)"},
              "y": {"dtype": "f32", "layout": "(M,N):(1,M)"}},
  "scalars": {"alpha": "f32"}, "formula": "y = x * alpha + 0.25"})json";
constexpr std::int64_t kShape[] = {33, 70}, kRows[] = {70, 1}, kColumns[] = {1, 33};
constexpr std::size_t kBytes = sizeof(float) * 33 * 70;

tj_argument tensor(void* data, const std::int64_t* strides) {
  return {sizeof(tj_argument), TJ_TENSOR, TJ_F32, 2, data, kShape, strides, 0, 0};
}

tj_argument number(double value) {
  return {sizeof(tj_argument), TJ_FLOATING, 0, 0, nullptr, nullptr, nullptr, 0, value};
}

#define ASSERT_OK(call) ASSERT_EQ(call, TJ_OK) << tj_last_error()

TEST_F(CApi, LaunchesWhatTheReferenceComputes) {
  std::vector<float> x(33 * 70), want(33 * 70), got(33 * 70);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) - 48;
  const tj_symbol symbols[] = {{"M", 33}, {"N", 70}};
  const tj_argument host[] = {tensor(x.data(), nullptr), tensor(want.data(), kColumns),
                              number(0.5)};
  ASSERT_OK(tj_evaluate(kSpec, host, 3, symbols, 2));

  tj_runtime* made = nullptr;
  ASSERT_OK(tj_runtime_create("{\"cache_folder\": null, \"tuning_file\": null}", &made));
  tj_kernel* kernel = nullptr;
  tj_buffer *dx = nullptr, *dy = nullptr;
  ASSERT_OK(tj_runtime_compile(made, kSpec, &kernel));
  ASSERT_OK(tj_buffer_create(made, kBytes, &dx));
  ASSERT_OK(tj_buffer_create_on_stream(made, kBytes, nullptr, &dy));
  ASSERT_OK(tj_buffer_copy_from_host(dx, x.data(), kBytes));
  const tj_argument device[] = {tensor(tj_buffer_data(dx), kRows),
                                tensor(tj_buffer_data(dy), kColumns), number(0.5)};
  ASSERT_OK(tj_kernel_launch(kernel, nullptr, device, 3, nullptr, 0));
  ASSERT_OK(tj_buffer_copy_to_host(dy, got.data(), kBytes));
  EXPECT_EQ(got, want);

  tj_kernel_info info = {};
  info.struct_size = sizeof info;
  ASSERT_OK(tj_kernel_get_info(kernel, &info));
  EXPECT_GT(info.registers, 0);
  char* text = nullptr;
  ASSERT_OK(tj_runtime_print_tensor(made, nullptr, &device[1], nullptr, &text));
  EXPECT_NE(std::string(text).find("gmem"), std::string::npos);
  tj_free(text);
  tj_runtime_destroy(made);
  tj_buffer_destroy(dx);
  tj_buffer_destroy(dy);
  tj_kernel_destroy(kernel);
}

}  // namespace
}  // namespace tilejit::test
