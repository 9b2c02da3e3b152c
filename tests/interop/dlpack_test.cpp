#include "tilejit/dlpack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "interop/dlpack_abi.hpp"
#include "tilejit/tensor_view.hpp"

namespace tilejit {
namespace {

using testing::ElementsAre;

// The ABI for 64-bit machines, from the specification.
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, device) == 8);
static_assert(offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20);
static_assert(offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, byte_offset) == 40);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

/// Another library's tensor, which counts how often it is released.
template <typename Managed>
struct Foreign {
  Managed managed = {};
  std::vector<std::int64_t> shape = {2, 3};
  std::vector<std::int64_t> strides = {3, 1};
  alignas(16) std::array<float, 8> data = {0, 1, 2, 3, 4, 5, 6, 7};
  int given_back = 0;

  Foreign() {
    managed.dl_tensor = {data.data(), {2, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->given_back; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
};
using Versioned = Foreign<DLManagedTensorVersioned>;
using Old = Foreign<DLManagedTensor>;

template <typename Managed>
void expect_import(Foreign<Managed>& foreign) {
  {
    const DlpackTensor tensor(&foreign.managed);
    const DlpackTensor copy = tensor;  // NOLINT: copies share it
    EXPECT_EQ(tensor.dtype(), f32);
    EXPECT_EQ(tensor.data(), foreign.data.data());
    EXPECT_THAT(tensor.shape(), ElementsAre(2, 3));
    EXPECT_THAT(tensor.strides(), ElementsAre(3, 1));
    EXPECT_EQ(tensor.device(), DlpackDevice::cuda);
    EXPECT_EQ(to_string(tensor.layout()), "(2,3):(3,1)");
    EXPECT_FALSE(tensor.read_only());
    EXPECT_EQ(foreign.given_back, 0);
  }
  EXPECT_EQ(foreign.given_back, 1);
}

TEST(DlpackImport, HoldsTheTensorAndGivesItBackOnce) {
  Versioned versioned;
  expect_import(versioned);
  Old old;
  expect_import(old);
  Old without_deleter;
  without_deleter.managed.deleter = nullptr;
  { const DlpackTensor tensor(&without_deleter.managed); }
  EXPECT_EQ(without_deleter.given_back, 0);
}

TEST(DlpackImport, WithoutStridesIsRowMajor) {
  Versioned foreign;
  foreign.shape = {2, 1, 3};
  foreign.managed.dl_tensor.ndim = 3;
  foreign.managed.dl_tensor.shape = foreign.shape.data();
  foreign.managed.dl_tensor.strides = nullptr;
  const DlpackTensor tensor(&foreign.managed);
  EXPECT_THAT(tensor.strides(), ElementsAre(3, 3, 1));
  EXPECT_EQ(to_string(tensor.layout()), "(2,1,3):(3,0,1)");
}

TEST(DlpackImport, AddsTheByteOffset) {
  Versioned foreign;
  foreign.managed.dl_tensor.byte_offset = 8;
  const DlpackTensor tensor(&foreign.managed);
  EXPECT_EQ(tensor.data(), &foreign.data[2]);
  EXPECT_EQ(tensor.describe("x").align, 8);
}

TEST(DlpackImport, TakesTensorsWithoutModesOrElements) {
  Versioned scalar;
  scalar.managed.dl_tensor.ndim = 0;
  scalar.managed.dl_tensor.shape = scalar.managed.dl_tensor.strides = nullptr;
  const DlpackTensor one(&scalar.managed);
  EXPECT_TRUE(one.shape().empty());
  EXPECT_EQ(to_string(one.layout()), "1:0");
  Versioned empty;
  empty.shape = {0, 3};
  empty.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(DlpackTensor(&empty.managed).data(), nullptr);
}

TEST(DlpackImport, DescribesATensorForAFused) {
  Versioned foreign;
  foreign.managed.flags = 1;
  const DlpackTensor tensor(&foreign.managed);
  EXPECT_TRUE(tensor.read_only());
  EXPECT_EQ(tensor.describe("x", Access::in),
            (Tensor{.name = "x", .dtype = f32, .layout = "(2,3):(3,1)", .access = Access::in}));
}

TEST(DlpackImport, IsATensorAsAValue) {
  Versioned foreign;
  foreign.managed.flags = 1;
  const DlpackTensor tensor(&foreign.managed);
  EXPECT_EQ(to_string(tensor.view()), "tensor<ptr<f32, gmem> o (2,3):(3,1)>");
  EXPECT_EQ(tensor.view().engine().data, tensor.data());
  EXPECT_TRUE(tensor.view().engine().read_only);
  Versioned host;
  host.managed.dl_tensor.device = {1, 0};
  const DlpackTensor on_the_host(&host.managed);
  EXPECT_EQ(to_string(on_the_host.view()), "tensor<ptr<f32, generic> o (2,3):(3,1)>");
  fill(on_the_host.view(), 7);
  EXPECT_EQ(host.data[5], 7.0F);
}

/// The message of each refusal; the tensor stays the caller's.
struct Refusal {
  const char* text;
  ErrorCode code;
  std::function<void(Versioned&)> break_it;
};
const Refusal kRefusals[] = {
    {"DLPack 2.0", ErrorCode::unsupported,
     [](Versioned& f) {
       f.managed.version = {2, 0};
     }},
    {"elements of 4 lanes", ErrorCode::unsupported,
     [](Versioned& f) { f.managed.dl_tensor.dtype.lanes = 4; }},
    {"dtype Complex of 64 bits", ErrorCode::unsupported,
     [](Versioned& f) {
       f.managed.dl_tensor.dtype = {5, 64, 1};
     }},
    {"dtype Float8_e4m3fnuz of 8 bits", ErrorCode::unsupported,
     [](Versioned& f) {
       f.managed.dl_tensor.dtype = {11, 8, 1};
     }},
    {"dtype Int of 4 bits", ErrorCode::unsupported,
     [](Versioned& f) {
       f.managed.dl_tensor.dtype = {0, 4, 1};
     }},
    {"dtype type code 99 of 32 bits", ErrorCode::unsupported,
     [](Versioned& f) {
       f.managed.dl_tensor.dtype = {99, 32, 1};
     }},
    {"device type 10", ErrorCode::unsupported,
     [](Versioned& f) { f.managed.dl_tensor.device.device_type = 10; }},
    {"stride -3 in mode 0", ErrorCode::unsupported, [](Versioned& f) { f.strides[0] = -3; }},
    {"extent -1 in mode 1", ErrorCode::invalid_argument, [](Versioned& f) { f.shape[1] = -1; }},
    {"has -1 modes", ErrorCode::invalid_argument,
     [](Versioned& f) { f.managed.dl_tensor.ndim = -1; }},
    {"modes but no shape", ErrorCode::invalid_argument,
     [](Versioned& f) { f.managed.dl_tensor.shape = nullptr; }},
    {"elements but no memory", ErrorCode::invalid_argument,
     [](Versioned& f) { f.managed.dl_tensor.data = nullptr; }},
    {"splits its elements of 4 bytes", ErrorCode::invalid_argument,
     [](Versioned& f) { f.managed.dl_tensor.byte_offset = 2; }},
    {"more than 2^63-1 elements", ErrorCode::invalid_argument,
     [](Versioned& f) { f.strides[0] = f.shape[0] = std::int64_t{1} << 40; }},
};

TEST(DlpackImport, SaysWhatIsWrongAndLeavesTheTensor) {
  for (const Refusal& c : kRefusals) {
    SCOPED_TRACE(c.text);
    Versioned foreign;
    c.break_it(foreign);
    expect_error(c.code, c.text, [&] { const DlpackTensor tensor(&foreign.managed); });
    EXPECT_EQ(foreign.given_back, 0);
  }
  expect_error(ErrorCode::invalid_argument, "null pointer",
               [] { const DlpackTensor tensor(static_cast<DLManagedTensor*>(nullptr)); });
}

TEST(DlpackImport, IsAnArgumentOfARuntimeThatReachesIt) {
  FakeDriver fake;
  const Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
  Versioned foreign;
  foreign.managed.flags = 1;
  const DlpackTensor tensor(&foreign.managed);
  const Argument argument = tensor.argument(runtime);
  EXPECT_EQ(argument.kind, Argument::Kind::tensor);
  EXPECT_EQ(argument.address, reinterpret_cast<std::uintptr_t>(foreign.data.data()));
  EXPECT_THAT(argument.shape, ElementsAre(2, 3));
  EXPECT_THAT(argument.stride, ElementsAre(3, 1));
  expect_error(ErrorCode::invalid_argument, "read-only",
               [&] { (void)tensor.argument(runtime, Access::out); });

  const auto on = [](std::int32_t type, std::int32_t id, Versioned& other) {
    other.managed.dl_tensor.device = {type, id};
    return DlpackTensor(&other.managed);
  };
  Versioned host, other_device, pinned, managed;
  expect_error(ErrorCode::invalid_argument, "in host memory; move it to cuda:0",
               [&] { (void)on(1, 0, host).argument(runtime); });
  expect_error(ErrorCode::invalid_argument, "is on cuda:1, and the runtime's device is cuda:0",
               [&] { (void)on(2, 1, other_device).argument(runtime); });
  EXPECT_EQ(on(3, 0, pinned).argument(runtime).kind, Argument::Kind::tensor);
  EXPECT_EQ(on(13, 0, managed).argument(runtime).kind, Argument::Kind::tensor);
}

TEST(DlpackExport, KeepsTheOwnerUntilTheConsumerIsDone) {
  const auto memory = std::make_shared<std::vector<float>>(6);
  const DlpackView view{.dtype = f32, .data = memory->data(), .shape = {2, 3}, .read_only = true};
  DLManagedTensorVersioned* const given = to_dlpack_versioned(view, memory);
  EXPECT_EQ(memory.use_count(), 2);
  EXPECT_EQ(given->version.major, 1U);
  EXPECT_EQ(given->flags, 1U);
  {
    const DlpackTensor back(given);
    EXPECT_THAT(back.strides(), ElementsAre(3, 1));
    EXPECT_TRUE(back.read_only());
    EXPECT_EQ(back.device(), DlpackDevice::cpu);
    EXPECT_EQ(memory.use_count(), 2);
  }
  EXPECT_EQ(memory.use_count(), 1);
  expect_error(ErrorCode::unsupported, "cannot be read-only",
               [&] { (void)to_dlpack(view, memory); });
}

TEST(DlpackExport, GivesATensorWithoutModes) {
  float one = 1;
  DLManagedTensorVersioned* const given = to_dlpack_versioned({.data = &one}, nullptr);
  EXPECT_EQ(given->dl_tensor.ndim, 0);
  EXPECT_EQ(to_string(DlpackTensor(given).layout()), "1:0");
}

TEST(DlpackExport, RoundTripsEveryDtype) {
  std::array<double, 4> memory = {};
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(to_string(dtype));
    const DlpackView view{
        .dtype = dtype, .data = memory.data(), .shape = {2, 2}, .strides = {1, 2}};
    const DlpackTensor versioned(to_dlpack_versioned(view, nullptr));
    const DlpackTensor old(to_dlpack(view, nullptr));
    EXPECT_EQ(versioned.dtype(), dtype == tf32 ? f32 : dtype);
    EXPECT_EQ(old.dtype(), versioned.dtype());
    EXPECT_EQ(to_string(old.layout()), "(2,2):(1,2)");
  }
}

TEST(DlpackExport, UsesTheCodesOfTheSpecification) {
  constexpr struct {
    DType dtype;
    int code, bits;
  } kCodes[] = {{b8, 6, 8},    {i8, 0, 8},      {u64, 1, 64},   {f16, 2, 16},
                {bf16, 4, 16}, {f8e4m3, 10, 8}, {f8e5m2, 12, 8}};
  for (const auto& c : kCodes) {
    SCOPED_TRACE(to_string(c.dtype));
    DLManagedTensor* const given = to_dlpack({.dtype = c.dtype, .shape = {0}}, nullptr);
    EXPECT_EQ(given->dl_tensor.dtype.code, c.code);
    EXPECT_EQ(given->dl_tensor.dtype.bits, c.bits);
    EXPECT_EQ(given->dl_tensor.dtype.lanes, 1);
    given->deleter(given);
  }
}

TEST(DlpackExport, SaysWhatIsWrong) {
  float one = 1;
  const auto refused = [](const char* text, const DlpackView& view) {
    expect_error(ErrorCode::invalid_argument, text,
                 [&] { (void)to_dlpack_versioned(view, nullptr); });
  };
  refused("2 extents but 1 strides", {.data = &one, .shape = {1, 1}, .strides = {1}});
  refused("extent -2 in mode 0", {.data = &one, .shape = {-2}});
  refused("stride -1 in mode 0", {.data = &one, .shape = {2}, .strides = {-1}});
  refused("null pointer", {.shape = {2}});
}

TEST(DlpackExport, ViewsABuffer) {
  FakeDriver fake;
  const Runtime runtime = launch::Internals::make_runtime(kInMemory, fake.table);
  const auto buffer = std::make_shared<Buffer>(runtime, 24);
  const DlpackView view = dlpack_view(runtime, *buffer, f32, {2, 3});
  {
    const DlpackTensor tensor(to_dlpack_versioned(view, buffer));
    EXPECT_EQ(tensor.data(), buffer->data());
    EXPECT_EQ(tensor.device(), DlpackDevice::cuda);
    EXPECT_EQ(tensor.argument(runtime, Access::out).address,
              reinterpret_cast<std::uintptr_t>(buffer->data()));
  }
  EXPECT_EQ(buffer.use_count(), 1);
  EXPECT_EQ(dlpack_view(runtime, *buffer, f16, {3, 4}, {1, 3}).strides.size(), 2U);
  expect_error(ErrorCode::invalid_argument, "7 elements of 4 bytes does not fit a buffer of 24",
               [&] {
                 (void)dlpack_view(runtime, *buffer, f32, {2, 3}, {4, 1});
               });
}

}  // namespace
}  // namespace tilejit
