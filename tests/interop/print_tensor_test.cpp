#include "tilejit/print_tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "interop/tensor_text.hpp"
#include "tilejit/reference.hpp"

namespace tilejit {
namespace {

/// The text of an f32 tensor as if it were at `address`.
std::string text_at(std::uint64_t address, const char* layout, const std::vector<float>& data,
                    const PrintOptions& options = {}) {
  return interop::tensor_text(f32, layout, address, options, [&](std::int64_t offset) {
    return reinterpret_cast<const std::byte*>(&data.at(static_cast<std::size_t>(offset)));
  });
}

std::vector<float> counted(std::size_t size) {
  std::vector<float> data(size);
  std::iota(data.begin(), data.end(), 0.0F);
  return data;
}

/// Texts printed by CuTe DSL.
struct Printed {
  const char* name;
  std::uint64_t address;
  const char* layout;
  std::vector<float> data;
  PrintOptions options;
  const char* text;
};
const PrintOptions kInRegisters{.space = MemorySpace::rmem, .align = 32};
const Printed kPrinted[] = {
    {"three modes",
     0x0a5f1d50,
     "(4,3,2):(6,2,1)",
     counted(24),
     {},
     R"(tensor(raw_ptr(0x000000000a5f1d50: f32, generic, align<4>) o (4,3,2):(6,2,1), data=
       [[[ 0.000000,  2.000000,  4.000000, ],
         [ 6.000000,  8.000000,  10.000000, ],
         [ 12.000000,  14.000000,  16.000000, ],
         [ 18.000000,  20.000000,  22.000000, ]],

        [[ 1.000000,  3.000000,  5.000000, ],
         [ 7.000000,  9.000000,  11.000000, ],
         [ 13.000000,  15.000000,  17.000000, ],
         [ 19.000000,  21.000000,  23.000000, ]]])
)"},
    {"verbose",
     0x0a814cc0,
     "(4,3):(3,1)",
     counted(12),
     {.verbose = true},
     "tensor(raw_ptr(0x000000000a814cc0: f32, generic, align<4>) o (4,3):(3,1), data= (\n"
     "\t(0,0)= 0.000000\n\t(0,1)= 1.000000\n\t(0,2)= 2.000000\n\t(1,0)= 3.000000\n"
     "\t(1,1)= 4.000000\n\t(1,2)= 5.000000\n\t(2,0)= 6.000000\n\t(2,1)= 7.000000\n"
     "\t(2,2)= 8.000000\n\t(3,0)= 9.000000\n\t(3,1)= 10.000000\n\t(3,2)= 11.000000\n)\n"},
    {"a slice", 0x7ffeeae1fc60, "(4):(3)", counted(12), kInRegisters,
     R"(tensor(raw_ptr(0x00007ffeeae1fc60: f32, rmem, align<32>) o (4):(3), data=
       [ 0.000000, ],
       [ 3.000000, ],
       [ 6.000000, ],
       [ 9.000000, ])
)"},
    {"one element",
     0x013cbbe0,
     "1:1",
     {10},
     {},
     R"(tensor(raw_ptr(0x00000000013cbbe0: f32, generic, align<4>) o (1):(1), data=
       [ 10.000000, ])
)"},
    {"rows left out",
     0x0736b0c0,
     "(8,5):(5,1)",
     std::vector<float>(40, 1.0F),
     {},
     R"(tensor(raw_ptr(0x000000000736b0c0: f32, generic, align<4>) o (8,5):(5,1), data=
       [[ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ],
        [ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ],
        [ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ],
        ...
        [ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ],
        [ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ],
        [ 1.000000,  1.000000,  1.000000,  1.000000,  1.000000, ]])
)"},
    {"broadcast to registers",
     0x7ffe26625780,
     "(4,3):(1,4)",
     {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5},
     kInRegisters,
     R"(tensor(raw_ptr(0x00007ffe26625780: f32, rmem, align<32>) o (4,3):(1,4), data=
       [[ 0.000000,  1.000000,  2.000000, ],
        [ 1.000000,  2.000000,  3.000000, ],
        [ 2.000000,  3.000000,  4.000000, ],
        [ 3.000000,  4.000000,  5.000000, ]])
)"},
};

TEST(PrintTensor, PrintsAsCuTeDoes) {
  for (const Printed& c : kPrinted) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(text_at(c.address, c.layout, c.data, c.options), c.text);
  }
}

TEST(PrintTensor, ShortensBothModes) {
  std::vector<float> data(64, -0.25F);
  data[0] = 0.122739F;
  data[3] = 77;  // left out
  data[7] = -0.09111F;
  const std::string text = text_at(0x07979da0, "(8,8):(8,1)", data);
  EXPECT_THAT(text, testing::StartsWith(
                        "tensor(raw_ptr(0x0000000007979da0: f32, generic, align<4>) o (8,8):(8,1), "
                        "data=\n       [[ 0.122739, -0.250000, -0.250000, ..., -0.250000, "
                        "-0.250000, -0.091110, ],\n        [-0.250000, "));
  EXPECT_THAT(text, testing::HasSubstr("],\n        ...\n        ["));
  EXPECT_EQ(text.find("77"), std::string::npos);
}

TEST(PrintTensor, ReadsOnlyWhatItShows) {
  const std::string layout = "(1000000000,7):(7,1)";
  std::vector<std::int64_t> want;
  for (const std::int64_t row : {0, 1, 999999998, 999999999}) {
    for (const std::int64_t column : {0, 1, 5, 6}) want.push_back(row * 7 + column);
  }
  EXPECT_EQ(interop::shown_offsets(layout, {.edge_items = 2}), want);
  EXPECT_EQ(interop::shown_offsets("(4,0):(1,4)", {}), std::vector<std::int64_t>());
  EXPECT_EQ(interop::shown_offsets("(2,3):(0,1)", {.verbose = true}),
            (std::vector<std::int64_t>{0, 1, 2}));
}

struct Shape {
  const char* name;
  const char* layout;
  PrintOptions options;
  const char* text;  // starting with the layout
};
const Shape kShapes[] = {
    {"empty", "(4,0):(1,4)", {}, "(4,0):(1,4), data=\n       [])\n"},
    {"empty, verbose", "0:1", {.verbose = true}, "(0):(1), data= (\n)\n"},
    {"six are not shortened",
     "6:1",
     {},
     "(6):(1), data=\n       [ 0.000000, ],\n       [ 1.000000, ],\n       [ 2.000000, ],\n"
     "       [ 3.000000, ],\n       [ 4.000000, ],\n       [ 5.000000, ])\n"},
    {"one mode, shortened",
     "7:1",
     {.edge_items = 1},
     "(7):(1), data=\n       [ 0.000000, ],\n       ...\n       [ 6.000000, ])\n"},
    {"rank 0", "1:0", {}, "1:0, data=\n        0.000000)\n"},
    {"rank 0, verbose", "1:0", {.verbose = true}, "1:0, data= (\n\t()= 0.000000\n)\n"},
    {"nested",
     "((2,2),2):((1,4),2)",
     {},
     "((2,2),2):((1,4),2), data=\n       [[ 0.000000,  2.000000, ],\n"
     "        [ 1.000000,  3.000000, ],\n        [ 4.000000,  6.000000, ],\n"
     "        [ 5.000000,  7.000000, ]])\n"},
    {"four modes",
     "(1,2,2,2):(8,1,2,4)",
     {},
     "(1,2,2,2):(8,1,2,4), data=\n       [[[[ 0.000000,  1.000000, ]],\n\n"
     "         [[ 2.000000,  3.000000, ]]],\n\n\n        [[[ 4.000000,  5.000000, ]],\n\n"
     "         [[ 6.000000,  7.000000, ]]]])\n"},
    {"matrices left out",
     "(1,1,3):(0,0,1)",
     {.edge_items = 1},
     "(1,1,3):(0,0,1), data=\n       [[[ 0.000000, ]],\n\n        ...\n\n        [[ 2.000000, "
     "]]])\n"},
};

TEST(PrintTensor, FollowsTheLayout) {
  for (const Shape& c : kShapes) {
    SCOPED_TRACE(c.name);
    const std::string text = text_at(0, c.layout, counted(64), c.options);
    EXPECT_EQ(text.substr(text.find(" o ") + 3), c.text);
  }
}

template <typename T>
std::string element_of(DType dtype, T value) {
  return interop::element_text(dtype, reinterpret_cast<const std::byte*>(&value));
}

TEST(PrintTensor, PrintsEveryDtype) {
  std::array<std::byte, 8> storage = {};
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(to_string(dtype));
    encode(dtype, 1.0, storage.data());
    const std::string text = print_tensor(dtype, "1:1", storage.data());
    const bool floating = is_floating(dtype);
    EXPECT_THAT(text,
                testing::HasSubstr(std::string(": ") + std::string(to_string(dtype)) +
                                   ", generic, align<" + std::to_string(size_bytes(dtype)) + ">"));
    EXPECT_THAT(text, testing::HasSubstr(floating ? "[ 1.000000, ]" : "[ 1, ]"));
  }
}

TEST(PrintTensor, KeepsValues) {
  EXPECT_EQ(element_of(i64, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(element_of(u64, std::numeric_limits<std::uint64_t>::max()), " 18446744073709551615");
  EXPECT_EQ(element_of(i8, std::int8_t{-128}), "-128");
  EXPECT_EQ(element_of(b8, std::uint8_t{0}), " 0");
  EXPECT_EQ(element_of(f16, std::uint16_t{0x3e00}), " 1.500000");
  EXPECT_EQ(element_of(bf16, std::uint16_t{0xc040}), "-3.000000");
  EXPECT_EQ(element_of(f8e4m3, std::uint8_t{0x7e}), " 448.000000");
  EXPECT_EQ(element_of(f8e5m2, std::uint8_t{0x7c}), " inf");
  EXPECT_EQ(element_of(f8e4m3, std::uint8_t{0xff}), " nan");
  EXPECT_EQ(element_of(f64, -1e9), "-1.000000e+09");
  EXPECT_EQ(element_of(f64, 999999999.5), " 999999999.500000");
  EXPECT_EQ(element_of(f32, 3e-5F), " 3.000000e-05");
  EXPECT_EQ(element_of(f32, -0.0F), "-0.000000");
  EXPECT_EQ(element_of(f64, -std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PrintTensor, SaysWhatIsWrong) {
  const float one = 1;
  expect_error(ErrorCode::unsupported,
               "a tensor of the layout (M,4):(4,1) cannot be printed: give its symbols values",
               [&] { (void)print_tensor(f32, "(M,4):(4,1)", &one); });
  expect_error(ErrorCode::invalid_argument, "edge_items is 0",
               [&] { (void)print_tensor(f32, "1:1", &one, {.edge_items = 0}); });
  expect_error(ErrorCode::invalid_argument, "null pointer",
               [&] { (void)print_tensor(f32, "1:1", nullptr); });
  EXPECT_THAT(print_tensor(f32, "0:1", nullptr), testing::HasSubstr("[])"));
}

TEST(PrintDeviceTensor, CopiesNeighboursTogetherAndWaits) {
  FakeDriver fake;
  const Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
  std::vector<float> data = counted(20000);  // the fake's device memory is the host's
  const std::string text = print_tensor(runtime, kStream, f32, "20000:1", data.data());
  EXPECT_THAT(text, testing::HasSubstr(": f32, gmem, align<4>) o (20000):(1)"));
  EXPECT_EQ(text.substr(text.find('\n')),
            print_tensor(f32, "20000:1", data.data()).substr(text.find('\n') + 3));
  EXPECT_THAT(fake.copies, testing::ElementsAre(kStream, kStream));
  EXPECT_THAT(fake.waited, testing::ElementsAre(kStream));
  fake.copies.clear();
  const std::string all =
      print_tensor(runtime, kStream, f32, "(3,4):(4,1)", data.data(), {.verbose = true});
  EXPECT_THAT(all, testing::HasSubstr("\t(2,3)= 11.000000\n)"));
  EXPECT_EQ(fake.copies.size(), 1U);
  expect_error(ErrorCode::invalid_argument, "null pointer",
               [&] { (void)print_tensor(runtime, kStream, f32, "1:1", nullptr); });
  fake.fail_on["cuMemcpyDtoHAsync"] = CUDA_ERROR_UNKNOWN;
  expect_error(ErrorCode::driver_call, "cuMemcpyDtoHAsync failed",
               [&] { (void)print_tensor(runtime, kStream, f32, "1:1", data.data()); });
  EXPECT_TRUE(fake.current.empty());
}

}  // namespace
}  // namespace tilejit
