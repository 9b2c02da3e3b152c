// Tensors of the C interface: DLPack, and as text.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "capi/capi_values.hpp"
#include "interop/dlpack_abi.hpp"

namespace tilejit {
namespace {

using testing::HasSubstr;

TEST(CApi, HandsTensorsToAndFro) {
  Handles h;
  tj_buffer* buffer = nullptr;
  ASSERT_EQ(tj_buffer_create(&h.runtime, 24, &buffer), TJ_OK);
  const std::vector<std::int64_t> shape = {2, 3};
  const tj_argument view = tensor(nullptr, shape);
  for (const int versioned : {0, 1}) {
    void* managed = nullptr;
    ASSERT_EQ(tj_buffer_to_dlpack(buffer, &view, versioned, &managed), TJ_OK) << tj_last_error();
    tj_tensor* tensor = nullptr;
    ASSERT_EQ(tj_tensor_from_dlpack(managed, versioned, &tensor), TJ_OK) << tj_last_error();
    tj_argument argument = {};
    argument.struct_size = sizeof argument;
    ASSERT_EQ(tj_tensor_argument(tensor, &h.runtime, 1, &argument), TJ_OK) << tj_last_error();
    EXPECT_EQ(argument.data, tj_buffer_data(buffer));
    EXPECT_EQ(argument.strides[0], 3);
    std::int32_t type = 0, id = -1;
    EXPECT_EQ(tj_tensor_device(tensor, &type, &id), TJ_OK);
    EXPECT_EQ(type, 2);
    EXPECT_EQ(id, 0);
    expect_failure(tj_tensor_argument(tensor, nullptr, 0, &argument), TJ_INVALID_ARGUMENT,
                   "in device memory");
    char* text = nullptr;
    ASSERT_EQ(tj_runtime_print_tensor(&h.runtime, kStream, &argument, nullptr, &text), TJ_OK);
    EXPECT_THAT(take(text), HasSubstr("gmem, align<4>) o (2,3):(3,1)"));
    tj_tensor_destroy(tensor);
  }
  void* managed = nullptr;
  tj_argument plain = view;
  plain.kind = TJ_POINTER;
  expect_failure(tj_buffer_to_dlpack(buffer, &plain, 1, &managed), TJ_INVALID_ARGUMENT,
                 "TJ_TENSOR");
  ASSERT_EQ(tj_buffer_to_dlpack(buffer, &view, 1, &managed), TJ_OK);
  tj_buffer_destroy(buffer);  // the tensor still owns the memory
  EXPECT_EQ(h.fake.buffers, 1);
  auto* const given = static_cast<DLManagedTensorVersioned*>(managed);
  given->deleter(given);
  EXPECT_EQ(h.fake.buffers, 0);
}

TEST(CApi, PrintsTensors) {
  const std::array<float, 8> data = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::int64_t> shape = {8};
  const tj_argument view = tensor(const_cast<float*>(data.data()), shape);
  char* text = nullptr;
  ASSERT_EQ(tj_print_tensor(&view, nullptr, &text), TJ_OK);
  EXPECT_THAT(take(text), HasSubstr("       ...\n"));
  tj_print_options options = {sizeof options, 1, 0};
  ASSERT_EQ(tj_print_tensor(&view, &options, &text), TJ_OK);
  EXPECT_THAT(take(text), HasSubstr("\t(7)= 7.000000\n)"));
  options.edge_items = -1;
  expect_failure(tj_print_tensor(&view, &options, &text), TJ_INVALID_ARGUMENT, "edge_items is -1");
}

}  // namespace
}  // namespace tilejit
