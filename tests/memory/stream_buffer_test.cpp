// Memory in stream order, asynchronous copies, page-locked host memory.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "fake/silent_calls.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using testing::ElementsAre;

const Stream kOther = reinterpret_cast<Stream>(0x88);

TEST(StreamBuffer, IsTakenAndGivenBackOnItsStream) {
  FakeDriver fake;
  {
    std::optional<Runtime> runtime(Internals::make_runtime(kInMemory, fake.table));
    const Buffer buffer(*runtime, 64, kStream);
    const Buffer empty(*runtime, 0, kStream);
    EXPECT_EQ(empty.data(), nullptr);
    EXPECT_THAT(fake.ordered, testing::UnorderedElementsAre(testing::Pair(testing::_, kStream)));
    runtime.reset();
    EXPECT_EQ(fake.contexts, 1);
  }
  EXPECT_THAT(fake.freed_on, ElementsAre(kStream));
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 0);
  EXPECT_EQ(fake.count("cuMemFree"), 0);
  EXPECT_EQ(fake.alive(), 0);
}

TEST(StreamBuffer, KeepsItsStreamWhenMoved) {
  FakeDriver fake;
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    Buffer ordered(runtime, 64, kStream);
    Buffer plain(runtime, 64);
    plain = std::move(ordered);
    EXPECT_EQ(fake.count("cuMemFree"), 1);
    const Buffer moved = std::move(plain);
    EXPECT_TRUE(fake.freed_on.empty());
  }
  EXPECT_THAT(fake.freed_on, ElementsAre(kStream));
  EXPECT_EQ(fake.alive(), 0);
}

TEST(StreamBuffer, CopiesInOrderAndWaitsOnlyWhereItSaysSo) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Buffer buffer(runtime, 16, kStream);
  const std::array<std::int32_t, 4> sent = {1, 2, 3, 4};
  std::array<std::int32_t, 4> received = {};
  buffer.copy_from_host_async(sent.data(), 16, kOther);
  buffer.copy_to_host_async(received.data(), 16, kOther);
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(fake.waited.empty());
  buffer.copy_from_host(sent.data(), 16);
  buffer.copy_to_host(received.data(), 16);
  buffer.copy_to_host(received.data(), 0);
  EXPECT_THAT(fake.copies, ElementsAre(kOther, kOther, kStream, kStream));
  EXPECT_THAT(fake.waited, ElementsAre(kStream, kStream));
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit a buffer of 16",
               [&] { buffer.copy_from_host_async(sent.data(), 17, kStream); });
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit a buffer of 16",
               [&] { buffer.copy_to_host_async(received.data(), 17, kStream); });
}

TEST(HostBuffer, OwnsItsMemoryAloneAndKeepsTheContext) {
  FakeDriver fake;
  {
    std::optional<Runtime> runtime(Internals::make_runtime(kInMemory, fake.table));
    HostBuffer first(*runtime, 18);
    HostBuffer second(*runtime, 4);
    EXPECT_EQ(first.as<std::int32_t>().size(), 4U);
    first.as<std::int32_t>()[3] = 7;
    second = std::move(first);
    EXPECT_EQ(fake.buffers, 1);
    const HostBuffer third = std::move(second);
    EXPECT_EQ(third.as<std::int32_t>()[3], 7);
    EXPECT_TRUE(second.as<std::int32_t>().empty());  // NOLINT: a moved-from buffer is empty
    EXPECT_EQ(HostBuffer(*runtime, 0).data(), nullptr);
    runtime.reset();
    EXPECT_EQ(fake.contexts, 1);
  }
  EXPECT_EQ(fake.count("cuMemFreeHost"), 2);
  EXPECT_EQ(fake.alive(), 0);
}

void use_buffers(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  const HostBuffer host(runtime, 16);
  Buffer device(runtime, 16, kStream);
  device.copy_from_host_async(host.data(), 16, kStream);
  device.copy_to_host(host.data(), 16);
}

TEST(StreamBuffer, SurvivesTheFailureOfEachDriverCall) {
  FakeDriver healthy;
  use_buffers(healthy.table);
  EXPECT_EQ(healthy.alive(), 0);
  const std::vector<std::string> calls = healthy.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    FakeDriver fake;
    fake.fail_at = static_cast<int>(i);
    std::string failed;
    try {
      use_buffers(fake.table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::driver_call);
      failed = error.where();
    }
    EXPECT_EQ(failed, is_silent(calls, i) ? "" : calls[i]);
    EXPECT_EQ(fake.alive(), 0);
  }
}

}  // namespace
}  // namespace tilejit
