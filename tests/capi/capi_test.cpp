// The C interface on a fake driver: handles, arguments, errors. No exception leaves it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capi/capi_values.hpp"
#include "fake/expect_error.hpp"

namespace tilejit {
namespace {

using testing::HasSubstr;

constexpr const char* kScale = R"json({"name": "scale",
  "tensors": {"x": {"dtype": "f32", "layout": "(M,4):(4,1)"},
              "y": {"dtype": "f32", "layout": "(M,4):(4,1)"}},
  "scalars": {"alpha": "f32"}, "formula": "y = x * alpha"})json";

TEST(CApi, NamesItsVersionsAndStatuses) {
  EXPECT_EQ(tj_abi_version(), TJ_ABI_VERSION);
  EXPECT_STRNE(tj_version(), "");
  EXPECT_STREQ(tj_status_name(TJ_OK), "ok");
  EXPECT_STREQ(tj_status_name(TJ_INTERNAL), "internal");
  EXPECT_STREQ(tj_status_name(99), "unknown");
  EXPECT_STREQ(tj_status_name(-1), "unknown");
}

TEST(CApi, StatusesAreTheCodesOfErrors) {
  constexpr ErrorCode kCodes[] = {ErrorCode::invalid_spec,
                                  ErrorCode::invalid_layout,
                                  ErrorCode::invalid_formula,
                                  ErrorCode::invalid_argument,
                                  ErrorCode::unsupported,
                                  ErrorCode::compile_failed,
                                  ErrorCode::no_compiler,
                                  ErrorCode::no_driver,
                                  ErrorCode::no_device,
                                  ErrorCode::driver_call,
                                  ErrorCode::io,
                                  ErrorCode::cancelled,
                                  ErrorCode::deadline_exceeded,
                                  ErrorCode::queue_full,
                                  ErrorCode::missing};
  for (const ErrorCode code : kCodes) {
    const tj_status status = capi::guarded([&] { throw Error(code, "what", "/where", "log"); });
    EXPECT_EQ(tj_status_name(status), to_string(code));
    EXPECT_STREQ(tj_last_error(), "what (/where)");
    EXPECT_STREQ(tj_last_error_where(), "/where");
    EXPECT_STREQ(tj_last_error_log(), "log");
  }
}

TEST(CApi, NoExceptionLeavesIt) {
  EXPECT_EQ(capi::guarded([] { throw std::bad_alloc(); }), TJ_OUT_OF_MEMORY);
  EXPECT_THAT(tj_last_error(), HasSubstr("no memory"));
  EXPECT_EQ(capi::guarded([] { throw std::runtime_error("other"); }), TJ_INTERNAL);
  EXPECT_STREQ(tj_last_error(), "other");
  EXPECT_EQ(capi::guarded([] { throw 7; }), TJ_INTERNAL);
  EXPECT_STREQ(tj_last_error_where(), "");
}

TEST(CApi, KeepsErrorsForEachThread) {
  EXPECT_EQ(tj_validate("{"), TJ_INVALID_SPEC);
  const std::string mine = tj_last_error();
  std::string before, after;
  std::thread([&] {
    before = tj_last_error();
    (void)tj_validate(nullptr);
    after = tj_last_error();
  }).join();
  EXPECT_EQ(before, "");
  EXPECT_EQ(after, "spec is NULL");
  EXPECT_EQ(tj_last_error(), mine);
}

TEST(CApi, RefusesNullWhereItIsNotAllowed) {
  Handles h;
  char* text = nullptr;
  tj_artifact* artifact = nullptr;
  tj_artifact_info info = {};
  tj_kernel_info kernel_info = {};
  const std::pair<const char*, std::function<tj_status()>> cases[] = {
      {"spec", [&] { return tj_render_plan(nullptr, "sm_80", &text); }},
      {"target", [&] { return tj_render_source(kScale, nullptr, &text); }},
      {"json", [&] { return tj_render_plan(kScale, "sm_80", nullptr); }},
      {"compiler", [&] { return tj_compiler_create("{\"cache_folder\": null}", nullptr); }},
      {"compiler", [&] { return tj_compiler_compile(nullptr, kScale, "sm_80", &artifact); }},
      {"artifact", [&] { return tj_compiler_compile(nullptr, kScale, "sm_80", nullptr); }},
      {"compiler", [&] { return tj_compiler_cache_stats(nullptr, &text); }},
      {"info", [&] { return tj_artifact_get_info(nullptr, nullptr); }},
      {"struct_size", [&] { return tj_artifact_get_info(nullptr, &info); }},
      {"kernel", [&] { return tj_runtime_compile(&h.runtime, kScale, nullptr); }},
      {"runtime", [&] { return tj_runtime_device(nullptr, &text); }},
      {"runtime", [&] { return tj_runtime_make_current(nullptr); }},
      {"kernel", [&] { return tj_kernel_launch(nullptr, nullptr, nullptr, 0, nullptr, 0); }},
      {"arguments", [&] { return tj_kernel_launch(&h.kernel, nullptr, nullptr, 1, nullptr, 0); }},
      {"struct_size", [&] { return tj_kernel_get_info(&h.kernel, &kernel_info); }},
      {"buffer", [&] { return tj_buffer_create(&h.runtime, 4, nullptr); }},
      {"buffer", [&] { return tj_buffer_copy_to_host(nullptr, &text, 1); }},
      {"tensor", [&] { return tj_tensor_from_dlpack(nullptr, 1, nullptr); }},
      {"text", [&] { return tj_print_tensor(nullptr, nullptr, nullptr); }},
  };
  for (const auto& [name, call] : cases) {
    expect_failure(call(), TJ_INVALID_ARGUMENT, name);
  }
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(tj_artifact_key(nullptr), nullptr);
  EXPECT_EQ(tj_artifact_cubin(nullptr, nullptr), nullptr);
  EXPECT_EQ(tj_buffer_data(nullptr), nullptr);
}

TEST(CApi, DestroysNothingForNull) {
  tj_compiler_destroy(nullptr);
  tj_artifact_destroy(nullptr);
  tj_runtime_destroy(nullptr);
  tj_kernel_destroy(nullptr);
  tj_buffer_destroy(nullptr);
  tj_tensor_destroy(nullptr);
  tj_free(nullptr);
}

TEST(CApi, RendersAndValidates) {
  EXPECT_EQ(tj_validate(kScale), TJ_OK);
  char* text = nullptr;
  ASSERT_EQ(tj_render_source(kScale, "sm_80", &text), TJ_OK);
  EXPECT_THAT(take(text), HasSubstr("tilejit_scale_f32"));
  ASSERT_EQ(tj_render_plan(kScale, "sm_80", &text), TJ_OK);
  EXPECT_EQ(take(text).front(), '{');
  EXPECT_THAT(tj_spec_schema(), HasSubstr("$schema"));
  expect_failure(tj_render_source(kScale, "sm_1", &text), TJ_UNSUPPORTED, "sm_1");
}

TEST(CApi, LaunchesWithCheckedArguments) {
  Handles h;
  const std::vector<std::int64_t> shape = {64, 32}, strides = {32, 1}, wrong = {32, 64};
  std::array<tj_argument, 3> arguments = {tensor(on_device(0x10000), shape, strides),
                                          tensor(on_device(0x20000), shape), number(0.5)};
  ASSERT_EQ(tj_kernel_launch(&h.kernel, kStream, arguments.data(), 3, nullptr, 0), TJ_OK)
      << tj_last_error();
  ASSERT_EQ(h.fake.launches.size(), 1U);
  EXPECT_EQ(h.fake.launches[0].stream, kStream);
  EXPECT_EQ(h.fake.launches[0].blocks, 8U);

  const auto refused = [&](const char* text) {
    expect_failure(tj_kernel_launch(&h.kernel, kStream, arguments.data(), 3, nullptr, 0),
                   TJ_INVALID_ARGUMENT, text);
  };
  arguments[1].shape = wrong.data();
  refused("tensor 'y' (argument 1) has extent 32 in mode 0");
  arguments[1] = tensor(on_device(0x20000), shape);
  arguments[1].dtype = 99;
  refused("argument 1: there is no dtype 99");
  arguments[1].dtype = TJ_I32;
  refused("has dtype i32");
  arguments[1].kind = 77;
  refused("argument 1: there is no kind 77");
  arguments[1].struct_size = 8;
  refused("argument 1: its struct_size");
  arguments[0].struct_size = 8;
  refused("struct_size is 8");
  const tj_symbol symbol = {"N", 3};
  arguments = {tensor(on_device(0x10000), shape), tensor(on_device(0x20000), shape), number(0.5)};
  expect_failure(tj_kernel_launch(&h.kernel, kStream, arguments.data(), 3, &symbol, 1),
                 TJ_INVALID_ARGUMENT, "N");
  EXPECT_EQ(h.fake.launches.size(), 1U);
  h.fake.fail_on["cuLaunchKernel"] = CUDA_ERROR_UNKNOWN;
  expect_failure(tj_kernel_launch(&h.kernel, kStream, arguments.data(), 3, nullptr, 0),
                 TJ_DRIVER_CALL, "cuLaunchKernel failed");
  EXPECT_STREQ(tj_last_error_where(), "cuLaunchKernel");
}

/// A caller built against later versions, whose structs are larger.
struct LongerArgument {
  tj_argument known = {};
  std::int64_t more = -1;
};

TEST(CApi, StepsOverLongerStructs) {
  Handles h;
  std::array<LongerArgument, 3> arguments = {};
  arguments[0].known.data = on_device(0x10000);
  arguments[1].known.data = on_device(0x20000);
  arguments[2].known = number(0.5);
  for (LongerArgument& argument : arguments) argument.known.struct_size = sizeof argument;
  EXPECT_EQ(tj_kernel_launch(&h.kernel, nullptr, &arguments[0].known, 3, nullptr, 0), TJ_OK)
      << tj_last_error();
  EXPECT_EQ(h.fake.launches.size(), 1U);
}

TEST(CApi, TakesMoreArgumentsThanFitTheStack) {
  const std::vector<std::int64_t> shape(10, 1);
  std::string tensors, formula = "y = x0";
  std::vector<float> values(21, 2.0F);
  std::vector<tj_argument> arguments;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "x" + std::to_string(i);
    tensors += "\"" + name + R"(": {"dtype": "f32", "shape": [1,1,1,1,1,1,1,1,1,1]}, )";
    if (i > 0) formula += " + " + name;
    arguments.push_back(tensor(&values[static_cast<std::size_t>(i)], shape));
  }
  tensors += R"("y": {"dtype": "f32", "shape": [1,1,1,1,1,1,1,1,1,1]})";
  arguments.push_back(tensor(&values[20], shape));
  const std::string spec =
      R"({"name": "many", "tensors": {)" + tensors + R"(}, "formula": ")" + formula + "\"}";
  ASSERT_EQ(tj_evaluate(spec.c_str(), arguments.data(), arguments.size(), nullptr, 0), TJ_OK)
      << tj_last_error();
  EXPECT_EQ(values[20], 40);
}

TEST(CApi, EvaluatesOnTheCpu) {
  std::array<float, 8> x = {1, 2, 3, 4, 5, 6, 7, 8}, y = {};
  const std::vector<std::int64_t> shape = {2, 4};
  const std::array<tj_argument, 3> arguments = {tensor(x.data(), shape), tensor(y.data(), shape),
                                                number(3)};
  const tj_symbol rows = {"M", 2};
  ASSERT_EQ(tj_evaluate(kScale, arguments.data(), 3, &rows, 1), TJ_OK) << tj_last_error();
  EXPECT_EQ(y, (std::array<float, 8>{3, 6, 9, 12, 15, 18, 21, 24}));
  expect_failure(tj_evaluate(kScale, arguments.data(), 3, nullptr, 0), TJ_INVALID_ARGUMENT, "M");
  const tj_symbol other = {"M", 3}, nameless = {nullptr, 3};
  expect_failure(tj_evaluate(kScale, arguments.data(), 3, &other, 1), TJ_INVALID_ARGUMENT,
                 "another shape");
  expect_failure(tj_evaluate(kScale, arguments.data(), 3, &nameless, 1), TJ_INVALID_ARGUMENT,
                 "a symbol's name is NULL");
}

// A scalar was passed as a double, and a tensor without modes could not be distinguished from one
// of shape (1).
TEST(CApi, EvaluatesExactScalarsAndRankZero) {
  std::int64_t y = 0;
  const std::vector<std::int64_t> no_modes;
  tj_argument result = tensor(&y, no_modes), k = number(0);
  result.dtype = TJ_I64;
  k.kind = TJ_INTEGER;
  k.integer = 9007199254740993;
  const std::array<tj_argument, 2> arguments = {result, k};
  const char* const spec = R"({"tensors": {"y": {"dtype": "i64", "shape": []}},
    "scalars": {"k": "i64"}, "formula": "y = k"})";
  ASSERT_EQ(tj_evaluate(spec, arguments.data(), 2, nullptr, 0), TJ_OK) << tj_last_error();
  EXPECT_EQ(y, 9007199254740993);
}

TEST(CApi, HandlesOutliveWhatTheyWereMadeOf) {
  FakeDriver fake;
  {
    auto* runtime = new tj_runtime{
        std::make_shared<Runtime>(launch::Internals::make_runtime(kInMemory, fake.table))};
    tj_compiler* compiler = nullptr;
    tj_buffer* buffer = nullptr;
    tj_buffer* ordered = nullptr;
    char* text = nullptr;
    ASSERT_EQ(tj_runtime_compiler(runtime, &compiler), TJ_OK);
    ASSERT_EQ(tj_buffer_create(runtime, 16, &buffer), TJ_OK);
    ASSERT_EQ(tj_buffer_create_on_stream(runtime, 16, kStream, &ordered), TJ_OK);
    ASSERT_EQ(tj_runtime_device(runtime, &text), TJ_OK);
    EXPECT_THAT(take(text), HasSubstr("\"target\": \"sm_90a\""));
    ASSERT_EQ(tj_runtime_make_current(runtime), TJ_OK);
    tj_runtime_destroy(runtime);

    ASSERT_EQ(tj_compiler_cache_stats(compiler, &text), TJ_OK);
    EXPECT_THAT(take(text), HasSubstr("\"folder\": null"));
    const std::array<float, 4> sent = {1, 2, 3, 4};
    std::array<float, 4> received = {};
    EXPECT_EQ(tj_buffer_copy_from_host(buffer, sent.data(), 16), TJ_OK);
    EXPECT_EQ(tj_buffer_copy_to_host(buffer, received.data(), 16), TJ_OK);
    EXPECT_EQ(received, sent);
    expect_failure(tj_buffer_copy_to_host(buffer, received.data(), 17), TJ_INVALID_ARGUMENT,
                   "does not fit");
    tj_compiler_destroy(compiler);
    tj_buffer_destroy(ordered);
    tj_buffer_destroy(buffer);
  }
  EXPECT_THAT(fake.freed_on, testing::ElementsAre(kStream));
  EXPECT_EQ(fake.alive(), 0);
}

TEST(CApi, DescribesKernels) {
  Handles h;
  tj_kernel_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tj_kernel_get_info(&h.kernel, &info), TJ_OK);
  EXPECT_EQ(info.threads, 256);
  EXPECT_EQ(info.blocks_per_sm, 8);
  tj_artifact* artifact = nullptr;
  ASSERT_EQ(tj_kernel_artifact(&h.kernel, &artifact), TJ_OK);
  EXPECT_STREQ(tj_artifact_kernel_name(artifact), "tilejit_hand");
  EXPECT_STREQ(tj_artifact_tier(artifact), "compiled");
  EXPECT_STREQ(tj_artifact_target(artifact), "sm_90a");
  tj_artifact_info known = {};
  known.struct_size = sizeof known;
  ASSERT_EQ(tj_artifact_get_info(artifact, &known), TJ_OK);
  EXPECT_EQ(known.registers, -1);  // its metadata does not say
  std::size_t bytes = 0;
  EXPECT_EQ(std::memcmp(tj_artifact_cubin(artifact, &bytes), "cubin", 5), 0);
  EXPECT_EQ(bytes, 5U);
  tj_artifact_destroy(artifact);
}

}  // namespace
}  // namespace tilejit
