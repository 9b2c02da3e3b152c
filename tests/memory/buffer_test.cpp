#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"

namespace tilejit {
namespace {

using launch::Internals;

TEST(Buffer, CopiesToAndFro) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Buffer buffer(runtime, 16);
  EXPECT_EQ(buffer.size_bytes(), 16U);
  const std::array<std::int32_t, 4> sent = {1, 2, 3, 4};
  std::array<std::int32_t, 4> received = {};
  buffer.copy_from_host(sent.data(), 16);
  buffer.copy_to_host(received.data(), 16);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 2);
  EXPECT_EQ(Argument(buffer).address, reinterpret_cast<std::uintptr_t>(buffer.data()));
}

TEST(Buffer, RefusesToCopyBeyondItsEnd) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Buffer buffer(runtime, 16);
  std::array<char, 32> host = {};
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit",
               [&] { buffer.copy_from_host(host.data(), 17); });
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit",
               [&] { buffer.copy_to_host(host.data(), 17); });
  EXPECT_EQ(fake.count("cuMemcpyHtoDAsync") + fake.count("cuMemcpyDtoHAsync"), 0);
}

TEST(Buffer, OwnsItsMemoryAloneAndKeepsTheContext) {
  FakeDriver fake;
  {
    std::optional<Runtime> runtime(Internals::make_runtime(kInMemory, fake.table));
    Buffer first(*runtime, 16);
    Buffer second(*runtime, 32);
    void* const data = first.data();
    second = std::move(first);
    EXPECT_EQ(fake.buffers, 1);  // what `second` held is freed at once
    const Buffer third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(second.data(), nullptr);  // NOLINT: a moved-from buffer is empty
    EXPECT_EQ(Buffer(*runtime, 0).data(), nullptr);
    runtime.reset();
    EXPECT_EQ(fake.contexts, 1);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.count("cuMemFree"), 2);
}

}  // namespace
}  // namespace tilejit
